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
YEAR_MONTH: Final = "year and month"
MONTH_DAY: Final = "month and day"
DAY: Final = "day"
"""Functions of birth dates that are written out by how these are."""

FINER_FROM: Final = 30_000
FINEST_FROM: Final = 150_000
"""Rows of the larger side from which on keys are finer."""

Part = tuple[str, str]
Key = tuple[Part, ...]
_PLACE: Final = "place"

_KEYS: Final[tuple[Key, ...]] = (
    ((BORN, "value"), (GIVEN, "prefix1")),
    ((BORN, "value"), (SURNAME, "prefix1")),
    ((SURNAME, "soundex"), (BORN, YEAR)),
    ((SURNAME, "soundex"), (BORN, MONTH_DAY)),
    ((SURNAME, "soundex"), (GIVEN, "soundex")),
    ((GIVEN, "prefix3"), (_PLACE, "value")),
    ((GIVEN, "prefix3"), (BORN, MONTH_DAY)),
    ((SURNAME, "soundex"), (_PLACE, "value"), (GIVEN, "prefix1")),
)
_FINER_KEYS: Final[tuple[Key, ...]] = (
    ((GIVEN, "soundex"), (BORN, "value")),
    ((GIVEN, "soundex"), (SURNAME, "value"), (BORN, DAY)),
    ((SURNAME, "prefix3"), (BORN, YEAR_MONTH)),
    ((BORN, MONTH_DAY), (_PLACE, "value")),
    ((GIVEN, "prefix2"), (SURNAME, "prefix1"), (_PLACE, "value")),
)
_FINEST_KEYS: Final[tuple[Key, ...]] = (
    ((SURNAME, "prefix3"), (BORN, "value")),
    ((GIVEN, "prefix3"), (BORN, DAY), (_PLACE, "value")),
    ((GIVEN, "soundex"), (SURNAME, "soundex"), (_PLACE, "value")),
    ((GIVEN, "prefix3"), (SURNAME, "soundex"), (BORN, MONTH_DAY)),
    ((BORN, "value"), (_PLACE, "value")),
    ((GIVEN, "prefix3"), (SURNAME, "prefix3"), (BORN, YEAR)),
    ((SURNAME, "prefix3"), (BORN, DAY), (_PLACE, "value")),
)
"""From `FINER_FROM` on two wrong fields leave a key that takes neither, or only a part of the birth date,
which may be right; from `FINEST_FROM` on but for surname and place, as too many share name and date."""

_PLACELESS_KEYS: Final = tuple(key for key in _KEYS if all(role != _PLACE for role, _ in key))
_PLACELESS_FINER_KEYS: Final[tuple[Key, ...]] = (
    ((GIVEN, "prefix3"), (SURNAME, "soundex"), (BORN, DAY)),
    ((SURNAME, "value"), (BORN, MONTH_DAY)),
    ((SURNAME, "prefix1"), (BORN, "value")),
    ((GIVEN, "soundex"), (BORN, "value")),
    ((GIVEN, "prefix1"), (SURNAME, "prefix3"), (BORN, YEAR)),
)
_PLACELESS_FINEST_KEYS: Final[tuple[Key, ...]] = (
    ((SURNAME, "prefix3"), (BORN, "value")),
    ((GIVEN, "soundex"), (SURNAME, "soundex"), (BORN, MONTH_DAY)),
    ((GIVEN, "prefix3"), (BORN, "value")),
    ((GIVEN, "soundex"), (SURNAME, "prefix3"), (BORN, YEAR)),
    ((GIVEN, "value"), (SURNAME, "prefix3"), (BORN, DAY)),
    ((GIVEN, "prefix1"), (SURNAME, "prefix1"), (BORN, "value")),
)

_PASSES: Final = (
    (FINEST_FROM, _FINEST_KEYS, _PLACELESS_FINEST_KEYS),
    (FINER_FROM, _FINER_KEYS, _PLACELESS_FINER_KEYS),
    (0, _KEYS, _PLACELESS_KEYS),
)
"""From so many rows on: the keys, and those of files without any place."""


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
    dates = {
        YEAR: "prefix4",
        YEAR_MONTH: "prefix7" if has_dashes else "prefix6",
        MONTH_DAY: "suffix5" if has_dashes else "suffix4",
        DAY: "suffix2",
    }
    keys = next(placed if place else placeless for least, placed, placeless in _PASSES if rows >= least)
    blocking = [
        [f"{place if role == _PLACE else role}:{dates.get(function, function)}" for role, function in key]
        for key in keys
    ]
    return {
        "method": "tolerant",
        "threshold": threshold,
        "bits": BITS,
        "ranks": ranks,
        "blocking": blocking,
        "fields": [{"column": role, "weight": WEIGHTS[role]} for role in compared],
    }
