"""What each column is to an attacker, declared once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Self

from anonymizer.errors import RoleError
from anonymizer.schema.documents import table_of
from commons.errors import near
from commons.settings.marks import Read
from commons.settings.reader import read_declared

LISTS: Final = ("identifiers", "quasi_identifiers", "sensitive")
"""The roles that several columns may have."""


MOST: Final = 1_000_000
"""The largest bound on the rows of a person; beyond it there is none."""

_NAMES: Final[Mapping[str, Any]] = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
_COUNT: Final[Mapping[str, Any]] = {"type": "integer", "minimum": 1, "maximum": MOST}


def _pass_on(value: Any, place: str) -> Any:
    """What the roles themselves check, whoever makes them."""
    del place
    return value


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles of a table's columns; a column without one is other, and is released as it is.

    Attributes:
        identifiers: name a person by themselves, and are never released.
        quasi_identifiers: an attacker may know them of a target and link by them (thesis, Definition 2.1).
        sensitive: what an attacker wants to learn.
        person: says whose a row is, where a person may have several rows; one of the identifiers, whether it
            is named among them or not. None if each row is a person of its own.
        rows_per_person: at most this many rows of a person are released, at least 1; None for all.
    """

    identifiers: Annotated[tuple[str, ...], Read(_pass_on, _NAMES)] = ()
    quasi_identifiers: Annotated[tuple[str, ...], Read(_pass_on, _NAMES)] = ()
    sensitive: Annotated[tuple[str, ...], Read(_pass_on, _NAMES)] = ()
    person: Annotated[str | None, Read(_pass_on, {"type": "string"})] = None
    rows_per_person: Annotated[int | None, Read(_pass_on, _COUNT)] = None

    def __post_init__(self) -> None:
        for role in LISTS:
            object.__setattr__(self, role, _names(getattr(self, role), role))
        self._check_person()
        named = [*self.identifiers, *self.quasi_identifiers, *self.sensitive]
        for name in named:
            if named.count(name) > 1:
                raise RoleError(f"Column {name!r} has two roles, or one twice.", "Keep one of them.")

    def _check_person(self) -> None:
        """Check the column of persons and its bound, and count it among the identifiers."""
        if self.person is None:
            if self.rows_per_person is not None:
                raise RoleError(
                    "rows_per_person is declared, and no column says whose a row is.",
                    'Write person = "patient_nbr" beside it, or leave it out.',
                )
            return
        if not isinstance(self.person, str):
            raise RoleError("Role person is not the name of a column.", 'Write person = "patient_nbr".')
        most = self.rows_per_person
        if most is not None and (type(most) is not int or not 1 <= most <= MOST):
            raise RoleError(f"rows_per_person is {most!r}.", f"Write a whole number from 1 to {MOST:,}.")
        if self.person not in self.identifiers:
            object.__setattr__(self, "identifiers", (*self.identifiers, self.person))

    @classmethod
    def from_mapping(cls, document: Mapping[str, Any], place: str = "roles") -> Self:
        """Read roles from a parsed TOML table with the keys of the attributes.

        Raises:
            RoleError: there is an unknown key, or an entry of the wrong type.
        """
        table = table_of(document, place)
        table.error = RoleError
        if unknown := [key for key in table.table if key not in cls.__slots__]:
            raise RoleError(f"{place} has an unknown role {unknown[0]!r}.", near(unknown[0], cls.__slots__))
        return read_declared(cls, table)

    def among(self, columns: Iterable[str]) -> Roles:
        """The roles of some columns only."""
        kept = set(columns)
        known = self.person in kept
        return replace(
            self,
            **{role: tuple(n for n in getattr(self, role) if n in kept) for role in LISTS},
            person=self.person if known else None,
            rows_per_person=self.rows_per_person if known else None,
        )

    def check(self, columns: Iterable[str]) -> None:
        """Check that every column with a role is there.

        Raises:
            RoleError: names the first that is not, and the nearest that is.
        """
        there = list(columns)
        for role in LISTS:
            for name in getattr(self, role):
                if name not in there:
                    named = "as person" if name == self.person else f"among {role}"
                    raise RoleError(
                        f"The table has no column {name!r}, which the roles name {named}.",
                        near(name, there),
                    )


def _names(given: Any, role: str) -> tuple[str, ...]:
    listed = isinstance(given, Iterable) and not isinstance(given, str)
    names = tuple(given) if listed else (None,)
    if not all(isinstance(name, str) for name in names):
        raise RoleError(f"Role {role} is not a list of column names.", f'Write {role} = ["age", "zip"].')
    return names
