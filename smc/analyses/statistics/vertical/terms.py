"""Statistics as sums over rows of products, of which each factor needs one column.

Every entry of a statistic is a sum over rows of a product of clamped values and of bits that show whether a
value lies in a bin. Over matched rows the factors of one side make a feature, a number that this side works
out for each of its rows; the entry is the sum of the products of a feature of Alice and one of Bob.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce, singledispatch
from operator import mul

import numpy as np

from smc.analyses.records.held_conditions import Bound
from smc.analyses.statistics.kinds.bins import Bins, EqualSteps
from smc.analyses.statistics.kinds.crosstabs import Cells
from smc.analyses.statistics.kinds.moments import ClampedProducts
from smc.analyses.statistics.kinds.quantiles import Quantile
from smc.analyses.statistics.kinds.standardised import Rates, StandardisedRatio
from smc.analyses.statistics.kinds.statistic import Statistic
from smc.analyses.statistics.kinds.sums import Clamp, ClampedSum, Count
from smc.analyses.statistics.kinds.survival.layout import Endings
from smc.analyses.statistics.kinds.survival.statistic import Survival
from smc.analyses.statistics.kinds.ttest import TTest
from smc.analyses.statistics.plans.planned import Planned
from smc.analyses.statistics.queries.rows import Ints
from smc.errors import UsageError
from smc.secret.sharing.bounds import Bounds


@dataclass(frozen=True, slots=True)
class Value:
    """A clamped value, counted from a point.

    Attributes:
        column: its name.
        clamp: the bounds, in held units.
        origin: the point.
    """

    column: str
    clamp: Clamp
    origin: int

    @property
    def bounds(self) -> Bounds:
        """Of the factor."""
        return Bounds(self.clamp.lower - self.origin, self.clamp.upper - self.origin)

    def of(self, columns: Mapping[str, Ints]) -> Ints:
        """For each row."""
        clamped: Ints = np.clip(columns[self.column], self.clamp.lower, self.clamp.upper) - self.origin
        return clamped


@dataclass(frozen=True, slots=True)
class Inside:
    """1 where a value lies in a bin, else 0.

    Attributes:
        column: its name.
        bins: bins, candidates of a quantile, steps of times, or the ways in which a follow-up ends.
        place: the bin.
    """

    column: str
    bins: Bins | EqualSteps | Endings
    place: int

    @property
    def bounds(self) -> Bounds:
        """Of the factor."""
        return Bounds(0, 1)

    def of(self, columns: Mapping[str, Ints]) -> Ints:
        """For each row."""
        inside: Ints = (self.bins.places(columns[self.column]) == self.place).astype(np.int64)
        return inside


@dataclass(frozen=True, slots=True)
class Holds:
    """1 where a condition holds, else 0.

    Attributes:
        condition: about columns of one side.
    """

    condition: Bound

    @property
    def column(self) -> str:
        """One of its columns."""
        return self.condition.column

    @property
    def bounds(self) -> Bounds:
        """Of the factor."""
        return Bounds(0, 1)

    def of(self, columns: Mapping[str, Ints]) -> Ints:
        """For each row."""
        return self.condition.of(columns).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Rated:
    """The held public rate of a label.

    Attributes:
        column: its name.
        rates: of the labels.
    """

    column: str
    rates: Rates

    @property
    def bounds(self) -> Bounds:
        """Of the factor."""
        return Bounds(0, max(self.rates.held))

    def of(self, columns: Mapping[str, Ints]) -> Ints:
        """For each row."""
        return self.rates.of(columns[self.column])


Factor = Value | Inside | Holds | Rated
Feature = tuple[Factor, ...]
"""The product of its factors; the empty one is 1."""

Pair = tuple[Feature, Feature]
"""A product of a feature of Alice and one of Bob."""


def bounds_of(feature: Feature) -> Bounds:
    """Of a feature."""
    return reduce(mul, (factor.bounds for factor in feature), Bounds(1, 1))


def values_of(feature: Feature, columns: Mapping[str, Ints], count: int) -> Ints:
    """A feature for each of `count` rows."""
    ones = np.ones(count, dtype=np.int64, like=next(iter(columns.values()), None))
    return reduce(mul, (factor.of(columns) for factor in feature), ones)


def pairs(planned: Planned, alice: Iterable[str]) -> list[Pair]:
    """What is added up over matched rows for a statistic, group by group.

    Args:
        planned: the statistic; if it has an extra count, that comes last in each group.
        alice: Alice's columns; the others are Bob's.

    Returns:
        As many for each group as `smc.analyses.statistics.plans.noisy.local` has columns, in that order.
    """
    own = frozenset(alice)
    entries = [*terms(planned.statistic), *([()] if planned.count_distribution is not None else [])]
    found: list[Pair] = []
    holds = tuple(Holds(condition) for condition in planned.where)
    for codes in planned.codes:
        by = zip(planned.query.by, codes, strict=True)
        group = tuple(Inside(name, Bins((name,), (), ((code,),)), 0) for name, code in by)
        for entry in entries:
            factors = (*entry, *group, *holds)
            at_alice = tuple(factor for factor in factors if factor.column in own)
            found.append((at_alice, tuple(factor for factor in factors if factor.column not in own)))
    return found


@singledispatch
def terms(statistic: Statistic) -> tuple[Feature, ...]:
    """The product of factors that each entry of a statistic adds up over rows, in the order of `local`.

    Raises:
        UsageError: the statistic is not known here.
    """
    raise UsageError(
        f"Query {statistic.query.name!r}: a {statistic.query.kind} is not computed over matched rows.",
        "Ask for another statistic.",
    )


@terms.register
def _count(statistic: Count) -> tuple[Feature, ...]:
    del statistic
    return ((),)


@terms.register
def _sum(statistic: ClampedSum) -> tuple[Feature, ...]:
    return ((Value(statistic.query.columns[0], statistic.clamps[0], 0),),)


@terms.register
def _products(statistic: ClampedProducts) -> tuple[Feature, ...]:
    centred = [
        Value(name, clamp, clamp.centre)
        for name, clamp in zip(statistic.query.columns, statistic.clamps, strict=True)
    ]
    return tuple(tuple(centred[place] for place in monomial) for monomial in statistic.products)


@terms.register
def _cells(statistic: Cells) -> tuple[Feature, ...]:
    found: list[Feature] = [()]
    for name, bins in zip(statistic.query.columns, statistic.bins, strict=True):
        inside = [Inside(name, bins, place) for place in range(len(bins.labels))]
        found = [(*cell, factor) for cell in found for factor in inside]
    return tuple(found)


@terms.register
def _standardised_terms(statistic: StandardisedRatio) -> tuple[Feature, ...]:
    strata, column = statistic.query.columns
    return ((Inside(column, statistic.event, 0),), (Rated(strata, statistic.rates),))


@terms.register
def _t_test(statistic: TTest) -> tuple[Feature, ...]:
    name, by = statistic.query.columns
    value = Value(name, statistic.clamps[0], statistic.clamps[0].centre)
    groups = [Inside(by, statistic.labels, place) for place in (0, 1)]
    return tuple((*power, group) for power in ((value,), (value, value), ()) for group in groups)


@terms.register
def _quantile(statistic: Quantile) -> tuple[Feature, ...]:
    (name,) = statistic.query.columns
    return tuple((Inside(name, statistic.grid, place),) for place in range(statistic.points))


@terms.register
def _survival(statistic: Survival) -> tuple[Feature, ...]:
    return tuple(tuple(Inside(*factor) for factor in cell) for cell in statistic.layout.factors)
