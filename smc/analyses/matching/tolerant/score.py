"""When records match, and how near they are: one linear score of what their filters have in common.

    score = sum over fields of weight * common ones  +  local term of Alice's row  +  local term of Bob's row

A local term is known to its side alone: what the ones of each field, an empty field, and the rarity of a
value among the side's own rows add. A pair matches from a public least score on; half of that is in each
local term, so that a pair matches where what the parties share, its *margin*, is not negative. Margins lie in
a byte:

    -64 <= local term <= 63 - (weight of the row's ones) / 2,     weight of common ones <= that of either side

give -128 to 126, so that shares modulo 256 suffice and one comparison of 8 bits decides. A term that would
lie outside is brought to the nearest end, which costs next to nothing where scores of exact pairs are about
60.

The Dice coefficient is a score of that kind: 2 c >= T (a + b), for filters whose ones weigh a and b and
c in common, is c - T a / 2 - T b / 2 >= 0. There terms are held in eighths of a unit, and margins have three
bits more; rows weigh at most 126, of which no term leaves its range.

Which of two pairs is nearer is seen by the margin; of equal ones the earlier counts.

Reference: Fellegi and Sunter, A theory for record linkage, Journal of the American Statistical Association
64, 1969; weights that are fitted jointly, and terms of a side by itself: this project.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.matching.tolerant.encoding import Field, Octet, weights
from smc.numeric.shapes import of_shape, shape_array
from smc.secret.sharing.bounds import Bounds

Integers = NDArray[np.int64]

LEAST_TERM: Final = -64
"""Of a local term, in units; that of an empty record, so that it matches nothing."""

_HIGHEST_TERM: Final = 63
_MOST_MARGIN: Final = 126
_DICE_GRAIN: Final = 3
_MOST_WEIGHTS: Final = 254
_MOST_DICE_WEIGHTS: Final = 126


@dataclass(frozen=True, slots=True)
class Score:
    """How records are scored.

    Attributes:
        fields: what is compared.
        dice: the least Dice coefficient of a match; None where fields have local terms.
        least: the score from which on pairs count, in units.
        capacity: rows of one side in a bucket; 1 where rows meet one by one.
    """

    fields: Sequence[Field]
    dice: Fraction | None
    least: int
    capacity: int

    @property
    def grain(self) -> int:
        """Margins are held in units of 2**-grain."""
        return 0 if self.dice is None else _DICE_GRAIN

    @property
    def unit(self) -> int:
        """One unit as margins are held."""
        return 1 << self.grain

    @property
    def most_weight(self) -> int:
        """What the ones of a row may weigh together."""
        return _MOST_WEIGHTS if self.dice is None else _MOST_DICE_WEIGHTS

    @property
    def weights(self) -> Octet:
        """What each bit of a filter weighs."""
        return weights(self.fields)

    @property
    def margins(self) -> Bounds:
        """Where margins lie."""
        return Bounds(2 * LEAST_TERM * self.unit, _MOST_MARGIN * self.unit)

    @property
    def absent(self) -> int:
        """The local term of an empty record or place."""
        return LEAST_TERM * self.unit

    @property
    def tie_bits(self) -> int:
        """Bits by which the least difference of margins outweighs the order of rows in a bucket."""
        return (2 * (self.capacity - 1)).bit_length()

    @property
    def first_rank(self) -> int:
        """What is added to the rank of pairs so that those that match have positive ones."""
        return (1 << self.tie_bits) + 2 * (self.capacity - 1)

    @property
    def most_rank(self) -> int:
        """No pair's rank exceeds it; those of pairs that match are positive."""
        return (_MOST_MARGIN * self.unit << self.tie_bits) + self.first_rank

    @of_shape(lambda self, sizes, rarities: shape_array(len(sizes), np.int64))
    def local(self, sizes: Integers, rarities: Integers) -> Integers:
        """The local terms of rows, shape (n,); the arguments are as of `Filters`."""
        whole = sizes @ np.array([one.weight for one in self.fields])
        if self.dice is None:
            gram, empty, rarity = np.array([one.terms for one in self.fields], dtype=np.int64).T
            total = 100 * (sizes @ gram + (sizes == 0) @ empty) + rarities @ rarity
            terms = _round(total - 5000 * self.least, 10_000)
        else:
            lifted = self.unit * (self.dice.numerator * whole + self.dice.denominator * self.least)
            terms = _round(-lifted, 2 * self.dice.denominator)
        highest = _HIGHEST_TERM * self.unit - (self.unit * whole + 1) // 2
        found: Integers = np.clip(terms, self.absent, highest)
        found[whole == 0] = self.absent
        return found

    def ranks(self, margins: Integers, left: Integers, right: Integers) -> Integers:
        """By which of several pairs that match the nearest is found.

        Args:
            margins: of pairs.
            left: place of Alice's row among those of its bucket, from 0 to capacity - 1.
            right: of Bob's.
        """
        return (margins << self.tie_bits) + self.first_rank - left - right


def _round(numerators: Integers, denominator: int) -> Integers:
    """Quotients, those between two integers to the nearest, from the middle on to the upper one."""
    return (2 * numerators + denominator) // (2 * denominator)
