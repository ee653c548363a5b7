"""Long grids of which a selection runs by default, and the rest with `--slow`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import product
from typing import Any, Final

import pytest

from smc.forms import ComparisonType


def grid(cases: Iterable[Any], quick: Collection[Any]) -> list[Any]:
    """The cases for `pytest.mark.parametrize`; those that are not among the quick ones are marked slow.

    A case of several arguments is a tuple. Of stacked grids what is quick in each runs by default.

    Raises:
        ValueError: a quick case is not in the grid, so that the selection would prove less than it says.
    """
    cases = list(cases)
    if missing := [case for case in quick if case not in cases]:
        raise ValueError(f"Not in the grid: {missing}.")
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)), marks=() if case in quick else pytest.mark.slow
        )
        for case in cases
    ]


def crossed(*axes: Iterable[Any]) -> list[Any]:
    """All combinations of the axes' values as one grid, of which so few are quick that each value occurs.

    As many run by default as the longest axis has values; the other axes are gone through along it, one place
    further after each round, so that the same values do not always meet.
    """
    values = [list(axis) for axis in axes]
    longest = max(len(axis) for axis in values)
    quick = [
        tuple(axis[(row + place * (row // len(axis))) % len(axis)] for place, axis in enumerate(values))
        for row in range(longest)
    ]
    return grid(product(*values), quick)


TYPES: Final = tuple(
    ComparisonType.parse(name)
    for name in (
        *("SS-SS-SS", "SE-SE-SE", "PN-NP-SE", "PN-NP-SS", "PN-NP-NP", "PN-SE-SS", "PP-SS-ES"),
        *("NP-ES-PN", "NP-PP-PP", "PP-PN-NP", "PP-PP-SE", "ES-ES-PP", "NP-PN-ES", "PN-PN-PP"),
        *("NP-NP-PN", "PP-PP-PP", "PN-PN-ES", "PN-PN-SE", "NP-NP-ES", "ES-ES-SE", "SE-SE-PN"),
        *("SE-SE-NP", "PN-NP-PN", "NP-PN-PN", "NP-PN-NP", "PN-PN-SS", "NP-NP-SS", "PP-PP-SS"),
    )
)
"""28 of the 216 types: the seven that the thesis names, and so many more that they take every step that any
type takes (see `test_a_selection_of_types_takes_every_step`)."""
