"""A log: which user had to do with which item at what time. Purchases, visits and trajectories are all one.

Reference: thesis, section 5.3.1 (Table 5.1).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]

Moment = date | datetime | int | float | str
"""A point in time as people write it: a date, a date with a time, or the number of a log that has numbers."""

_MICROSECONDS: Final = 1e6
_MAX_SQUARES: Final = 2.0**52
"""Squares of a grid on either side of 0; beyond, their numbers are not exact."""


@dataclass(frozen=True, slots=True)
class Log:
    """Events of users with items.

    Attributes:
        users: the different users, as texts.
        items: the different items, as texts.
        user: of each event the place of its user, shape (e,).
        item: of each event the place of its item, shape (e,).
        time: of each event, shape (e,): microseconds since 1970 in UTC, times without a zone taken as UTC; or
            the numbers of a column of numbers, such as weeks.
        numbered: whether times are numbers and not dates.
        amount: of each event what it counts, shape (e,); returns may be negative.
    """

    users: tuple[str, ...] = field(repr=False)
    items: tuple[str, ...] = field(repr=False)
    user: Int = field(repr=False)
    item: Int = field(repr=False)
    time: Float = field(repr=False)
    numbered: bool = False
    amount: Float = field(repr=False, kw_only=True)

    def __len__(self) -> int:
        return len(self.user)

    @classmethod
    def of(cls, table: Table, *, user: str, time: str, item: str, amount: str | None = None) -> Log:
        """Read a log from a table, an event in each row.

        Args:
            table: without missing cells in these columns.
            user: the column that names users.
            time: of dates and times in ISO 8601, or of numbers.
            item: the column that names items.
            amount: of numbers, what an event counts; None is 1.

        Raises:
            TableError: the table has no rows or lacks a column, a cell is missing, a time cannot be read, or
                an amount is not a number.
        """
        return cls._make(table, user, time, cls._texts(table, item), amount)

    @classmethod
    def of_places(cls, table: Table, *, user: str, time: str, place: tuple[str, str], cell: float) -> Log:
        """Read trajectories: the items are the squares of a grid.

        Args:
            table: as in `of`.
            user: as in `of`.
            time: as in `of`.
            place: the columns of the two coordinates.
            cell: the side of a square, in the unit of the coordinates, positive. A square is named by its
                lower ends, such as `48.1:11.5`.

        Raises:
            TableError: as `of`; or the side is not positive.
        """
        if not (np.isfinite(cell) and cell > 0):
            raise TableError(f"The side of a grid cell is {cell}.", "Give a positive number, such as 0.01.")
        corners = []
        for column in place:
            table.require(column)
            table.complete((column,))
            with np.errstate(over="ignore"):
                squares_from_0 = np.floor(table.numbers(column) / cell)
            far = np.flatnonzero(~(np.abs(squares_from_0) < _MAX_SQUARES))
            if len(far):
                raise TableError(
                    f"Column {column!r} has {len(far)} places too far away for squares of {cell:g}, "
                    f"the first in row {int(far[0]) + 1}.",
                    "Correct these coordinates, or take a larger cell.",
                )
            corners.append(squares_from_0.astype(np.int64))
        squares, item = np.unique(np.stack(corners, axis=1), axis=0, return_inverse=True)
        names = tuple(":".join(f"{end * cell:.10g}" for end in square) for square in squares.tolist())
        return cls._make(table, user, time, (names, item.reshape(-1)), None)

    @classmethod
    def _make(
        cls,
        table: Table,
        user: str,
        time: str,
        items: tuple[tuple[str, ...], Int],
        amount: str | None,
    ) -> Log:
        users, user_codes = cls._texts(table, user)
        moments, numbered = _times(table, time)
        amounts = np.ones(len(table))
        if amount is not None:
            table.require(amount)
            table.complete((amount,))
            amounts = table.numbers(amount)
        return cls(users, items[0], user_codes, items[1], moments, numbered, amount=amounts)

    @staticmethod
    def _texts(table: Table, column: str) -> tuple[tuple[str, ...], Int]:
        table.require(column)
        if not len(table):
            raise TableError("The log is empty.", "Give at least one event.")
        table.complete((column,))
        codes = table.codes(column)
        return tuple(text_of(value) for value in codes.values.tolist()), codes.codes

    def moment(self, given: Moment) -> float:
        """A point in time in the unit of `time`.

        Raises:
            TableError: it is a date where the log has numbers, or the reverse, or cannot be read.
        """
        if self.numbered:
            if isinstance(given, bool) or not isinstance(given, int | float):
                raise TableError(
                    f"The window begins or ends at {given!r}, and the times of the log are numbers.",
                    "Give numbers.",
                )
            return float(given)
        if isinstance(given, int | float):
            raise TableError(
                f"The window begins or ends at {given}, and the times of the log are dates.",
                "Give dates, such as 2025-01-31 or 2025-01-31T16:00:00.",
            )
        if isinstance(given, str):
            try:
                given = datetime.fromisoformat(given)
            except ValueError:
                raise TableError(
                    f"The window begins or ends at {given!r}, which is not a date.",
                    "Write, for example, 2025-01-31 or 2025-01-31T16:00:00.",
                ) from None
        if not isinstance(given, date):
            raise TableError(
                f"The window begins or ends at {given}, which is not a date.",
                "Write, for example, 2025-01-31 or 2025-01-31T16:00:00.",
            )
        found = given if isinstance(given, datetime) else datetime(given.year, given.month, given.day)
        known = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
        return known.timestamp() * _MICROSECONDS


def _times(table: Table, column: str) -> tuple[Float, bool]:
    """The times of a log, and whether they are numbers."""
    table.require(column)
    table.complete((column,))
    if table.is_numeric(column):
        return table.numbers(column), True
    cells = pd.Series(table.series(column).to_list(), dtype=object)
    read: Any = pd.to_datetime(cells.map(str), format="ISO8601", errors="coerce", utc=True)
    wrong = np.flatnonzero(read.isna().to_numpy())
    if len(wrong):
        raise TableError(
            f"Column {column!r} has {len(wrong)} times that cannot be read, the first in row "
            f"{int(wrong[0]) + 1}: {cells[int(wrong[0])]!r}.",
            "Write times in ISO 8601, such as 2025-01-31T16:00:00, or as numbers in all rows.",
        )
    moments = read.dt.tz_localize(None).to_numpy().astype("datetime64[us]").astype(np.float64)
    return moments, False
