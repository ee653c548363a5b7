"""Some rows of a source, and where they stand in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Final

from commons.errors import near
from parties.errors import DataError

ROWS: Final = 1 << 11
"""Rows of a batch; their cells fit the cache."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the rows of a batch stand in their source.

    Attributes:
        first: the number of its first row, from 1.
        lines: the lines in which its rows end, for files that have lines.
    """

    first: int
    lines: Sequence[int] | None = None

    def __getitem__(self, index: int) -> str:
        """How errors call the row at an index of the batch, such as `row 3 (line 4)`."""
        row = f"row {self.first + index}"
        return row if self.lines is None else f"{row} (line {self.lines[index]})"


class VisibleCells(list[str]):
    """Cells that whoever read them knows to be texts of visible ASCII characters, at least one each.

    So none is blank or has blanks around it, all are in normalisation form C, and nobody has to look again.
    """


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive rows of a data set.

    Attributes:
        place: where they stand.
        rows: how many they are.
        columns: the cells of the asked columns, in their order.
    """

    place: Place
    rows: int
    columns: Sequence[Sequence[Any]] = field(repr=False)


def positions(place: str, header: Sequence[str], columns: Sequence[str]) -> list[int]:
    """Where columns stand in a header.

    Raises:
        DataError: one is not there, or twice.
    """
    there = {column: position for position, column in enumerate(header)}
    twice = {column for position, column in enumerate(header) if there[column] != position}
    for column in columns:
        if column not in there:
            raise DataError(f"{place} has no column {column!r}.", near(column, list(header)))
        if column in twice:
            raise DataError(f"{place} has column {column!r} twice.", "Rename one of them.")
    return [there[column] for column in columns]


def pick(rows: Sequence[Sequence[Any]], where: Sequence[int]) -> list[list[Any]]:
    """The cells of the columns at these positions, by columns."""
    return [list(map(itemgetter(position), rows)) for position in where]
