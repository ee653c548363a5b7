"""Bit matrices in numpy: transposition, packing and bit planes.

A batch of n slots lives in a (64, w) grid with w = ceil(n / 64): slot (r, k) is bit r of word k of every
column or plane, and its place in a flat batch is r * w + k. Both parties use this order, so nothing is ever
permuted back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.errors import DomainError

Bit = NDArray[np.uint8]
Word = NDArray[np.uint64]
Integers = Sequence[int] | Word | Bit

COLUMNS: Final = 128
"""Columns of an extension matrix: the security parameter in bits."""

SLOTS: Final = 64
"""Slots per word."""

_STRIDES: Final = (32, 16, 8, 4, 2, 1)
_MASKS: Final = {
    stride: np.uint64(sum(1 << bit for bit in range(64) if not bit & stride)) for stride in _STRIDES
}


def words_for(count: int) -> int:
    """Words per column that a batch of `count` slots takes."""
    return (count + SLOTS - 1) // SLOTS


def transpose_squares(square: Word, scratch: Word) -> None:
    """Transpose, in place, the 64 x 64 bit matrices that lie in `square`, shape (64, w), one per column.

    Six rounds swap the off-diagonal blocks of side 32, 16, ..., 1 of all matrices at once: bit i of entry
    (r, k) goes to bit r of entry (i, k).

    Args:
        square: contiguous.
        scratch: contiguous, at least 32 * w words; its content is lost.
    """
    width = square.shape[1]
    for stride in _STRIDES:
        halves = square.reshape(32 // stride, 2, stride, width)
        low, high = halves[:, 0], halves[:, 1]
        swap = scratch.reshape(-1)[: 32 * width].reshape(32 // stride, stride, width)
        # Low's bits whose place has `stride` change places with high's bits whose place lacks it: the bits in
        # which the two differ are flipped in both.
        np.right_shift(low, np.uint64(stride), out=swap)
        np.bitwise_xor(swap, high, out=swap)
        np.bitwise_and(swap, _MASKS[stride], out=swap)
        np.bitwise_xor(high, swap, out=high)
        np.left_shift(swap, np.uint64(stride), out=swap)
        np.bitwise_xor(low, swap, out=low)


def pack_slots(bits: Bit) -> Word:
    """A plane that holds one bit per slot.

    Args:
        bits: shape (n,), in slot order.

    Returns:
        Shape (ceil(n / 64),); missing slots are 0.
    """
    width = words_for(len(bits))
    padded = np.zeros(SLOTS * width, dtype=np.uint8)
    padded[: len(bits)] = bits
    # Slot r * w + k is bit r of word k, hence row k of the turned grid holds the bits of word k.
    packed = np.packbits(padded.reshape(SLOTS, width).T, axis=1, bitorder="little")
    return np.ascontiguousarray(packed).view("<u8").reshape(width).astype(np.uint64, copy=False)


def unpack_slots(plane: Word, count: int) -> Bit:
    """The first `count` bits of a plane, in slot order; the inverse of `pack_slots`.

    Args:
        plane: shape (w,).
        count: at most 64 * w.
    """
    octets = np.ascontiguousarray(plane).astype("<u8", copy=False).view(np.uint8).reshape(-1, 8)
    bits = np.unpackbits(octets, axis=1, bitorder="little")
    return np.ascontiguousarray(bits.T).reshape(-1)[:count]


def planes(values: Integers, bits: int) -> Word:
    """The bits of integers, plane by plane.

    Args:
        values: n integers in [0, 2**bits).
        bits: how many bits each has, at least 1.

    Returns:
        Shape (bits, ceil(n / 64)), the least significant plane first; missing slots are 0.

    Raises:
        DomainError: an integer lies outside [0, 2**bits).
    """
    width = words_for(len(values))
    result = np.zeros((bits, width), dtype=np.uint64)
    for start, limb in enumerate(limbs(values, bits)):
        square = np.zeros((SLOTS, width), dtype=np.uint64)
        # Row r, column k is slot r * w + k; transposed, row i holds bit i of all slots.
        square.reshape(-1)[: len(limb)] = limb
        transpose_squares(square, np.empty(SLOTS // 2 * width, dtype=np.uint64))
        inside = min(bits - SLOTS * start, SLOTS)
        # Bits at or above the bound.
        if square[inside:].any():
            raise _too_wide(bits)
        result[SLOTS * start : SLOTS * start + inside] = square[:inside]
    return result


def limbs(values: Integers, bits: int) -> list[Word]:
    """The 64-bit digits of integers, the least significant first, shape (n,) each.

    Raises:
        DomainError: an integer is negative or does not fit as many digits as `bits` takes.
    """
    count = (bits + SLOTS - 1) // SLOTS
    if isinstance(values, np.ndarray):
        if values.dtype.kind != "u":
            raise _too_wide(bits)
        rest = [np.zeros(len(values), dtype=np.uint64)] * (count - 1)
        return [values.astype(np.uint64, copy=False), *rest]
    try:
        if count == 1:
            return [np.fromiter(values, dtype=np.uint64, count=len(values))]
        data = b"".join(int(value).to_bytes(8 * count, "little") for value in values)
    except OverflowError:
        raise _too_wide(bits) from None
    digits = np.frombuffer(data, dtype="<u8").astype(np.uint64, copy=False).reshape(len(values), count)
    return [digits[:, column] for column in range(count)]


def _too_wide(bits: int) -> DomainError:
    return DomainError(
        f"A value to compare lies outside [0, 2**{bits}).", "Allow more bits, or correct the data."
    )
