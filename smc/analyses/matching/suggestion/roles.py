"""What the columns of a register of persons are, by their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from commons.tabular.column_names import named_as_a_whole
from smc.errors import UsageError

GIVEN: Final = "given_name"
SURNAME: Final = "surname"
BORN: Final = "born"
POSTCODE: Final = "postcode"
TOWN: Final = "town"
STREET: Final = "street"
HOUSE: Final = "house"
SEX: Final = "sex"

_KINDS: Final[Mapping[str, str]] = {
    GIVEN: "given_name",
    SURNAME: "surname",
    BORN: "birth_date",
    POSTCODE: "postcode",
    TOWN: "town",
    STREET: "street",
    HOUSE: "",
    SEX: "sex",
}
"""The kind of column names that fits each role; "" where they are named one by one."""

_HOUSES: Final = frozenset(
    {"house", "housenumber", "houseno", "streetnumber", "streetno", "hausnummer", "hausnr", "huisnummer"}
    | {"numeroderue", "numerodecasa", "numerocivico", "civico"}
)
"""Names of a column of house numbers, without what is no letter."""

ROLES: Final = tuple(_KINDS)
"""All roles that a column can have."""


def guess_roles(columns: Iterable[str], given: Mapping[str, str]) -> dict[str, str]:
    """The column of each role.

    Args:
        columns: names of columns, in their order; the first that fits a role has it.
        given: columns by role that a person has named; an empty name leaves the role out.

    Returns:
        Columns by role, in the order of `ROLES`.

    Raises:
        UsageError: a role is not known, a column is not there or has two roles, or one is
            missing that is needed.
    """
    names = list(columns)
    for role, column in given.items():
        if role not in _KINDS:
            raise UsageError(f"{role!r} is not a role of a column.", f"Use {', '.join(ROLES)}.")
        if column and column not in names:
            raise UsageError(f"The file has no column {column!r}.", f"Name one of {', '.join(names)}.")
    taken = [column for column in given.values() if column]
    if len(set(taken)) < len(taken):
        raise UsageError("A column has two roles.", "Name each column for one role only.")
    found = {}
    for role, kind in _KINDS.items():
        fitting = (name for name in names if name not in taken and _fits(name, kind))
        column = given[role] if role in given else next(fitting, "")
        if column:
            found[role] = column
    missing = [role for role in (GIVEN, SURNAME, BORN) if role not in found]
    if missing:
        raise UsageError(
            f"No column was found for {', '.join(missing)}.",
            f"Say which by --role {missing[0]}=COLUMN; there is no recipe without names and date of birth.",
        )
    return found


def _fits(name: str, kind: str) -> bool:
    if "".join(letter for letter in name.casefold() if letter.isalpha()) in _HOUSES:
        return not kind
    return any(one.name == kind for one in named_as_a_whole(name))
