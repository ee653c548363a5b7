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
from smc.analyses.studies.brief import LEAST_MATCHES, Brief, count_of
from smc.analyses.studies.study import Leakage
from smc.forms import Role

CHOSEN: Final = (
    "which of its own rows match, if it wants to: whoever chose the summed values, or knows them of the "
    "persons that it brings, takes from the exact sum which of these match; and where a summed number is "
    "derived from one that it knows and another, the other one"
)

_SUMS: Final = ("sum", "mean")


def shows_rows(parameters: FigureParameters, recipients: frozenset[Role]) -> bool:
    """Whether somebody gets an exact sum.

    Nearly every set of a dozen persons has another sum of their dates of birth, so whoever knows these takes
    from the sum which of them match, also where the column is the other side's. Whoever holds the column can
    choose values for that, such as 1, 2, 4, 8 above one that all rows have. Limits on groups hold of both.
    """
    return parameters.releases_exactly and parameters.output != SIZE and bool(recipients)


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


def brief(parameters: FigureParameters, recipients: frozenset[Role], pairs: str) -> Brief:
    """The job in short; `pairs` is how rows come together, such as `match the rows of both by their keys`."""
    columns = count_of(len(parameters.values), "column")
    if parameters.output == SHARES:
        does = f"{pairs}, and keep {columns} of the matches in shares that nobody opens"
        alice, bob = (LEAST_MATCHES,), (LEAST_MATCHES,)
        return Brief(does, alice, bob, "which rows match, how many, and the values")
    noise = "exactly" if parameters.epsilon is None else "with noise"
    size, sums = f"how many match, {noise}", f"sum and mean of {columns} over the matches, {noise}"
    has_sums = parameters.output != SIZE
    gets = (size, sums) if has_sums else (size,)
    does = f"{pairs}, and count the matches" + (f" and add up {columns} over them" if has_sums else "")
    chosen = ("by chosen or known values: which of its own rows match",)
    alice, bob = (
        (
            *(gets if role in recipients else ()),
            *(chosen if role in recipients and shows_rows(parameters, frozenset((role,))) else ()),
            LEAST_MATCHES,
        )
        for role in Role
    )
    hides = "" if shows_rows(parameters, recipients) else "which rows match"
    figures = [
        f"{what} of {value.side.value}'s {value.column}" for value in parameters.values for what in _SUMS
    ]
    return Brief(does, alice, bob, hides, ("size", *(figures if has_sums else ())))
