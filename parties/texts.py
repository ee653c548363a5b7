"""The check of texts: which ones are let in from peers and job files, and how any text is shown.

A text that is shown to somebody who decides must not be able to move the cursor, change its style, reorder
what stands around it, begin a line of its own or hide. So a plain text is printable, and holds neither
letters without an image nor piles of combining marks (Unicode Standard, chapters 2.11 and 23; Unicode
Technical Report 36, section 2). What is not plain is refused where it comes in and escaped where it is
shown.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any, Final

MARKS: Final = 4
"""The most combining marks on one character; no living language needs more."""

BLANKS: Final = 2
"""The most blanks in a row: more can push what follows to the beginning of a line."""

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]{0,63}")
"""What names of data sets, and of parties and columns in job files, may look like."""

FINGERPRINT: Final = re.compile(r"[0-9a-f]{64}")
"""What fingerprints of keys look like: a SHA-256 digest in hexadecimal."""

_EMPTY: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)
"""Characters that count as printable and show nothing: fillers, variation selectors, the blank of Braille."""


def is_plain(text: str) -> bool:
    """Whether a text may come in: printable, without hidden characters, piles of marks or rows of blanks."""
    if not text.isprintable() or " " * (BLANKS + 1) in text:
        return False
    if text.isascii():
        return True
    piles = (len([*run]) for mark, run in groupby(text, _is_mark) if mark)
    return _EMPTY.isdisjoint(text) and max(piles, default=0) <= MARKS


def unfit(value: Any, place: str) -> str | None:
    """Where in a document the first text or key stands that is not plain; None if there is none.

    Args:
        value: mappings, lists, texts and other plain values.
        place: how the document is called.

    Raises:
        RecursionError: it is nested too deeply.
    """
    if isinstance(value, str):
        return None if is_plain(value) else place
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(key, str) and not is_plain(key):
                return f"{place}, a key"
            if found := unfit(inner, f"{place}, {key}"):
                return found
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value, 1):
            if found := unfit(inner, f"{place}, entry {number}"):
                return found
    return None


def escape_unprintable(text: str) -> str:
    """A text as it is shown: what is not printable, or hidden, is written as an escape, see `escape`."""
    return _rewrite(text, escape)


def json_visible(text: str) -> str:
    """JSON of one line with the same value: what `escape_unprintable` escapes has JSON's own escapes."""
    return _rewrite(text, _json_escape)


def escape(character: str) -> str:
    """The escape of one character as Python writes it: a backslash, x, u or U, and 2, 4 or 8 digits."""
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def with_unit(name: str, unit: str) -> str:
    """A name with the unit behind it in brackets, where there is one and the name does not have it so."""
    return f"{name} ({unit})" if unit and not any(f"{a}{unit}{b}" in name for a, b in ("()", "[]")) else name


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def _rewrite(text: str, escaped: Callable[[str], str]) -> str:
    if text.isascii() and text.isprintable():
        return text
    pieces = []
    marks = 0
    for character in text:
        marks = marks + 1 if _is_mark(character) else 0
        hidden = not character.isprintable() or character in _EMPTY or marks > MARKS
        pieces.append(escaped(character) if hidden else character)
    return "".join(pieces)


def _is_mark(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Me")
