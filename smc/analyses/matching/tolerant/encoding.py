"""Records as Bloom filters: q-grams of their fields, hashed into one row of bits.

A field's text is padded on both sides, so that its ends count, and cut into its q-grams; each gram sets as
many bits as the field weighs. Typing errors change few grams, so filters of records that resemble each other
share most of their ones. An empty field sets no bits. Hashing keeps no secret here, as no filter leaves its
party; the salt only makes hashes of different jobs differ.

Reference: Schnell, Bachteler and Reiher, Privacy-preserving record linkage using Bloom filters, BMC Medical
Informatics and Decision Making 9, 2009; one filter for all fields: the same, A novel error-tolerant anonymous
linking code, 2011.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from commons.settings.bounds import Between
from commons.settings.marks import Read
from smc.analyses.matching.tolerant.similarity import MAX_ONES
from smc.analyses.records.normalization import STEP_LIST, parse_steps
from smc.numeric.shapes import of_shape, shape_array
from smc.pieces import each

Octet = NDArray[np.uint8]

MAX_WEIGHT: Final = 8
"""One digest of 64 bytes has a place in it for each bit that a gram sets."""

MAX_Q: Final = 4

DEFAULT_STEPS: Final = ("width", "transliterate", "lower", "strip-accents", "collapse-spaces")
"""The normalization of columns for which the job gives none; they leave dates as they are."""

_PAD: Final = "\x00"
_PLACE_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class Field:
    """A field that is compared.

    Attributes:
        column: its name in the job.
        weight: bits that each gram sets, 1 to 8.
        q: length of grams, 1 to 4.
        normalization: steps that its texts go through first, see `smc.analyses.records.normalization`.
    """

    column: str
    weight: Annotated[int, Between(1, MAX_WEIGHT)] = 1
    q: Annotated[int, Between(1, MAX_Q)] = 2
    normalization: Annotated[tuple[str, ...], Read(parse_steps, STEP_LIST)] = DEFAULT_STEPS


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters of one side.

    Attributes:
        rows: zeros and ones, shape (n, bits); at most `MAX_ONES` ones each.
        thinned: how many rows had more and lost the last of them.
    """

    rows: Octet = field(repr=False)
    thinned: int


@of_shape(
    lambda fields, texts, bits, salt: Filters(shape_array((len(texts[fields[0].column]), bits), np.uint8), 0)
)
def encode(fields: Sequence[Field], texts: Mapping[str, Sequence[str]], bits: int, salt: str) -> Filters:
    """Encode records.

    Args:
        fields: at least one.
        texts: the normalized texts of each field's column, all of one length.
        bits: of a filter.
        salt: public.
    """
    rows = np.zeros((len(texts[fields[0].column]), bits), dtype=np.uint8)
    for number, one in enumerate(fields):
        prefix = _prefix(salt, number)
        places: dict[str, list[int]] = {}
        distinct: dict[str, int] = {}
        codes = np.array(
            [distinct.setdefault(text, len(distinct)) for text in each(texts[one.column])], dtype=np.int64
        )
        table = np.zeros((len(distinct), bits), dtype=np.uint8)
        for row, text in each(zip(table, distinct, strict=True)):
            for gram in grams(text, one.q):
                if gram not in places:
                    places[gram] = _places(prefix, gram, one.weight, bits)
                row[places[gram]] = 1
        if distinct:
            rows |= table[codes]
    heavy = np.flatnonzero(rows.sum(axis=1, dtype=np.int64) > MAX_ONES)
    rows[heavy] &= np.cumsum(rows[heavy], axis=1, dtype=np.uint16) <= MAX_ONES
    return Filters(rows, len(heavy))


def grams(text: str, q: int) -> set[str]:
    """The distinct q-grams of a text that is padded with q - 1 marks on either side; none of an empty one."""
    if not text:
        return set()
    padded = _PAD * (q - 1) + text + _PAD * (q - 1)
    return {padded[start : start + q] for start in range(len(padded) - q + 1)}


def _prefix(salt: str, number: int) -> bytes:
    return hashlib.sha256(f"duetto/matching/filter/1/{number}/{salt}".encode()).digest()


def _places(prefix: bytes, gram: str, weight: int, bits: int) -> list[int]:
    digest = hashlib.blake2b(gram.encode(), key=prefix, digest_size=_PLACE_BYTES * weight).digest()
    return [
        int.from_bytes(digest[start : start + _PLACE_BYTES], "big") % bits
        for start in range(0, len(digest), _PLACE_BYTES)
    ]
