"""What is said of settings that are wrong, and how their places are called."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from commons.errors import near

_KINDS: Final = {
    str: ("has to be text", "Put it in quotation marks."),
    Path: ("is not a path", "Write one in quotation marks, without control characters."),
    int: ("has to be an integer", "Write it without quotation marks or point."),
    float: ("has to be a number", "Write it without quotation marks."),
    bool: ("has to be true or false", "Write it without quotation marks."),
    date: ("is not a date", "Write it as 1990-12-31."),
    Fraction: ("is not a number of at most 30 digits", 'Write it as "1/2" or "0.5".'),
    list: ("has to be a list of texts", 'Write it as ["a", "b"].'),
    Decimal: ("has to be a number", "Write it without quotation marks."),
}


class Wording:
    """The words of `duetto.toml, limits: sessions is above 64.`; packages may use others."""

    def inner(self, place: str, key: str) -> str:
        """How a table within another is called."""
        return f"{place}, {key}"

    def item(self, place: str, key: str, word: str, number: int) -> str:
        """How an entry of a list of tables is called, its number counted from 1."""
        return f"{place}, {word or key} {number}"

    def named(self, place: str, key: str, word: str, name: str) -> str:
        """How a table of a table of tables is called."""
        return f"{place}, {word} {name}" if word else f"{place}, {key}, {name}"

    def entry(self, place: str, key: str) -> str:
        """How the value of a key is called."""
        return f"{place}: {key}"

    def problem(self, place: str, key: str, value: Any, problem: str) -> str:
        """The sentence of a value that is wrong."""
        del value
        return f"{self.entry(place, key)} {problem}."

    def not_a_table(self, place: str) -> tuple[str, str]:
        """Of something else where a table has to be: what is wrong, and how to fix it."""
        return f"{place} has to be a table.", "Write it as [name] with keys below."

    def not_tables(self, key: str, word: str) -> tuple[str, str]:
        """Of something else where a list of tables has to be."""
        return "has to be a list of tables", f"Write each {word or 'one'} below its own [[{key}]]."

    def unknown(self, place: str, variant: str, key: str, known: Collection[str]) -> tuple[str, str]:
        """Of a key that does not exist, in a table of some variant or "" for the only one."""
        del variant
        return f"{self.entry(place, repr(key))} is not a known key.", near(key, known)

    def missing(self, place: str, key: str, meant: str | None) -> tuple[str, str]:
        """Of a key that has to be there; `meant` is an unknown one that is like it."""
        what = f"{self.entry(place, key)} is missing."
        return what, f"Is {meant!r} meant to be it?" if meant else f"Add {key}."

    def kind(self, place: str, key: str, value: Any, kind: type) -> tuple[str, str]:
        """Of a value of another type."""
        problem, hint = _KINDS[kind]
        return self.problem(place, key, value, problem), hint

    def outside(self, value: Any, minimum: Any, maximum: Any) -> tuple[str, str]:
        """Of a number outside its bounds."""
        if minimum is not None and value < minimum:
            return f"is below {minimum}", f"Write {minimum} or more."
        return f"is above {maximum}", f"Write {maximum} or less."

    def length(self, minimum: int, maximum: int | None) -> tuple[str, str]:
        """Of a list or table that is too short or too long."""
        if maximum is None:
            return "is empty", f"Write {minimum} or more."
        return f"has not {minimum} to {maximum} entries", f"Write {minimum} to {maximum}."

    def repeated(self) -> tuple[str, str]:
        """Of a list with an entry twice."""
        return "names something twice", "Remove the repetition."

    def choice(
        self, place: str, key: str, value: str, known: Sequence[str], *, in_list: bool = False
    ) -> tuple[str, str]:
        """Of a text, or an entry of a list, that is not among those that there are."""
        problem = f"{'holds' if in_list else 'is'} {value!r}"
        return self.problem(place, key, value, problem), near(value, known)


SETTINGS: Final = Wording()
