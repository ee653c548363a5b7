"""The table and notes of figures about the pairs of a tolerant matching."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from smc.analyses.matching.aggregates.tables import results
from smc.analyses.matching.linked.parameters import LinkedParameters
from smc.analyses.matching.tolerant.outcome import details_of
from smc.analyses.studies.outcome import Outcome
from smc.forms import Role
from smc.protocols.exchange.bounds import Declared

_LIKELY: Final = (
    "Rows were paired by likeness: a wrong pair counts like a right one, and a pair that is missed does not "
    "count. The figures are exact about the pairs that were made, not about the persons in common."
)


def outcome(
    parameters: LinkedParameters,
    counts: Mapping[Role, int],
    every: Sequence[Declared],
    figures: Sequence[int] | None,
) -> Outcome:
    """What a party gets.

    Args:
        parameters: as parsed.
        counts: rows of each side.
        every: the values' declarations.
        figures: the number of pairs, then the sum of every value in held units; None for a party that gets
            none.
    """
    found = results(parameters.figures, every, figures, ())
    notes = found.notes if figures is None else (*found.notes, _LIKELY)
    return replace(found, notes=notes, details={**details_of(parameters.matching, counts), **found.details})
