"""Rows of several tables in one space: a cell is the interval of values that it stands for.

A value is an interval of one point. A label covers what its hierarchy, or its own text, says: values are put
in an order in which each label covers a range, so that two numbers are enough. An original value that a
released label covers is at distance 0 from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.hierarchies.covering import by_branches, paths_of, ranges
from anonymizer.hierarchies.hierarchy import ANY, Hierarchy, text_of
from anonymizer.hierarchies.labels import spans_of
from anonymizer.tables.encoding import Codes
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]
Bool = NDArray[np.bool_]

MISSING: Final = np.inf
"""Where a number is missing: as far from all others as can be, and equal to itself."""
_NOWHERE: Final = -1.0
"""The place of a missing category."""
_FAR: Final = 1e6
_OPEN: Final = 1e5
_TIE: Final = 1e-5
_INSIDE: Final = 1e-3
_BLOCK_CELLS: Final = 1 << 18


@dataclass(frozen=True, slots=True)
class Rows:
    """Some columns of a table.

    Attributes:
        low: where the interval of each cell begins, shape (d, n): numbers in units of the release's range,
            `MISSING` where there is none; places of categories. Minus infinity for what may be anything.
        high: where it ends, itself included; equal to `low` for a value.
        leaves: how many different values of the other tables lie in it, at least 1, shape (d, n).
        numeric: which columns are numbers, shape (d,).
    """

    low: Float = field(repr=False)
    high: Float = field(repr=False)
    leaves: Float = field(repr=False)
    numeric: Bool

    @classmethod
    def of_values(cls, cells: Float, numeric: Bool) -> Rows:
        """Rows of which each cell is one value; arguments as the attributes."""
        return cls(cells, cells, np.ones(cells.shape), numeric)

    def __len__(self) -> int:
        return int(self.low.shape[1])

    @property
    def log_weights(self) -> Float:
        """The logarithm of the product of 1 / leaves: how much a row says of a target, shape (n,)."""
        weights: Float = -np.log(self.leaves).sum(axis=0)
        return weights

    def take(self, rows: Int) -> Rows:
        """Some rows."""
        return Rows(self.low[:, rows], self.high[:, rows], self.leaves[:, rows], self.numeric)

    def only(self, columns: Sequence[int]) -> Rows:
        """Some columns, by place."""
        places = list(columns)
        return Rows(self.low[places], self.high[places], self.leaves[places], self.numeric[places])


def shared_columns(original: Table, release: Table) -> tuple[str, ...]:
    """The columns of the release that the original has, without identifiers, in the order of the original."""
    there, hidden = set(release.names), set(original.roles.identifiers)
    return tuple(name for name in original.names if name in there and name not in hidden)


def align_rows(release: Table, others: Sequence[Table], columns: Sequence[str]) -> tuple[Rows, ...]:
    """Bring tables into one space.

    Labels are read by the hierarchies of any of the tables, intervals of numbers by their text; what is
    neither stands for itself alone.

    Args:
        release: its range is the unit of numbers.
        others: original and control group, as they are or in the form of the release.
        columns: at least one, in all tables.

    Returns:
        The rows of the release, then of the others.

    Raises:
        TableError: a table has no rows, or lacks a column, or there is no column.
    """
    tables = (release, *others)
    if not columns:
        raise TableError("The attack has no columns.", "Name columns that original and release share.")
    for table in tables:
        if not len(table):
            raise TableError("A table of the attack has no rows.", "Give at least one.")
        for column in columns:
            table.require(column)
    axes = [_axis(tables, column) for column in columns]
    numeric = np.array([axis.numeric for axis in axes], dtype=np.bool_)
    found = []
    for place in range(len(tables)):
        low, high, leaves = (np.stack([axis.cells[place][side] for axis in axes]) for side in range(3))
        found.append(Rows(low, high, leaves, numeric))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Axis:
    """One column of all tables.

    Attributes:
        numeric: whether it holds numbers.
        cells: of each table `low`, `high` and `leaves` of its rows, each of shape (n,).
    """

    numeric: bool
    cells: Sequence[tuple[Float, Float, Float]] = field(repr=False)


def _axis(tables: Sequence[Table], column: str) -> _Axis:
    coded = [table.codes(column) for table in tables]
    if any(table.is_numeric(column) for table in tables):
        spans = [_spans(one.values) for one in coded]
        if not any(np.isnan(one).any() for one in spans):
            return _Axis(True, _numbers(coded, spans))
    hierarchy = next((t.hierarchies[column] for t in tables if column in t.hierarchies), None)
    return _Axis(False, _categories(coded, hierarchy, column))


def _spans(values: NDArray[Any]) -> Float:
    """The ends of distinct cells, shape (v, 2): NaN where they are not numbers.

    What is open at an end (`[20, 30)`, `< 17`) ends at the number before.
    """
    if values.dtype != object:
        return np.repeat(values.astype(np.float64)[:, None], 2, axis=1)
    texts = [str(value).strip() for value in values.tolist()]
    spans = spans_of(texts)
    for place, text in enumerate(texts):
        if text.startswith("(") or (text.startswith(">") and not text.startswith(">=")):
            spans[place, 0] = np.nextafter(spans[place, 0], np.inf)
        if text.endswith(")") or (text.startswith("<") and not text.startswith("<=")):
            spans[place, 1] = np.nextafter(spans[place, 1], -np.inf)
    return spans


def _numbers(coded: Sequence[Codes], spans: Sequence[Float]) -> list[tuple[Float, Float, Float]]:
    """Numbers in units of the release's range.

    Intervals shrink to the values of the other tables that lie in them, so that two that only touch do not
    meet; where there is none they end a little before their end.
    """
    values = np.concatenate([one[one[:, 0] == one[:, 1], 0] for one in spans[1:]])
    points = np.unique(values[np.isfinite(values)])
    shrunk = [_shrunk(one, points) for one in spans]
    ends = shrunk[0][0]
    finite = ends[np.isfinite(ends)]
    low, unit = (float(finite.min()), float(np.ptp(finite))) if len(finite) else (0.0, 1.0)
    found = []
    for one, (ends, leaves) in zip(coded, shrunk, strict=True):
        scaled = (ends - low) / (unit if unit > 0 else 1.0)
        free = np.isinf(ends).all(axis=1) & (ends[:, 0] < ends[:, 1])
        scaled = np.where(free[:, None], scaled, np.clip(scaled, -_OPEN, _OPEN))
        cells = np.vstack((scaled, (MISSING, MISSING)))[one.codes]
        found.append((cells[:, 0], cells[:, 1], np.append(leaves, 1.0)[one.codes]))
    return found


def _shrunk(spans: Float, points: Float) -> tuple[Float, Float]:
    wide = spans[:, 0] < spans[:, 1]
    first = np.searchsorted(points, spans[:, 0], side="left")
    last = np.searchsorted(points, spans[:, 1], side="right")
    inside = wide & (last > first)
    leaves = np.where(wide, np.maximum(last - first, 1), 1).astype(np.float64)
    ends = spans.copy()
    some = inside & np.isfinite(spans).any(axis=1)
    ends[some] = np.stack((points[first[some]], points[last[some] - 1]), axis=1)
    none = wide & ~inside & np.isfinite(spans).all(axis=1)
    ends[none, 1] -= _INSIDE * (ends[none, 1] - ends[none, 0])
    return ends, leaves


def _categories(
    coded: Sequence[Codes], hierarchy: Hierarchy | None, column: str
) -> list[tuple[Float, Float, Float]]:
    """Places in an order in which each label of the hierarchy covers a range."""
    texts = [[text_of(value) for value in one.values.tolist()] for one in coded]
    paths: dict[str, tuple[str, ...]] = {}
    if hierarchy is not None:
        for one in coded[1:]:
            paths |= paths_of(hierarchy, one.values, column)
    covers, _ = ranges(paths, by_branches(paths))
    every = {text for own in texts[1:] for text in own}
    found = []
    for one, own in zip(coded, texts, strict=True):
        ends = np.full((len(own) + 1, 3), (_NOWHERE, _NOWHERE, 1.0))
        for place, text in enumerate(own):
            if text == ANY:
                ends[place] = (-np.inf, np.inf, max(1, len(every - {ANY})))
                continue
            low, high = covers.setdefault(text, (len(covers), len(covers)))
            ends[place] = (low, high, high - low + 1)
        cells = ends[one.codes]
        found.append((cells[:, 0], cells[:, 1], cells[:, 2]))
    return found


class Nearest:
    """Finds, for targets, the rows of the release at the least distance of Gower, all of them where they tie.

    The distance is the sum over the columns of the gap between two intervals in units of the range (at most
    1) for numbers, and of 0 or 1 for categories that overlap or do not; of values it is |x - y| and whether
    they differ. Reference: Gower, Biometrics 27, 1971.

    Args:
        rows: of the release.
    """

    def __init__(self, rows: Rows) -> None:
        self._numeric = rows.numeric
        self._cells = _compact(rows)
        self._count = len(rows)

    def near(self, targets: Rows, neighbours: int) -> Iterator[tuple[slice, Bool]]:
        """Go through the targets block by block.

        Args:
            targets: in the space of the release.
            neighbours: rows at the distance of this nearest one, or nearer, count as near.

        Yields:
            Which targets, and which rows of the release are near, shape (block, m).
        """
        mine = _compact(targets)
        size = max(1, _BLOCK_CELLS // self._count)
        last = min(neighbours, self._count) - 1
        for start in range(0, len(targets), size):
            block = slice(start, min(start + size, len(targets)))
            distance = np.zeros((block.stop - start, self._count), dtype=np.float32)
            for numeric, theirs, own in zip(self._numeric, self._cells, mine, strict=True):
                distance += _gap(theirs, own, block, numeric=bool(numeric))
            least = distance.min(axis=1) if last == 0 else np.partition(distance, last, axis=1)[:, last]
            yield block, distance <= least[:, None] + _TIE


_Ends = tuple[NDArray[Any], NDArray[Any]]
"""Where cells begin and end; one array twice if all are values."""


def _gap(theirs: _Ends, own: _Ends, block: slice, *, numeric: bool) -> NDArray[Any]:
    """How far each of a block of targets is from each row, shape (block, m)."""
    values = theirs[0] is theirs[1] and own[0] is own[1]
    if not numeric:
        apart: Bool
        if values:
            apart = theirs[0][None, :] != own[0][block, None]
        else:
            apart = (theirs[0][None, :] > own[1][block, None]) | (theirs[1][None, :] < own[0][block, None])
        return apart
    gap: NDArray[Any] = theirs[0][None, :] - own[1][block, None]
    if values:
        np.abs(gap, out=gap)
    else:
        np.maximum(gap, own[0][block, None] - theirs[1][None, :], out=gap)
        np.maximum(gap, 0, out=gap)
    np.minimum(gap, 1, out=gap)
    return gap


def _compact(rows: Rows) -> list[_Ends]:
    found: list[_Ends] = []
    for numeric, low, high in zip(rows.numeric, rows.low, rows.high, strict=True):
        kind = np.float32 if numeric else np.int32
        first: NDArray[Any] = np.clip(low, -_FAR, _FAR).astype(kind)
        same = np.array_equal(low, high)
        found.append((first, first if same else np.clip(high, -_FAR, _FAR).astype(kind)))
    return found
