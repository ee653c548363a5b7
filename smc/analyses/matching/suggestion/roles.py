"""What the columns of a register of persons are, by their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from smc.errors import UsageError

GIVEN: Final = "given_name"
SURNAME: Final = "surname"
BORN: Final = "born"
POSTCODE: Final = "postcode"
TOWN: Final = "town"
STREET: Final = "street"
SEX: Final = "sex"

_NAMES: Final[Mapping[str, str]] = {
    GIVEN: r"given_?names?|first_?names?|fore_?names?|vornamen?|prenom",
    SURNAME: r"sur_?names?|last_?names?|family_?names?|nachnamen?|familiennamen?|nom",
    BORN: r"born|birth|dob|date_?of_?birth|birth_?(date|day)|geburtsdatum|geboren|geb_?dat(um)?",
    POSTCODE: r"post_?codes?|postal_?codes?|zip(_?code)?|plz|postleitzahl",
    TOWN: r"town|city|suburb|place|ort|stadt|wohnort",
    STREET: r"street|street_?name|address(_?(1|line))?|stra(ss|ß)e|adresse",
    SEX: r"sex|gender|geschlecht",
}

ROLES: Final = tuple(_NAMES)
"""All roles that a column can have."""


def guessed(columns: Iterable[str], given: Mapping[str, str]) -> dict[str, str]:
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
        if role not in _NAMES:
            raise UsageError(f"{role!r} is not a role of a column.", f"Use {', '.join(ROLES)}.")
        if column and column not in names:
            raise UsageError(f"The file has no column {column!r}.", f"Name one of {', '.join(names)}.")
    taken = [column for column in given.values() if column]
    if len(set(taken)) < len(taken):
        raise UsageError("A column has two roles.", "Name each column for one role only.")
    found = {}
    for role, pattern in _NAMES.items():
        fitting = (name for name in names if name not in taken and re.fullmatch(pattern, _plain(name)))
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


def _plain(name: str) -> str:
    words = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).strip().lower()
    return re.sub(r"[\s.-]+", "_", words)
