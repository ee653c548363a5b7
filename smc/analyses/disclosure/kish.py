"""Kish's number: how many persons of equal weights weigh as unequally as those of a cell.

Reference: Kish, Survey sampling, 1965, section 11.7.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def kish(cells: Ints, persons: Ints, weights: Ints, size: int) -> Ints:
    """Kish's number of the persons of each cell, rounded down: how many of equal weights weigh so unequally.

    It is (sum w)**2 / sum w**2 of the weights that the persons have in all their rows there together; 0 where
    nobody has any. Nobody has more of a sum of weights than one over its root.

    Args:
        cells: of each row, shape (n,), from 0.
        persons: of each row, from 0.
        weights: of each row, not negative.
        size: the number of cells.

    Returns:
        Shape (size,).
    """
    people = int(persons.max()) + 1 if len(persons) else 1
    pairs, which = np.unique(cells * people + persons, return_inverse=True)
    totals = np.zeros(len(pairs), dtype=np.float64)
    np.add.at(totals, which.reshape(-1), weights)
    sums, squares = (np.bincount(pairs // people, each, size) for each in (totals, totals**2))
    found: Ints = np.floor(sums**2 / np.maximum(squares, 1e-300) * (1 + 1e-12)).astype(np.int64)
    return found
