"""How far the joint distributions of pairs of columns are from those of the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.tables.numbers import numbers_of
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]

_PAIRS: Final = 500


@dataclass(frozen=True, slots=True)
class PairDistances:
    """Total variation of two-way marginals.

    Attributes:
        pairs: of columns.
        distances: of each pair, in [0, 1], shape (len(pairs),).
        part: of all pairs that were looked at, in (0, 1].
    """

    pairs: tuple[tuple[str, str], ...]
    distances: Float = field(repr=False)
    part: float

    @property
    def mean(self) -> float:
        """The mean over the pairs."""
        return float(self.distances.mean())

    @property
    def worst(self) -> tuple[str, str]:
        """The pair that is farthest off."""
        return self.pairs[int(self.distances.argmax())]


def pair_distances(
    original: Table,
    release: Table,
    columns: Sequence[str],
    *,
    bins: int = 20,
    random_state: int | None = None,
) -> PairDistances:
    """Half the L1 distance of the joint distribution of each pair, of at most 500 pairs drawn at random.

    Numbers are counted in intervals of about equally many original rows, labels of intervals by their middle;
    other labels are values of their own, so that a generalized column is far off. A missing cell is a value.

    Args:
        original: at least one row.
        release: at least one row.
        columns: of both, two or more.
        bins: intervals of numbers, 1 or more.
        random_state: of the draw; None is the operating system's randomness.

    Raises:
        TableError: there are fewer than two columns, or a table lacks one.
    """
    if len(columns) < 2:
        raise TableError("Original and release share fewer than two columns.", "Keep more columns.")
    for table in (original, release):
        for column in columns:
            table.require(column)
    every = list(combinations(columns, 2))
    chosen = every
    if len(every) > _PAIRS:
        chosen = [every[place] for place in Randomness(random_state, "pairs").sample(len(every), _PAIRS)]
    known = {name: _codes(original, release, name, bins) for name in {one for pair in chosen for one in pair}}
    distances = [_distance(known[one], known[two]) for one, two in chosen]
    return PairDistances(tuple(chosen), np.array(distances), len(chosen) / len(every))


def _codes(original: Table, release: Table, column: str, bins: int) -> tuple[Int, Int]:
    """The cells of both tables as places in one list of values; the first is what is missing."""
    before, after = numbers_of(original, column), numbers_of(release, column)
    if before is not None and after is not None:
        known = before[np.isfinite(before)]
        cuts = np.unique(np.quantile(known, np.linspace(0, 1, bins + 1)[1:-1])) if len(known) else known
        first, second = (
            np.where(np.isnan(cells), 0, 1 + np.searchsorted(cuts, cells, side="right"))
            for cells in (before, after)
        )
        return first.astype(np.int64), second.astype(np.int64)
    places: dict[str, int] = {}
    found = []
    for table in (original, release):
        codes = table.codes(column)
        texts = map(text_of, codes.values.tolist())
        found.append(
            np.array([*(places.setdefault(text, len(places) + 1) for text in texts), 0])[codes.codes]
        )
    return found[0], found[1]


def _distance(one: tuple[Int, Int], two: tuple[Int, Int]) -> float:
    width = 1 + int(max(two[0].max(), two[1].max()))
    packed = [one[side] * width + two[side] for side in (0, 1)]
    values, places = np.unique(np.concatenate(packed), return_inverse=True)
    split = len(packed[0])
    shares = [
        np.bincount(part, minlength=len(values)) / len(part) for part in (places[:split], places[split:])
    ]
    return float(np.abs(shares[0] - shares[1]).sum()) / 2
