"""The fixed public menu of which a recipe for tolerant matching is taken.

A recipe is public in the contract, so it must say little of the file it was made from. Weights and keys
follow from which columns there are and from how many rows, which the peer learns anyway; of the file's
contents a recipe tells a threshold out of 13 and whether a key takes one row or two: less than five bits.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from smc.analyses.matching.suggestion.roles import BORN, GIVEN, POSTCODE, SEX, STREET, SURNAME, TOWN

BITS: Final = 256
THRESHOLDS: Final = tuple(f"{hundredths / 100:.2f}" for hundredths in range(60, 86, 2))
RANKS: Final = (1, 2)

WEIGHTS: Final[Mapping[str, int]] = {GIVEN: 3, SURNAME: 2, BORN: 3, POSTCODE: 1, TOWN: 1, STREET: 1, SEX: 1}
_PLACES: Final = (POSTCODE, TOWN, STREET)
"""Of these one is compared, the first that there is: members of a household share all of them."""

YEAR: Final = "year"
MONTH_DAY: Final = "month and day"
"""Functions of birth dates that are written out by how these are."""

FINER_FROM: Final = 30_000
FINEST_FROM: Final = 300_000
"""Rows of the larger side from which on keys are finer."""

Part = tuple[str, str]
_PLACE: Final = "place"

_KEYS: Final[tuple[tuple[Part, ...], ...]] = (
    ((BORN, "value"), (GIVEN, "prefix1")),
    ((BORN, "value"), (SURNAME, "prefix1")),
    ((SURNAME, "soundex"), (BORN, YEAR)),
    ((SURNAME, "soundex"), (BORN, MONTH_DAY)),
    ((SURNAME, "soundex"), (GIVEN, "soundex")),
    ((GIVEN, "prefix3"), (_PLACE, "value")),
    ((GIVEN, "prefix3"), (BORN, MONTH_DAY)),
    ((SURNAME, "soundex"), (_PLACE, "value"), (GIVEN, "prefix1")),
)
_FINER_KEYS: Final[tuple[tuple[Part, ...], ...]] = (
    ((BORN, "value"), (GIVEN, "prefix1")),
    ((BORN, "value"), (SURNAME, "prefix1")),
    ((SURNAME, "soundex"), (GIVEN, "prefix1"), (BORN, YEAR)),
    ((SURNAME, "soundex"), (BORN, MONTH_DAY)),
    ((SURNAME, "soundex"), (GIVEN, "soundex"), (BORN, "prefix3")),
    ((GIVEN, "prefix3"), (_PLACE, "value")),
    ((GIVEN, "prefix3"), (SURNAME, "prefix1"), (BORN, MONTH_DAY)),
    ((SURNAME, "soundex"), (_PLACE, "value"), (GIVEN, "prefix1")),
    ((SURNAME, "soundex"), (_PLACE, "value"), (BORN, YEAR)),
)
_FINEST_KEYS: Final[tuple[tuple[Part, ...], ...]] = (
    ((BORN, "value"), (GIVEN, "soundex")),
    ((BORN, "value"), (SURNAME, "soundex")),
    ((SURNAME, "soundex"), (GIVEN, "prefix1"), (BORN, YEAR)),
    ((SURNAME, "soundex"), (GIVEN, "prefix1"), (BORN, MONTH_DAY)),
    ((SURNAME, "soundex"), (GIVEN, "soundex"), (BORN, "prefix3")),
    ((GIVEN, "prefix3"), (_PLACE, "value"), (BORN, YEAR)),
    ((GIVEN, "prefix3"), (_PLACE, "value"), (BORN, MONTH_DAY)),
    ((SURNAME, "soundex"), (GIVEN, "prefix3"), (_PLACE, "value")),
    ((SURNAME, "soundex"), (_PLACE, "value"), (BORN, YEAR)),
)


def parameters(
    roles: Collection[str], rows: int, ranks: int, threshold: str, *, has_dashes: bool
) -> dict[str, Any]:
    """The `[parameters]` of a job, whose columns are called by their roles.

    Args:
        roles: that there are columns for; names and date of birth at least.
        rows: of the larger side.
        ranks: one of `RANKS`.
        threshold: one of `THRESHOLDS`.
        has_dashes: whether dates are YYYY-MM-DD; else they are YYYYMMDD.
    """
    place = next((role for role in _PLACES if role in roles), "")
    compared = [role for role in WEIGHTS if role in roles and (role not in _PLACES or role == place)]
    dates = {YEAR: "prefix4", MONTH_DAY: "suffix5" if has_dashes else "suffix4"}
    keys = _KEYS if rows < FINER_FROM else _FINER_KEYS if rows < FINEST_FROM else _FINEST_KEYS
    blocking = [
        [f"{place if role == _PLACE else role}:{dates.get(function, function)}" for role, function in key]
        for key in keys
        if place or all(role != _PLACE for role, _ in key)
    ]
    return {
        "method": "tolerant",
        "threshold": threshold,
        "bits": BITS,
        "ranks": ranks,
        "blocking": blocking,
        "fields": [{"column": role, "weight": WEIGHTS[role]} for role in compared],
    }
