"""Integers modulo a power of two below 2**64, side by side in words: whole bytes of each, lowest first."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from smc.errors import UsageError

Word = NDArray[np.uint64]
Unsigned = NDArray[Any]
"""Of type uint32 or uint64."""

WORD_BITS: Final = 64
NARROW_BITS: Final = 32
_WORD_BYTES: Final = 8
_TYPES: Final[dict[int, type[np.unsignedinteger[Any]]]] = {
    1: np.uint8,
    2: np.uint16,
    4: np.uint32,
    8: np.uint64,
}
"""Those that numpy has, by their bytes."""


def type_of(bits: int) -> type[np.unsignedinteger[Any]]:
    """The type of integers modulo 2**bits.

    Raises:
        UsageError: it is neither 32 nor 64 bits.
    """
    if bits not in (NARROW_BITS, WORD_BITS):
        raise UsageError(f"There are no words of {bits} bits here.", f"Use {NARROW_BITS} or {WORD_BITS}.")
    return np.uint32 if bits == NARROW_BITS else np.uint64


def packed_words(count: int, bits: int) -> int:
    """Words that so many integers of so many bits take."""
    return -(-count * _bytes_of(bits) // _WORD_BYTES)


def pack(integers: Unsigned, bits: int) -> Word:
    """The lowest bits of integers, shape (n,), as words, shape (packed_words(n, bits),); zeros at the end."""
    size = _bytes_of(bits)
    octets = np.zeros(packed_words(len(integers), bits) * _WORD_BYTES, dtype=np.uint8, like=integers)
    if size in _TYPES:
        flat = integers.astype(_TYPES[size], copy=False).view(np.uint8)
    else:
        flat = integers.view(np.uint8).reshape(-1, integers.dtype.itemsize)[:, :size].reshape(-1)
    octets[: len(flat)] = flat
    return octets.view(np.uint64)


def unpack(words: Word, count: int, bits: int) -> Word:
    """The integers of `pack`, shape (count,): modulo 2**bits with `bits` rounded up to whole bytes."""
    size = _bytes_of(bits)
    if size in _TYPES:
        return words.view(_TYPES[size])[:count].astype(np.uint64)
    octets = np.zeros((count, _WORD_BYTES), dtype=np.uint8, like=words)
    octets[:, :size] = words.view(np.uint8)[: count * size].reshape(count, size)
    return octets.reshape(-1).view(np.uint64)


def _bytes_of(bits: int) -> int:
    return -(-bits // 8)
