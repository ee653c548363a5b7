"""Records as points: numbers scaled by a declared range, categories as corners that lie 1 apart.

The paper measures Euclidean distances and does not say how columns are scaled (erratum 42), so that of a
height in centimetres and a weight in kilograms the unit would decide. Here a column reaches from 0 to 1 over
its range, which is declared and not taken from the data: the same distance then means the same in every
release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Final

import numpy as np
import scipy
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.tables.numbers import numbers_of
from anonymizer.tables.table import Table
from commons.errors import near

Float = NDArray[np.float64]
Int = NDArray[np.int64]

MAX_CATEGORIES: Final = 100
"""A column with more has one coordinate for each, and the nearest neighbour takes as long as all pairs."""

MAX_TREE: Final = 15
"""With more coordinates a tree looks at nearly all points, and products of matrices are faster."""

_CORNER: Final = 1 / sqrt(2)
"""Two corners at this distance from the origin, on axes of their own, lie 1 apart."""


@dataclass(frozen=True, slots=True)
class RecordSpace:
    """What the coordinates of a record are.

    Attributes:
        ranges: of numeric columns, the least and the largest value.
        categories: of the others, their values as text.
    """

    ranges: Mapping[str, tuple[float, float]]
    categories: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        for name, (lower, upper) in self.ranges.items():
            if not (isfinite(lower) and isfinite(upper) and lower < upper):
                raise TableError(
                    f"The range {lower:g} to {upper:g} of column {name!r} is empty or not finite.",
                    "Give a lower and a larger upper bound.",
                )
        for name, values in self.categories.items():
            if not 1 <= len(values) <= MAX_CATEGORIES:
                raise TableError(
                    f"Column {name!r} has {len(values)} categories; distances take 1 to {MAX_CATEGORIES}.",
                    "Leave the column out, or put its values into fewer groups.",
                )

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, numeric ones first."""
        return (*self.ranges, *self.categories)

    def points(self, table: Table) -> Float:
        """The rows as points, shape (rows, coordinates).

        A value beyond its range lies beyond 0 to 1; a label such as `[20, 30)` is the number in its middle.

        Raises:
            TableError: a column is absent, has a gap, a label without numbers in a column of numbers, or a
                value that is not one of its categories.
        """
        if not self.columns:
            raise TableError(
                "Distances are measured over numbers and categories, and there are none.",
                "Name columns of numbers or categories.",
            )
        table.complete(self.columns)
        parts = []
        for name, (lower, upper) in self.ranges.items():
            parts.append(((_numbers(table, name) - lower) / (upper - lower))[:, None])
        for name, values in self.categories.items():
            corners = np.zeros((len(table), len(values)))
            codes = table.codes(name)
            places = np.array([_place(name, text_of(each), values) for each in codes.values.tolist()])
            if len(table):
                corners[np.arange(len(table)), places[codes.codes]] = _CORNER
            parts.append(corners)
        return np.concatenate(parts, axis=1)


def nearest(points: Float, others: Float) -> Float:
    """The distance from each point to the nearest of others, shape (points,).

    Raises:
        TableError: there are no others.
    """
    if not len(others):
        raise TableError("A table has no rows, so that there is no distance to it.", "Give at least one row.")
    different = np.unique(others + 0.0, axis=0)  # equal points would all lie in one leaf of the tree
    found, _ = neighbours(different, points, 1)
    return found[:, 0]


def neighbours(points: Float, queries: Float, count: int) -> tuple[Float, Int]:
    """The nearest points of each query, the nearest first.

    Args:
        points: all different, shape (m, d).
        queries: shape (n, d).
        count: how many, at most m.

    Returns:
        Distances and places among the points, both of shape (n, count).
    """
    if points.shape[1] > MAX_TREE:
        from sklearn.neighbors import NearestNeighbors

        finder = NearestNeighbors(n_neighbors=count, algorithm="brute").fit(points)
        found = np.asarray(finder.kneighbors(queries, return_distance=False), dtype=np.int64)
        # Products of matrices round: the distances are measured again.
        ways = [np.linalg.norm(queries - points[found[:, one]], axis=1) for one in range(count)]
        return np.stack(ways, axis=1), found

    tree = scipy.spatial.cKDTree(points, balanced_tree=False)
    # Neighbouring queries look at the same leaves: asked in the order of a tree they are answered from cache.
    order = scipy.spatial.cKDTree(queries, leafsize=64, balanced_tree=False, compact_nodes=False).indices
    distances = np.empty((len(queries), count))
    places = np.empty((len(queries), count), dtype=np.int64)
    if len(queries):
        distances[order], places[order] = tree.query(queries[order], k=range(1, count + 1), workers=-1)
    return distances, places


def codes_of_both(original: Table, release: Table, column: str) -> Int:
    """The cells of two tables as codes of their texts, those of the original first; -1 for missing cells.

    Raises:
        TableError: a table lacks the column.
    """
    places: dict[str, int] = {}
    parts = []
    for table in (original, release):
        codes = table.codes(column)
        own = [places.setdefault(text_of(value), len(places)) for value in codes.values.tolist()]
        parts.append(np.array([*own, -1], dtype=np.int64)[codes.codes])
    return np.concatenate(parts)


def _numbers(table: Table, column: str) -> Float:
    found = numbers_of(table, column)
    if found is None or np.isnan(found).any():
        raise TableError(
            f"Column {column!r} has cells that are neither numbers nor intervals of numbers.",
            "Leave the column out, or release numbers.",
        )
    return found


def _place(column: str, value: str, values: tuple[str, ...]) -> int:
    if value not in values:
        raise TableError(f"Column {column!r} has the value {value!r}.", near(value, values))
    return values.index(value)
