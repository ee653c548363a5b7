"""The discrete Gaussian distribution, prepared for drawing by comparisons of uniform words with thresholds.

A narrow distribution, of variance at most 56, is drawn by inversion: with T_j = 2**64 P(X >= j),

    X = -B + [u < T_(1-B)] + ... + [u < T_B]          for a uniform 64-bit word u.

A wide one is a sum X = X_1 + 2 X_2 of independent discrete Gaussians of variances 12 and (v - 12) / 4, the
second one drawn in the same way. Completing the square, with t = 12 (v - 12) / (4 v) and some constant c,

    P(X_1 + 2 X_2 = y)  is proportional to  e**(-y**2 / 2 v) S(y),
                 S(y) = sum over x of e**(-(x - c y)**2 / 2 t).

By Poisson's summation formula S lies within a factor 1 -+ d of a constant, where
d = 2 sum over j >= 1 of e**(-2 pi**2 t j**2) <= 2 a / (1 - a) for a = e**(-2 pi**2 t). Hence the sum is
within statistical distance d / (1 - d) of the discrete Gaussian of variance v, below 2**-65 as v > 56.

`distance` adds up, for the distribution as it is drawn: d / (1 - d) of every sum; for every narrow
distribution 2**-65 for the tail beyond B, as P(|X| >= m) <= 2 e**(-m**2 / 2 v), and the exact distance that
comes of rounding its thresholds.

Noise of variance s**2 / (2 rho) on an integer of sensitivity s is rho-zCDP. The tail of X is below that of a
normal N of the same variance: P(X >= m) <= P(N >= m - 1), since the sum over the tail is below the integral
from m - 1 and the sum over all integers is above the integral over the line.

Reference: Canonne, Kamath and Steinke, The discrete Gaussian for differential privacy, NeurIPS 2020,
theorem 4. Sums: Micciancio and Walter, Gaussian sampling over the integers, CRYPTO 2017; Poeppelmann, Ducas
and Gueneysu, Enhanced lattice-based signatures, CHES 2014, section 3. zCDP: Bun and Steinke, TCC 2016.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from math import ceil, sqrt
from statistics import NormalDist
from typing import Final

import numpy as np

from smc.errors import UsageError
from smc.secret.noise.distribution import EXACT, BiasedBits, decimal

MAX_NARROW: Final = 56
"""The largest variance that is drawn by inversion alone."""

LOW_VARIANCE: Final = 12
"""The variance of the first term of a sum."""

MAX_LAYERS: Final = 54
"""More terms would leave no room for the data modulo 2**64."""

_WORD: Final = 1 << 64
_TAIL_BITS: Final = 66
_PI_SQUARED: Final = Decimal("9.8696")
"""Slightly less than the square of pi, which makes the bound slightly larger."""


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """P(k) proportional to e**(-k**2 / (2 variance)) over the integers.

    Attributes:
        variance: sensitivity**2 / (2 rho), positive.
        layers: of each term of the sum, whose weights are 1, 2, 4, ...: its thresholds.
        distance: bound on the statistical distance of a draw from the ideal distribution.
    """

    variance: Fraction
    layers: tuple[tuple[int, ...], ...] = field(repr=False)
    distance: Decimal = field(repr=False)

    @classmethod
    def of(cls, variance: Fraction) -> DiscreteGaussian:
        """The distribution with the given variance.

        Raises:
            UsageError: the variance is not positive, or so large that the noise would not fit 64-bit words.
        """
        if variance <= 0:
            raise UsageError(
                "The variance of the Gaussian noise is not positive.",
                "Give sensitivity**2 / (2 * rho), both above 0.",
            )
        layers: list[tuple[int, ...]] = []
        distance = Decimal(0)
        rest = variance
        with localcontext(EXACT):
            while rest > MAX_NARROW:
                if len(layers) >= MAX_LAYERS:
                    raise UsageError(
                        "The noise would not fit into 64-bit words: rho is too small for the sensitivity.",
                        "Raise rho, or clamp to narrower bounds.",
                    )
                # One narrow term is split off; the rest counts double, and so has a quarter of the variance
                # that is left.
                distance += _sum_distance(rest)
                layer, off = _narrow(Fraction(LOW_VARIANCE))
                layers.append(layer)
                distance += off
                rest = (rest - LOW_VARIANCE) / 4
            layer, off = _narrow(rest)
            layers.append(layer)
            distance += off
        return cls(variance, tuple(layers), distance)

    @property
    def bits(self) -> BiasedBits:
        """One word for each term, compared with all its thresholds."""
        counts = [len(layer) for layer in self.layers]
        return BiasedBits(
            np.array([threshold for layer in self.layers for threshold in layer], dtype=np.uint64),
            np.repeat(np.arange(len(counts)), counts),
            np.repeat(np.int64(1) << np.arange(len(counts)), counts),
            -self.bound,
        )

    @property
    def bound(self) -> int:
        """The largest absolute value of a draw."""
        return sum(len(layer) // 2 << place for place, layer in enumerate(self.layers))

    @property
    def deviation(self) -> float:
        """The root of the variance, which the standard deviation does not exceed."""
        return sqrt(self.variance)

    def half_width(self, miss: Fraction) -> int:
        """A w with P(|draw| > w) <= miss: the normal quantile, rounded up.

        Args:
            miss: probability in (0, 1).
        """
        return ceil(sqrt(self.variance) * -NormalDist().inv_cdf(float(miss) / 2) * (1 + 1e-12))


def _sum_distance(variance: Fraction) -> Decimal:
    """The bound d / (1 - d) of the module's docstring."""
    t = decimal(LOW_VARIANCE * (variance - LOW_VARIANCE) / (4 * variance))
    a = (-2 * _PI_SQUARED * t).exp()
    d = 2 * a / (1 - a)
    return d / (1 - d)


def _narrow(variance: Fraction) -> tuple[tuple[int, ...], Decimal]:
    """2**64 P(X >= j) for j from 1 - B to B, rounded and decreasing, and the distance from the uncut one."""
    doubled = 2 * decimal(variance)
    cut = (doubled * _TAIL_BITS * Decimal(2).ln()).sqrt()
    bound = max(1, int(cut.to_integral_value(ROUND_CEILING)) - 1)
    side = [(-Decimal(k * k) / doubled).exp() for k in range(bound + 1)]
    mass = [side[abs(k)] for k in range(-bound, bound + 1)]
    total = sum(mass, Decimal(0))
    found = []
    above = total
    for weight in mass[:-1]:
        above -= weight
        # Thresholds are 2**64 P(X >= j), from the lowest j on; 2**64 itself would not fit a word.
        rounded = int((above / total * _WORD).to_integral_value(ROUND_HALF_EVEN))
        found.append(min(rounded, _WORD - 1))
    # How many of the 2**64 words give each value.
    drawn = [high - low for high, low in pairwise((_WORD, *found, 0))]
    off = sum((abs(p / total - Decimal(q) / _WORD) for p, q in zip(mass, drawn, strict=True)), Decimal(0))
    return tuple(found), off / 2 + Decimal(2) ** (1 - _TAIL_BITS)
