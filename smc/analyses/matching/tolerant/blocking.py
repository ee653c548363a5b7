"""Which records are compared at all: those that meet in a bucket in one of several passes.

In a pass every row has a key, made of parts such as the Soundex code of a surname and the year of a date; its
hash names one of a public number of buckets, of which each holds a public number of rows. Empty places are
filled up, and rows that find their bucket full, or whose key has an empty part, stay out of the pass: so the
other party learns nothing of how the keys are distributed. Rows go in their own order.

Reference: Christen, A survey of indexing techniques for scalable record linkage and deduplication, IEEE TKDE
24, 2012.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.analyses.matching.tolerant.phonetics import cologne, soundex
from smc.errors import UsageError
from smc.numeric.shapes import of_shape, shape_array
from smc.pieces import each

Index = NDArray[np.int64]

EMPTY: Final = -1
"""Stands in a layout where no row is."""

_LENGTH: Final = re.compile(r"(prefix|suffix)([1-9][0-9]?)")


@dataclass(frozen=True, slots=True)
class KeyPart:
    """A part of a blocking key.

    Attributes:
        column: its column's name in the job.
        function: what is taken of the text: `value`, `soundex`, `cologne`, `year`, `prefixN` or `suffixN`.
    """

    column: str
    function: str

    @classmethod
    def parse(cls, text: str, place: str) -> KeyPart:
        """Read `column:function`.

        Raises:
            UsageError: it is not of this form.
        """
        column, _, function = text.rpartition(":")
        if not column or (function not in _FUNCTIONS and not _LENGTH.fullmatch(function)):
            raise UsageError(
                f"{place} has {text!r}, which is not a part of a key.",
                f"Write column:function with {', '.join(sorted(_FUNCTIONS))}, prefixN or suffixN.",
            )
        return cls(column, function)

    @override
    def __str__(self) -> str:
        return f"{self.column}:{self.function}"

    def of(self, text: str) -> str:
        """The part that a text gives, or an empty one."""
        if sized := _LENGTH.fullmatch(self.function):
            length = int(sized[2])
            return "" if len(text) < length else text[:length] if sized[1] == "prefix" else text[-length:]
        return _FUNCTIONS[self.function](text)


def _year(text: str) -> str:
    return text[:4] if re.match(r"[0-9]{4}", text) else ""


YEAR: Final = "year"
_FUNCTIONS: Final[Mapping[str, Callable[[str], str]]] = {
    "value": str,
    "soundex": soundex,
    "cologne": cologne,
    YEAR: _year,
}


@dataclass(frozen=True, slots=True)
class BucketLayout:
    """Where the rows of one side are in a pass.

    Attributes:
        rows: own row numbers or `EMPTY`, shape (buckets, capacity); real ones first, in their order.
        full: rows that found their bucket full.
        keyless: rows without a key.
    """

    rows: Index = field(repr=False)
    full: int
    keyless: int


@of_shape(
    lambda key, texts, buckets, capacity, salt: BucketLayout(shape_array((buckets, capacity), np.int64), 0, 0)
)
def lay_out(
    key: Sequence[KeyPart], texts: Mapping[str, Sequence[str]], buckets: int, capacity: int, salt: str
) -> BucketLayout:
    """Put rows into buckets.

    Args:
        key: the parts.
        texts: of each part's column, all of one length.
        buckets: public, at least 1.
        capacity: rows of a bucket, public.
        salt: public; differs between passes.
    """
    bucket = _buckets(key, texts, buckets, salt)
    order = np.argsort(bucket, kind="stable")
    order = order[bucket[order] != EMPTY]
    sorted_buckets = bucket[order]
    ranks = np.arange(len(order)) - np.searchsorted(sorted_buckets, sorted_buckets)
    fits = ranks < capacity
    rows = np.full((buckets, capacity), EMPTY, dtype=np.int64)
    rows[sorted_buckets[fits], ranks[fits]] = order[fits]
    return BucketLayout(rows, int((~fits).sum()), len(bucket) - len(order))


def _buckets(key: Sequence[KeyPart], texts: Mapping[str, Sequence[str]], buckets: int, salt: str) -> Index:
    """The bucket of each row, or `EMPTY` without a key, shape (n,)."""
    codes, hashes = hashed_keys(key, texts, salt, 8)
    # `EMPTY` is the last place of an array, too.
    found = [*(int.from_bytes(digest, "big") % buckets for digest in hashes), EMPTY]
    return np.array(found, dtype=np.int64)[codes]


def hashed_keys(
    key: Sequence[KeyPart], texts: Mapping[str, Sequence[str]], salt: str, size: int
) -> tuple[Index, list[bytes]]:
    """The keys of a pass.

    Args:
        key: the parts.
        texts: of each part's column, all of one length.
        salt: public; differs between passes.
        size: bytes of a hash.

    Returns:
        The number of each row's key or `EMPTY`, shape (n,), and the hashes of keys by their numbers.
    """
    columns = []
    for part in key:
        cached = {text: part.of(text) for text in each(set(texts[part.column]))}
        columns.append([cached[text] for text in each(texts[part.column])])
    prefix = hashlib.sha256(f"duetto/matching/blocking/1/{salt}".encode()).digest()
    numbers: dict[tuple[str, ...], int] = {}
    hashes: list[bytes] = []
    for parts in each(set(zip(*columns, strict=True))):
        numbers[parts] = len(hashes) if all(parts) else EMPTY
        if all(parts):
            joined = b"".join(len(part.encode()).to_bytes(4, "big") + part.encode() for part in parts)
            hashes.append(hashlib.blake2b(joined, key=prefix, digest_size=size).digest())
    codes = np.array([numbers[parts] for parts in each(zip(*columns, strict=True))], dtype=np.int64)
    return codes, hashes
