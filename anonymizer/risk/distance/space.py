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
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from anonymizer.errors import TableError, near
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.tables.table import Table

Float = NDArray[np.float64]
Int = NDArray[np.int64]

MAX_CATEGORIES: Final = 100
"""A column with more has one coordinate for each, and the nearest neighbour takes as long as all pairs."""

_CORNER: Final = 1 / sqrt(2)
"""Two corners at this distance from the origin, on axes of their own, lie 1 apart."""


@dataclass(frozen=True, slots=True)
class Space:
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
        """The rows as points, shape (rows, coordinates); a value beyond its range lies beyond 0 to 1.

        Raises:
            TableError: a column is absent, has a gap, or a value that is not one of its categories.
        """
        if not self.columns:
            raise TableError("No column has a place in the distance.", "Name numbers or categories.")
        table.complete(self.columns)
        parts = []
        for name, (lower, upper) in self.ranges.items():
            parts.append(((table.numbers(name) - lower) / (upper - lower))[:, None])
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
        raise TableError("There is no record to measure a distance to.", "Give at least one row.")
    found, _ = cKDTree(others).query(points, workers=-1)
    return np.asarray(found, dtype=np.float64)


def _place(column: str, value: str, values: tuple[str, ...]) -> int:
    if value not in values:
        raise TableError(f"Column {column!r} has the value {value!r}.", near(value, values))
    return values.index(value)
