"""How far two columns of categories hang together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Int = NDArray[np.int64]


def cramers_v(left: Int, right: Int, *, corrected: bool = False) -> float:
    """Cramér's V of two columns of codes, in [0, 1], by the cells of their table that have rows.

    With row sums r, column sums c and n rows, chi squared is n (sum of count^2 / (r c) over all cells - 1),
    so that the empty cells of two columns of many values need not be made.

    Args:
        left: codes from 0.
        right: as many.
        corrected: for its bias: of independent columns V is far above 0 where there are few rows for each
            pair of values. 0 where there are too few to tell.

    Reference for the correction: Bergsma, A bias-correction for Cramér's V and Tschuprow's T, 2013.
    """
    rows, columns = np.bincount(left), np.bincount(right)
    sizes = np.array([np.count_nonzero(rows), np.count_nonzero(columns)], dtype=np.float64)
    if sizes.min() < 2:
        return 0.0
    joined = left * len(columns) + right
    if len(rows) * len(columns) <= 4 * len(left):
        counts = np.bincount(joined)
        cells = np.flatnonzero(counts)
        counts = counts[cells]
    else:
        cells, counts = np.unique(joined, return_counts=True)
    expected = rows[cells // len(columns)].astype(np.float64) * columns[cells % len(columns)]
    squared = float((counts.astype(np.float64) ** 2 / expected).sum()) - 1
    if corrected:
        most = len(left) - 1
        squared -= (sizes - 1).prod() / most
        sizes -= (sizes - 1) ** 2 / most
    smaller = sizes.min() - 1
    return float(np.sqrt(max(0.0, squared) / smaller)) if smaller > 0 else 0.0
