"""How columns hang together in pairs, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anonymizer.hierarchies.labels import numbers_of
from anonymizer.tables.table import Table

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Correlations:
    """Strength of association of all pairs of columns.

    Attributes:
        columns: d names.
        original: shape (d, d), symmetric, 1 on the diagonal: Pearson's correlation in [-1, 1] of two columns
            of numbers, Cramer's V in [0, 1] of two of categories, the correlation ratio eta in [0, 1] of
            mixed ones; 0 where a column is constant.
        release: the same of the release.
    """

    columns: tuple[str, ...]
    original: Float = field(repr=False)
    release: Float = field(repr=False)

    @property
    def difference(self) -> float:
        """The mean of the absolute differences over the pairs; 0 if there is no pair."""
        pairs = np.triu_indices(len(self.columns), 1)
        gaps = np.abs(self.original - self.release)[pairs]
        return float(gaps.mean()) if len(gaps) else 0.0


def correlations(original: Table, release: Table, columns: Sequence[str]) -> Correlations:
    """Compare.

    A column counts as numbers if it is one in both tables, labels of intervals by their middles; cells that
    are missing are left out pair by pair.

    Args:
        original: at least one row.
        release: at least one row.
        columns: of both.

    Raises:
        TableError: a table lacks a column.
    """
    prepared: list[tuple[Float | Int, Float | Int]] = []
    for column in columns:
        before, after = numbers_of(original, column), numbers_of(release, column)
        if before is None or after is None:
            prepared.append((original.codes(column).codes, release.codes(column).codes))
        else:
            prepared.append((before, after))
    first, second = (_matrix([pair[side] for pair in prepared]) for side in (0, 1))
    return Correlations(tuple(columns), first, second)


def _matrix(columns: Sequence[Float | Int]) -> Float:
    found = np.eye(len(columns))
    for i, one in enumerate(columns):
        for j in range(i):
            found[i, j] = found[j, i] = _strength(one, columns[j])
    return found


def _strength(one: Float | Int, two: Float | Int) -> float:
    kept = _present(one) & _present(two)
    one, two = one[kept], two[kept]
    if len(one) < 2:
        return 0.0
    numeric = [column.dtype == np.float64 for column in (one, two)]
    if all(numeric):
        return _pearson(one, two)
    if not any(numeric):
        return _cramer(one, two)
    return _eta(two, one) if numeric[0] else _eta(one, two)


def _present(column: Float | Int) -> NDArray[np.bool_]:
    return np.isfinite(column) if column.dtype == np.float64 else column >= 0


def _pearson(one: Float | Int, two: Float | Int) -> float:
    x, y = one - one.mean(), two - two.mean()
    scale = np.sqrt((x @ x) * (y @ y))
    return float(np.clip((x @ y) / scale, -1, 1)) if scale > 0 else 0.0


def _cramer(one: Float | Int, two: Float | Int) -> float:
    first, second = one.astype(np.int64), two.astype(np.int64)
    rows, cols = np.bincount(first), np.bincount(second)
    least = min(np.count_nonzero(rows), np.count_nonzero(cols))
    if least < 2:
        return 0.0
    pairs = first * len(cols) + second
    if len(rows) * len(cols) <= 4 * len(pairs):
        counts = np.bincount(pairs)
        cells = np.flatnonzero(counts)
        counts = counts[cells]
    else:
        cells, counts = np.unique(pairs, return_counts=True)
    expected = rows[cells // len(cols)] * (cols[cells % len(cols)] / len(pairs))
    chi_square = float((counts**2 / expected).sum()) - len(pairs)
    return float(np.sqrt(max(0.0, chi_square) / (len(pairs) * (least - 1))))


def _eta(groups: Float | Int, numbers: Float | Int) -> float:
    """The root of the part of the variance that the groups explain."""
    places = groups.astype(np.int64)
    centred = numbers - numbers.mean()
    total = float(centred @ centred)
    sums, sizes = np.bincount(places, centred), np.bincount(places)
    between = float((sums**2 / np.maximum(sizes, 1)).sum())
    return float(np.sqrt(min(1.0, between / total))) if total > 0 else 0.0
