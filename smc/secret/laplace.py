"""The discrete Laplace distribution, prepared for drawing from independent biased bits.

A draw is the difference of two geometric variables with P(G >= k) = e**(-t k). The binary digits of such a
G are independent: digit i is 1 with probability 1 / (1 + e**(t 2**i)). Two things make the drawn law differ
from the ideal one, and `distance` counts both: G is cut to finitely many digits, and the probabilities are
rounded to multiples of 2**-64.

Reference: Ghosh, Roughgarden and Sundararajan, Universally utility-maximizing privacy mechanisms, STOC 2009
(the two-sided geometric mechanism); independent digits: Dwork, Kenthapadi, McSherry, Mironov and Naor,
Our data, ourselves, EUROCRYPT 2006.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from typing import Final

from smc.errors import UsageError

TAIL_BITS: Final = 64
"""Each geometric variable is cut where less than 2**-64 of its mass lies beyond."""

MOST_DIGITS: Final = 61
"""More binary digits would leave no room for the data modulo 2**64."""

_EXACT: Final = Context(prec=100)


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    """P(k) proportional to e**(-rate |k|) over the integers.

    Attributes:
        rate: epsilon / sensitivity, positive.
        digits: binary digits of each geometric variable.
        thresholds: of each digit, least significant first: the probability of a 1 times 2**64, rounded.
        distance: bound on the statistical distance of a draw from the ideal law.
    """

    rate: Fraction
    digits: int
    thresholds: tuple[int, ...] = field(repr=False)
    distance: Decimal = field(repr=False)

    @classmethod
    def of(cls, rate: Fraction) -> DiscreteLaplace:
        """The law with the given rate.

        Raises:
            UsageError: the rate is not positive, or so small that the noise would not fit 64-bit words.
        """
        if rate <= 0:
            raise UsageError("The rate of discrete Laplace noise is epsilon / sensitivity and is positive.")
        with localcontext(_EXACT):
            t = _decimal(rate)
            cut = TAIL_BITS * Decimal(2).ln() / t
            digits = max(1, (int(cut.to_integral_value(ROUND_CEILING)) - 1).bit_length())
            if digits > MOST_DIGITS:
                raise UsageError(
                    "The noise would not fit 64-bit words: epsilon is too small for the sensitivity.",
                    "Raise epsilon, or clamp to narrower bounds.",
                )
            thresholds = tuple(_threshold(t * (1 << digit)) for digit in range(digits))
            distance = 2 * (-t * (1 << digits)).exp() + Decimal(digits) / (1 << 64)
        return cls(rate, digits, thresholds, distance)

    @property
    def bound(self) -> int:
        """The largest absolute value of a draw."""
        return (1 << self.digits) - 1

    def half_width(self, miss: Fraction) -> int:
        """The least w with P(|draw| > w) <= miss, from the exact tail 2 e**(-t (w + 1)) / (1 + e**-t).

        Args:
            miss: probability in (0, 1).
        """
        with localcontext(_EXACT):
            t = _decimal(self.rate)
            least = (2 / (_decimal(miss) * (1 + (-t).exp()))).ln() / t
            return max(0, int(least.to_integral_value(ROUND_CEILING)) - 1)


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _threshold(exponent: Decimal) -> int:
    """2**64 / (1 + e**exponent), rounded to the nearest integer."""
    return int((Decimal(1 << 64) / (1 + exponent.exp())).to_integral_value())
