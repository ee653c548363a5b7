"""From bytes to characters that people can see: encodings, controls, and what is invisible."""

from __future__ import annotations

import codecs
import re
import sys
import unicodedata
from functools import cache
from typing import Final

from anonymizer.errors import FileError, TableError

INVISIBLE: Final = "Invisible characters, such as soft hyphens, zero-width spaces and marks of direction."

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""The categories Cc and Cs of Unicode without tab, line feed, form feed and carriage return, and two places
that XML forbids."""
_NO_CHARACTERS: Final = frozenset(
    {"unicode-escape", "raw-unicode-escape", "utf-7", "idna", "punycode", "undefined"}
)


def decode(name: str, data: bytes, encoding: str = "") -> str:
    """The characters of a file.

    A byte order mark decides. Without one the file is UTF-8, or, where it is not, of the declared encoding:
    files of both may lie in one folder, since text of another encoding is hardly ever valid UTF-8 by chance.

    Args:
        name: of the file, for messages.
        data: its bytes.
        encoding: of files that are not UTF-8, a name that Python knows; "" if none is declared.

    Raises:
        FileError: the bytes are of no such encoding, or hold control characters, or the name is unknown.
    """
    encoding = encoding and known_encoding(encoding)
    for mark, marked in _MARKS:
        if data.startswith(mark):
            return _strictly(name, data[len(mark) :], marked)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        if encoding:
            return _strictly(name, data, encoding)
        raise FileError(
            f"{name} is not UTF-8: byte {problem.start + 1:,} cannot be read.",
            "Declare its encoding, such as cp1252 or shift_jis, or save it as UTF-8.",
        ) from None
    if encoding and _control(text) is not None:  # such as ISO-2022-JP, or UTF-16 without a mark
        return _strictly(name, data, encoding)
    return text


def known_encoding(encoding: str) -> str:
    """The usual name of an encoding of texts.

    Raises:
        FileError: there is none of the name.
    """
    try:
        found = codecs.lookup(encoding).name
        "".encode(found)  # refuses codecs that are not of texts
    except (LookupError, ValueError, UnicodeError):
        found = ""
    if not found or found.replace("_", "-") in _NO_CHARACTERS:
        raise FileError(
            f"{encoding!r} is not an encoding of texts.", "Name one such as utf-16, cp1252 or shift_jis."
        )
    return found


def remove_unseen(name: str, text: str) -> str:
    """A text without characters that nobody sees; they could part a word, so that nobody finds it.

    Raises:
        FileError: it holds control characters, or halves of characters.
    """
    at = _control(text)
    if at is not None:
        code, line = ord(text[at]), text.count("\n", 0, at) + 1
        raise FileError(
            f"{name} holds the control character U+{code:04X} in line {line:,}.",
            "Take it out, or declare the right encoding if the file is of another one.",
        )
    return text if text.isascii() else _invisible().sub("", text)


def writable(text: str) -> str:
    """A text that an edit puts in.

    Raises:
        TableError: it holds control or invisible characters, which would not be read again.
    """
    if _control(text) is not None or _invisible().search(text):
        raise TableError(
            "A replacement holds control or invisible characters.", "Replace by characters that people see."
        )
    return text


def check_not_empty(name: str, text: str) -> str:
    """A text that says something.

    Raises:
        FileError: it is empty or blank.
    """
    if not text.strip():
        raise FileError(f"{name} holds no text.", "Take it out of the folder.")
    return text


def _control(text: str) -> int | None:
    """Where the first control character is, or half of a character."""
    found = _CONTROLS.search(text)
    return None if found is None else found.start()


_IGNORABLE: Final = (
    r"\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2065\u3164\ufe00-\ufe0f\uffa0"
    r"\ufff0-\ufff8\U000e0000-\U000e0fff"
)
"""Unicode's Default_Ignorable_Code_Point beside Cf: fillers, joiners and selectors of variants."""


@cache
def _invisible() -> re.Pattern[str]:
    """All characters of the category Cf of Unicode, and the others that nothing shows."""
    signs = "".join(one for one in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(one) == "Cf")
    return re.compile(f"[{signs}{_IGNORABLE}]")


def _strictly(name: str, data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as problem:
        raise FileError(
            f"{name} is not {encoding}: byte {problem.start + 1:,} cannot be read.",
            "Declare its right encoding, or save it as UTF-8.",
        ) from None
