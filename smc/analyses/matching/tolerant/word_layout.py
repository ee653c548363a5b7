"""How a score and the number of a row stand in one shared word: of 32 bits where numbers of rows leave room.

    score | 2 bits | number, and a mark in the lowest bit

A claim is such a word. They are shared modulo 2**bits; as that divides 2**64, they are added and selected in
arithmetic modulo 2**64, where bits above mean nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from smc.numeric.narrow_words import NARROW_BITS, WORD_BITS

_SPARE_BITS: Final = 2
"""Between score and number. Where words are cut to compare them, differences of scores are multiples of four
with these, and what the shares of lower bits carry, and what numbers of rows differ, is less than that."""


@dataclass(frozen=True, slots=True)
class WordLayout:
    """A layout.

    Attributes:
        bits: of a word, 32 or 64.
        score_bits: of a score: scores are known modulo 2**score_bits, and so are at home in the top bits.
    """

    bits: int
    score_bits: int

    @classmethod
    def of(cls, counts: Iterable[int], score_bits: int) -> WordLayout:
        """The narrowest that has room for the numbers of so many rows of each side."""
        number_bits = NARROW_BITS - score_bits - _SPARE_BITS
        fits = all(2 * count + 1 < 1 << number_bits for count in counts)
        return cls(NARROW_BITS if fits else WORD_BITS, score_bits)

    @property
    def score_bit(self) -> np.uint64:
        """Where scores begin."""
        return np.uint64(self.bits - self.score_bits)

    @property
    def top_bit(self) -> np.uint64:
        """Where words are cut to compare them."""
        return self.score_bit - np.uint64(_SPARE_BITS)

    @property
    def number_bit(self) -> np.uint64:
        """Where numbers and marks begin in 64 bits once all above them was shifted out by as much."""
        return np.uint64(WORD_BITS) - self.top_bit
