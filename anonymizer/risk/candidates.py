"""What the cells of a column may have become, as an attacker sees it: candidates of high and low confidence.

For each of u original values, a set of released values that are candidates with high confidence, and a set of
those with at least low confidence. Confidence is high while the cumulative probability of the noise needed is
at most T (thesis, section 4.2.2; erratum 14); deterministic methods have high confidence only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bool = NDArray[np.bool_]
Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LabelCandidates:
    """Labels that a cell may have become.

    Attributes:
        labels: the labels that a released cell can have; an object array, shape (w,).
        high: which are candidates with high confidence, shape (u, w).
        low: which are candidates at all, shape (u, w); contains `high`.
    """

    labels: NDArray[Any] = field(repr=False)
    high: Bool = field(repr=False)
    low: Bool = field(repr=False)

    def holds(self, cells: NDArray[Any]) -> tuple[Bool, Bool]:
        """Whether released values are among the candidates.

        Args:
            cells: distinct released values, shape (v,).

        Returns:
            High, and at least low, each of shape (u, v); values that are not a label are among none.
        """
        places = {label: place for place, label in enumerate(self.labels.tolist())}
        found = np.array([places.get(cell, -1) for cell in cells.tolist()], dtype=np.int64)
        known = found >= 0
        return self.high[:, found] & known, self.low[:, found] & known


@dataclass(frozen=True, slots=True)
class IntervalCandidates:
    """Intervals of numbers, ends included.

    Attributes:
        high: lower and upper end of the candidates with high confidence, shape (u, 2).
        low: the same of all candidates, infinite where anything is possible, shape (u, 2).
    """

    high: Float = field(repr=False)
    low: Float = field(repr=False)

    @property
    def points(self) -> Float | None:
        """The numbers, shape (u,), if every interval is one: a hierarchy says of a number what it becomes."""
        exact = np.array_equal(self.high, self.low) and np.array_equal(self.high[:, 0], self.high[:, 1])
        return self.high[:, 0] if exact else None

    def holds(self, cells: NDArray[Any]) -> tuple[Bool, Bool]:
        """Whether released numbers are among the candidates, as `LabelCandidates.holds`."""
        numbers = cells.astype(np.float64)[None, :]
        high, low = ((ends[:, :1] <= numbers) & (numbers <= ends[:, 1:]) for ends in (self.high, self.low))
        return high, low


Candidates = LabelCandidates | IntervalCandidates


def exactly(values: NDArray[Any], *, numeric: bool) -> Candidates:
    """The candidates before any method: every original value is itself.

    Args:
        values: distinct original values, shape (u,).
        numeric: whether they are numbers.
    """
    if numeric:
        ends = np.repeat(values.astype(np.float64)[:, None], 2, axis=1)
        return IntervalCandidates(ends, ends)
    same = np.eye(len(values), dtype=np.bool_)
    return LabelCandidates(values, same, same)


def compose_steps(first: Bool, second: Bool) -> Bool:
    """What two steps lead to.

    Args:
        first: where the first leads from each of u places, shape (u, v).
        second: where the second leads from those, shape (v, w).

    Returns:
        Shape (u, w). Products of floats are hundreds of times quicker than those of truth values; a sum of
        zeros and ones is zero exactly if all are.
    """
    rows, columns = first.shape
    if rows == columns and first.diagonal().all() and np.count_nonzero(first) == rows:
        return second
    found: Bool = (first.astype(np.float32) @ second.astype(np.float32)) > 0
    return found
