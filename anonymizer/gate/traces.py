"""Identifiers in disguise: values that look drawn, numbered or hashed, and values of an identifier."""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.gate.codes import are_codes, are_times
from anonymizer.gate.finding import Finding
from anonymizer.gate.relations import CHANCE
from anonymizer.gate.views import ColumnView

Int = NDArray[np.int64]

MIN_VALUES: Final = 20
"""Values below which nothing is said of their look."""

NEARLY_ALL: Final = 0.9
"""Part of the rows in which a column must differ to single out rows."""

CODED: Final = "with the digits of codes that differ in nearly every row"
"""How numbers are called that were hardly measured."""

GIVEN_OUT: Final = "as numbers given out one by one do"
"""How it is said of numbers of which few between the least and the largest are left out."""

_DENSE: Final = 4
"""Numbers of a range for each that occurs, up to which they were given out one by one: amounts of a table
from which equal rows were taken out differ too."""
_SHORTEST: Final = 4
_CUT: Final = 8
_HASHED: Final = 4_000

_HEX: Final = re.compile(r"[0-9a-f]{8,128}|[0-9A-F]{8,128}")
_UUID: Final = re.compile(r"\{?[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\}?")
_BASE64: Final = re.compile(
    r"[A-Za-z0-9+/_-]{22,24}={0,2}|[A-Za-z0-9+/_-]{27,28}=?|[A-Za-z0-9+/_-]{43}=?|[A-Za-z0-9+/_-]{86}={0,2}"
)

DIGESTS: Final[dict[str, Callable[[bytes], str]]] = {
    "the SHA-256 of": lambda text: hashlib.sha256(text).hexdigest(),
    "the SHA-1 of": lambda text: hashlib.sha1(text, usedforsecurity=False).hexdigest(),
    "the MD5 of": lambda text: hashlib.md5(text, usedforsecurity=False).hexdigest(),
    "the SHA-512 of": lambda text: hashlib.sha512(text).hexdigest(),
    "the SHA-224 of": lambda text: hashlib.sha224(text).hexdigest(),
    "the SHA-384 of": lambda text: hashlib.sha384(text).hexdigest(),
    "the SHA3-256 of": lambda text: hashlib.sha3_256(text).hexdigest(),
    "the BLAKE2b of": lambda text: hashlib.blake2b(text).hexdigest(),
    "the BLAKE2s of": lambda text: hashlib.blake2s(text).hexdigest(),
    "the CRC-32 of": lambda text: f"{zlib.crc32(text):08x}",
}
"""What may have been made of an identifier without a key, and is often cut."""

FORMS: Final[dict[str, Callable[[str], str]]] = {
    "as they are": lambda text: text,
    "in base64": lambda text: base64.b64encode(text.encode()).decode(),
    "in base32": lambda text: base64.b32encode(text.encode()).decode(),
    "in hexadecimal": lambda text: text.encode().hex(),
    "from right to left": lambda text: text[::-1],
}
"""Ways to write an identifier."""


def looks_like_an_identifier(column: ColumnView) -> str | None:
    """What a column's values look like by themselves, as the end of a sentence; None if like nothing.

    Whole numbers are taken for numbers that were given out if all differ although so many drawn at random
    from the same range would have met: n numbers of a range of m are all different with a probability of at
    most exp(-n (n - 1) / 2m).
    """
    found = _of_digests(column) or _of_numbers_given_out(column) or _of_single_values(column)
    return found or None


def _of_digests(column: ColumnView) -> str:
    texts = [value for value in column.values if isinstance(value, str)]
    if len(texts) < max(MIN_VALUES, len(column.values)):
        return ""
    if sum(map(bool, map(_UUID.fullmatch, texts))) > NEARLY_ALL * len(texts):
        return "look like UUIDs"
    if _is_hex(texts):
        return "look like digests or keys in hexadecimal"
    return "look like digests or keys in base64" if _is_base64(texts) else ""


def _of_numbers_given_out(column: ColumnView) -> str:
    rows = int((column.codes >= 0).sum())
    whole = column.whole
    if whole is None or not len(whole) == rows >= MIN_VALUES:
        return ""
    span = int(whole.max()) - int(whole.min()) + 1
    if rows * (rows - 1) / 2 / span <= -np.log(CHANCE):
        return ""
    words = GIVEN_OUT if lie_densely(whole) else "as numbers given out do"
    return f"are whole numbers that are all different and lie close together, {words}"


def lie_densely(whole: Int) -> bool:
    """Whether different whole numbers leave few between the least and the largest out."""
    return int(whole.max()) - int(whole.min()) < _DENSE * len(whole)


def _of_single_values(column: ColumnView) -> str:
    rows = int((column.codes >= 0).sum())
    if rows < MIN_VALUES or len(column.values) <= NEARLY_ALL * rows:
        return ""
    if column.is_text:
        return "are texts that differ in nearly every row"
    if are_times(column):
        return "are times finer than a day, or durations, that differ in nearly every row"
    if column.numbers is not None and are_codes(column.numbers):
        return f"are numbers {CODED}, as times in seconds, account numbers and digests do"
    return ""


def find_reencoded(columns: Sequence[ColumnView], identifiers: Sequence[ColumnView]) -> Iterator[Finding]:
    """Look for values of an identifier in any order of the rows: as they are, encoded, or hashed and cut."""
    for identifier in identifiers:
        texts = [str(value).strip() for value in identifier.values]
        step = max(1, len(texts) // _HASHED)
        written, digests = _spellings(texts), _digests(texts[::step])
        for column in columns:
            word = _find_derivation(column, written, digests, len(texts))
            if word is not None and column.name != identifier.name:
                yield Finding(
                    "disguise",
                    column.name,
                    f"Column {column.name} holds values of the identifier {identifier.name}, {word}.",
                    f"Name {column.name} among the identifiers, which takes it out.",
                )


def find_in_headers(columns: Sequence[ColumnView], identifiers: Sequence[ColumnView]) -> Iterator[Finding]:
    """Look for values of an identifier among the names of the columns, as where the first line is a row."""
    for identifier in identifiers:
        values = {_plain(value) for value in identifier.values}
        for column in columns:
            word = _plain(column.name)
            if len(word) >= _SHORTEST and not word.isdigit() and word in values:
                yield Finding(
                    "disguise",
                    column.name,
                    f"The name of column {column.name} is a value of the identifier {identifier.name}.",
                    "Rename the column, or give the file a first line that names the columns.",
                )


def _spellings(texts: Sequence[str]) -> dict[str, str]:
    """The ways to write identifiers, by how they read then; short ones and numbers may occur by chance."""
    made: dict[str, str] = {}
    for text in texts:
        if len(text) >= _SHORTEST and not text.isdigit():
            for word, write in FORMS.items():
                made |= {_plain(write(form)): word for form in (text.lower(), text.upper(), text)}
    return made


def _digests(texts: Sequence[str]) -> dict[str, str]:
    """The digests of identifiers, by their first eight letters."""
    return {
        digest(form.encode())[:_CUT]: f"{word} them"
        for text in texts
        for form in {text, text.lower(), text.upper()}
        for word, digest in DIGESTS.items()
    }


def _find_derivation(
    column: ColumnView, written: dict[str, str], digests: dict[str, str], most: int
) -> str | None:
    """How values of a column were made of the identifiers; None if they were not.

    Digests do not meet by chance, so that one in a hundred tells. Names may, as physicians may be patients:
    half of the values, or of the identifiers, must be there.
    """
    values = [_plain(value) for value in column.values]
    found = Counter(word for value in values if (word := written.get(value)) is not None)
    for word, hits in found.most_common(1):
        if hits >= 2 and 2 * hits >= min(len(values), most):
            return word
    cut = (value[:_CUT] for value in values if len(value) >= _CUT)
    found = Counter(word for value in cut if (word := digests.get(value)) is not None)
    for word, hits in found.most_common(1):
        if hits >= max(2, min(len(values), most) // 100):
            return word
    return None


def _plain(value: Any) -> str:
    text = value if isinstance(value, str) else str(value)
    return text.strip().casefold().rstrip("=")


def _is_hex(texts: Sequence[str]) -> bool:
    fit = [text for text in texts if _HEX.fullmatch(text)]
    if len(fit) <= NEARLY_ALL * len(texts) or len({len(text) for text in fit}) > 1:
        return False
    used = set("".join(fit).lower())
    return len(used & set("abcdef")) >= 4 and len(used & set("0123456789")) >= 7


def _is_base64(texts: Sequence[str]) -> bool:
    fit = [text for text in texts if _BASE64.fullmatch(text)]
    if len(fit) <= NEARLY_ALL * len(texts) or len({len(text) for text in fit}) > 1:
        return False
    used = set("".join(fit))
    return len(used) >= 40 and any(map(str.isdigit, used)) and any(map(str.isupper, used))
