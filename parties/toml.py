"""Strict reading of TOML: every key is asked for by name, and what nobody asked for is an error.

Numbers with a point arrive as `decimal.Decimal`, so no value that a person wrote passes through a float.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from commons.errors import near
from smc.errors import DuettoError

_TEXT_BYTES = 1 << 20

_SHORT: Final = re.compile(
    r"[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,2})?|[+-]?[0-9]{1,30}/[0-9]{1,30}"
)
"""What is made a fraction of: not an exponent that would fill the memory with digits."""


def parse(text: str, place: str, error: type[DuettoError]) -> dict[str, Any]:
    """Parse TOML.

    Args:
        text: the document.
        place: how errors call it, such as a file name.
        error: the class of errors.

    Raises:
        DuettoError: of class `error`; the text is not TOML or too long.
    """
    if len(text) > _TEXT_BYTES:
        raise error(f"{place} is longer than {_TEXT_BYTES} characters.", "Shorten it.")
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise error(f"{place} is not valid TOML: {problem}.", "Correct the line.") from None
    except ValueError:
        raise error(f"{place} has a number with thousands of digits.", "Shorten it.") from None


def read(path: Path, error: type[DuettoError]) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        DuettoError: of class `error`; the file is missing, unreadable or not TOML.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise error(f"{path} does not exist.", "Make it, or correct the path in duetto.toml.") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise error(
            f"{path} cannot be read: {type(problem).__name__}.", "Check rights and encoding."
        ) from None
    return parse(text, path.name, error)


class StrictTable:
    """A TOML table that knows which of its keys have been asked for.

    Args:
        table: the parsed table.
        place: how errors call it, such as `policy.toml, rule 2`.
        error: the class of errors.
    """

    def __init__(self, table: Any, place: str, error: type[DuettoError]) -> None:
        if not isinstance(table, Mapping):
            raise error(f"{place} has to be a table.", "Write it as [name] with keys below.")
        self._table = table
        self._asked: set[str] = set()
        self.place = place
        self.error = error

    def fail(self, key: str, problem: str, hint: str) -> DuettoError:
        """The error for one key, to be raised by the caller."""
        return self.error(f"{self.place}: {key} {problem}.", hint)

    def has(self, key: str) -> bool:
        """Whether the key is there."""
        self._asked.add(key)
        return key in self._table

    def raw(self, key: str) -> Any:
        """The value, whatever it is, or None if it is not there."""
        self._asked.add(key)
        return self._table.get(key)

    def text(self, key: str, default: str | None = None) -> str:
        """A string; required unless a default is given."""
        value = self._value(key, default)
        if not isinstance(value, str):
            raise self.fail(key, "has to be text", "Put it in quotation marks.")
        return value

    def choice(self, key: str, known: Sequence[str], default: str | None = None) -> str:
        """One of `known`."""
        value = self.text(key, default)
        if value not in known:
            raise self.fail(key, f"is {value!r}", near(value, known))
        return value

    def integer(self, key: str, default: int | None = None, *, minimum: int | None = None) -> int:
        """An integer of at least `minimum`."""
        value = self._value(key, default)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.fail(key, "has to be an integer", "Write it without quotation marks or point.")
        if minimum is not None and value < minimum:
            raise self.fail(key, f"is below {minimum}", f"Write {minimum} or more.")
        return value

    def boolean(self, key: str, *, default: bool) -> bool:
        """True or false."""
        value = self._value(key, default)
        if not isinstance(value, bool):
            raise self.fail(key, "has to be true or false", "Write it without quotation marks.")
        return value

    def fraction(self, key: str, default: str | None = None) -> Fraction:
        """A non-negative rational, written `"1/2"`, `"0.5"`, 0.5 or 1."""
        value = self._value(key, default)
        try:
            if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
                raise ValueError
            if not _SHORT.fullmatch(str(value).strip()):
                raise ValueError
            number = Fraction(value)
        except (ValueError, ZeroDivisionError):
            raise self.fail(
                key, "is not a number of at most 30 digits", 'Write it as "1/2" or "0.5".'
            ) from None
        if number < 0:
            raise self.fail(key, "is negative", "Write 0 or more.")
        return number

    def texts(self, key: str, default: Sequence[str] | None = None) -> tuple[str, ...]:
        """A list of strings, each once."""
        value = self._value(key, default)
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise self.fail(key, "has to be a list of texts", 'Write it as ["a", "b"].')
        if len(set(value)) != len(value):
            raise self.fail(key, "names something twice", "Remove the repetition.")
        return tuple(value)

    def table(self, key: str, *, required: bool = True) -> StrictTable:
        """A table below this one; an empty one if it may be missing and is."""
        value = self._value(key, None if required else {})
        return StrictTable(value, f"{self.place}, {key}", self.error)

    def items(self) -> list[tuple[str, Any]]:
        """All keys and values, for tables whose keys are names."""
        self._asked.update(self._table)
        return list(self._table.items())

    def close(self) -> None:
        """Refuse what nobody asked for.

        Raises:
            DuettoError: of the table's class; a key is unknown.
        """
        for key in self._table:
            if key not in self._asked:
                raise self.fail(repr(key), "is not a known key", near(str(key), sorted(self._asked)))

    def _value(self, key: str, default: Any) -> Any:
        self._asked.add(key)
        value = self._table.get(key, default)
        if value is None:
            meant = get_close_matches(key, [str(name) for name in self._table if name not in self._asked], 1)
            hint = f"Is {meant[0]!r} meant to be it?" if meant else f"Add {key}."
            raise self.fail(key, "is missing", hint)
        return value
