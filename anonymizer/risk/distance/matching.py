"""The cheapest one-to-one pairing of two tables of points, by the Hungarian method or on samples.

The method takes time with the cube of the rows (erratum 27). Up to `EXACT_ROWS` rows it is exact. Beyond,
pairs are of samples of so many rows of either table, drawn `REPEATS` times. Records of a sample have fewer
others around them than those of the whole, so that its pairs lie further apart than they would: the distances
are an upper bound in expectation, those to the nearest neighbour a lower bound of every pair.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from anonymizer.errors import TableError
from anonymizer.risk.distance.space import Float
from anonymizer.tables.randomness import Randomness

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
        raise TableError("There is no record to pair.", "Give at least one row of either table.")
    if max(len(points), len(others)) <= EXACT_ROWS:
        return Matched(_paired(points, others), True)
    random = Randomness(seed, "matching")
    found = []
    for _ in range(REPEATS):
        left, right = (each[random.sample(len(each), SAMPLE_ROWS)] for each in (points, others))
        found.append(_paired(left, right))
    return Matched(np.concatenate(found), False)


def _paired(points: Float, others: Float) -> Float:
    costs = cdist(points, others)
    rows, columns = linear_sum_assignment(costs)
    return np.asarray(costs[rows, columns], dtype=np.float64)
