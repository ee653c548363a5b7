"""Tables as numbers for learning: released labels become what a model can take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.hierarchies.labels import middles_of, spans_of
from anonymizer.tables.numbers import numbers_of
from anonymizer.tables.table import Table
from commons.errors import near

Float = NDArray[np.float64]

INTERVALS: Final = ("middle", "one-hot")


@dataclass(frozen=True, slots=True)
class Scaled:
    """A column of numbers, to mean 0 and deviation 1; what is missing or `*` is at the mean.

    Attributes:
        column: its name.
        mean: of the learned table.
        scale: its standard deviation, 1 if it is 0.
    """

    column: str
    mean: float
    scale: float

    def of(self, table: Table) -> Float:
        """Shape (n, 1)."""
        found = numbers_of(table, self.column)
        if found is None:
            codes = table.codes(self.column)
            found = np.append(middles_of(codes.values), np.nan)[codes.codes]
        return np.nan_to_num((found - self.mean) / self.scale, nan=0.0)[:, None]


@dataclass(frozen=True, slots=True)
class OneHot:
    """A column of labels, one feature each; a cell with another label, or none, has no feature.

    Attributes:
        column: its name.
        labels: of the learned table.
        spans: the numbers that each label covers, NaN where it is no interval; shape (w, 2).
    """

    column: str
    labels: tuple[str, ...]
    spans: Float = field(repr=False)

    def of(self, table: Table) -> Float:
        """Shape (n, w); a number has the features of all intervals that hold it."""
        codes = table.codes(self.column)
        texts = np.array([text_of(value) for value in codes.values.tolist()], dtype=object)
        member = texts[:, None] == np.array(self.labels, dtype=object)[None, :]
        if table.is_numeric(self.column):
            numbers = codes.values.astype(np.float64)[:, None]
            member = member | ((self.spans[:, 0] <= numbers) & (numbers <= self.spans[:, 1]))
        padded = np.vstack((member, np.zeros((1, len(self.labels)), dtype=np.bool_)))
        return padded[codes.codes].astype(np.float64)


@dataclass(frozen=True, slots=True)
class Features:
    """What was learned of a table to turn tables of its columns into numbers.

    Attributes:
        columns: how each is turned.
    """

    columns: tuple[Scaled | OneHot, ...]

    @classmethod
    def learn(cls, table: Table, columns: Sequence[str], intervals: str = "middle") -> Self:
        """Learn.

        Args:
            table: at least one row.
            columns: to turn.
            intervals: "middle", a label of an interval counts as the number in its middle; or "one-hot", it
                is a category, and a number of another table counts for the interval that holds it.

        Raises:
            TableError: a column is missing, or the choice for intervals is unknown.
        """
        if intervals not in INTERVALS:
            raise TableError(f"{intervals!r} is not a way to read intervals.", near(intervals, INTERVALS))
        return cls(tuple(_learn(table, column, intervals) for column in columns))

    def of(self, table: Table) -> Float:
        """The features, shape (n, features).

        Raises:
            TableError: a column is missing.
        """
        parts = [column.of(table) for column in self.columns]
        return np.hstack(parts) if parts else np.zeros((len(table), 0))


def _learn(table: Table, column: str, intervals: str) -> Scaled | OneHot:
    numbers = numbers_of(table, column) if intervals == "middle" or table.is_numeric(column) else None
    if numbers is None:
        values: list[Any] = table.codes(column).values.tolist()
        labels = tuple(dict.fromkeys(map(text_of, values)))
        return OneHot(column, labels, spans_of(labels))
    known = numbers[np.isfinite(numbers)]
    mean, scale = (float(known.mean()), float(known.std())) if len(known) else (0.0, 1.0)
    return Scaled(column, mean, scale if scale > 0 else 1.0)
