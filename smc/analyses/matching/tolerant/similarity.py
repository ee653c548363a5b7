"""The rule by which two records are alike: the Dice coefficient of their filters, in whole numbers.

Dice = 2 c / (a + b) for filters with a and b ones, c of them in common. As a + b is at most 256, the
coefficients are fractions with a denominator up to 256; between them and a threshold P / Q lies nothing
nearer than 1 / (256 Q), so 2 c / (a + b) >= P / Q is the same as 2**(k + 1) c >= N (a + b) with
2**k >= 256 Q and N = floor(2**k P / Q): linear in the one number that neither party knows.

Which of two similar pairs is closer is seen by the number of bits in which the filters differ, a + b - 2 c,
linear as well; of equally close ones by the earlier rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.secret.sharing.bounds import Bounds

Integers = NDArray[np.int64]

MAX_ONES: Final = 128
"""Most ones of a filter: two filters have at most 256 together, so bytes suffice for what they share."""

ABSENT: Final = MAX_ONES
"""The size that stands for an empty filter or slot: nothing in common with anything is never alike."""


@dataclass(frozen=True, slots=True)
class Rule:
    """When records are alike, and how close.

    Attributes:
        threshold: the least Dice coefficient, in [1/20, 1].
        capacity: rows of one side in a bucket.
    """

    threshold: Fraction
    capacity: int

    @property
    def exponent(self) -> int:
        """k: coefficients are compared in units of 2**-k."""
        return (2 * MAX_ONES * self.threshold.denominator - 1).bit_length()

    @property
    def numerator(self) -> int:
        """N: the threshold in those units, rounded down."""
        return (self.threshold.numerator << self.exponent) // self.threshold.denominator

    @property
    def margins(self) -> Bounds:
        """Where margins lie: 2 c is no more than a + b, and that no more than 256."""
        whole, most = 1 << self.exponent, 2 * MAX_ONES
        return Bounds(-self.numerator * most, (whole - self.numerator) * most)

    @property
    def tie_bits(self) -> int:
        """Bits by which a difference of one bit outweighs the order of rows."""
        return (2 * (self.capacity - 1)).bit_length()

    @property
    def reach(self) -> int:
        """Filters of records that are alike differ in fewer bits."""
        return int((1 - self.threshold) * 2 * MAX_ONES) + 1

    @property
    def most_score(self) -> int:
        """No score exceeds it; those of records that are alike are positive."""
        return (self.reach << self.tie_bits) + 2 * (self.capacity - 1)

    def margin_part(self, sizes: Integers) -> Integers:
        """What the size of one filter adds to a margin; the overlap adds 2**(k + 1) times itself.

        Two records are alike where the margin is not negative.
        """
        return -self.numerator * sizes

    def score_part(self, sizes: Integers, ranks: Integers) -> Integers:
        """What one side adds to `most_score`; the overlap adds 2**(tie_bits + 1) times itself.

        Args:
            sizes: of the filters.
            ranks: place of the row among those of its bucket, from 0 to capacity - 1.
        """
        return -(sizes << self.tie_bits) - ranks


def sizes_of(filters: NDArray[np.uint8]) -> Integers:
    """The ones of each filter, `ABSENT` for an empty one.

    Args:
        filters: zeros and ones, shape (n, bits).
    """
    sizes = filters.sum(axis=1, dtype=np.int64)
    return np.where(sizes > 0, sizes, ABSENT)
