"""Rows of several tables in one space: what is equal has one number, what is near has near ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.hierarchies.labels import numbers_of
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]
Bool = NDArray[np.bool_]

MISSING: Final = np.inf
"""Where a number is missing: as far from all others as can be, and equal to itself."""
_FAR: Final = 1e6
_TIE: Final = 1e-5
_BLOCK_CELLS: Final = 1 << 18


@dataclass(frozen=True, slots=True)
class Rows:
    """Some columns of a table.

    Attributes:
        cells: a row for each column, shape (d, n): numbers in units of the release's range, `MISSING` where
            there is none; places of categories.
        numeric: which columns are numbers, shape (d,).
    """

    cells: Float = field(repr=False)
    numeric: Bool

    def __len__(self) -> int:
        return int(self.cells.shape[1])

    def taken(self, rows: Int) -> Rows:
        """Some rows."""
        return Rows(self.cells[:, rows], self.numeric)

    def only(self, columns: Sequence[int]) -> Rows:
        """Some columns, by place."""
        return Rows(self.cells[list(columns)], self.numeric[list(columns)])


def shared_columns(original: Table, release: Table) -> tuple[str, ...]:
    """The columns of the release that the original has, without identifiers, in the order of the original."""
    return tuple(c for c in original.names if c in release.names and c not in original.roles.identifiers)


def aligned(release: Table, others: Sequence[Table], columns: Sequence[str]) -> tuple[Rows, ...]:
    """Bring tables into one space.

    Args:
        release: its range is the unit of numbers.
        others: original and control group.
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
    found = [_column(tables, column) for column in columns]
    numeric = np.array([kind for kind, _ in found], dtype=np.bool_)
    return tuple(
        Rows(np.stack([cells[place] for _, cells in found]), numeric) for place in range(len(tables))
    )


def _column(tables: Sequence[Table], column: str) -> tuple[bool, list[Float]]:
    numbers = [numbers_of(table, column) for table in tables]
    known = [one for one in numbers if one is not None]
    if len(known) == len(numbers) and any(table.is_numeric(column) for table in tables):
        first = known[0][np.isfinite(known[0])]
        low, high = (first.min(), first.max()) if len(first) else (0.0, 1.0)
        unit = high - low if high > low else 1.0
        return True, [np.where(np.isfinite(one), (one - low) / unit, MISSING) for one in known]
    places: dict[str, int] = {}
    return False, [_categories(table, column, places) for table in tables]


def _categories(table: Table, column: str, places: dict[str, int]) -> Float:
    codes = table.codes(column)
    own = [places.setdefault(text_of(value), len(places)) for value in codes.values.tolist()]
    return np.array([*own, -1.0])[codes.codes]


class Nearest:
    """Finds, for targets, the rows of the release at the least distance of Gower, all of them where they tie.

    The distance is the sum over the columns of |x - y| in units of the range (at most 1) for numbers and of
    0 or 1 for categories. Reference: Gower, Biometrics 27, 1971.

    Args:
        rows: of the release.
    """

    def __init__(self, rows: Rows) -> None:
        self._numeric = rows.numeric
        self._cells = _compact(rows)

    def near(self, targets: Rows, neighbours: int) -> Iterator[tuple[slice, Bool]]:
        """Go through the targets block by block.

        Args:
            targets: in the space of the release.
            neighbours: rows at the distance of this nearest one, or nearer, count as near.

        Yields:
            Which targets, and which rows of the release are near, shape (block, m).
        """
        mine = _compact(targets)
        count = len(self._cells[0])
        size = max(1, _BLOCK_CELLS // count)
        last = min(neighbours, count) - 1
        for start in range(0, len(targets), size):
            block = slice(start, min(start + size, len(targets)))
            distance = np.zeros((block.stop - start, count), dtype=np.float32)
            for numeric, theirs, own in zip(self._numeric, self._cells, mine, strict=True):
                if numeric:
                    gap = theirs[None, :] - own[block, None]
                    np.abs(gap, out=gap)
                    distance += np.minimum(gap, 1, out=gap)
                else:
                    distance += theirs[None, :] != own[block, None]
            least = distance.min(axis=1) if last == 0 else np.partition(distance, last, axis=1)[:, last]
            yield block, distance <= least[:, None] + _TIE


def _compact(rows: Rows) -> list[NDArray[Any]]:
    found: list[NDArray[Any]] = []
    for numeric, cells in zip(rows.numeric, rows.cells, strict=True):
        if numeric:
            found.append(np.clip(cells, -_FAR, _FAR).astype(np.float32))
        else:
            found.append(cells.astype(np.int32))
    return found
