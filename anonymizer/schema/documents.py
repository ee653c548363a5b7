"""Specifications as TOML documents, and the words for what is wrong in them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Final

from anonymizer.errors import FileError, SpecError
from commons.errors import near
from commons.settings.table import StrictTable
from commons.settings.toml import read
from commons.settings.wording import Wording

_KINDS: Final[dict[type, tuple[str, str]]] = {
    str: ("is not a text", "Put it in quotes."),
    Path: ("is not a path", "Write one in quotes, without control characters."),
    int: ("= {!r} is not a whole number", "Write such as 3."),
    float: ("= {!r} is not a number", "Write such as 0.5."),
    bool: ("= {!r} is neither true nor false", "Write true or false."),
    date: ("= {!r} is not a date", "Write it as 2025-12-31."),
    list: ("is not a list of words", 'Write it as ["a", "b"].'),
}


class DocumentWording(Wording):
    """The words of errors such as `spec.toml, attack: keywords = 6 is out of range`."""

    def named(self, place: str, key: str, word: str, name: str) -> str:
        """How a table of a table of tables is called."""
        return f"{place}, {word or key} {name!r}"

    def not_a_table(self, place: str) -> tuple[str, str]:
        """Of something else where a table has to be."""
        return f"{place} is not a table.", "Write its keys below [name], or as { ... }."

    def not_tables(self, key: str, word: str) -> tuple[str, str]:
        """Of something else where a list of tables has to be."""
        del word
        return "is not a list", f"Write each below [[{key}]]."

    def unknown(self, place: str, variant: str, key: str, known: Collection[str]) -> tuple[str, str]:
        """Of a key that does not exist."""
        del variant
        return f"{place} has an unknown key {key!r}.", near(key, known)

    def missing(self, place: str, key: str, meant: str | None) -> tuple[str, str]:
        """Of a key that has to be there."""
        return f"{place} lacks {key}.", f"Is {meant!r} meant to be it?" if meant else f"Add {key} = ..."

    def kind(self, place: str, key: str, value: Any, kind: type) -> tuple[str, str]:
        """Of a value of another type."""
        problem, hint = _KINDS[kind]
        return f"{place}: {key} {problem.format(value)}.", hint

    def problem(self, place: str, key: str, value: Any, problem: str) -> str:
        """The sentence of a value that is wrong."""
        return f"{place}: {key} {problem.format(repr(value))}."

    def outside(self, value: Any, minimum: Any, maximum: Any) -> tuple[str, str]:
        """Of a number outside its bounds."""
        del value
        upper = "or more" if maximum is None else f"to {maximum:,}"
        return "= {} is out of range", f"Choose {minimum} {upper}."

    def choice(
        self, place: str, key: str, value: str, known: Sequence[str], *, in_list: bool = False
    ) -> tuple[str, str]:
        """Of a text, or an entry of a list, that is not among those that there are."""
        what = f"{value!r} is not one of {key}" if in_list else f"{key} is {value!r}"
        return f"{place}: {what}.", near(value, known)


DOCUMENTS: Final = DocumentWording()


def table_of(document: Any, place: str, folder: Path = Path()) -> StrictTable:
    """A table of a specification, to be read.

    Args:
        document: the parsed table.
        place: how errors call it.
        folder: where paths are meant from.

    Raises:
        SpecError: it is not a table.
    """
    return StrictTable(document, place, SpecError, DOCUMENTS, folder)


def document_of(path: Path) -> dict[str, Any]:
    """The parsed document in a file of UTF-8, with a byte order mark or without.

    Raises:
        FileError: it cannot be read.
        SpecError: it is not TOML; says where.
    """
    return read(path, SpecError, float, unreadable=FileError)
