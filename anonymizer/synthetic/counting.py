"""The original as counts, and counts with noise brought back to what counts can be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError

Int = NDArray[np.int64]
Float = NDArray[np.float64]

MAX_CELLS: Final = 2_000_000
"""Cells of one table of counts; each takes noise of its own."""


@dataclass(frozen=True, slots=True)
class Coded:
    """A table in which each row is in one cell of each column's domain.

    Attributes:
        codes: shape (n, d).
        sizes: cells of each column, shape (d,).
        names: of the columns.
    """

    codes: Int = field(repr=False)
    sizes: tuple[int, ...]
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)

    def cells(self, columns: Sequence[int]) -> int:
        """The cells of some columns together."""
        return math.prod(self.sizes[column] for column in columns)

    def counts(self, columns: Sequence[int]) -> Int:
        """The rows in each cell of some columns together, shape (sizes...).

        Raises:
            TableError: they are more cells than `MAX_CELLS`.
        """
        shape = tuple(self.sizes[column] for column in columns)
        self.check(columns)
        packed = np.ravel_multi_index(tuple(self.codes[:, list(columns)].T), shape)
        return np.bincount(packed, minlength=math.prod(shape)).reshape(shape).astype(np.int64)

    def check(self, columns: Sequence[int]) -> None:
        """Check that a table of counts can be held.

        Raises:
            TableError: it has more cells than `MAX_CELLS`; names the largest columns.
        """
        if self.cells(columns) <= MAX_CELLS:
            return
        largest = sorted(columns, key=lambda column: -self.sizes[column])[:3]
        named = ", ".join(f"{self.names[column]} ({self.sizes[column]:,})" for column in largest)
        raise TableError(
            f"The domains of {len(columns)} columns have {self.cells(columns):.3g} cells together, above "
            f"{MAX_CELLS:,}; the largest are {named}.",
            "Lower bins, declare fewer categories, or choose fewer columns or another method.",
        )


def near_counts(noisy: Float, total: float) -> Float:
    """The counts nearest to noisy ones, in Euclidean distance, that are not negative and have a sum.

    Args:
        noisy: of any shape.
        total: positive.

    Reference: Duchi, Shalev-Shwartz, Singer and Chandra, Efficient projections onto the l1-ball, ICML 2008.
    """
    ranked = np.sort(noisy.ravel())[::-1]
    excess = (np.cumsum(ranked) - total) / np.arange(1, len(ranked) + 1)
    last = int(np.flatnonzero(ranked > excess)[-1])
    found: Float = np.maximum(noisy - excess[last], 0.0)
    return found


def weighted_total(sums: Sequence[float], variances: Sequence[float]) -> float:
    """The number of rows from several noisy ones, each weighted by its precision; at least 1."""
    weights = 1 / np.asarray(variances, dtype=np.float64)
    return max(1.0, float(np.average(np.asarray(sums, dtype=np.float64), weights=weights)))
