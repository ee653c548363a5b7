"""What methods have in common that replace quasi-identifiers by labels, so that rows become alike."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import SpecError, UnreachableError
from anonymizer.hierarchies.hierarchy import ANY
from anonymizer.models.attributes import Attribute, Labelled, Measured, attribute, covers
from anonymizer.models.constraints import Allowed
from anonymizer.models.method import Method
from anonymizer.risk.candidates import LabelSets, Sets
from anonymizer.risk.classes import grouped
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]
Texts = NDArray[Any]


class Recoding(Method):
    """A method with the parameters `k`, `constraints` and `columns`; subclasses give `_recoded`.

    Raises:
        HierarchyError: a column has no hierarchy and needs one, or a value is not covered.
        UnreachableError: k is larger than the table, or not even the whole table as one class is allowed.
        SpecError: delta-presence is asked of a method whose classes overlap.
    """

    k: int
    constraints: tuple[Any, ...]
    columns: tuple[str, ...] | None

    @property
    def disjoint(self) -> bool:
        """Whether each possible row matches the labels of at most one class, as delta-presence needs."""
        return False

    @abstractmethod
    def _recoded(self, attributes: list[Attribute], allowed: Allowed) -> tuple[list[Texts], Int]:
        """The labels of the released rows in each column, and their places."""

    def _attribute(self, table: Table, column: str) -> Attribute:
        return attribute(table, column)

    def _fit(self, table: Table) -> None:
        self._prepared(table)

    def _prepared(self, table: Table) -> tuple[list[Attribute], Allowed]:
        columns = self.columns_of(table)
        table.complete(columns)
        attributes = [self._attribute(table, column) for column in columns]
        allowed = Allowed(table, self.k, tuple(self.constraints))
        rows = int(allowed.released.sum())
        if rows < self.k:
            raise UnreachableError(
                f"k is {self.k} and the table has {rows} rows.", "Lower k, or give more rows."
            )
        if allowed.presence is not None and not self.disjoint:
            raise SpecError(
                f"The classes of {self.word} overlap, so that delta-presence cannot be promised.",
                "Use incognito without suppression, or strict mondrian.",
            )
        everything = np.arange(len(table))
        if not allowed(everything, np.zeros(len(table), dtype=np.int64), 1)[0]:
            raise UnreachableError(
                "Not even the whole table as one class fulfils what is asked.",
                "Lower k, or relax the constraints.",
            )
        return attributes, allowed

    def _transform(self, table: Table) -> Table:
        columns = self.columns_of(table)
        if not columns:
            return table
        attributes, allowed = self._prepared(table)
        texts, rows = self._recoded(attributes, allowed)
        self.labels_ = {
            column: _ends(one, cells) for column, one, cells in zip(columns, attributes, texts, strict=True)
        }
        stays = allowed.released[rows]
        released = table if len(rows) == len(table) and stays.all() else table.taken(rows[stays])
        if allowed.presence is not None:
            released = released.without((allowed.presence,))
        return released.replaced({c: cells[stays] for c, cells in zip(columns, texts, strict=True)})

    def spread(self, column: str, sets: Sets) -> Sets:
        """A value may have become its label at any level, or any interval around it, with high confidence."""
        if column not in getattr(self, "labels_", {}):
            return sets
        labels, ends = self.labels_[column]
        if isinstance(sets, LabelSets):
            known, member = self._members(column, sets.labels)
            return LabelSets(known, sets.high @ member, sets.low @ member)
        if column in self.hierarchies_ and (points := sets.points) is not None:
            known, member = self._members(column, points)
            return LabelSets(known, member, member)
        if ends is None:
            labels, ends = self._of_numbers(column)
        high, low = (
            (one[:, :1] <= ends[None, :, 1]) & (ends[None, :, 0] <= one[:, 1:])
            for one in (sets.high, sets.low)
        )
        return LabelSets(labels, high, low)

    def _of_numbers(self, column: str) -> tuple[Texts, Float]:
        """All labels of a hierarchy of numbers, and what they cover."""
        hierarchy = self.hierarchies_[column]
        names, spans = zip(
            *(hierarchy.spans(level, column) for level in range(1, hierarchy.height + 1)), strict=True
        )
        own = self.labels_[column][0]
        numbers = np.array([_number(label) for label in own.tolist()])
        own, numbers = own[np.isfinite(numbers)], numbers[np.isfinite(numbers)]
        whole = np.array([[-np.inf, np.inf]])
        labels = np.array([*own, *itertools.chain(*names), ANY], dtype=object)
        return labels, np.concatenate([np.stack([numbers, numbers], axis=1), *spans, whole])

    def _members(self, column: str, values: NDArray[Any]) -> tuple[Texts, NDArray[np.bool_]]:
        """All labels of the values, and which are of which value."""
        levels = self.hierarchies_[column].bind(values, column)
        names = [*itertools.chain(*(level.labels for level in levels)), ANY]
        places = {label: place for place, label in enumerate(dict.fromkeys(names))}
        member = np.zeros((len(values), len(places)), dtype=np.bool_)
        for level in levels:
            found = np.array([places[label] for label in level.labels])
            member[np.arange(len(values)), found[level.groups]] = True
        member[:, places[ANY]] = True
        return np.array(list(places), dtype=object), member


class Partitioning(Recoding):
    """A method that divides the rows into classes; each class is released under its cover."""

    @abstractmethod
    def _classes(self, attributes: list[Attribute], allowed: Allowed) -> Int:
        """The class of each row, shape (n,)."""

    def _recoded(self, attributes: list[Attribute], allowed: Allowed) -> tuple[list[Texts], Int]:
        classes, count = grouped([self._classes(attributes, allowed)])
        texts = [one.labels(*covers(one.codes, classes, count))[classes] for one in attributes]
        return texts, np.arange(len(classes))


def labelled(table: Table, column: str) -> Attribute:
    """An attribute of a method that needs hierarchies throughout."""
    return Labelled.of(table, column)


def by_levels(attributes: Sequence[Attribute], levels: Int, rows: Int) -> list[Texts]:
    """The labels of some rows at levels.

    Args:
        attributes: m with hierarchies.
        levels: of these rows, shape (r, m).
        rows: their places, shape (r,).
    """
    return [
        one.texts(one.codes[rows], levels[:, place])
        for place, one in enumerate(attributes)
        if isinstance(one, Labelled)
    ]


def _ends(one: Attribute, cells: Texts) -> tuple[Texts, Float | None]:
    """The labels that were used, and for numbers without a hierarchy what they cover."""
    labels = np.array(sorted(set(cells.tolist())), dtype=object)
    if not isinstance(one, Measured):
        own = one.levels[0].labels if isinstance(one, Labelled) else ()
        return np.array(own, dtype=object), None
    bounds = [[_number(end) for end in label.strip("[]").split(", ")] for label in labels.tolist()]
    return labels, np.array([[ends[0], ends[-1]] for ends in bounds]).reshape(-1, 2)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
