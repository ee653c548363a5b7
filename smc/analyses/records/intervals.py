"""Intervals around noisy sums, and arithmetic that keeps the exact value inside."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from `lower` to `upper`."""

    lower: Fraction
    upper: Fraction

    @classmethod
    def around(cls, value: int, width: int) -> Interval:
        """All within `width` of `value`."""
        return cls(Fraction(value - width), Fraction(value + width))

    def __mul__(self, other: Interval) -> Interval:
        corners = [a * b for a in (self.lower, self.upper) for b in (other.lower, other.upper)]
        return Interval(min(corners), max(corners))

    def __truediv__(self, other: Interval) -> Interval:
        """Divided by an interval that does not hold 0."""
        return self * Interval(1 / other.upper, 1 / other.lower)

    def within(self, lower: Fraction, upper: Fraction) -> Interval:
        """Those within bounds that the exact value is known to keep; the nearer bound if there are none."""
        return Interval(
            min(max(self.lower, lower), upper),
            max(min(self.upper, upper), lower),
        )
