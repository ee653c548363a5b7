"""Suppression: of identifiers, of rows with gaps, of rare cells, and of rows in small classes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from anonymizer.errors import TableError, UnreachableError
from anonymizer.hierarchies.hierarchy import ANY, text_of
from anonymizer.models.method import Method
from anonymizer.risk.candidates import IntervalSets, LabelSets, Sets
from anonymizer.tables.table import Table


class DropIdentifiers(Method):
    """Takes the columns out that name a person by themselves."""

    word: ClassVar[str] = "drop-identifiers"
    row_wise: ClassVar[bool] = True

    def columns_of(self, table: Table) -> tuple[str, ...]:
        """The identifiers."""
        return table.roles.identifiers

    def _fit(self, table: Table) -> None:
        del table

    def _transform(self, table: Table) -> Table:
        return table.without(table.roles.identifiers)


class SuppressMissing(Method):
    """Takes the rows out that miss a cell.

    Args:
        columns: where cells must not be missing; the quasi-identifiers if None.
    """

    word: ClassVar[str] = "suppress-missing"
    row_wise: ClassVar[bool] = True

    def __init__(self, *, columns: tuple[str, ...] | None = None) -> None:
        self.columns = columns

    def _fit(self, table: Table) -> None:
        del table

    def _transform(self, table: Table) -> Table:
        gaps = np.zeros(len(table), dtype=np.bool_)
        for column in self.columns_of(table):
            gaps |= table.missing(column)
        if gaps.all() and len(table):
            raise UnreachableError("Every row misses a cell; all would be suppressed.", "Name fewer columns.")
        return table.taken(np.flatnonzero(~gaps))


class SuppressCells(Method):
    """Replaces rare values by `*`.

    Args:
        least: values of a column with fewer rows than this are suppressed.
        columns: where; the quasi-identifiers if None.

    Attributes:
        changed_: after a transformation, the columns with suppressed cells; they hold texts then.
    """

    word: ClassVar[str] = "suppress-cells"

    def __init__(self, *, least: int = 5, columns: tuple[str, ...] | None = None) -> None:
        self.least = least
        self.columns = columns

    def _fit(self, table: Table) -> None:
        self.kept_ = {}
        for column in self.columns_of(table):
            codes = table.codes(column)
            counts = np.bincount(codes.codes[codes.codes >= 0], minlength=len(codes.values))
            self.kept_[column] = frozenset(map(text_of, codes.values[counts >= self.least].tolist()))

    def _transform(self, table: Table) -> Table:
        replaced = {}
        for column, kept in self.kept_.items():
            codes = table.codes(column)
            texts = [text_of(value) for value in codes.values.tolist()]
            if all(text in kept for text in texts):
                continue
            labels = np.array([*(text if text in kept else ANY for text in texts), None], dtype=object)
            replaced[column] = labels[codes.codes]
        self.changed_ = frozenset(replaced)
        return table.replaced(replaced) if replaced else table

    def spread(self, column: str, sets: Sets) -> Sets:
        """A rare value becomes `*`, with high confidence; so may any value of an interval."""
        if column not in self.changed_:
            return sets
        kept = self.kept_[column]
        labels = np.array([*sorted(kept), ANY], dtype=object)
        if isinstance(sets, IntervalSets):
            values = np.array([float(text) for text in labels[:-1]])
            high, low = IntervalSets(sets.high, sets.low).holds(values)
            some = np.ones((len(sets.high), 1), dtype=np.bool_)
            return LabelSets(
                labels, np.hstack((high, ~high.any(axis=1, keepdims=True))), np.hstack((low, some))
            )
        places = {label: place for place, label in enumerate(labels.tolist())}
        member = np.zeros((len(sets.labels), len(labels)), dtype=np.bool_)
        for row, label in enumerate(sets.labels.tolist()):
            member[row, places.get(text_of(label), len(labels) - 1)] = True
        return LabelSets(labels, sets.high @ member, sets.low @ member)


class SuppressRecords(Method):
    """Takes the rows out whose class is too small: what is left is k-anonymous.

    Args:
        k: the least size of a class of rows alike in all quasi-identifiers.
        columns: the quasi-identifiers if None.
        most: the largest part of the rows that may go, in [0, 1].
    """

    word: ClassVar[str] = "suppress-records"

    def __init__(self, *, k: int = 5, columns: tuple[str, ...] | None = None, most: float = 1.0) -> None:
        self.k = k
        self.columns = columns
        self.most = most

    def _fit(self, table: Table) -> None:
        del table
        if self.k < 1:
            raise TableError(f"k is {self.k}.", "Choose 1 or more.")

    def _transform(self, table: Table) -> Table:
        columns = self.columns_of(table)
        if not columns:
            return table
        cells = np.stack([table.codes(column).codes for column in columns], axis=1)
        _, classes, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
        keep = counts[classes.reshape(-1)] >= self.k
        if not keep.any():
            raise UnreachableError(
                f"No class has {self.k} rows; all {len(table)} records would be suppressed.",
                "Lower k, or generalize before.",
            )
        gone = int((~keep).sum())
        if gone > self.most * len(table):
            raise UnreachableError(
                f"{gone} of {len(table)} records lie in classes below {self.k}; most is {self.most}.",
                "Raise most, lower k, or generalize more.",
            )
        return table.taken(np.flatnonzero(keep))
