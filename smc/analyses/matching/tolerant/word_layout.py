"""How a score and the number of a row stand in one shared word: of 32 bits where numbers of rows leave room.

    score, 9 bits | 2 bits | number, and a mark in the lowest bit

A claim is such a word. They are shared modulo 2**bits; as that divides 2**64, they are added and selected in
arithmetic modulo 2**64, where bits above mean nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from smc.numeric.narrow_words import NARROW_BITS, WORD_BITS

_SCORE_BITS: Final = 9
"""Scores are known modulo 2**9, and so are at home in the top bits of a word."""

_SPARE_BITS: Final = 2
"""Between score and number. Where words are cut to compare them, differences of scores are multiples of four
with these, and what the shares of lower bits carry, and what numbers of rows differ, is less than that."""


@dataclass(frozen=True, slots=True)
class WordLayout:
    """The layout of words of so many bits, 32 or 64."""

    bits: int

    @classmethod
    def of(cls, counts: Iterable[int]) -> WordLayout:
        """The narrowest that has room for the numbers of so many rows of each side."""
        number_bits = NARROW_BITS - _SCORE_BITS - _SPARE_BITS
        return cls(NARROW_BITS if all(2 * count + 1 < 1 << number_bits for count in counts) else WORD_BITS)

    @property
    def score_bit(self) -> np.uint64:
        """Where scores begin."""
        return np.uint64(self.bits - _SCORE_BITS)

    @property
    def top_bit(self) -> np.uint64:
        """Where words are cut to compare them."""
        return self.score_bit - np.uint64(_SPARE_BITS)

    @property
    def number_bit(self) -> np.uint64:
        """Where numbers and marks begin in 64 bits once all above them was shifted out by as much."""
        return np.uint64(WORD_BITS) - self.top_bit
