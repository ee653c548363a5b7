"""Who learns what from figures about an intersection."""

from __future__ import annotations

from typing import Final

from smc.analyses.disclosure.limits import ASKED
from smc.analyses.matching.aggregates.parameters import (
    NEIGHBOURS,
    SHARES,
    SIZE,
    AggregateParameters,
    FigureParameters,
)
from smc.analyses.records.numbers import text
from smc.analyses.studies.study import Leakage
from smc.forms import Role

CHOSEN: Final = (
    "which of its own rows match, if it wants to: whoever holds a summed column can choose its values so "
    "that the exact sum shows which of its rows match"
)


def shows_rows(parameters: FigureParameters, recipients: frozenset[Role]) -> bool:
    """Whether somebody gets the exact sum of its own column.

    Its holder can choose values of which every set has another sum, such as 1, 2, 4, 8 above one that all
    rows have, and then takes from the sum which of its rows match. Limits on groups hold of such values as
    well.
    """
    return parameters.releases_exactly and any(parameters.value_columns(role) for role in recipients)


def leakage(parameters: AggregateParameters, recipients: frozenset[Role]) -> Leakage:
    """Who learns what."""
    names = ", ".join(f"{value.side.value}'s {value.column}" for value in parameters.values)
    figures = "the size of the intersection"
    if parameters.output != SIZE:
        figures = f"the size of the intersection, and over it the sum and the mean of {names}"
    if parameters.epsilon is not None:
        figures += (
            f", with noise that neither party knows, under differential privacy with epsilon "
            f"{text(parameters.epsilon)}: {NEIGHBOURS}"
        )
    gets = {
        role: (figures, CHOSEN) if shows_rows(parameters, frozenset((role,))) else (figures,)
        for role in recipients
        if parameters.output != SHARES
    }
    bit = "whether the limits of disclosure hold, one bit, where the policies set any that apply"
    bit += f"; {ASKED}" if parameters.epsilon is None else "; it comes from the noisy size"
    public: tuple[str, ...] = ("the number of rows of each side that take part",)
    if parameters.values:
        public += (f"bounds and scales of {names}",)
    alice, bob = ((*gets.get(role, ()), bit) for role in Role)
    return Leakage(alice, bob, public)
