"""The cheapest one-to-one pairing of two tables of points, by the Hungarian method or on samples.

The method takes time with the cube of the rows (erratum 27). Up to `EXACT_ROWS` rows it is exact. Beyond,
pairs are of samples of so many rows of either table, drawn `REPEATS` times. Records of a sample have fewer
others around them than those of the whole, so that its pairs lie further apart than they would: the distances
are an upper bound in expectation, those to the nearest neighbour a lower bound of every pair.

Attacks need the pairs themselves: `assign` is exact to `MAX_EXACT` rows, and beyond takes the nearest
candidates of each row, with a bound on how far the pairing is from the cheapest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import scipy
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from anonymizer.errors import TableError
from anonymizer.risk.distance.space import Float
from anonymizer.tables.randomness import Randomness

Int = NDArray[np.int64]

MAX_EXACT: Final = 10_000
"""Rows to which an assignment is exact unless said otherwise: about a minute and a gigabyte."""

CANDIDATES: Final = 20

EXACT_ROWS: Final = 1000
SAMPLE_ROWS: Final = 500
REPEATS: Final = 5


@dataclass(frozen=True, slots=True)
class Matched:
    """A cheapest pairing.

    Attributes:
        distances: of the pairs, of all samples where it is not exact.
        is_exact: whether it is of the tables as a whole.
    """

    distances: Float = field(repr=False)
    is_exact: bool

    @property
    def mean(self) -> float:
        """The mean distance of a pair."""
        return float(self.distances.mean())


def cheapest_matching(points: Float, others: Float, seed: int | None = None) -> Matched:
    """Pair points one to one, so that the sum of the distances is least.

    Args:
        points: shape (n, d).
        others: shape (m, d); where the sizes differ, those of the larger table that are not needed stay
            alone.
        seed: of the samples; None is the operating system's randomness.

    Raises:
        TableError: a table has no rows.
    """
    if not len(points) or not len(others):
        raise TableError(
            "A table has no rows, so that its records cannot be paired.",
            "Give at least one row of either table.",
        )
    if max(len(points), len(others)) <= EXACT_ROWS:
        return Matched(_cheapest_pairs(points, others)[2], True)
    random = Randomness(seed, "matching")
    found = []
    for _ in range(REPEATS):
        left, right = (each[random.sample(len(each), SAMPLE_ROWS)] for each in (points, others))
        found.append(_cheapest_pairs(left, right)[2])
    return Matched(np.concatenate(found), False)


def _cheapest_pairs(points: Float, others: Float) -> tuple[Int, Int, Float]:
    """Places of the partners on both sides, and their distances, all of the smaller size."""
    costs = scipy.spatial.distance.cdist(points, others)
    rows, columns = scipy.optimize.linear_sum_assignment(costs)
    return rows, columns, np.asarray(costs[rows, columns], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Assigned:
    """Partners of points, one to one.

    Attributes:
        partners: of each point the place of its partner, -1 where there are more points than others, (n,).
        cost: the sum of the distances of the pairs.
        least: no assignment has a smaller sum than this; equal to `cost` where it is exact.
    """

    partners: Int = field(repr=False)
    cost: float
    least: float

    @property
    def excess(self) -> float:
        """How much dearer than the cheapest it is at most, as a part of `least`; 0 where it is exact."""
        return (self.cost - self.least) / self.least if self.least > 0 else float(self.cost > 0)


def assign(
    points: Float, others: Float, *, most_exact: int = MAX_EXACT, candidates: int = CANDIDATES
) -> Assigned:
    """Assign points to others so that the sum of the Euclidean distances is least (Hungarian method).

    With more rows than `most_exact` a point may take one of its nearest candidates, or nobody at the distance
    of the farthest of them. Since everybody else is at least as far, no assignment is cheaper than the best
    one of these (`least`). Points that took nobody are then assigned among the others that are left, in
    stretches of `most_exact`.

    Args:
        points: shape (n, d).
        others: shape (m, d).
        most_exact: rows of the larger table to which all pairs are looked at.
        candidates: of each point, at least 1.

    Raises:
        TableError: a table has no rows, or there are no candidates.
    """
    if not len(points) or not len(others) or candidates < 1:
        raise TableError(
            "A table has no rows, so that its records cannot be assigned.",
            "Give at least one row of either table.",
        )
    if max(len(points), len(others)) <= most_exact:
        partners, cost = _all_pairs(points, others)
        return Assigned(partners, cost, cost)
    if len(points) > len(others):
        turned = assign(others, points, most_exact=most_exact, candidates=candidates)
        partners = np.full(len(points), -1, dtype=np.int64)
        partners[turned.partners] = np.arange(len(others))
        return Assigned(partners, turned.cost, turned.least)
    return _nearest_pairs(points, others, most_exact, min(candidates, len(others)))


def _all_pairs(points: Float, others: Float) -> tuple[Int, float]:
    rows, columns, distances = _cheapest_pairs(points, others)
    partners = np.full(len(points), -1, dtype=np.int64)
    partners[rows] = columns
    return partners, float(distances.sum())


def _nearest_pairs(points: Float, others: Float, most_exact: int, candidates: int) -> Assigned:
    from sklearn.neighbors import NearestNeighbors

    n, m = len(points), len(others)
    with threadpool_limits(limits=1):
        near = NearestNeighbors(n_neighbors=candidates, algorithm="brute").fit(others)
        distances, places = near.kneighbors(points)
    # column m + i is row i's own partner of last resort, as far away as its farthest candidate
    nobody = m + np.arange(n)
    columns = np.concatenate([places, nobody[:, None]], axis=1)
    weights = np.concatenate([distances, distances[:, -1:]], axis=1)
    # the sparse solver takes no weight of zero; every row has one partner, so that 1 more changes nothing
    ends = np.arange(0, columns.size + 1, candidates + 1)
    graph = scipy.sparse.csr_matrix((weights.ravel() + 1.0, columns.ravel(), ends), shape=(n, m + n))
    rows, found = scipy.sparse.csgraph.min_weight_full_bipartite_matching(graph)
    partners = np.full(n, -1, dtype=np.int64)
    partners[rows] = found
    least = float(np.asarray(graph[rows, found]).sum()) - n
    # rows that found nobody are matched exactly with those left over, stretch by stretch
    alone = np.flatnonzero(partners >= m)
    free = np.setdiff1d(np.arange(m), partners)
    for start in range(0, len(alone), most_exact):
        part = alone[start : start + most_exact]
        room = free[:most_exact]
        chosen, _ = _all_pairs(points[part], others[room])
        partners[part] = room[chosen]
        free = np.setdiff1d(free, partners[part])
    cost = float(np.linalg.norm(points - others[partners], axis=1).sum())
    return Assigned(partners, cost, min(least, cost))
