"""Whether one column tells another, and more than chance would.

Columns are codes: whole numbers from 0, in the order of their values, -1 where a cell is missing. A
relation is reported if it holds for nearly all rows (an attacker who plants a copy may spoil some) and if
columns with values as frequent as these would stand in it by chance with a probability below `CHANCE`,
counted exactly where that can be done and bounded from above elsewhere. Two columns without a repeated
value are one-to-one always, which is why this says nothing of them; two truth values of six rows are one-
to-one in a tenth of all cases.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

Int = NDArray[np.int64]
Float = NDArray[np.float64]

CHANCE: Final = 1e-9
"""The probability below which a relation is not taken for chance."""

NEARLY: Final = 0.9
"""The part of the rows beyond those of the commonest value that must agree."""

EXACTLY: Final = 0.99
"""The same for a column that decides another one without being decided by it."""

RANKED: Final = 0.99
"""The rank correlation from which on one column is taken for an image of the other in order."""

_MIN_RANKED: Final = 20
_MIN_VALUES: Final = 8
_LINED: Final = 5_000


def dense_codes(codes: Int) -> Int:
    """The same order with codes from 0 without gaps; -1 stays. For codes not far above the rows' number."""
    used = np.zeros(int(codes.max(initial=-1)) + 2, dtype=np.bool_)
    used[codes + 1] = True
    used[0] = True
    places = np.cumsum(used) - 2
    return places[codes + 1]


def pair_codes(one: Int, other: Int) -> tuple[Int, Int]:
    """The rows in which neither misses its cell, coded anew."""
    both = (one >= 0) & (other >= 0)
    return dense_codes(one[both]), dense_codes(other[both])


def determines_both_ways(one: Int, other: Int) -> bool:
    """Whether two columns divide the rows in nearly the same way: each is a renaming of the other."""
    one, other = pair_codes(one, other)
    if not len(one) or abs(_commonest(one) - _commonest(other)) > (1 - NEARLY) * len(one):
        return False
    firsts, seconds, counts = _table(one, other)
    best_first = np.zeros(firsts.max() + 1, dtype=np.int64)
    best_second = np.zeros(seconds.max() + 1, dtype=np.int64)
    np.maximum.at(best_first, firsts, counts)
    np.maximum.at(best_second, seconds, counts)
    agreed = (counts == best_first[firsts]) & (counts == best_second[seconds])
    # of equal counts the first is taken, so that each value has one partner
    order = np.flatnonzero(agreed)
    order = order[np.unique(firsts[order], return_index=True)[1]]
    order = order[np.unique(seconds[order], return_index=True)[1]]
    kept = counts[order]
    lost = len(one) - int(kept.sum())
    loose = len(one) - max(_commonest(one), _commonest(other))
    if len(kept) < 2 or lost > (1 - NEARLY) * loose:
        return False
    logs = _log_factorials(len(one))
    ways = logs[kept].sum() + logs[np.bincount(kept)].sum() - logs[kept.sum()]
    return bool(ways + _log_choices(len(one), lost) < np.log(CHANCE))


def determines(one: Int, other: Int, share: float = EXACTLY) -> bool:
    """Whether the value of the first column tells that of the second in nearly every row.

    Args:
        one: that tells.
        other: that is told.
        share: of the rows beyond those of the commonest value that must agree.
    """
    one, other = pair_codes(one, other)
    if not len(one):
        return False
    firsts, seconds, counts = _table(one, other)
    order = np.lexsort((-counts, firsts))
    heads = order[np.unique(firsts[order], return_index=True)[1]]
    lost = len(one) - int(counts[heads].sum())
    totals = np.bincount(other)
    loose = len(one) - int(totals.max())
    if lost > (1 - share) * loose or not loose:
        return False
    sizes = np.bincount(one)
    shared = sizes[firsts[heads]] > 1
    left = totals.copy()
    np.subtract.at(left, seconds[heads[shared]], sizes[firsts[heads[shared]]])
    left = np.maximum(left, 0)
    # the values of classes of one row are free, the others each hold one of all values
    ways = int(shared.sum()) * np.log(len(totals)) + _log_arrangements(left) - _log_arrangements(totals)
    return bool(ways + _log_choices(len(one), lost) + lost * np.log(len(totals)) < np.log(CHANCE))


def follows(one: Int, other: Int) -> bool:
    """Whether the first column has nearly the order of the second, or the reverse, in comparable detail."""
    one, other = pair_codes(one, other)
    if len(one) < _MIN_RANKED:
        return False
    kinds, others = int(one.max()) + 1, int(other.max()) + 1
    if min(kinds, others) < _MIN_VALUES or 2 * kinds < others:
        return False
    if abs(correlation(one, other)) >= RANKED:
        return True
    return in_line(one, other) or in_line(one, others - 1 - other)


def correlation(one: Int, other: Int) -> float:
    """The rank correlation of Spearman, ties at their mean rank; 0 if one does not vary."""
    first, second = _ranks(one), _ranks(other)
    first, second = first - first.mean(), second - second.mean()
    scale = float(np.sqrt((first**2).sum() * (second**2).sum()))
    return float((first * second).sum() / scale) if scale else 0.0


def in_line(one: Int, other: Int, least: int = _MIN_VALUES) -> bool:
    """Whether nearly all rows increase in both columns: pairs of rows that were exchanged do not hide it.

    Rows with the commonest value of the second column do not count: they are in line with everything.

    Args:
        one: in whose order the rows are gone through.
        other: that has to increase then.
        least: values that the first column must have.
    """
    step = max(1, len(one) // _LINED)
    one, other = one[::step], other[::step]
    free = other != np.bincount(other).argmax()
    one, other = one[free], other[free]
    if len(one) < _MIN_RANKED or len(np.unique(one)) < least or len(np.unique(other)) < _MIN_VALUES - 1:
        return False
    if _commonest(one) > len(one) // 2:
        return False
    ends: list[int] = []
    for value in other[np.lexsort((other, one))].tolist():
        place = bisect_right(ends, value)
        ends[place : place + 1] = [value]
    return len(ends) >= NEARLY * len(other)


def rises(one: Int, other: Int) -> bool:
    """Whether a coarse column cuts the order of another one into stretches: its leading part, or more."""
    one, other = pair_codes(one, other)
    if len(one) < _MIN_RANKED or one.max() < 2 or other.max() < _MIN_VALUES - 1:
        return False
    return in_line(one, other, 3) or in_line(one, int(other.max()) - other, 3)


def join_codes(one: Int, other: Int) -> Int:
    """Two columns as one, ordered by the first and then by the second; -1 where either is missing."""
    packed = one * (int(other.max(initial=0)) + 1) + other
    values, found = np.unique(np.where((one < 0) | (other < 0), -1, packed), return_inverse=True)
    return found.astype(np.int64) - int(len(values) > 0 and values[0] < 0)


def _table(one: Int, other: Int) -> tuple[Int, Int, Int]:
    """The pairs of values that occur, and how often."""
    width = int(other.max()) + 1
    packed = one * width + other
    if (int(one.max()) + 1) * width <= max(1 << 16, 4 * len(packed)):
        every = np.bincount(packed)
        pairs = np.flatnonzero(every)
        return pairs // width, pairs % width, every[pairs]
    pairs, counts = np.unique(packed, return_counts=True)
    return pairs // width, pairs % width, counts


def _commonest(codes: Int) -> int:
    return int(np.bincount(codes).max())


def _ranks(codes: Int) -> Float:
    counts = np.bincount(codes)
    mean: Float = np.cumsum(counts) - (counts - 1) / 2
    return mean[codes]


@lru_cache(maxsize=4)
def _log_factorials(most: int) -> Float:
    """The logarithms of 0! to most!."""
    logs: Float = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])
    logs.flags.writeable = False
    return logs


def _log_choices(rows: int, some: int) -> float:
    """The logarithm of the number of ways to choose some of the rows."""
    logs = _log_factorials(rows)
    return float(logs[rows] - logs[some] - logs[rows - some])


def _log_arrangements(counts: Int) -> float:
    """The logarithm of the number of ways to lay out so many values of each kind."""
    logs = _log_factorials(int(counts.sum()))
    return float(logs[-1] - logs[counts].sum())
