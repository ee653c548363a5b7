"""What each column is to an attacker, declared once."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from anonymizer.errors import FileError, RoleError, near


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles of a table's columns; a column without one is other, and is released as it is.

    Attributes:
        identifiers: name a person by themselves, and are never released.
        quasi_identifiers: an attacker may know them of a target and link by them (thesis, Definition 2.1).
        sensitive: what an attacker wants to learn.
    """

    identifiers: tuple[str, ...] = ()
    quasi_identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for role in fields(self):
            object.__setattr__(self, role.name, _names(getattr(self, role.name), role.name))
        named = [*self.identifiers, *self.quasi_identifiers, *self.sensitive]
        for name in named:
            if named.count(name) > 1:
                raise RoleError(f"Column {name!r} has two roles, or one twice.", "Keep one of them.")

    @classmethod
    def from_mapping(cls, document: Mapping[str, Any], place: str = "roles") -> Self:
        """Read roles from a parsed TOML table with the keys of the attributes.

        Raises:
            RoleError: there is an unknown key, or an entry that is not a list of column names.
        """
        known = [role.name for role in fields(cls)]
        for key in document:
            if key not in known:
                raise RoleError(f"{place} has an unknown role {key!r}.", near(key, known))
        return cls(**document)

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        """Read roles from a TOML file, at its top or below `[roles]`.

        Raises:
            FileError: it cannot be read or is no TOML.
            RoleError: as `from_mapping`.
        """
        try:
            document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
            raise FileError(f"{path} cannot be read as TOML: {problem}.", "Check the file.") from None
        return cls.from_mapping(document.get("roles", document), Path(path).name)

    def among(self, columns: Iterable[str]) -> Roles:
        """The roles of some columns only."""
        kept = set(columns)
        return Roles(*(tuple(n for n in getattr(self, role.name) if n in kept) for role in fields(self)))

    def check(self, columns: Iterable[str]) -> None:
        """Check that every column with a role is there.

        Raises:
            RoleError: names the first that is not, and the nearest that is.
        """
        there = list(columns)
        for role in fields(self):
            for name in getattr(self, role.name):
                if name not in there:
                    raise RoleError(
                        f"The table has no column {name!r}, which the roles name among {role.name}.",
                        near(name, there),
                    )


def _names(given: Any, role: str) -> tuple[str, ...]:
    listed = isinstance(given, Iterable) and not isinstance(given, str)
    names = tuple(given) if listed else (None,)
    if not all(isinstance(name, str) for name in names):
        raise RoleError(f"Role {role} is not a list of column names.", f'Write {role} = ["age", "zip"].')
    return names
