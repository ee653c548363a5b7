"""TOML as plain values.

Numbers with a point arrive as `decimal.Decimal` unless the caller wants floats, so that no value that a
person wrote passes through a float.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from commons.errors import HintedError

_TEXT_BYTES = 1 << 20
_MOST_BITS = 4096


def parse(
    text: str, place: str, error: type[HintedError], number: Callable[[str], Any] = Decimal
) -> dict[str, Any]:
    """Parse TOML.

    Args:
        text: the document.
        place: how errors call it, such as a file name.
        error: the class of errors.
        number: makes a value of a number with a point.

    Raises:
        HintedError: of class `error`; the text is not TOML or too long.
    """
    if len(text) > _TEXT_BYTES:
        raise error(f"{place} is longer than {_TEXT_BYTES} characters.", "Shorten it.")
    try:
        found = tomllib.loads(text, parse_float=number)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise error(f"{place} is not valid TOML: {problem}.", "Correct the line.") from None
    except ValueError:
        found = None
    if found is None or _has_endless(found):
        raise error(f"{place} has a number with thousands of digits.", "Shorten it.")
    return found


def _has_endless(value: Any) -> bool:
    """Whether a whole number is in it that Python does not write in digits; hexadecimal ones can be."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, int) and each.bit_length() > _MOST_BITS:
            return True
        waiting += each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
    return False


def read(
    path: Path,
    error: type[HintedError],
    number: Callable[[str], Any] = Decimal,
    *,
    unreadable: type[HintedError] | None = None,
) -> dict[str, Any]:
    """Read a TOML file of UTF-8, with a byte order mark or without.

    Args:
        path: the file.
        error: the class of errors.
        number: as of `parse`.
        unreadable: the class of errors where the file cannot be read; `error` unless given.

    Raises:
        HintedError: of these classes; the file is missing, unreadable or not TOML.
    """
    text = text_of(path, unreadable or error).removeprefix("\ufeff")
    return parse(text, path.name, error, number)


def text_of(path: Path, error: type[HintedError]) -> str:
    """The text of a file of UTF-8 as it lies there, a byte order mark and the ends of lines included.

    Args:
        path: the file.
        error: the class of errors.

    Raises:
        HintedError: of class `error`; the file is missing, unreadable or not UTF-8, and then where.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise error(f"{path} cannot be read: it does not exist.", "Make it, or correct the path.") from None
    except OSError as problem:
        raise error(f"{path} cannot be read: {type(problem).__name__}.", "Check rights.") from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise error(
            f"{path} is not UTF-8: line {line} has the byte 0x{data[problem.start]:02X}.",
            "Save it as UTF-8; if it is Latin-1, `iconv -f LATIN1 -t UTF-8` makes it that.",
        ) from None
