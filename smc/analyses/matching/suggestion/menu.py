"""The fixed public menu of which a recipe for tolerant matching is taken.

A recipe is public in the contract, so it must say little of the file it was made from. Weights, local terms
and keys of the menu follow from which columns there are and from how many rows, which the peer learns anyway;
of the file's contents a recipe tells the least score, one of 41, and whether a key takes one row or two: less
than seven bits. The terms were fitted to made-up people with the errors of `errors`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from smc.analyses.matching.suggestion.fit import Terms
from smc.analyses.matching.suggestion.keys import (
    DAY,
    MONTH_DAY,
    PLACE,
    PLACES,
    YEAR,
    YEAR_MONTH,
    Key,
    place_of,
    write,
)
from smc.analyses.matching.suggestion.roles import BORN, GIVEN, HOUSE, POSTCODE, SEX, STREET, SURNAME, TOWN
from smc.analyses.matching.tolerant.encoding import hundredths

SHIFTS: Final = tuple(range(-40, 41, 2))
"""From a recipe's own least score to those that are tried."""

COMPARED: Final = (GIVEN, SURNAME, BORN, PLACE, SEX)
"""Of the places one is compared, the first that there is: members of a household share all of them."""

FINER_FROM: Final = 30_000
FINEST_FROM: Final = 150_000
"""Rows of the larger side from which on keys are finer."""

Fitted = tuple[int, int, int, int]
"""Weight, and in hundredths of a unit what a bit, an empty text and a halving of the frequency add."""

_TERMS: Final[Mapping[str, Mapping[str, Fitted]]] = {
    POSTCODE: {
        GIVEN: (4, -84, 1886, 113),
        SURNAME: (2, -158, 518, 57),
        BORN: (7, -245, 3005, 58),
        POSTCODE: (3, -38, 1650, 70),
    },
    TOWN: {
        GIVEN: (5, -45, 2315, 120),
        SURNAME: (2, -129, 831, 73),
        BORN: (7, -277, 3087, 81),
        TOWN: (3, -83, 771, 33),
    },
    STREET: {
        GIVEN: (5, -51, 2612, 150),
        SURNAME: (2, -170, 657, 71),
        BORN: (7, -293, 2957, 71),
        STREET: (2, -129, 46, 32),
    },
    "": {GIVEN: (5, -21, 3014, 176), SURNAME: (3, -230, 954, 94), BORN: (8, -291, 3922, 101)},
}
"""By the place that is compared; fitted to 30,000 made-up people by an own recipe."""

_LEAST: Final[Mapping[str, int]] = {POSTCODE: 66, TOWN: 70, STREET: 54, "": 80}

_SEX: Final[Fitted] = (15, -625, 1250, 0)
"""Beside all of these: equal ones add 5 units, about a bit, different ones take 25."""

_KEYS: Final[tuple[Key, ...]] = (
    ((BORN, "value"), (GIVEN, "prefix1")),
    ((BORN, "value"), (SURNAME, "prefix1")),
    ((SURNAME, "soundex"), (BORN, YEAR)),
    ((SURNAME, "soundex"), (BORN, MONTH_DAY)),
    ((SURNAME, "soundex"), (GIVEN, "soundex")),
    ((GIVEN, "prefix3"), (PLACE, "value")),
    ((GIVEN, "prefix3"), (BORN, MONTH_DAY)),
    ((SURNAME, "soundex"), (PLACE, "value"), (GIVEN, "prefix1")),
)
_FINER_KEYS: Final[tuple[Key, ...]] = (
    ((GIVEN, "soundex"), (BORN, "value")),
    ((GIVEN, "soundex"), (SURNAME, "value"), (BORN, DAY)),
    ((SURNAME, "prefix3"), (BORN, YEAR_MONTH)),
    ((BORN, MONTH_DAY), (PLACE, "value")),
    ((GIVEN, "prefix2"), (SURNAME, "prefix1"), (PLACE, "value")),
)
_FINEST_KEYS: Final[tuple[Key, ...]] = (
    ((SURNAME, "prefix3"), (BORN, "value")),
    ((GIVEN, "prefix3"), (BORN, DAY), (PLACE, "value")),
    ((GIVEN, "soundex"), (SURNAME, "soundex"), (PLACE, "value")),
    ((GIVEN, "prefix3"), (SURNAME, "soundex"), (BORN, MONTH_DAY)),
    ((BORN, "value"), (PLACE, "value")),
    ((GIVEN, "prefix3"), (SURNAME, "prefix3"), (BORN, YEAR)),
    ((SURNAME, "prefix3"), (BORN, DAY), (PLACE, "value")),
)
"""From `FINER_FROM` on two wrong fields leave a key that takes neither, or only a part of the birth date,
which may be right; from `FINEST_FROM` on but for surname and place, as too many share name and date."""

_PLACELESS_KEYS: Final = tuple(key for key in _KEYS if all(role != PLACE for role, _ in key))
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

_ADDRESS_KEYS: Final[tuple[Key, ...]] = (
    ((SURNAME, "soundex"), (BORN, "value")),
    ((GIVEN, "prefix1"), (POSTCODE, "value"), (STREET, "prefix3")),
    ((GIVEN, "value"), (BORN, DAY), (HOUSE, "value")),
    ((BORN, DAY), (STREET, "value"), (HOUSE, "value")),
    ((GIVEN, "prefix3"), (SURNAME, "prefix3"), (HOUSE, "value")),
    ((BORN, YEAR), (POSTCODE, "value"), (STREET, "prefix3")),
    ((BORN, MONTH_DAY), (POSTCODE, "value")),
)
"""Of files with postcode, street and house number, of as many rows as there are other keys for."""

_PASSES: Final = (
    (FINEST_FROM, _FINEST_KEYS, _PLACELESS_FINEST_KEYS),
    (FINER_FROM, _FINER_KEYS, _PLACELESS_FINER_KEYS),
    (0, _KEYS, _PLACELESS_KEYS),
)
"""From so many rows on: the keys, and those of files without any place."""


def compared_roles(roles: Collection[str], more: Collection[str] = ()) -> tuple[str, ...]:
    """The roles of the fields of a recipe, in their order.

    Args:
        roles: that there are columns for.
        more: of them, what is compared besides.
    """
    place = place_of(roles)
    usual = [place if role == PLACE else role for role in COMPARED]
    return tuple(role for role in dict.fromkeys((*usual, *more)) if role in roles)


def keys(roles: Collection[str], rows: int) -> tuple[Key, ...]:
    """The keys of the passes.

    Args:
        roles: that there are columns for; names and date of birth at least.
        rows: of the larger side.
    """
    if rows < FINEST_FROM and {POSTCODE, STREET, HOUSE} <= set(roles):
        return _ADDRESS_KEYS
    has_place = any(role in roles for role in PLACES)
    return next(placed if has_place else placeless for least, placed, placeless in _PASSES if rows >= least)


def terms(roles: Collection[str]) -> Terms:
    """The weights and local terms of fields of these roles, as of `compared_roles` without others."""
    place = place_of(roles)
    fitted = {**_TERMS[place], SEX: _SEX}
    weight, gram, empty, rarity = zip(*(fitted[role] for role in roles), strict=True)
    return Terms(weight, gram, empty, rarity, _LEAST[place])


def recipe(roles: Collection[str], rows: int, *, has_dashes: bool) -> dict[str, Any]:
    """The `[parameters]` of a job that takes one row of a key a side; the arguments are as of `parameters`.

    Args:
        roles: that there are columns for.
        rows: of the larger side.
        has_dashes: how dates are written.
    """
    fields = compared_roles(roles)
    return parameters(roles, fields, keys(roles, rows), terms(fields), 1, has_dashes=has_dashes)


def parameters(
    roles: Collection[str],
    fields: Sequence[str],
    blocking: Sequence[Key],
    terms: Terms,
    ranks: int,
    *,
    has_dashes: bool,
) -> dict[str, Any]:
    """The `[parameters]` of a job, whose columns are called by their roles.

    Args:
        roles: that there are columns for.
        fields: the roles that are compared.
        blocking: the keys of the passes.
        terms: of the fields, with the least score.
        ranks: 1 or 2.
        has_dashes: whether dates are YYYY-MM-DD; else they are YYYYMMDD.
    """
    place = place_of(roles)
    columns = zip(fields, terms.weights, terms.gram, terms.empty, terms.rarity, strict=True)
    return {
        "method": "tolerant",
        "least_score": terms.least,
        "ranks": ranks,
        "blocking": [write(key, place, has_dashes=has_dashes) for key in blocking],
        "fields": [
            {"column": role, "weight": weight}
            | {
                name: hundredths(value)
                for name, value in (("gram", gram), ("empty", empty), ("rarity", rarity))
                if value
            }
            for role, weight, gram, empty, rarity in columns
        ],
    }
