"""Which row of the original each row of a release is, found by the cells that both have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.risk.classes import number_classes
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

Int = NDArray[np.int64]

_DRAWS: Final = 20
_FAR: Final = 8.0
_MORE_DRAWS: Final = 1_000
_BEYOND: Final = 3.0
"""So many times as far from the mean as the farthest of those draws."""
_MOST_ROWS: Final = 20_000
"""Of these many orders are drawn; few orders of all rows come before."""


def align(original: Table, released: Table) -> Int:
    """Find the original row of each released row.

    Rows that only one row of the other table equals, in the columns that hold the same values in both, are
    found whatever their order. Where these are few, the rows are compared place by place.

    Args:
        original: the table that the release was made of.
        released: the release.

    Returns:
        Where each row stood, shape (m,); -1 where that is not known.
    """
    found = _by_cells(original, released)
    if (found >= 0).sum() * 2 >= len(released) or not in_input_order(original, released):
        return found
    return np.arange(len(released), dtype=np.int64)


def in_input_order(original: Table, released: Table) -> bool:
    """Whether row i of the release goes with row i of the original in a column, beyond chance.

    The agreement of two columns is the number of pairs of rows that are alike in both. It is compared with
    what random orders of the rows give. Of columns of few values its tail is long, so that a column which
    lies eight standard deviations of a few orders above them has to lie three times as far as any of a
    thousand.
    """
    if len(original) != len(released) or len(released) < 12:
        return False
    random = Randomness(None)
    orders = [random.permutation(len(released)) for _ in range(_DRAWS)]
    for name in set(original.names) & set(released.names):
        first, second = codes_of(original, name), codes_of(released, name)
        if min(first.max(initial=0), second.max(initial=0)) == 0:
            continue
        first, second = _coarser(first), _coarser(second)
        drawn = np.array([_agreement(first, second[order]) for order in orders])
        if _agreement(first, second) > drawn.mean() + _FAR * max(1.0, drawn.std()) and _is_beyond_chance(
            first[:_MOST_ROWS], second[:_MOST_ROWS], random
        ):
            return True
    return False


def _is_beyond_chance(first: Int, second: Int, random: Randomness) -> bool:
    drawn = np.array([_agreement(first, second[random.permutation(len(second))]) for _ in range(_MORE_DRAWS)])
    return bool(_agreement(first, second) > drawn.mean() + _BEYOND * (drawn.max() - drawn.mean()))


def codes_of(table: Table, name: str) -> Int:
    """The codes of a column; nested cells by their texts."""
    if not table.series(name).dtype.is_nested():
        return table.codes(name).codes
    _, codes = np.unique([str(cell) for cell in table.series(name).to_list()], return_inverse=True)
    return codes.astype(np.int64)


def texts_of(table: Table, name: str) -> tuple[Sequence[str], Int]:
    """The different values of a column as texts, and the codes of the rows; the same number has one text."""
    if table.series(name).dtype.is_nested():
        cells = [str(cell) for cell in table.series(name).to_list()]
        values, codes = np.unique(cells, return_inverse=True)
        return values.tolist(), codes.astype(np.int64)
    found = table.codes(name)
    return [_text(value) for value in found.values.tolist()], found.codes


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return text_of(value)


def _by_cells(original: Table, released: Table) -> Int:
    found = np.full(len(released), -1, dtype=np.int64)
    columns = []
    for name in original.names:
        if name not in released.names:
            continue
        texts, before = texts_of(original, name)
        others, after = texts_of(released, name)
        places = {text: place for place, text in enumerate(texts)}
        if all(text in places for text in others):
            matched = np.array([*(places[text] for text in others), -1], dtype=np.int64)
            columns.append(np.concatenate([before, matched[after]]))
    if not columns:
        return found
    keys, count = number_classes(columns)
    firsts, seconds = keys[: len(original)], keys[len(original) :]
    stood = np.full(count, -1, dtype=np.int64)
    stood[firsts] = np.arange(len(original))
    single = np.bincount(firsts, minlength=count)[seconds] == 1
    single &= np.bincount(seconds, minlength=count)[seconds] == 1
    found[single] = stood[seconds[single]]
    return found


def _coarser(codes: Int) -> Int:
    """So few values that each pair of them is met often: neighbours in order are joined."""
    kinds = int(codes.max(initial=0)) + 1
    most = int(np.clip(np.sqrt(len(codes)), 4, 256))
    return codes if kinds <= most else codes * most // kinds


def _agreement(one: Int, other: Int) -> float:
    packed = (one + 1) * (int(other.max()) + 2) + other + 1
    return float((np.bincount(packed).astype(np.float64) ** 2).sum())
