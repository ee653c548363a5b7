"""Student's distribution, and Welch's test from exact sums.

References: Welch, The generalization of 'Student's' problem when several different population variances are
involved, Biometrika 1947; thesis, equations 3.2 and 3.3 (t and df). The tail of Student's distribution is an
incomplete beta function, computed by its continued fraction: Abramowitz and Stegun, 26.5.27, 26.5.8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, lgamma, log, log1p, sqrt
from typing import Final

_MAX_TERMS: Final = 10_000
_PRECISION: Final = 1e-15
_TINY: Final = 1e-300


@dataclass(frozen=True, slots=True)
class Sample:
    """What a test needs of one group.

    Attributes:
        count: rows, or a noisy number of them.
        mean: of the values.
        variance: with count - 1 in the denominator.
    """

    count: float
    mean: float
    variance: float

    @classmethod
    def of(cls, total: float, squares: float, count: float) -> Sample:
        """From the sum of values, the sum of their squares and a count above 1."""
        return cls(count, total / count, (squares - total**2 / count) / (count - 1))


@dataclass(frozen=True, slots=True)
class Welch:
    """Welch's test of equal means.

    Attributes:
        t: the statistic.
        freedom: degrees of freedom after Welch and Satterthwaite.
        error: the standard error of the difference of the means.
    """

    t: float
    freedom: float
    error: float

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> Welch | None:
        """The test of two samples; None if one has fewer than two rows, or neither varies."""
        if any(sample.count < 2 for sample in samples):
            return None
        parts = [max(sample.variance, 0.0) / sample.count for sample in samples]
        if sum(parts) <= 0:
            return None
        error = sqrt(sum(parts))
        below = sum(part**2 / (sample.count - 1) for part, sample in zip(parts, samples, strict=True))
        return cls((samples[0].mean - samples[1].mean) / error, sum(parts) ** 2 / below, error)

    @property
    def p_value(self) -> float:
        """Two-sided."""
        return two_sided(abs(self.t), self.freedom)


def two_sided(t: float, freedom: float) -> float:
    """P(|T| >= t) for T of Student's distribution.

    Args:
        t: not negative.
        freedom: positive; not only whole numbers.
    """
    square = t * t
    return _beta_tail(freedom / 2, 0.5, freedom / (freedom + square), square / (freedom + square))


def critical(level: float, freedom: float) -> float:
    """The t with P(|T| >= t) = level, for a level in (0, 1)."""
    low, high = 0.0, 1.0
    while two_sided(high, freedom) > level:
        low, high = high, 2 * high
        if high == inf:
            return inf
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if two_sided(middle, freedom) > level else (low, middle)
    return high


def _beta_tail(a: float, b: float, x: float, rest: float) -> float:
    """The regularised incomplete beta function I_x(a, b), with rest = 1 - x given to avoid cancelling."""
    if x <= 0 or rest <= 0:
        return float(x > 0)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_tail(b, a, rest, x)
    front = exp(
        lgamma(a + b) - lgamma(a) - lgamma(b) + a * (log1p(-rest) if rest < 0.5 else log(x)) + b * log(rest)
    )
    return min(1.0, front / a / _continued_fraction(a, b, x))


def _continued_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, after Lentz."""
    value = above = 1.0
    below = 0.0
    for place in range(1, _MAX_TERMS):
        half, odd = divmod(place, 2)
        if odd:
            term = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        else:
            term = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        below = 1 / ((1 + term * below) or _TINY)
        above = (1 + term / above) or _TINY
        value *= above * below
        if abs(above * below - 1) < _PRECISION:
            break
    return value
