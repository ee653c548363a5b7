"""Whether data sets of one population call a person alike: else everybody is a stranger to earlier jobs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Protocol

from parties.catalog.columns.persons import Kind


class Names(Protocol):
    """What of a declared data set says how it calls persons, see `declarations.declaration`."""

    @property
    def name(self) -> str:
        """Of the data set."""

    @property
    def person(self) -> tuple[str, ...]:
        """The columns that tell whom a row is about, where they are declared."""

    @property
    def naming(self) -> tuple[str, ...]:
        """The same; the key where each row is about another person."""

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """By what their cells are compared."""

    @property
    def origin(self) -> Hashable:
        """What is the same for two names of one source."""


def unlike(own: Names, alike: Iterable[Names]) -> tuple[str, str] | None:
    """What is wrong, and how to fix it, where data sets of one population call a person differently.

    Args:
        own: one of them.
        alike: all of them.
    """
    for other in alike:
        both = f"Data sets {own.name!r} and {other.name!r} are about one population"
        if own.kinds != other.kinds:
            ways = " and ".join(
                ", ".join(f"{c!r} as {kind}" for c, kind in zip(each.naming, each.kinds, strict=True))
                for each in (own, other)
            )
            return (
                f"{both} and tell persons apart in different ways ({ways}): who is in both would be a "
                "stranger to earlier exact jobs.",
                "Name as many columns in both, and declare them with the same types: type = "
                '"integer" for whole numbers.',
            )
        if own.naming != other.naming and (
            own.origin == other.origin or sorted(own.naming) == sorted(other.naming)
        ):
            return (
                f"{both}, and call persons by {', '.join(own.naming)} and by {', '.join(other.naming)} "
                "of the same source or in another order: everybody would be a stranger to earlier exact "
                "jobs.",
                f"Name the same columns in the same order below [datasets.{other.name}] in the catalog.",
            )
        if bool(own.person) != bool(other.person) and own.naming != other.naming:
            lacks = other if own.person else own
            return (
                f"{both}, and only one of them says whom a row is about.",
                f'Write person = "COLUMN" below [datasets.{lacks.name}] in the catalog.',
            )
    return None
