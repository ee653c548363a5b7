"""What follows from sums of products: mean, variance, deviation, covariance, correlation.

Products are of values about the centre of their bounds, which makes them least sensitive. The error bars
cover the exact statistic of the clamped values whenever all sums are within their own intervals, which
together miss with at most 5 %.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod, sqrt
from typing import ClassVar

import numpy as np
from typing_extensions import override

from smc.analyses.records.intervals import Interval
from smc.analyses.statistics.kinds.statistic import MISS, Part, Result
from smc.analyses.statistics.kinds.sums import Clamp, Clamped
from smc.analyses.statistics.queries.rows import Ints, LocalRows
from smc.analyses.studies.columns import Schema
from smc.numeric.random import Randomness
from smc.secret.noise.distribution import Distribution

Monomial = tuple[int, ...]
"""A product of columns, by their places; the empty one counts rows."""


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
    def counts(self) -> tuple[int, ...]:
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
        """The statistic, and its interval from those of all sums."""
        miss = MISS / len(entries)
        widths = [distribution.half_width(miss) for distribution in distributions] or [0] * len(entries)
        exact = {name: Fraction(entry) for name, entry in zip(self.products, entries, strict=True)}
        ranges = {
            name: Interval.around(entry, width)
            for name, entry, width in zip(self.products, entries, widths, strict=True)
        }
        found = self.derived(exact, ranges)
        return found if distributions else replace(found, lower=found.value, upper=found.value)

    @abstractmethod
    def derived(self, sums: dict[Monomial, Fraction], ranges: dict[Monomial, Interval]) -> Result:
        """The result from the sums and from intervals that hold the exact ones."""


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
    def derived(self, sums: dict[Monomial, Fraction], ranges: dict[Monomial, Interval]) -> Result:
        """The mean.

        It is None where the noisy count is not positive; its interval is all of [lower, upper] where the
        count's interval reaches 0.
        """
        clamp = self.clamps[0]

        def uncentred(value: Fraction) -> float:
            return float((clamp.centre + value) / clamp.unit)

        value = uncentred(sums[0,] / sums[()]) if sums[()] > 0 else None
        ends = Interval(Fraction(clamp.lower - clamp.centre), Fraction(clamp.half))
        if ranges[()].lower > 0:
            ends = ranges[0,] / ranges[()]
        return Result(value, uncentred(ends.lower), uncentred(ends.upper))


def _spread(sums: dict[Monomial, Fraction], first: int, second: int) -> Fraction | None:
    """The sample covariance about the centres, in held units; None below two rows."""
    count = sums[()]
    if count <= 1:
        return None
    return (sums[first, second] - sums[first,] * sums[second,] / count) / (count - 1)


def _spread_range(
    ranges: dict[Monomial, Interval], first: int, second: int, clamps: Sequence[Clamp]
) -> Interval:
    """An interval that holds the exact sample covariance.

    Of n >= 2 values within `half` of a centre it is at most n / (n - 1) <= 2 times the product of the halves.
    """
    count = ranges[()]
    most = Fraction(2 * clamps[first].half * clamps[second].half)
    least = Fraction(0) if first == second else -most
    if count.lower <= 1:
        return Interval(least, most)
    both = ranges[first,].square if first == second else ranges[first,] * ranges[second,]
    found = (ranges[first, second] - both / count) / count.shifted(-1)
    return found.within(least, most)


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
    def derived(self, sums: dict[Monomial, Fraction], ranges: dict[Monomial, Interval]) -> Result:
        """The variance; None below two rows. Noise can make it negative; its interval is not."""
        value = _spread(sums, 0, 0)
        ends = _spread_range(ranges, 0, 0, self.clamps)
        unit = self.clamps[0].unit ** 2
        return Result(
            None if value is None else float(value / unit), float(ends.lower / unit), float(ends.upper / unit)
        )


class Deviation(Variance):
    """The sample standard deviation."""

    __slots__ = ()

    @property
    @override
    def unit(self) -> str:
        """Of the column."""
        return self.schemas[0].unit

    @override
    def derived(self, sums: dict[Monomial, Fraction], ranges: dict[Monomial, Interval]) -> Result:
        """The root of the variance, of 0 where noise made that negative; None below two rows."""
        value = _spread(sums, 0, 0)
        ends = _spread_range(ranges, 0, 0, self.clamps)
        unit = self.clamps[0].unit
        return Result(
            None if value is None else sqrt(max(value, Fraction(0))) / unit,
            sqrt(ends.lower) / unit,
            sqrt(ends.upper) / unit,
        )


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
    def derived(self, sums: dict[Monomial, Fraction], ranges: dict[Monomial, Interval]) -> Result:
        """The covariance; None below two rows."""
        value = _spread(sums, 0, 1)
        ends = _spread_range(ranges, 0, 1, self.clamps)
        unit = self.divisor
        return Result(
            None if value is None else float(value / unit), float(ends.lower / unit), float(ends.upper / unit)
        )


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
    def derived(self, sums: dict[Monomial, Fraction], ranges: dict[Monomial, Interval]) -> Result:
        """The correlation, within [-1, 1]; None where a variance is not positive."""
        low = [_spread_range(ranges, place, place, self.clamps) for place in (0, 1)]
        ends = Interval(Fraction(-1), Fraction(1))
        if low[0].lower > 0 and low[1].lower > 0:
            joint = _spread_range(ranges, 0, 1, self.clamps)
            roots = [_root(interval) for interval in low]
            ends = (joint / roots[0] / roots[1]).within(Fraction(-1), Fraction(1))
        nothing = Fraction(0)
        both, first, second = (_spread(sums, *pair) or nothing for pair in ((0, 1), (0, 0), (1, 1)))
        if first <= 0 or second <= 0:
            note = f"{self.query.name}: a column does not vary, as far as the noise lets see; no correlation."
            return Result(None, float(ends.lower), float(ends.upper), notes=(note,))
        value = float(both) / sqrt(first) / sqrt(second)
        return Result(min(max(value, -1.0), 1.0), float(ends.lower), float(ends.upper))


def _root(interval: Interval) -> Interval:
    return Interval(
        Fraction(sqrt(interval.lower)) * (1 - _ROUNDING), Fraction(sqrt(interval.upper)) * (1 + _ROUNDING)
    )


_ROUNDING = Fraction(1, 1 << 50)


def _product_unit(first: Schema, second: Schema) -> str:
    if first.unit == second.unit:
        return f"{first.unit}^2" if first.unit else ""
    return " ".join(unit for unit in (first.unit, second.unit) if unit)
