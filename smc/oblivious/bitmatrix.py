"""Bit matrices in numpy: transposition, packing and bit planes.

A batch of n transfers lives in a (64, w) grid of slots with w = ceil(n / 64): slot (r, k) is bit r of word k
of every column, and its place in a flat batch is r * w + k. Both parties use this order, so nothing is ever
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

COLUMNS: Final = 128
"""Columns of an extension matrix: the security parameter in bits."""

_BLOCK_WORDS: Final = 512  # 64 rows of it, with scratch space, fit a second-level cache
_STRIDES: Final = (32, 16, 8, 4, 2, 1)
_MASKS: Final = {
    stride: np.uint64(sum(1 << bit for bit in range(64) if not bit & stride)) for stride in _STRIDES
}


def words_for(count: int) -> int:
    """Words per column that a batch of `count` transfers takes."""
    return (count + 63) // 64


def _transpose_squares(square: Word, scratch: Word) -> None:
    """Transpose, in place, the 64 x 64 bit matrices that lie in `square`, shape (64, w), one per word.

    Six rounds swap the off-diagonal blocks of side 32, 16, ..., 1 of all matrices at once.
    """
    width = square.shape[1]
    for stride in _STRIDES:
        halves = square.reshape(32 // stride, 2, stride, width)
        low, high = halves[:, 0], halves[:, 1]
        swap = scratch[: 32 * width].reshape(32 // stride, stride, width)
        np.right_shift(low, np.uint64(stride), out=swap)
        np.bitwise_xor(swap, high, out=swap)
        np.bitwise_and(swap, _MASKS[stride], out=swap)
        np.bitwise_xor(high, swap, out=high)
        np.left_shift(swap, np.uint64(stride), out=swap)
        np.bitwise_xor(low, swap, out=low)


def transpose(columns: Word) -> Word:
    """The rows of a matrix given by its columns.

    Args:
        columns: shape (128, w); bit r of word k of column i belongs to slot (r, k).

    Returns:
        Shape (64 * w, 2): row r * w + k holds the 128 bits of slot (r, k), column i at bit i % 64 of
        word i // 64.
    """
    width = columns.shape[1]
    rows = np.empty((64, width, 2), dtype=np.uint64)
    block = np.empty((64, min(width, _BLOCK_WORDS)), dtype=np.uint64)
    scratch = np.empty(32 * block.shape[1], dtype=np.uint64)
    for start in range(0, width, _BLOCK_WORDS):
        stop = min(start + _BLOCK_WORDS, width)
        square = block if stop - start == block.shape[1] else np.empty((64, stop - start), dtype=np.uint64)
        for half in (0, 1):
            square[:] = columns[64 * half : 64 * half + 64, start:stop]
            _transpose_squares(square, scratch)
            rows[:, start:stop, half] = square
    return rows.reshape(64 * width, 2)


def pack_slots(bits: Bit) -> Word:
    """A column that holds one bit per slot.

    Args:
        bits: shape (n,), in slot order.

    Returns:
        Shape (ceil(n / 64),); missing slots are 0.
    """
    width = words_for(len(bits))
    padded = np.zeros(64 * width, dtype=np.uint8)
    padded[: len(bits)] = bits
    packed = np.packbits(padded.reshape(64, width), axis=0, bitorder="little")
    return np.ascontiguousarray(packed.T).view("<u8").reshape(width)


def planes(values: Sequence[int] | Word, bits: int) -> Bit:
    """The bits of integers, plane by plane.

    Args:
        values: n integers in [0, 2**bits).
        bits: how many bits each has, at least 1.

    Returns:
        Shape (bits, n), the least significant plane first, one bit per entry.

    Raises:
        DomainError: an integer lies outside [0, 2**bits).
    """
    if isinstance(values, np.ndarray) and values.dtype == np.uint64:
        octets = values.astype("<u8").view(np.uint8).reshape(len(values), 8)
    else:
        width = (bits + 7) // 8
        try:
            data = b"".join(int(value).to_bytes(width, "little") for value in values)
        except OverflowError:
            raise _too_wide(bits) from None
        octets = np.frombuffer(data, dtype=np.uint8).reshape(len(values), width)
    unpacked = np.unpackbits(octets, axis=1, bitorder="little")
    if unpacked[:, bits:].any():
        raise _too_wide(bits)
    if unpacked.shape[1] < bits:
        unpacked = np.pad(unpacked, ((0, 0), (0, bits - unpacked.shape[1])))
    return np.ascontiguousarray(unpacked[:, :bits].T)


def _too_wide(bits: int) -> DomainError:
    return DomainError(
        f"A value to compare lies outside [0, 2**{bits}).", "Widen the bound or correct the data."
    )
