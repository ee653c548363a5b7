"""Predicates: conditions on columns that hold together, and how many rows of a table fulfil them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.risk.attacks.rows import Rows

Int = NDArray[np.int64]
Float = NDArray[np.float64]

_CANDIDATES: Final = 1 << 22


@dataclass(frozen=True, slots=True)
class Predicates:
    """Conjunctions of closed intervals, one a column; a category is an interval of one place.

    Attributes:
        low: the least cell that fulfils, shape (d, p); minus infinity where the column does not matter.
        high: the largest, shape (d, p).
    """

    low: Float = field(repr=False)
    high: Float = field(repr=False)

    def __len__(self) -> int:
        return int(self.low.shape[1])

    def take(self, places: Int | slice) -> Predicates:
        """Some of them."""
        return Predicates(self.low[:, places], self.high[:, places])


class Index:
    """A table sorted by each column, to count quickly.

    A row fulfils a predicate if all that its cells may stand for does: for values, if they do.

    Args:
        rows: of the table.
    """

    def __init__(self, rows: Rows) -> None:
        self._low, self._high = rows.low, rows.high
        self._orders = np.argsort(rows.low, axis=1, kind="stable")
        self._sorted = np.take_along_axis(rows.low, self._orders, axis=1)

    def count(self, predicates: Predicates) -> Int:
        """How many rows fulfil each predicate, shape (p,).

        The rows that fulfil its rarest condition are listed, and thinned out by the others.
        """
        ends = [
            (np.searchsorted(cells, low, "left"), np.searchsorted(cells, high, "right"))
            for cells, low, high in zip(self._sorted, predicates.low, predicates.high, strict=True)
        ]
        starts = np.stack([first for first, _ in ends])
        sizes = np.maximum(np.stack([last for _, last in ends]) - starts, 0)
        rarest = sizes.argmin(axis=0)
        every = np.arange(len(predicates))
        start, size = starts[rarest, every], sizes[rarest, every]
        counts = np.zeros(len(predicates), dtype=np.int64)
        chunk = np.cumsum(size) // _CANDIDATES
        bounds = [0, *(np.flatnonzero(np.diff(chunk)) + 1).tolist(), len(predicates)]
        for first, last in pairwise(bounds):
            counts[first:last] = self._thin(
                predicates.take(slice(first, last)), rarest[first:last], start[first:last], size[first:last]
            )
        return counts

    def _thin(self, predicates: Predicates, rarest: Int, start: Int, size: Int) -> Int:
        owner = np.repeat(np.arange(len(predicates)), size)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(size) - size, size)
        rows = self._orders[rarest[owner], start[owner] + within]
        for first, last, low, high in zip(
            self._low, self._high, predicates.low, predicates.high, strict=True
        ):
            kept = (low[owner] <= first[rows]) & (last[rows] <= high[owner])
            owner, rows = owner[kept], rows[kept]
        return np.bincount(owner, minlength=len(predicates))
