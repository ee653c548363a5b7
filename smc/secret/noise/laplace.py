"""Geometric and discrete Laplace distributions, prepared for drawing from independent biased bits.

A discrete Laplace draw is the difference of two geometric variables with P(G >= k) = e**(-t k). The binary
digits of such a G are independent: digit i is 1 with probability 1 / (1 + e**(t 2**i)). Two things make the
drawn distribution differ from the ideal one, and `distance` counts both: G is cut to finitely many digits,
and the probabilities are rounded to multiples of 2**-64.

Reference: Ghosh, Roughgarden and Sundararajan, Universally utility-maximizing privacy mechanisms, STOC 2009
(the two-sided geometric mechanism); independent digits: Dwork, Kenthapadi, McSherry, Mironov and Naor,
Our data, ourselves, EUROCRYPT 2006.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from math import exp, sqrt
from typing import Final

import numpy as np

from smc.errors import UsageError
from smc.secret.noise.distribution import EXACT, BiasedBits, decimal

TAIL_BITS: Final = 64
"""Each geometric variable is cut where less than 2**-64 of its mass lies beyond."""

MAX_DIGITS: Final = 61
"""More binary digits would leave no room for the data modulo 2**64."""


@dataclass(frozen=True, slots=True)
class Geometric:
    """P(G >= k) = e**(-rate k) for k >= 0.

    Attributes:
        rate: positive.
        thresholds: of each digit, least significant first: the probability of a 1 times 2**64, rounded.
        distance: bound on the statistical distance of a draw from the ideal distribution.
    """

    rate: Fraction
    thresholds: tuple[int, ...] = field(repr=False)
    distance: Decimal = field(repr=False)

    @classmethod
    def of(cls, rate: Fraction) -> Geometric:
        """The distribution with the given rate.

        Raises:
            UsageError: the rate is not positive, or so small that the noise would not fit 64-bit words.
        """
        if rate <= 0:
            raise UsageError(
                "The rate of the discrete Laplace noise is not positive.",
                "Give epsilon / sensitivity, both above 0.",
            )
        with localcontext(EXACT):
            t = decimal(rate)
            cut = TAIL_BITS * Decimal(2).ln() / t
            # 2**digits is at least the cut, so no more than 2**-64 of the mass lies beyond the last digit.
            digits = max(1, (int(cut.to_integral_value(ROUND_CEILING)) - 1).bit_length())
            if digits > MAX_DIGITS:
                raise UsageError(
                    "The noise would not fit into 64-bit words: epsilon is too small for the sensitivity.",
                    "Raise epsilon, or clamp to narrower bounds.",
                )
            # The binary digits of a geometric variable are independent: digit j is 1 with probability
            # e**(-t 2**j) / (1 + e**(-t 2**j)).
            thresholds = tuple(_threshold(t * (1 << digit)) for digit in range(digits))
            # That mass, and half of 2**-64 for the rounded probability of each digit.
            distance = (-t * (1 << digits)).exp() + Decimal(digits) / (1 << 65)
        return cls(rate, thresholds, distance)

    @property
    def bits(self) -> BiasedBits:
        """A word for each digit."""
        return _digits(self.thresholds, signs=(1,))

    @property
    def bound(self) -> int:
        """The largest draw."""
        return (1 << len(self.thresholds)) - 1

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        t = float(self.rate)
        return sqrt(exp(-t)) / (1 - exp(-t))

    def half_width(self, miss: Fraction) -> int:
        """The least w with P(G > w) <= miss.

        Args:
            miss: probability in (0, 1).
        """
        with localcontext(EXACT):
            # P(G > w) is e**(-rate (w + 1)).
            least = -decimal(miss).ln() / decimal(self.rate)
            return max(0, int(least.to_integral_value(ROUND_CEILING)) - 1)


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    """P(k) proportional to e**(-rate |k|) over the integers.

    Attributes:
        rate: epsilon / sensitivity, positive.
        digits: binary digits of each geometric variable.
        thresholds: of each digit, least significant first: the probability of a 1 times 2**64, rounded.
        distance: bound on the statistical distance of a draw from the ideal distribution.
    """

    rate: Fraction
    digits: int
    thresholds: tuple[int, ...] = field(repr=False)
    distance: Decimal = field(repr=False)

    @classmethod
    def of(cls, rate: Fraction) -> DiscreteLaplace:
        """The distribution with the given rate.

        Raises:
            UsageError: the rate is not positive, or so small that the noise would not fit 64-bit words.
        """
        # The difference of two geometric variables of this rate has the discrete Laplace distribution.
        half = Geometric.of(rate)
        with localcontext(EXACT):
            return cls(rate, len(half.thresholds), half.thresholds, 2 * half.distance)

    @property
    def bits(self) -> BiasedBits:
        """The digits of the first geometric variable, then those of the second, each from its own word."""
        return _digits(self.thresholds, signs=(1, -1))

    @property
    def bound(self) -> int:
        """The largest absolute value of a draw."""
        return (1 << self.digits) - 1

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        t = float(self.rate)
        return sqrt(2 * exp(-t)) / (1 - exp(-t))

    def half_width(self, miss: Fraction) -> int:
        """The least w with P(|draw| > w) <= miss, from the exact tail 2 e**(-t (w + 1)) / (1 + e**-t).

        Args:
            miss: probability in (0, 1).
        """
        with localcontext(EXACT):
            t = decimal(self.rate)
            least = (2 / (decimal(miss) * (1 + (-t).exp()))).ln() / t
            return max(0, int(least.to_integral_value(ROUND_CEILING)) - 1)


def _digits(thresholds: tuple[int, ...], signs: tuple[int, ...]) -> BiasedBits:
    # The digits of the first variable weigh 1, 2, 4, ..., those of the second one -1, -2, -4, ...
    weights = [sign << digit for sign in signs for digit in range(len(thresholds))]
    return BiasedBits(
        np.array(thresholds * len(signs), dtype=np.uint64),
        np.arange(len(weights)),
        np.array(weights, dtype=np.int64),
    )


def _threshold(exponent: Decimal) -> int:
    """2**64 / (1 + e**exponent), rounded to the nearest integer."""
    return int((Decimal(1 << 64) / (1 + exponent.exp())).to_integral_value())
