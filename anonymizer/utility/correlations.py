"""How columns hang together in pairs, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.risk.association import cramers_v
from anonymizer.tables.numbers import numbers_of
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

Float = NDArray[np.float64]
Int = NDArray[np.int64]


_PAIRS: Final = 2000
_CELLS: Final = 200_000_000
_MIN_PAIRS: Final = 100


@dataclass(frozen=True, slots=True)
class Correlations:
    """Strength of association of pairs of columns.

    Attributes:
        columns: d names.
        pairs: p pairs of different columns, by their places, shape (p, 2); all, or some drawn at random.
        original: of each pair, shape (p,): Pearson's correlation in [-1, 1] of two columns of numbers,
            Cramer's V in [0, 1] of two of categories, the correlation ratio eta in [0, 1] of mixed ones; 0
            where a column is constant.
        release: the same of the release.
    """

    columns: tuple[str, ...]
    pairs: Int = field(repr=False)
    original: Float = field(repr=False)
    release: Float = field(repr=False)

    @property
    def difference(self) -> float:
        """The mean of the absolute differences over the pairs; 0 if there is no pair."""
        gaps = np.abs(self.original - self.release)
        return float(gaps.mean()) if len(gaps) else 0.0

    @property
    def part(self) -> float:
        """The part of all pairs that was measured, in (0, 1]."""
        count = len(self.columns)
        return len(self.pairs) / (count * (count - 1) // 2) if count > 1 else 1.0


def correlations(
    original: Table, release: Table, columns: Sequence[str], *, random_state: int | None = None
) -> Correlations:
    """Compare.

    A column counts as numbers if it is one in both tables, labels of intervals by their middles; cells that
    are missing are left out pair by pair. Of more than 2,000 pairs, or of fewer where the tables have more
    than 100,000 rows, so many are drawn at random.

    Args:
        original: at least one row.
        release: at least one row.
        columns: of both.
        random_state: of the draw; None is the operating system's randomness.

    Raises:
        TableError: a table lacks a column.
    """
    for table in (original, release):
        for column in columns:
            table.require(column)
    rows = max(1, len(original), len(release))
    pairs = _draw_pairs(len(columns), min(_PAIRS, max(_MIN_PAIRS, _CELLS // rows)), random_state)
    prepared: dict[int, tuple[Float | Int, Float | Int]] = {}
    for place in np.unique(pairs).tolist():
        column = columns[place]
        before, after = numbers_of(original, column), numbers_of(release, column)
        if before is None or after is None:
            prepared[place] = (original.codes(column).codes, release.codes(column).codes)
        else:
            prepared[place] = (before, after)
    found = np.array(
        [
            [_strength(prepared[one][side], prepared[two][side]) for side in (0, 1)]
            for one, two in pairs.tolist()
        ],
        dtype=np.float64,
    ).reshape(-1, 2)
    return Correlations(tuple(columns), pairs, found[:, 0], found[:, 1])


def _draw_pairs(columns: int, most: int, seed: int | None) -> Int:
    """Pairs i < j, all of them or `most` different ones at random, shape (p, 2)."""
    total = columns * (columns - 1) // 2
    if total <= most:
        return np.stack(np.triu_indices(columns, 1), axis=1)
    drawn = np.unique(Randomness(seed, "correlations").integers(total, 2 * most))
    numbers = drawn[np.sort(Randomness(seed, "correlations, which").permutation(len(drawn))[:most])]
    # pair number n of column j comes after the j (j - 1) / 2 pairs of the columns before it
    second = np.floor((1 + np.sqrt(1 + 8.0 * numbers)) / 2).astype(np.int64)
    second -= second * (second - 1) // 2 > numbers
    return np.stack((numbers - second * (second - 1) // 2, second), axis=1)


def _strength(one: Float | Int, two: Float | Int) -> float:
    kept = _present(one) & _present(two)
    one, two = one[kept], two[kept]
    if len(one) < 2:
        return 0.0
    numeric = [column.dtype == np.float64 for column in (one, two)]
    if all(numeric):
        return _pearson(one, two)
    if not any(numeric):
        return cramers_v(one.astype(np.int64), two.astype(np.int64))
    return _eta(two, one) if numeric[0] else _eta(one, two)


def _present(column: Float | Int) -> NDArray[np.bool_]:
    return np.isfinite(column) if column.dtype == np.float64 else column >= 0


def _pearson(one: Float | Int, two: Float | Int) -> float:
    x, y = one - one.mean(), two - two.mean()
    scale = np.sqrt((x @ x) * (y @ y))
    return float(np.clip((x @ y) / scale, -1, 1)) if scale > 0 else 0.0


def _eta(groups: Float | Int, numbers: Float | Int) -> float:
    """The root of the part of the variance that the groups explain."""
    places = groups.astype(np.int64)
    centred = numbers - numbers.mean()
    total = float(centred @ centred)
    sums, sizes = np.bincount(places, centred), np.bincount(places)
    between = float((sums**2 / np.maximum(sizes, 1)).sum())
    return float(np.sqrt(min(1.0, between / total))) if total > 0 else 0.0
