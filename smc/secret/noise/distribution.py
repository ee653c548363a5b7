"""What a distribution of noise is to the protocol that draws it: biased bits, weights and proven bounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

EXACT: Final = Context(prec=100)
"""The arithmetic of thresholds and bounds; its own error, below 1e-90, is within what the bounds leave."""


@dataclass(frozen=True, slots=True, eq=False)
class BiasedBits:
    """How a draw comes from uniform words u: offset + sum of weights[i] * [u[words[i]] < thresholds[i]].

    Attributes:
        thresholds: shape (bits,), at least one; each bit is 1 with probability threshold / 2**64.
        words: shape (bits,): which of the draw's words each bit looks at, increasing from 0. Bits of one
            word are nested, bits of different words independent.
        weights: shape (bits,).
        offset: the draw when all bits are 0.
    """

    thresholds: NDArray[np.uint64] = field(repr=False)
    words: NDArray[np.int64] = field(repr=False)
    weights: NDArray[np.int64] = field(repr=False)
    offset: int = 0


class Distribution(Protocol):
    """A distribution over the integers, as it is really drawn, and how far that is from the ideal one."""

    @property
    def bits(self) -> BiasedBits:
        """How it is drawn."""
        ...

    @property
    def distance(self) -> Decimal:
        """Bound on the statistical distance of a draw from the ideal distribution."""
        ...

    @property
    def bound(self) -> int:
        """The largest absolute value of a draw."""
        ...

    @property
    def deviation(self) -> float:
        """The standard deviation, or slightly more."""
        ...

    def half_width(self, miss: Fraction) -> int:
        """A small w with P(|draw| > w) <= miss, for the ideal distribution.

        Args:
            miss: probability in (0, 1).
        """
        ...


def decimal(value: Fraction) -> Decimal:
    """A fraction, in the precision of the current context."""
    return Decimal(value.numerator) / Decimal(value.denominator)
