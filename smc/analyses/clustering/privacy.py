"""Lloyd's algorithm under differential privacy: noisy counts and sums in every iteration.

In each of T iterations the count and the d sums of every cluster get discrete Laplace noise that neither
party knows, and the next centres are made of the noisy numbers alone. Sums are taken about the middle of the
bounds, so that a row moves twice a sum by at most the column's range. A row is in one cluster, hence an
iteration costs the sum over one count and d sums, whichever cluster they are of; each gets the same part,
epsilon / (T (d + 1)). In all layouts the numbers of rows are public, so neighbours have a person's rows
replaced (`smc.analyses.studies.neighbours`): each row leaves one cluster and enters another, or stays with
other values, and moves two counts by 1 and two of twice the sums by the range, or one by twice the range.
Everything else is made of noisy numbers: the clamping of sums, the division, the labels.

Reference: Blum, Dwork, McSherry and Nissim, Practical privacy: the SuLQ framework, PODS 2005 (its k-means);
the noise: `smc.secret.noise.noise`.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.clustering.lloyd import means
from smc.analyses.clustering.parameters import ClusteringParameters
from smc.analyses.clustering.table import Sums
from smc.analyses.records.fixed_point import FixedPointColumn, FixedPointColumns
from smc.analyses.records.intervals import Interval
from smc.errors import DomainError, UsageError
from smc.secret.ints import SecretInts, select
from smc.secret.noise import noise
from smc.secret.noise.laplace import DiscreteLaplace
from smc.secret.sharing.bounds import Bounds

MAX_DELTA: Final = Fraction(1, 1 << 40)
"""A job whose delta would be larger is refused."""

MISS: Final = Fraction(1, 20)
"""With what probability an interval does not hold the exact value, at most."""

_MAX_BITS: Final = 62


@dataclass(frozen=True, slots=True)
class NoisyMeans:
    """The noise of one iteration.

    Attributes:
        scaled: the columns.
        clusters: k.
        count: the distribution of a count's noise.
        sums: the distribution of the noise of twice each column's sum.
        iterations: T.
        part: epsilon of each number.
    """

    scaled: FixedPointColumns
    clusters: int
    count: DiscreteLaplace
    sums: tuple[DiscreteLaplace, ...]
    iterations: int
    part: Fraction

    @property
    def distributions(self) -> list[DiscreteLaplace]:
        """Of all draws of an iteration: the counts, then the sums row by row."""
        return [self.count] * self.clusters + list(self.sums) * self.clusters

    @property
    def delta(self) -> Decimal:
        """Bound on delta: (1 + e**part) times the statistical distance of each draw from its distribution."""
        part = Decimal(self.part.numerator) / Decimal(self.part.denominator)
        each = self.count.distance + sum((distribution.distance for distribution in self.sums), Decimal(0))
        return (1 + part.exp()) * each * self.iterations * self.clusters

    def sizes(self, rows: int) -> Bounds:
        """Of noisy counts, of which none is below 1 by then."""
        return Bounds(1, max(1, rows + self.count.bound))

    def deviations(self, rows: int) -> Bounds:
        """Of twice the noisy sums about the middle."""
        most = rows * int(self.scaled.largest.max()) + max(distribution.bound for distribution in self.sums)
        return Bounds(-most, most)

    def coordinate(self, place: int, centre: Fraction, count: int) -> Interval:
        """The 95 % interval of a coordinate of the mean of a cluster's rows.

        Args:
            place: of the column.
            centre: the noisy coordinate, in whole numbers.
            count: the noisy size.
        """
        largest = self.scaled.columns[place].largest
        rows = Interval.around(count, self.count.half_width(MISS / 2))
        if rows.lower <= 0:
            return Interval(Fraction(0), Fraction(largest))
        # The quotient was rounded down to a multiple of 2**-fraction.
        width = self.sums[place].half_width(MISS / 2) + Fraction(2 * count, 1 << self.scaled.fraction)
        doubled = (2 * centre - largest) * count
        deviation = Interval(doubled - width, doubled + width) / rows
        return Interval((deviation.lower + largest) / 2, (deviation.upper + largest) / 2).within(
            Fraction(0), Fraction(largest)
        )

    def check_room(self, rows: int) -> None:
        """Check that nothing can wrap for so many rows.

        Raises:
            DomainError: it could.
        """
        reach = 2 * self.sizes(rows).upper * int(self.scaled.largest.max())
        bits = max(
            (reach << self.scaled.fraction + 3).bit_length(), self.deviations(rows).magnitude.bit_length() + 1
        )
        if bits > _MAX_BITS:
            raise DomainError(
                f"Noisy sums could need {bits} bits; there is room for {_MAX_BITS}.",
                "Raise epsilon, lower the precision or the iterations.",
            )

    def means(self, sums: Sums) -> tuple[SecretInts, SecretInts]:
        """The noisy centres, shape (k, d), and counts, shape (k,); noise is drawn."""
        session, rows, k = sums.sizes.session, sums.sizes.bounds.upper, self.clusters
        largest = self.scaled.largest
        draws = noise.draw(session, self.distributions, silent=False)
        counts = sums.sizes + SecretInts(session, draws[:k], _around(self.count.bound))
        spread = SecretInts(
            session, draws[k:].reshape(k, -1), _around(max(distribution.bound for distribution in self.sums))
        )
        middle = sums.sizes.reshape(-1, 1) * largest
        deviations = (sums.values * 2 - middle).with_bounds(_around(rows * int(largest.max()))) + spread
        sizes = select(counts >= 1, counts, counts * 0 + 1).with_bounds(self.sizes(rows))
        reach = sizes.reshape(-1, 1) * largest
        deviations = select(deviations <= reach, deviations, reach)
        deviations = select(deviations >= -reach, deviations, -reach)
        doubled = (deviations + reach).with_bounds(Bounds(0, 2 * reach.bounds.upper))
        return means(self.scaled, doubled, sizes), counts


def _around(bound: int) -> Bounds:
    return Bounds(-bound, bound)


def plan(parameters: ClusteringParameters, scaled: FixedPointColumns) -> NoisyMeans | None:
    """The noise of a job; None for one without epsilon.

    Raises:
        UsageError: epsilon is too small for the bounds, or delta would be too large.
    """
    if parameters.epsilon is None:
        return None
    part = parameters.epsilon / (parameters.iterations * (scaled.dimensions + 1))
    changes = parameters.neighbours.changes
    distributions = {
        most: DiscreteLaplace.of(part / (changes * most)) for most in {1, *map(_sensitivity, scaled.columns)}
    }
    planned = NoisyMeans(
        scaled,
        parameters.clusters,
        distributions[1],
        tuple(distributions[_sensitivity(axis)] for axis in scaled.columns),
        parameters.iterations,
        part,
    )
    if planned.delta > Decimal(MAX_DELTA.numerator) / Decimal(MAX_DELTA.denominator):
        raise UsageError(
            "Drawing the noise from 64-bit words would make delta larger than 2**-40.",
            "Lower epsilon, the iterations or the clusters.",
        )
    return planned


def _sensitivity(axis: FixedPointColumn) -> int:
    """By how much a row moves twice the column's sum about the middle, at least 1."""
    return max(1, axis.largest)


def rows_of_one(persons: NDArray[np.int64]) -> int:
    """The most rows that one person has, 0 of none."""
    return int(np.unique(persons, return_counts=True)[1].max()) if len(persons) else 0
