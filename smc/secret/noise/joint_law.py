"""The tails of sums of independent noises, each times a factor: what intervals of derived figures rest on.

For noise X of the discrete Laplace distribution of rate t and U uniform on (-1/2, 1/2), X + U is more peaked
than Laplace noise of rate 2 tanh(t / 2): with P(X >= k) = e**(-t k) / (1 + e**-t), P(|X + U| > s) is linear
between the halves and e**(-t k) (1 - 2 tanh(t / 2) (s - k)) within a half of k >= 1, which is below e**(-2
tanh(t / 2) s). For discrete Gaussian noise of variance v it is a normal of variance v + 1/12, but for less
than its statistical distance from a rounded one. Sums of symmetric unimodal variables keep the order
(Birnbaum, On random variables with comparable peakedness, Ann. Math. Statist. 19, 1948). So

    P(|sum of c X| > s) <= P(|sum of c L| > s - sum of |c| / 2)

for independent L of these continuous distributions. Of Laplace variables of scales b that tail is

    sum over i of e**(-s / b_i) times the product over the other j of b_i**2 / (b_i**2 - b_j**2),

by partial fractions of the characteristic function. Where scales are too much alike for that, or there is a
normal, it comes from that function as a sum over a period that is 45 scales longer than s: wrapping adds
e**-45, and what is left out after the 200th inverse scale is below 1 / (pi 200**2), which is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, erfc, exp, pi, prod, sqrt, tanh
from typing import Final

import numpy as np

from smc.secret.noise.distribution import Distribution
from smc.secret.noise.laplace import DiscreteLaplace

_SPAN: Final = 45.0
_CUT: Final = 200.0
_LEFT_OUT: Final = 1 / (pi * _CUT**2)
_CANCELS: Final = 1e6
"""Where partial fractions are larger, too many digits of them cancel."""


@dataclass(frozen=True, slots=True)
class JointLaw:
    """A bound on the tails of a sum of independent noises, each times a factor.

    Attributes:
        scales: of the continuous Laplace variables that stand for the discrete ones, not 0, largest first.
        variance: of the normal that stands for all Gaussian ones.
        slack: what the sum of the continuous ones can be nearer to 0 than the discrete one.
    """

    scales: tuple[float, ...]
    variance: float
    slack: float

    @classmethod
    def of(cls, terms: Sequence[tuple[float, Distribution]]) -> JointLaw:
        """The law of a sum of factors times noises."""
        scales = []
        variance = slack = 0.0
        for factor, noise in terms:
            slack += abs(factor) / 2
            if isinstance(noise, DiscreteLaplace):
                scales.append(abs(factor) / (2 * tanh(float(noise.rate) / 2)))
            else:
                variance += factor**2 * (noise.deviation**2 + 1 / 12)
        return cls(tuple(sorted((scale for scale in scales if scale), reverse=True)), variance, slack)

    def tail(self, at: float) -> float:
        """A bound on the probability that the sum is further than `at` from 0; slightly more than it."""
        beyond = at - self.slack
        if beyond <= 0:
            return 1.0
        if not self.scales:
            return erfc(beyond / sqrt(2 * self.variance)) if self.variance else 0.0
        fractions = None if self.variance else self._fractions()
        if fractions is None:
            return self._invert(beyond)
        parts = zip(fractions, self.scales, strict=True)
        return min(1.0, max(0.0, sum(part * exp(-beyond / scale) for part, scale in parts)))

    def width(self, miss: Fraction | float) -> float:
        """A w so that the sum is further than w from 0 with probability at most `miss`."""
        unit = max([*self.scales, sqrt(self.variance)])
        if not unit:
            return self.slack
        low, high = 0.0, self.slack + unit
        while self.tail(high) > miss:
            low, high = high, 2 * high
        for _ in range(60):
            middle = (low + high) / 2
            if high - low <= 1e-9 * high:
                break
            low, high = (middle, high) if self.tail(middle) > miss else (low, middle)
        return high

    def _fractions(self) -> list[float] | None:
        """The partial fractions of the characteristic function; None where they cancel."""
        squares = [scale**2 for scale in self.scales]
        if any(one == two for one, two in pairwise(squares)):
            return None
        found = [
            prod(square / (square - other) for other in squares if other != square) for square in squares
        ]
        return found if max(map(abs, found)) < _CANCELS else None

    def _invert(self, beyond: float) -> float:
        unit = max(self.scales[0], sqrt(self.variance))
        x = beyond / unit
        if x > _SPAN:
            return _LEFT_OUT
        step = 2 * pi / (x + _SPAN)
        points = step * np.arange(1, ceil(_CUT / step) + 1)
        values = np.exp(-self.variance / unit**2 * points**2 / 2)
        for scale in self.scales:
            values /= 1 + (scale / unit * points) ** 2
        inside = step / pi * (x + 2 * float((np.sin(points * x) / points * values).sum()))
        return min(1.0, max(0.0, 1 - inside) + _LEFT_OUT)
