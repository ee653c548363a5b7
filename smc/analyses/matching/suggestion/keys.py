"""What keys of passes are made of, by roles of columns: parts of a birth date as written, and one place."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from smc.analyses.matching.suggestion.roles import BORN, POSTCODE, STREET, TOWN

YEAR: Final = "year"
YEAR_MONTH: Final = "year and month"
MONTH_DAY: Final = "month and day"
DAY: Final = "day"
"""Functions of birth dates that are written out by how these are."""

PLACE: Final = "place"
"""The role that stands for the first place that there is."""

PLACES: Final = (POSTCODE, TOWN, STREET)

Part = tuple[str, str]
Key = tuple[Part, ...]


def place_of(roles: Collection[str]) -> str:
    """The first place that there is; "" without one."""
    return next((role for role in PLACES if role in roles), "")


def write(key: Sequence[Part], place: str, *, has_dashes: bool) -> list[str]:
    """A key as a job writes it.

    Args:
        key: roles and functions.
        place: what stands for `PLACE`.
        has_dashes: whether dates are YYYY-MM-DD; else they are YYYYMMDD.
    """
    dates = {
        YEAR: "prefix4",
        YEAR_MONTH: "prefix7" if has_dashes else "prefix6",
        MONTH_DAY: "suffix5" if has_dashes else "suffix4",
        DAY: "suffix2",
    }
    return [
        f"{place if role == PLACE else role}:{dates.get(function, function) if role == BORN else function}"
        for role, function in key
    ]
