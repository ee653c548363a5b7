"""Integers modulo 2**32 in arrays of words, and two to a word on the wire."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from smc.errors import UsageError
from smc.secret.joins.benes import Unsigned, Word

WORD_BITS: Final = 64
NARROW_BITS: Final = 32


def type_of(bits: int) -> type[np.unsignedinteger[Any]]:
    """The type of integers modulo 2**bits.

    Raises:
        UsageError: it is neither 32 nor 64 bits.
    """
    if bits not in (NARROW_BITS, WORD_BITS):
        raise UsageError(f"There are no words of {bits} bits here.", f"Use {NARROW_BITS} or {WORD_BITS}.")
    return np.uint32 if bits == NARROW_BITS else np.uint64


def words_for(count: int, bits: int) -> int:
    """Words that so many integers of so many bits take."""
    return -(-count * bits // WORD_BITS)


def packed(integers: Unsigned, bits: int) -> Word:
    """Integers side by side in words, the first one in the low half; a last half is zero."""
    whole = np.zeros(words_for(integers.size, bits) * WORD_BITS // bits, dtype=type_of(bits), like=integers)
    whole[: integers.size] = integers.reshape(-1)
    return whole.view(np.uint64)


def unpacked(words: Word, count: int, bits: int) -> Unsigned:
    """The integers of `packed`, shape (count,)."""
    return words.view(type_of(bits))[:count]
