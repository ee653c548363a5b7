"""Clusters of records in one column: their centroids, and how much one record can change them.

A cluster has k records or more. The change of a centroid is bounded while every record stays in its cluster;
what happens when one moves is `moved_loss`.

Reference: Soria-Comas, Sánchez, Domingo-Ferrer, Martínez and Del Vasto-Terrientes, Conciliating privacy and
utility in data releases via individual differential privacy and microaggregation, 2023 (arXiv 2312.13712),
section 3, with errata 32 to 34.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

Int = NDArray[np.int64]
Float = NDArray[np.float64]


def rank_individually(values: Float, k: int) -> Int:
    """Individual ranking: k consecutive values are a cluster, the last has up to 2k - 1.

    Args:
        values: numbers, or places in an order, shape (n,), n at least k.
        k: the least size of a cluster, 1 or more.

    Returns:
        The cluster of each record, from 0 in the order of the values, shape (n,). Sizes depend on n and k
        alone. Of equal values those of earlier rows come first.

    Reference: Domingo-Ferrer and Mateo-Sanz, Practical data-oriented microaggregation for statistical
        disclosure control, IEEE TKDE 14, 2002.
    """
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[np.argsort(values, kind="stable")] = np.arange(len(values))
    return np.minimum(ranks // k, max(1, len(values) // k) - 1)


@dataclass(frozen=True, slots=True)
class Clusters:
    """The values of a column, cluster by cluster and sorted in each.

    Attributes:
        groups: the cluster of each record, shape (n,); all of 0 to p - 1 occur.
        values: sorted by cluster and then by size, shape (n,).
        starts: where each cluster begins in `values`, shape (p,).
        sizes: how many records each has, shape (p,).
    """

    groups: Int = field(repr=False)
    values: Float = field(repr=False)
    starts: Int = field(repr=False)
    sizes: Int = field(repr=False)

    @classmethod
    def of(cls, values: Float, groups: Int) -> Self:
        """Clusters of values.

        Args:
            values: of the records, shape (n,).
            groups: as the attribute.
        """
        sizes = np.bincount(groups)
        return cls(groups, values[np.lexsort((values, groups))], np.cumsum(sizes) - sizes, sizes)

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def ends(self) -> Int:
        """Where the largest value of each cluster stands, shape (p,)."""
        last: Int = self.starts + self.sizes - 1
        return last

    @property
    def means(self) -> Float:
        """The arithmetic mean of each cluster, shape (p,)."""
        means: Float = np.add.reduceat(self.values, self.starts) / self.sizes
        return means

    def trim(self) -> Clusters:
        """The least and the largest value of each cluster replaced by those next to them (section 3.2.2).

        No cluster may have fewer than three records.
        """
        inner = self.values.copy()
        inner[self.starts] = self.values[self.starts + 1]
        inner[self.ends] = self.values[self.ends - 1]
        return Clusters(self.groups, inner, self.starts, self.sizes)

    def global_change(self, low: float, high: float) -> Float:
        """How much one record can change the sum of its cluster, whatever the values (section 3.1).

        Args:
            low: the least number that a record can have.
            high: the largest.

        Returns:
            Shape (p,); so are the others. Divided by the sizes it is the sensitivity of the centroids.
        """
        return np.full(len(self), high - low)

    def local_change(self, low: float, high: float) -> Float:
        """How much one record can change the sum of its cluster as it is (Proposition 2)."""
        found: Float = np.maximum(high - self.values[self.starts], self.values[self.ends] - low)
        return found

    def inner_change(self) -> Float:
        """How much one record can change the sum of its trimmed cluster (Proposition 3, Eq. 1).

        Zero where it cannot change it, as in a cluster of equal values.
        """
        x1, x2, x3 = (self.values[self.starts + place] for place in range(3))
        y1, y2, y3 = (self.values[self.ends - place] for place in range(3))
        up = (y1 - x2) + (x3 - x2) + (y1 - y2)
        down = (y2 - x1) + (y2 - y3) + (x2 - x1)
        found: Float = np.maximum(up, down)
        return found


def moved_loss(before: Float, after: Float, scales: Float) -> float:
    """The largest log ratio of the densities of noisy centroids, if the noise stays as large as it was.

    Args:
        before: the centroids, shape (p,).
        after: those of a neighbouring table, shape (p,).
        scales: of the Laplace noise of each centroid, shape (p,); 0 where there is none.

    Returns:
        The sum of the changes by scales; infinite if a centroid without noise changes.
    """
    changes = np.abs(after - before)
    if (changes[scales == 0] > 0).any():
        return float("inf")
    return float((changes[scales > 0] / scales[scales > 0]).sum())
