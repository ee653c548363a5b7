"""Records as Bloom filters: q-grams of their fields, hashed into bits, field beside field.

A field's text is padded on both sides, so that its ends count, and cut into its q-grams; each gram sets one
bit among those of its field. Typing errors change few grams, so filters of records that resemble each other
share most of their ones. An empty field sets no bits. Hashing keeps no secret here, as no filter leaves its
party; the salt only makes hashes of different jobs differ.

Reference: Schnell, Bachteler and Reiher, Privacy-preserving record linkage using Bloom filters, BMC Medical
Informatics and Decision Making 9, 2009.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray

from commons.settings.bounds import Between
from commons.settings.marks import Read
from smc.analyses.records.normalization import STEP_LIST, parse_steps
from smc.analyses.records.numbers import NUMBER, number
from smc.errors import UsageError
from smc.numeric.shapes import of_shape, shape_array
from smc.pieces import each

Octet = NDArray[np.uint8]

MAX_WEIGHT: Final = 100
MAX_Q: Final = 4
MIN_BITS: Final = 8
MAX_BITS: Final = 512
MAX_TERM: Final = 1000
"""The largest local term of a field, in units of the score."""

DEFAULT_STEPS: Final = ("width", "transliterate", "lower", "strip-accents", "collapse-spaces")
"""The normalization of columns for which the job gives none; they leave dates as they are."""

_PAD: Final = "\x00"
_PLACE_BYTES: Final = 8
_HUNDRED: Final = 100


def _hundredths(value: Any, place: str) -> int:
    exact = number(value, place) * _HUNDRED
    if exact.denominator != 1 or abs(exact) > _HUNDRED * MAX_TERM:
        raise UsageError(
            f"{place} is not a number of units from -{MAX_TERM} to {MAX_TERM} in hundredths.",
            'Write, for example, "-2.75".',
        )
    return exact.numerator


Term = Annotated[int, Read(_hundredths, NUMBER)]
"""Hundredths of a unit of the score, written as a decimal."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field that is compared.

    Attributes:
        column: its name in the job.
        weight: what each bit adds to a score that both filters have, in units, 1 to 100.
        q: length of grams, 1 to 4.
        bits: of its part of a filter.
        normalization: steps that its texts go through first, see `smc.analyses.records.normalization`.
        gram: what each of the bits of one side's filter adds by itself, in hundredths.
        empty: what an empty text of one side adds.
        rarity: what each halving of the share of a side's rows that have this text adds.
    """

    column: str
    weight: Annotated[int, Between(1, MAX_WEIGHT)] = 1
    q: Annotated[int, Between(1, MAX_Q)] = 2
    bits: Annotated[int, Between(MIN_BITS, MAX_BITS)] = 64
    normalization: Annotated[tuple[str, ...], Read(parse_steps, STEP_LIST)] = DEFAULT_STEPS
    gram: Term = 0
    empty: Term = 0
    rarity: Term = 0

    @property
    def terms(self) -> tuple[int, int, int]:
        """`gram`, `empty` and `rarity`."""
        return self.gram, self.empty, self.rarity


def hundredths(value: int) -> str:
    """A term as a job writes it."""
    return str(float(Fraction(value, _HUNDRED)))


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters of one side.

    Attributes:
        rows: zeros and ones, shape (n, bits of all fields).
        sizes: ones of each field, shape (n, fields).
        rarities: how many times the share of rows with the text of each field halves from 1, in hundredths, 0
            of empty texts, shape (n, fields).
        thinned: how many rows weighed more than filters may and lost the last of their ones.
    """

    rows: Octet = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)
    rarities: NDArray[np.int64] = field(repr=False)
    thinned: int


def weights(fields: Sequence[Field]) -> Octet:
    """What each bit of a filter weighs, shape (bits of all fields,)."""
    return np.repeat(np.array([one.weight for one in fields], dtype=np.uint8), [one.bits for one in fields])


def _shapes(fields: Sequence[Field], texts: Mapping[str, Sequence[str]], salt: str, most: int) -> Filters:
    """The shapes of filters."""
    del salt, most
    rows = len(texts[fields[0].column])
    each_field = (rows, len(fields))
    return Filters(
        shape_array((rows, sum(one.bits for one in fields)), np.uint8),
        shape_array(each_field, np.int64),
        shape_array(each_field, np.int64),
        0,
    )


@of_shape(_shapes)
def encode(fields: Sequence[Field], texts: Mapping[str, Sequence[str]], salt: str, most: int) -> Filters:
    """Encode records.

    Args:
        fields: at least one.
        texts: the normalized texts of each field's column, all of one length.
        salt: public.
        most: what the ones of a row may weigh together.
    """
    parts, rarities = [], []
    for index, one in enumerate(fields):
        prefix = hashlib.sha256(f"duetto/matching/filter/2/{index}/{salt}".encode()).digest()
        distinct: dict[str, int] = {}
        codes = np.array(
            [distinct.setdefault(text, len(distinct)) for text in each(texts[one.column])], dtype=np.int64
        )
        table = np.zeros((len(distinct), one.bits), dtype=np.uint8)
        places: dict[str, int] = {}
        for row, text in each(zip(table, distinct, strict=True)):
            for gram in grams(text, one.q):
                if gram not in places:
                    places[gram] = _place(prefix, gram, one.bits)
                row[places[gram]] = 1
        parts.append(table[codes])
        rarities.append(_rarities(distinct, codes))
    rows = np.concatenate(parts, axis=1)
    heavy = np.flatnonzero(rows @ weights(fields).astype(np.int64) > most)
    rows[heavy] &= np.cumsum(rows[heavy] * weights(fields), axis=1, dtype=np.int64) <= most
    begins = np.cumsum([0, *(one.bits for one in fields[:-1])])
    sizes = np.add.reduceat(rows, begins, axis=1, dtype=np.int64)
    return Filters(rows, sizes, np.stack(rarities, axis=1), len(heavy))


def _rarities(distinct: Mapping[str, int], codes: NDArray[np.int64]) -> NDArray[np.int64]:
    counts = np.bincount(codes, minlength=len(distinct))
    by_text = np.rint(_HUNDRED * np.log2(len(codes) / np.maximum(1, counts))).astype(np.int64)
    if "" in distinct:
        by_text[distinct[""]] = 0
    found: NDArray[np.int64] = by_text[codes]
    return found


def grams(text: str, q: int) -> set[str]:
    """The distinct q-grams of a text that is padded with q - 1 marks on either side; none of an empty one."""
    if not text:
        return set()
    padded = _PAD * (q - 1) + text + _PAD * (q - 1)
    return {padded[start : start + q] for start in range(len(padded) - q + 1)}


def _place(prefix: bytes, gram: str, bits: int) -> int:
    digest = hashlib.blake2b(gram.encode(), key=prefix, digest_size=_PLACE_BYTES).digest()
    return int.from_bytes(digest, "big") % bits
