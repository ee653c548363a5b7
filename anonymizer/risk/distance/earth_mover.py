"""The earth mover's distance of two tables of points: the least mean way from one to the other.

Exact by optimal transport (`ot`, the package POT) up to `EXACT_ROWS` rows. Beyond, sliced: both tables are
projected on random directions, where the distance is that of sorted numbers, and the mean is taken. A
projection shortens ways, so that the sliced distance is a lower bound; it is multiplied by nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy

from anonymizer.errors import TableError
from anonymizer.risk.distance.space import Float
from anonymizer.tables.randomness import Randomness

EXACT_ROWS: Final = 2000
DIRECTIONS: Final = 20
_STEPS: Final = 10_000_000
"""What the solver takes at most; it needs far fewer for `EXACT_ROWS` rows."""


@dataclass(frozen=True, slots=True)
class Moved:
    """An earth mover's distance.

    Attributes:
        mean: the mean way.
        is_exact: whether it is that distance, or the sliced one, which is smaller.
    """

    mean: float
    is_exact: bool


def earth_mover(points: Float, others: Float, seed: int | None = None) -> Moved:
    """Measure the earth mover's distance; each row of a table has the same part of its mass.

    Args:
        points: shape (n, d).
        others: shape (m, d).
        seed: of the directions; None is the operating system's randomness.

    Raises:
        TableError: a table has no rows.
    """
    if not len(points) or not len(others):
        raise TableError(
            "A table has no rows, so that there is no distance to it.",
            "Give at least one row of either table.",
        )
    if max(len(points), len(others)) <= EXACT_ROWS:
        import ot  # takes a second, and with it what is installed of the array libraries that it serves

        return Moved(
            float(ot.emd2([], [], scipy.spatial.distance.cdist(points, others), numItermax=_STEPS)), True
        )
    dimension = points.shape[1]
    drawn = Randomness(seed, "directions").normal(DIRECTIONS * dimension).reshape(DIRECTIONS, dimension)
    directions = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    ways = [_way(points @ each, others @ each) for each in directions]
    return Moved(float(np.mean(ways)), False)


def _way(numbers: Float, others: Float) -> float:
    """The earth mover's distance of two lists of numbers."""
    if len(numbers) == len(others):  # the same, without sorting both together
        return float(np.abs(np.sort(numbers) - np.sort(others)).mean())
    return float(scipy.stats.wasserstein_distance(numbers, others))
