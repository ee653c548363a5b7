"""Suppression: of identifiers, of rows with gaps, of rare cells, and of rows in small classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from anonymizer.errors import TableError, UnreachableError
from anonymizer.hierarchies.hierarchy import ANY, text_of
from anonymizer.methods.conditions.groups import groups_of
from anonymizer.methods.contract.method import Method
from anonymizer.methods.contract.parameters import parameters
from anonymizer.releases.guarantee import OF_CLASSES, Guarantee, k_anonymity
from anonymizer.risk.candidates import Candidates, IntervalCandidates, LabelCandidates, compose_steps
from anonymizer.risk.classes import class_sizes, classes_of
from anonymizer.risk.simulator import CellsKept
from anonymizer.tables.provenance import TableProvenance
from anonymizer.tables.table import Table


class DropIdentifiers(CellsKept, Method):
    """Takes the columns out that name a person by themselves."""

    name: ClassVar[str] = "drop-identifiers"
    random: ClassVar[bool] = False
    keeps_rows: ClassVar[bool] = True
    keeps_classes: ClassVar[bool] = True
    needs_columns: ClassVar[bool] = False
    ensures: ClassVar[bool] = True

    @override
    def columns_of(self, table: Table) -> tuple[str, ...]:
        """The identifiers."""
        return table.roles.identifiers

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """Columns stay as they are or go."""
        return table.provenance

    @override
    def _transform(self, table: Table) -> Table:
        return table.without(table.roles.identifiers)


@parameters
class SuppressMissing(CellsKept, Method):
    """Takes the rows out that miss a cell.

    Args:
        columns: where cells must not be missing; the quasi-identifiers if None.
    """

    name: ClassVar[str] = "suppress-missing"
    random: ClassVar[bool] = False
    keeps_classes: ClassVar[bool] = True
    ensures: ClassVar[bool] = True
    keeps_rows: ClassVar[bool] = False

    columns: tuple[str, ...] | None = None

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """A row is there or not by its own gaps."""
        columns = self.columns_of(table)
        by = table.provenance.gaps(*columns)
        return table.provenance.with_rows(by).recode(
            {name: table.provenance[name].cells for name in columns}, gaps="none"
        )

    @override
    def _transform(self, table: Table) -> Table:
        gaps = np.zeros(len(table), dtype=np.bool_)
        for column in self.columns_of(table):
            gaps |= table.missing(column)
        if gaps.all() and len(table):
            raise UnreachableError("Every row misses a cell; all would be suppressed.", "Name fewer columns.")
        return table.take(np.flatnonzero(~gaps))


@parameters
class SuppressCells(Method):
    """Replaces rare values by `*`.

    Args:
        minimum_rows: values of a column with fewer rows than this are suppressed.
        columns: where; the quasi-identifiers if None.

    Attributes:
        suppressed_: after a transformation, the columns with suppressed cells; they hold texts then.
    """

    name: ClassVar[str] = "suppress-cells"
    random: ClassVar[bool] = False
    keeps_rows: ClassVar[bool] = True
    keeps_classes: ClassVar[bool] = True
    example: ClassVar[Mapping[str, Any]] = {"minimum_rows": 2}

    minimum_rows: int = 5
    columns: tuple[str, ...] | None = None

    @override
    def check(self) -> None:
        super().check()
        if self.minimum_rows < 2:
            raise TableError(
                f"minimum_rows is {self.minimum_rows}.", "Choose 2 or more; with 1 every value stays."
            )

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """Whether a cell stays depends on how many have its value."""
        cells = {name: table.provenance.content(name).spread() for name in self.columns_of(table)}
        return table.provenance.recode(cells, gaps="stay")

    @override
    def _fit(self, table: Table) -> None:
        self.kept_ = {}
        for column in self.columns_of(table):
            codes = table.codes(column)
            counts = np.bincount(codes.codes[codes.codes >= 0], minlength=len(codes.values))
            self.kept_[column] = frozenset(map(text_of, codes.values[counts >= self.minimum_rows].tolist()))

    @override
    def _transform(self, table: Table) -> Table:
        replaced = {}
        for column, kept in self.kept_.items():
            codes = table.codes(column)
            texts = [text_of(value) for value in codes.values.tolist()]
            if all(text in kept for text in texts):
                continue
            labels = np.array([*(text if text in kept else ANY for text in texts), None], dtype=object)
            replaced[column] = labels[codes.codes]
        self.suppressed_ = frozenset(replaced)
        return table.replace(replaced) if replaced else table

    def simulate(self, column: str, candidates: Candidates) -> Candidates:
        """A rare value becomes `*`, with high confidence; so may any value of an interval."""
        if column not in self.suppressed_:
            return candidates
        kept = self.kept_[column]
        labels = np.array([*sorted(kept), ANY], dtype=object)
        if isinstance(candidates, IntervalCandidates):
            values = np.array([float(text) for text in labels[:-1]])
            high, low = IntervalCandidates(candidates.high, candidates.low).holds(values)
            some = np.ones((len(candidates.high), 1), dtype=np.bool_)
            return LabelCandidates(
                labels, np.hstack((high, ~high.any(axis=1, keepdims=True))), np.hstack((low, some))
            )
        places = {label: place for place, label in enumerate(labels.tolist())}
        member = np.zeros((len(candidates.labels), len(labels)), dtype=np.bool_)
        for row, label in enumerate(candidates.labels.tolist()):
            member[row, places.get(text_of(label), len(labels) - 1)] = True
        return LabelCandidates(
            labels, compose_steps(candidates.high, member), compose_steps(candidates.low, member)
        )


@parameters
class SuppressRecords(CellsKept, Method):
    """Takes the rows out whose class is too small: what is left is k-anonymous.

    Args:
        k: the least size of a class of rows alike in all quasi-identifiers, in persons.
        columns: the quasi-identifiers if None.
        maximum_suppression: the largest part of the rows that may go, in [0, 1].
        together: a column whose equal values go together, such as a household, until all classes of those
            that stay have k rows; a missing cell is a row alone.
    """

    name: ClassVar[str] = "suppress-records"
    ensures: ClassVar[bool] = True
    makes_classes: ClassVar[bool] = True
    random: ClassVar[bool] = False
    keeps_classes: ClassVar[bool] = True
    keeps_rows: ClassVar[bool] = False
    example: ClassVar[Mapping[str, Any]] = {"k": 2, "columns": ("city",)}

    k: int = 5
    columns: tuple[str, ...] | None = None
    maximum_suppression: float = 1.0
    together: str | None = None

    @override
    def check(self) -> None:
        super().check()
        if self.k < 2:
            raise TableError(f"k is {self.k}.", "Choose 2 or more; with 1 no row would go.")
        if not 0 <= self.maximum_suppression <= 1:
            raise TableError(
                f"maximum_suppression is {self.maximum_suppression}.",
                "Choose a part of the rows, from 0 to 1.",
            )

    @override
    def guarantees(self, table: Table) -> tuple[Guarantee, ...]:
        """k-anonymity over its columns."""
        return k_anonymity(self.k, self.columns_of(table), self.name)

    @override
    def keeps(self, guarantee: Guarantee, before: Table, after: Table) -> bool:
        """Whole classes go, so that those of a step that looked at these columns too stay whole.

        Not with `together`: who goes with others leaves classes that stay.
        """
        own = set(self.columns_of(before))
        whole = (
            self.together is None
            and guarantee.kind in OF_CLASSES
            and own <= set(guarantee.columns) - {guarantee.sensitive}
        )
        return whole or super().keeps(guarantee, before, after)

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """Which rows stay depends on those that are like them."""
        together = () if self.together is None else (self.together,)
        read = table.provenance.content(*self.columns_of(table), *together)
        return table.provenance.with_rows(read.spread())

    @override
    def _transform(self, table: Table) -> Table:
        columns = self.columns_of(table)
        classes, number = classes_of(table, columns)
        groups, count = groups_of(table, self.together)
        keep = np.ones(len(table), dtype=np.bool_)
        while (small := keep & (class_sizes(table, classes, number, keep)[classes] < self.k)).any():
            goes = np.zeros(count, dtype=np.bool_)
            goes[groups[small]] = True
            keep &= ~goes[groups]
        if not keep.any():
            raise UnreachableError(
                f"No class has {self.k} rows; all {len(table)} records would be suppressed.",
                "Lower k, or generalize before.",
            )
        gone = int((~keep).sum())
        if gone > self.maximum_suppression * len(table):
            raise UnreachableError(
                f"{gone} of {len(table)} records lie in classes of fewer than {self.k} rows, and "
                f"maximum_suppression is {self.maximum_suppression}.",
                "Raise maximum_suppression, lower k, or generalize more.",
            )
        return table.take(np.flatnonzero(keep))
