"""What every statistic is to a run: entries to add up, noise for them, and how its result reads.

To add a kind: a subclass of `Statistic` with `parts`, `local` and `result`, its keys in `query.py` and a
line in `plan.py`. Everything is exact integers in held units (real units times 10**scale). A statistic is
computed for several groups of rows at once, which no row shares; without `by` there is one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import isqrt, sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.statistics.queries.asked import Query
from smc.analyses.statistics.queries.rows import Ints, LocalRows
from smc.analyses.studies.columns import Schema
from smc.analyses.studies.loss import Loss
from smc.numeric.random import Randomness
from smc.protocols.session import Session
from smc.secret.noise.distribution import Distribution, decimal
from smc.secret.noise.gaussian import DiscreteGaussian
from smc.secret.noise.laplace import DiscreteLaplace

Word = NDArray[np.uint64]

MISS: Final = Fraction(1, 20)
"""An interval misses the true statistic with at most this probability."""

_ROOT_GRAIN: Final = 10**12


@dataclass(frozen=True, slots=True)
class Part:
    """Entries of a statistic that have noise of one distribution.

    Attributes:
        size: number of entries.
        sensitivity: one row changes at most one of the entries, by at most this.
        weight: the part of the statistic's loss that they get.
    """

    size: int
    sensitivity: int
    weight: Fraction


@dataclass(frozen=True, slots=True)
class Result:
    """How a statistic reads for one group of rows.

    Attributes:
        value: in real units; None where there is none.
        lower: end of the 95 % interval.
        upper: end of the 95 % interval.
        table: columns of a table of its own, for statistics of several numbers.
        notes: remarks for people.
        rows: the exact number of rows behind it, where that was opened too.
        p_value: of the test that the statistic is, or makes beside its figures.
        r_squared: the coefficient of determination of a fit.
        sampled: the ends of the 95 % interval that speaks of sampling as well as of the noise; None where a
            statistic has none, and an end where it is open.
        kinds: of columns of `table`, as `smc.analyses.studies.outcome.Table` has them.
        further: columns of more tables, by what they are called after the query.
        further_kinds: of their columns, by table.
    """

    value: int | float | str | None = None
    lower: int | float | str | None = None
    upper: int | float | str | None = None
    table: Mapping[str, Sequence[Any]] | None = None
    notes: tuple[str, ...] = ()
    rows: int | None = None
    p_value: float | None = None
    r_squared: float | None = None
    sampled: tuple[float | None, float | None] | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    further: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=dict)
    further_kinds: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Statistic(ABC):
    """A query, resolved against the schemas of its columns.

    Attributes:
        query: the query; its loss is what the entries of this statistic may cost.
        schemas: of the query's columns.
        changes: the most added and removed rows that the guarantee has to cover, see `Neighbours`.
    """

    query: Query
    schemas: tuple[Schema, ...] = field(repr=False)
    changes: int

    @property
    @abstractmethod
    def parts(self) -> tuple[Part, ...]:
        """The entries in their order; the first part is the one that the stated noise scale is about."""

    @abstractmethod
    def local(self, rows: LocalRows) -> Ints:
        """The local entries over one group's rows."""

    @abstractmethod
    def result(
        self, entries: Sequence[int], distributions: Sequence[Distribution], random: Randomness
    ) -> Result:
        """The result of one group from its opened entries.

        Args:
            entries: exact sums, or noisy ones.
            distributions: of the noise of each entry; none if the entries are exact.
            random: for simulations; nothing is drawn unless the statistic simulates.
        """

    @property
    def simulates(self) -> bool:
        """Whether a noisy result has simulated figures, for which both parties then toss a public seed."""
        return False

    @property
    def size(self) -> int:
        """Entries that are opened for each group."""
        return sum(part.size for part in self.parts)

    @property
    def counts(self) -> tuple[int, ...] | None:
        """For each entry, which entry counts the rows that it is about; None where no entry does."""
        return None

    @property
    def unit(self) -> str:
        """The unit of the result."""
        return self.schemas[0].unit if self.schemas else "rows"

    @property
    def divisor(self) -> int:
        """What turns the first part's held units into those of the result."""
        return 1

    @property
    def distributions(self) -> tuple[Distribution, ...]:
        """Of the noise that is drawn for each group."""
        return tuple(
            distribution
            for part in self.parts
            for distribution in [additive(self.query.loss, part, self.changes)] * part.size
        )

    @property
    def noise_scale(self) -> Fraction | float:
        """Of the first part's noise in the unit of the result; for Gaussian noise the standard deviation."""
        first = self.parts[0]
        reach = Fraction(first.sensitivity * self.changes, self.divisor)
        loss = self.query.loss
        if loss.rho:
            return float(reach) / sqrt(2 * loss.rho * first.weight)
        return reach / (loss.epsilon * first.weight)

    def delta(self, groups: int, epsilon: Fraction) -> Decimal:
        """What drawing the noise adds to delta: (1 + e**epsilon) times its distance from ideal noise.

        The entries in which neighbours can differ count; the noise of the others has the same distribution on
        both.

        Args:
            groups: number of groups.
            epsilon: for which the guarantee is stated.
        """
        distance = sum(
            (
                min(self.changes, part.size * groups) * additive(self.query.loss, part, self.changes).distance
                for part in self.parts
            ),
            Decimal(0),
        )
        return delta_of(epsilon, distance)

    def combine(self, session: Session, own: Ints, noise: Word) -> Word:
        """Own shares of what is opened.

        Args:
            session: this side of the run.
            own: own entries, shape (groups, entries).
            noise: local shares of the noise, shape (groups, distributions).
        """
        del session
        return own.view(np.uint64) + noise

    def exact(self, entries: Ints) -> Ints:
        """What would be opened without noise.

        Args:
            entries: sums of both parties' entries, shape (groups, entries).
        """
        return entries

    def typical(self, entries: Ints) -> Ints:
        """What would be opened if all noise came out as 0; arguments as of `exact`."""
        return self.exact(entries)

    def largest(self, maximum_rows: int) -> int:
        """A bound on the absolute value of what is computed with, if each side has so many rows."""
        reach = max(part.sensitivity for part in self.parts)
        return 2 * maximum_rows * reach + max(distribution.bound for distribution in self.distributions)


def additive(loss: Loss, part: Part, changes: int) -> Distribution:
    """The distribution of noise that is added to each entry of a part.

    Neighbours differ in the part by at most `changes` times its sensitivity, in the sum of absolute values
    and thus in the root of the sum of squares.
    """
    reach = part.sensitivity * changes
    if loss.rho:
        return _gaussian(Fraction(reach * reach) / (2 * loss.rho * part.weight))
    return _laplace(loss.epsilon * part.weight / reach)


def delta_of(epsilon: Fraction, distance: Decimal) -> Decimal:
    """The delta of a mechanism within a statistical distance of an epsilon-private one, beyond its own."""
    return (1 + decimal(epsilon).exp()) * distance


def pure(loss: Loss, weight: Fraction) -> Fraction:
    """The epsilon of a mechanism without Gaussian noise that costs a part of a loss.

    An epsilon costs rho = epsilon**2 / 2 (Bun and Steinke, proposition 1.4); rounded down.
    """
    if not loss.rho:
        return loss.epsilon * weight
    square = 2 * loss.rho * weight * _ROOT_GRAIN**2
    return Fraction(isqrt(square.numerator // square.denominator), _ROOT_GRAIN)


@lru_cache(maxsize=1024)
def _laplace(rate: Fraction) -> DiscreteLaplace:
    return DiscreteLaplace.of(rate)


@lru_cache(maxsize=1024)
def _gaussian(variance: Fraction) -> DiscreteGaussian:
    return DiscreteGaussian.of(variance)
