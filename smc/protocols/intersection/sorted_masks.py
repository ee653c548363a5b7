"""Masks in order: how wide they are, how they travel, and which of the peer's are equal to own ones.

A set of random numbers in order needs fewer bits than one by one: of each the upper bits, about as many as
the count has, say little more than how many numbers begin alike. So they travel as one row of bits, in which
number i has a one at its upper bits plus i, and the lower bits, in whole bytes, follow in the same order
(Elias and Fano).

Reference: Elias, Efficient storage and retrieval by content and address of static files, JACM 1974; Fano,
1971.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.errors import ProtocolViolation
from smc.numeric.shapes import of_shape, shape_array

Word = NDArray[np.uint64]
Octets = NDArray[np.uint8]
Index = NDArray[np.int64]

STATISTICAL_BITS: Final = 40
"""No mask of a run equals another's by chance, except with probability 2**-40."""

_OCTET_BITS: Final = 8
_WORD_BYTES: Final = 8
_WORD_BITS: Final = 64
_MOST_UPPER: Final = 32
_ABSENT: Final = -1


@dataclass(frozen=True, slots=True)
class MaskLayout:
    """How masks travel, a public number.

    Attributes:
        count: masks.
        upper: bits of each that are in the row of bits.
        lower: bytes of the rest.
    """

    count: int
    upper: int
    lower: int

    @classmethod
    def of(cls, own: int, peer: int) -> MaskLayout:
        """The smallest layout of `own` masks, each of which is compared with `peer` others."""
        bits = STATISTICAL_BITS + (own * peer).bit_length()
        layouts = (
            cls(own, bits - _OCTET_BITS * lower, lower)
            for lower in range(1, _WORD_BYTES + 1)
            if 0 <= bits - _OCTET_BITS * lower <= _MOST_UPPER
        )
        return min(layouts, key=lambda layout: layout.size)

    @property
    def row_bits(self) -> int:
        """Bits of the row of bits: a one for each mask, and a zero for each step of the upper bits."""
        return self.count + (1 << self.upper) - 1

    @property
    def row_bytes(self) -> int:
        """Bytes of that."""
        return -(-self.row_bits // _OCTET_BITS)

    @property
    def size(self) -> int:
        """Bytes of all masks."""
        return self.row_bytes + self.count * self.lower

    def heads(self, upper: Word, lower: Word) -> Word:
        """The first 64 bits of masks, or all where they have fewer."""
        shift = self.upper + _OCTET_BITS * self.lower - _WORD_BITS
        if shift <= 0:
            return upper << np.uint64(_OCTET_BITS * self.lower) | lower
        return upper << np.uint64(_WORD_BITS - self.upper) | lower >> np.uint64(shift)

    def halves(self, values: Word) -> tuple[Word, Word]:
        """The upper and the lower bits of masks, of uniform values, shape (n, 2)."""
        rest = np.uint64((1 << _OCTET_BITS * self.lower) - 1)
        return values[:, 0] & np.uint64((1 << self.upper) - 1), values[:, 1] & rest


@of_shape(lambda layout, values: (shape_array(layout.size, np.uint8), shape_array(layout.count, np.int64)))
def pack(layout: MaskLayout, values: Word) -> tuple[Octets, Index]:
    """Masks as they travel.

    Args:
        layout: theirs.
        values: uniform, shape (count, 2), of which the masks are parts.

    Returns:
        Bytes, shape (size,), and the number of the value at each place, shape (count,).
    """
    upper, lower = layout.halves(values)
    order = _order(layout.heads(upper, lower), lower)
    row = np.zeros(_OCTET_BITS * layout.row_bytes, dtype=np.uint8)
    row[upper[order].astype(np.int64) + np.arange(layout.count)] = 1
    rest = np.ascontiguousarray(lower[order]).astype("<u8").view(np.uint8).reshape(-1, _WORD_BYTES)
    octets = np.concatenate([np.packbits(row, bitorder="little"), rest[:, : layout.lower].reshape(-1)])
    return octets, order


def _order(heads: Word, tails: Word) -> Index:
    """The places of numbers in ascending order; heads have the upper bits of each and tails the lower."""
    # Words with the upper bits and the place are sorted several times as fast as places by words.
    bits = np.uint64(len(heads).bit_length())
    packed = np.sort(heads >> bits << bits | np.arange(len(heads), dtype=np.uint64))
    order = (packed & (np.uint64(1) << bits) - np.uint64(1)).astype(np.int64)
    alike = np.flatnonzero((packed[1:] ^ packed[:-1]) >> bits == 0)
    if len(alike):
        # Numbers that agree in the bits that were left, few: among themselves they come by all their bits.
        places = np.unique(np.concatenate([alike, alike + 1]))
        among = order[places]
        order[places] = among[np.lexsort((tails[among], heads[among]))]
    return order


@of_shape(lambda layout, octets, values: shape_array(len(values), np.int64))
def locate(layout: MaskLayout, octets: Octets, values: Word) -> Index:
    """At which place of the peer's masks an own one stands.

    Args:
        layout: of the peer's.
        octets: as `pack` makes them, shape (size,).
        values: of this side, shape (n, 2).

    Returns:
        Places, -1 where there is none, shape (n,).

    Raises:
        ProtocolViolation: the bytes are not those of so many masks.
    """
    tails = np.zeros((layout.count, _WORD_BYTES), dtype=np.uint8)
    tails[:, : layout.lower] = octets[layout.row_bytes :].reshape(layout.count, layout.lower)
    lower = tails.view("<u8").reshape(-1)
    ones = np.flatnonzero(np.unpackbits(octets[: layout.row_bytes], bitorder="little"))
    if len(ones) != layout.count or (layout.count and ones[-1] >= layout.row_bits):
        raise ProtocolViolation("The peer's masks are not in the form that was agreed on.")
    keys = layout.heads((ones - np.arange(layout.count)).astype(np.uint64), lower)
    own_upper, own_lower = layout.halves(values)
    own_keys = layout.heads(own_upper, own_lower)
    found = np.full(len(values), _ABSENT, dtype=np.int64)
    pending = _order(own_keys, own_lower)  # in this order the search stays in the cache
    own_keys = own_keys[pending]
    places = np.searchsorted(keys, own_keys)
    while len(pending):
        inside = places < len(keys)
        pending, places, own_keys = pending[inside], places[inside], own_keys[inside]
        alike = keys[places] == own_keys
        pending, places, own_keys = pending[alike], places[alike], own_keys[alike]
        equal = lower[places] == own_lower[pending]
        found[pending[equal]] = places[equal]
        pending, places, own_keys = pending[~equal], places[~equal] + 1, own_keys[~equal]
    return found
