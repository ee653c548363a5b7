"""What follows from sums of products: mean, variance, deviation, covariance, correlation.

Products are of values about the centre of their bounds, which makes them least sensitive. The error bars
cover the exact statistic of the clamped values but for 5 %, see `noisy_sums.py`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import atanh, copysign, inf, prod, sqrt, tanh
from typing import ClassVar

import numpy as np
from typing_extensions import override

from smc.analyses.records.noisy_means import Ends, mean_ends
from smc.analyses.statistics.kinds.noisy_sums import Monomial, NoisySums
from smc.analyses.statistics.kinds.proportions import Z, join
from smc.analyses.statistics.kinds.statistic import MISS, Part, Result
from smc.analyses.statistics.kinds.sums import Clamped
from smc.analyses.statistics.queries.rows import Ints, LocalRows
from smc.analyses.studies.columns import Schema
from smc.numeric.random import Randomness
from smc.secret.noise.distribution import Distribution


class ClampedProducts(Clamped):
    """A statistic that follows from sums of products of clamped columns about their centres.

    Each sum has an equal part of the loss.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def products(self) -> tuple[Monomial, ...]:
        """The products that are added up, the row count last."""

    @property
    @override
    def parts(self) -> tuple[Part, ...]:
        """An entry for each product."""
        weight = Fraction(1, len(self.products))
        return tuple(
            Part(1, prod(self.clamps[place].half for place in monomial), weight) for monomial in self.products
        )

    @property
    @override
    def counts(self) -> tuple[int, ...] | None:
        """The last entry, for all."""
        return (len(self.products) - 1,) * len(self.products)

    @property
    @override
    def divisor(self) -> int:
        """Of the first product."""
        return prod(self.clamps[place].unit for place in self.products[0])

    @override
    def local(self, rows: LocalRows) -> Ints:
        """The local sums."""
        centred = [
            np.clip(rows.columns[name], clamp.lower, clamp.upper) - clamp.centre
            for name, clamp in zip(self.query.columns, self.clamps, strict=True)
        ]
        return np.array([_sum_of_products(centred, monomial, rows.count) for monomial in self.products])


class Moments(ClampedProducts):
    """A statistic whose interval follows from those of its sums, whose products `monomials` names."""

    __slots__ = ()
    monomials: ClassVar[tuple[Monomial, ...]]

    @property
    @override
    def products(self) -> tuple[Monomial, ...]:
        """As the class says."""
        return self.monomials

    @override
    def result(
        self, entries: Sequence[int], distributions: Sequence[Distribution], random: Randomness
    ) -> Result:
        """The statistic, and its interval from the joint law of the noise of all sums."""
        exact = {name: Fraction(entry) for name, entry in zip(self.products, entries, strict=True)}
        if not distributions:
            return self.derive(exact, None)
        noisy = NoisySums(
            {name: float(entry) for name, entry in exact.items()},
            dict(zip(self.products, distributions, strict=True)),
            [clamp.half for clamp in self.clamps],
        )
        return self.derive(exact, noisy)

    @abstractmethod
    def derive(self, sums: Mapping[Monomial, Fraction], noisy: NoisySums | None) -> Result:
        """The result.

        Args:
            sums: of which it follows.
            noisy: the same with the law of their noise; None if they are exact.
        """


def _sum_of_products(columns: Sequence[Ints], monomial: Monomial, count: int) -> int:
    if not monomial:
        return count
    product = columns[monomial[0]]
    for place in monomial[1:]:
        product = product * columns[place]
    return int(product.sum())


class Mean(Moments):
    """The mean of a clamped column: noisy sum about the centre of the bounds, and noisy count."""

    __slots__ = ()
    monomials = ((0,), ())

    @override
    def derive(self, sums: Mapping[Monomial, Fraction], noisy: NoisySums | None) -> Result:
        """The mean.

        It is None where the noisy count is not positive; its interval is all of [lower, upper] where the
        count's interval reaches 0.
        """
        clamp = self.clamps[0]

        def uncentre(value: Fraction | float) -> float:
            return float((clamp.centre + value) / clamp.unit)

        value = uncentre(sums[0,] / sums[()]) if sums[()] > 0 else None
        if noisy is None:
            return Result(value, value, value)
        lower, upper = map(uncentre, noisy.mean(0, MISS))
        return Result(value, max(lower, clamp.lower / clamp.unit), upper)


class WeightedMean(Moments):
    """The mean of a clamped column, each row with the weight that another column has; weights from 0 on."""

    __slots__ = ()
    monomials = ((0, 1), (1,))

    @property
    @override
    def counts(self) -> None:
        """None: weights are added up, not rows."""
        return

    @property
    @override
    def unit(self) -> str:
        """Of the column."""
        return self.schemas[0].unit

    @override
    def derive(self, sums: Mapping[Monomial, Fraction], noisy: NoisySums | None) -> Result:
        """The mean; None where the noisy sum of weights is not positive. Its interval is as of a mean."""
        clamp, weights = self.clamps[0], sums[1,]
        value = float((clamp.centre + sums[0, 1] / weights) / clamp.unit) if weights > 0 else None
        if noisy is None:
            return Result(value, value, value)
        bounds = (float(clamp.lower - clamp.centre), float(clamp.half))
        noises = (noisy.noises[0, 1], noisy.noises[1,])
        low, high = mean_ends(noisy.sums[0, 1], noisy.sums[1,], noises, MISS, bounds)
        return Result(value, (clamp.centre + low) / clamp.unit, (clamp.centre + high) / clamp.unit)


def _spread(sums: Mapping[Monomial, Fraction], first: int, second: int) -> Fraction | None:
    """The sample covariance about the centres, in held units; None below two rows."""
    count = sums[()]
    if count <= 1:
        return None
    return (sums[first, second] - sums[first,] * sums[second,] / count) / (count - 1)


class Variance(Moments):
    """The sample variance, with n - 1 in the denominator."""

    __slots__ = ()
    monomials = ((0, 0), (0,), ())

    @property
    @override
    def unit(self) -> str:
        """Of the column, squared."""
        return _product_unit(self.schemas[0], self.schemas[0])

    @override
    def derive(self, sums: Mapping[Monomial, Fraction], noisy: NoisySums | None) -> Result:
        """The variance; None below two rows. Noise can make it negative; its interval is not."""
        ends = None if noisy is None else noisy.covariance(0, 0, MISS)
        return _scale(_spread(sums, 0, 0), ends, self.clamps[0].unit ** 2)


class Deviation(Variance):
    """The sample standard deviation."""

    __slots__ = ()

    @property
    @override
    def unit(self) -> str:
        """Of the column."""
        return self.schemas[0].unit

    @override
    def derive(self, sums: Mapping[Monomial, Fraction], noisy: NoisySums | None) -> Result:
        """The root of the variance, of 0 where noise made that negative; None below two rows."""
        variance = _spread(sums, 0, 0)
        value = None if variance is None else sqrt(max(variance, Fraction(0)))
        ends = None if noisy is None else noisy.covariance(0, 0, MISS)
        return _scale(value, ends and (sqrt(ends[0]), sqrt(ends[1])), self.clamps[0].unit)


class Covariance(Moments):
    """The sample covariance of two columns, with n - 1 in the denominator."""

    __slots__ = ()
    monomials = ((0, 1), (0,), (1,), ())

    @property
    @override
    def unit(self) -> str:
        """Of both columns."""
        return _product_unit(*self.schemas)

    @override
    def derive(self, sums: Mapping[Monomial, Fraction], noisy: NoisySums | None) -> Result:
        """The covariance; None below two rows."""
        ends = None if noisy is None else noisy.covariance(0, 1, MISS)
        return _scale(_spread(sums, 0, 1), ends, self.divisor)


class Correlation(Moments):
    """Pearson's correlation of two columns."""

    __slots__ = ()
    monomials = ((0, 1), (0, 0), (1, 1), (0,), (1,), ())

    @property
    @override
    def unit(self) -> str:
        """None."""
        return ""

    @override
    def derive(self, sums: Mapping[Monomial, Fraction], noisy: NoisySums | None) -> Result:
        """The correlation, within [-1, 1]; None where a variance is not positive."""
        ends = None if noisy is None else noisy.correlation(MISS)
        nothing = Fraction(0)
        both, first, second = (_spread(sums, *pair) or nothing for pair in ((0, 1), (0, 0), (1, 1)))
        if first <= 0 or second <= 0:
            why = "with this much noise, a column cannot be told from one that does not vary"
            note = f"{self.query.name}: no correlation: {why}."
            return replace(_scale(None, ends, 1), notes=(note,))
        value = min(max(float(both) / sqrt(first) / sqrt(second), -1.0), 1.0)
        found = _scale(value, ends, 1)
        return replace(found, sampled=_sampled_correlation(value, ends or (value, value), float(sums[()])))


def _sampled_correlation(value: float, noise: Ends, count: float) -> Ends | None:
    """The interval with sampling, by Fisher's transformation; None where it has no value or too few rows."""
    if count <= 3 or abs(value) >= 1:
        return None
    middle, error = atanh(value), Z / sqrt(count - 3)
    low, high = (copysign(inf, end) if abs(end) >= 1 else atanh(end) for end in noise)
    ends = join(middle, (low, high), (middle - error, middle + error), ratio=False)
    return tanh(ends[0]), tanh(ends[1])


def _scale(value: Fraction | float | None, ends: Ends | None, unit: int) -> Result:
    """A result in real units; an exact one is its own interval."""
    shown = None if value is None else float(value / unit)
    return Result(shown, shown, shown) if ends is None else Result(shown, ends[0] / unit, ends[1] / unit)


def _product_unit(first: Schema, second: Schema) -> str:
    if first.unit == second.unit:
        return f"{first.unit}^2" if first.unit else ""
    return " ".join(unit for unit in (first.unit, second.unit) if unit)
