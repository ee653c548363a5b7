"""k-anonymity by clustering: rows that are near become one class, each released under its cover.

The distance of two rows, or of a row and a cluster, is the NCP of what covers both. Both methods take time in
the square of the number of different rows, divided by k for one-pass clustering: for tables of some ten
thousand rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.methods.conditions.allowed import Allowed
from anonymizer.methods.contract.parameters import parameters
from anonymizer.methods.recoding.attributes import Attribute
from anonymizer.methods.recoding.joining import Joins, join_classes
from anonymizer.methods.recoding.recoding import Partitioning
from anonymizer.risk.classes import number_classes
from anonymizer.tables.randomness import Randomness

Int = NDArray[np.int64]
Float = NDArray[np.float64]

_BLOCK: Final = 256
_CLUSTERS: Final = 512


@parameters
class Clustering(Partitioning):
    """What both methods have in common; subclasses give `_clusters`.

    Clusters that `constraints` do not allow are joined with those nearest to them.
    """

    random: ClassVar[bool] = True
    keeps_classes: ClassVar[bool] = False

    random_state: int | None = None

    @abstractmethod
    def _clusters(self, attributes: list[Attribute], randomness: Randomness) -> Int:
        """The cluster of each row, shape (n,)."""

    @override
    def _classes(self, attributes: list[Attribute], allowed: Allowed) -> Int:
        return join_classes(attributes, self._clusters(attributes, Randomness(self.random_state)), allowed)


class KMember(Clustering):
    """Greedy clusters of k rows: each starts far from the one before and takes the row that costs least.

    Args:
        k: the least size of a class.
        constraints: such as `DistinctDiversity("income", 2)`, or tables with `model` and its entries.
        columns: columns with hierarchies or numbers; the quasi-identifiers if None.
        random_state: of the row to start from; None for the operating system's randomness.

    Raises:
        HierarchyError: a column of texts has no hierarchy, or a value is not covered.
        UnreachableError: not even the whole table as one class is allowed.

    Reference: Byun, Kamra, Bertino and Li, Efficient k-anonymization using clustering techniques, DASFAA
        2007.
    """

    name: ClassVar[str] = "k-member"
    keeps_rows: ClassVar[bool] = True
    example: ClassVar[Mapping[str, Any]] = {"k": 2}

    @override
    def _clusters(self, attributes: list[Attribute], randomness: Randomness) -> Int:
        return k_member(attributes, self.k, randomness)


class OnePassClustering(Clustering):
    """One-pass k-means: rows go to the nearest of n / k clusters, which then even out their sizes.

    Rows are placed in blocks of 256 and covers updated after each; the cover stands for the centre. Clusters
    with more than k rows offer those farthest from their first row to clusters that have fewer; rows that
    none takes stay.

    Args:
        k: the least size of a class.
        constraints: such as `DistinctDiversity("income", 2)`, or tables with `model` and its entries.
        columns: columns with hierarchies or numbers; the quasi-identifiers if None.
        random_state: of the rows to start from; None for the operating system's randomness.

    Raises:
        HierarchyError: a column of texts has no hierarchy, or a value is not covered.
        UnreachableError: not even the whole table as one class is allowed.

    Reference: Lin and Wei, An efficient clustering method for k-anonymization, PAIS 2008.
    """

    name: ClassVar[str] = "one-pass-clustering"
    keeps_rows: ClassVar[bool] = True
    example: ClassVar[Mapping[str, Any]] = {"k": 2}

    @override
    def _clusters(self, attributes: list[Attribute], randomness: Randomness) -> Int:
        return one_pass(attributes, self.k, randomness)


def k_member(attributes: list[Attribute], k: int, randomness: Randomness) -> Int:
    """Cluster rows.

    Args:
        attributes: m columns of n rows.
        k: rows of a cluster.
        randomness: of the start.

    Returns:
        Of each row its cluster, shape (n,); each has k rows but those of the last rows, one each.
    """
    profiles, count = number_classes([one.codes for one in attributes])
    _, codes_at = np.unique(profiles, return_index=True)
    members = np.argsort(profiles, kind="stable")
    room = np.bincount(profiles, minlength=count)
    starts = np.cumsum(room) - room
    joins = [Joins(one) for one in attributes]
    codes = np.stack([one.codes[codes_at] for one in attributes])
    live = np.arange(count)
    clusters = np.full(len(profiles), -1, dtype=np.int64)
    left, cluster = len(profiles), 0
    low = high = codes[:, int(randomness.integers(count, 1)[0])]

    def costs() -> Float:
        total = np.zeros(len(live))
        for place, one in enumerate(joins):
            total += one(int(low[place]), int(high[place]))[codes[place]]
        return total

    while left >= k:
        low = high = codes[:, int(np.where(room > 0, costs(), -1.0).argmax())].copy()
        missing = k
        while missing:
            place = int(np.where(room > 0, costs(), np.inf).argmin())
            taken = min(missing, int(room[place]))
            begin = starts[live[place]]
            clusters[members[begin : begin + taken]] = cluster
            starts[live[place]] += taken
            room[place] -= taken
            missing -= taken
            low, high = np.minimum(low, codes[:, place]), np.maximum(high, codes[:, place])
        left -= k
        cluster += 1
        stay = room > 0
        if 4 * np.count_nonzero(stay) < 3 * len(stay):
            live, room, codes = live[stay], room[stay], np.ascontiguousarray(codes[:, stay])
    alone = np.flatnonzero(clusters < 0)
    clusters[alone] = cluster + np.arange(len(alone))
    return clusters


def one_pass(attributes: list[Attribute], k: int, randomness: Randomness) -> Int:
    """Cluster rows.

    Args:
        attributes: m columns of n rows, n at least k.
        k: the least size of a cluster.
        randomness: of the rows to start from.

    Returns:
        Of each row its cluster, shape (n,).
    """
    rows = len(attributes[0].codes)
    order = randomness.permutation(rows)
    seeds = order[: rows // k]
    clusters = np.empty(rows, dtype=np.int64)
    clusters[seeds] = np.arange(len(seeds))
    low = [one.codes[seeds] for one in attributes]
    high = [codes.copy() for codes in low]
    sizes = np.ones(len(seeds))
    for start in range(len(seeds), rows, _BLOCK):
        block = order[start : start + _BLOCK]
        chosen = _nearest(attributes, block, low, high, sizes)
        clusters[block] = chosen
        for place, one in enumerate(attributes):
            np.minimum.at(low[place], chosen, one.codes[block])
            np.maximum.at(high[place], chosen, one.codes[block])
        np.add.at(sizes, chosen, 1.0)
    return _balance(attributes, clusters, seeds, k)


def _nearest(attributes: list[Attribute], rows: Int, low: list[Int], high: list[Int], sizes: Float) -> Int:
    """The cluster whose loss grows least if a row joins, shape (rows,); by blocks of clusters."""
    least = np.full(len(rows), np.inf, dtype=np.float32)
    nearest = np.zeros(len(rows), dtype=np.int64)
    values = [np.unique(one.codes[rows], return_inverse=True) for one in attributes]
    for start in range(0, len(sizes), _CLUSTERS):
        part = slice(start, start + _CLUSTERS)
        growth = np.zeros((len(rows), len(sizes[part])), dtype=np.float32)
        for one, (own, places), lows, highs in zip(attributes, values, low, high, strict=True):
            first, last = lows[part], highs[part]
            wide = np.minimum(own[:, None], first).ravel(), np.maximum(own[:, None], last).ravel()
            after = one.loss(*wide).reshape(len(own), -1)
            added = (sizes[part] + 1) * after - sizes[part] * one.loss(first, last)
            growth += added.astype(np.float32)[places]
        chosen = growth.argmin(axis=1)
        value = growth[np.arange(len(rows)), chosen]
        better = value < least
        least[better], nearest[better] = value[better], start + chosen[better]
    return nearest


def _balance(attributes: list[Attribute], clusters: Int, seeds: Int, k: int) -> Int:
    """Let clusters with fewer than k rows take the nearest of those that larger ones can spare."""
    own = seeds[clusters]
    distance = np.zeros(len(clusters))
    for one in attributes:
        pair = one.codes, one.codes[own]
        distance += one.loss(np.minimum(*pair), np.maximum(*pair))
    distance[seeds] = -1
    order = np.lexsort((distance, clusters))
    sizes = np.bincount(clusters, minlength=len(seeds))
    rank = np.empty(len(clusters), dtype=np.int64)
    rank[order] = np.arange(len(clusters)) - (np.cumsum(sizes) - sizes)[clusters[order]]
    pool = np.flatnonzero(rank >= k)
    joins = [Joins(one) for one in attributes]
    result = clusters.copy()
    for small in np.flatnonzero(sizes < k).tolist():
        members = order[np.searchsorted(clusters[order], small) :][: sizes[small]]
        costs = np.zeros(len(pool))
        for join, one in zip(joins, attributes, strict=True):
            codes = one.codes[members]
            costs += join(int(codes.min()), int(codes.max()))[one.codes[pool]]
        missing = int(k - sizes[small])
        nearest = np.argpartition(costs, missing - 1)[:missing]
        result[pool[nearest]] = small
        pool = np.delete(pool, nearest)
    return result
