"""k-anonymity by local recoding: each row is generalized only as far as its own class needs.

One sweep over the lattice of generalization schemes, in the order of their average loss. Under each scheme
the rows that are left are grouped by their labels; classes that are allowed are released as they are under
this scheme and leave; the sweep goes on with the rest. Few rows remain at the end: whole classes of the
highest loss join them, all generalized to the top, until they are allowed. No row is lost.

A class may come to share its labels with one that another scheme made, which only makes it larger.

Cost: schemes times rows that are left, and these become few early.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import HierarchyError, UnreachableError
from anonymizer.hierarchies.hierarchy import Level
from anonymizer.models.constraints import Allowed
from anonymizer.models.method import Method
from anonymizer.risk.candidates import IntervalSets, LabelSets, Sets
from anonymizer.risk.classes import grouped
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]

MOST_SCHEMES: Final = 20_000
"""Of a larger lattice so many schemes are tried, evenly in the order of loss."""


class LocalRecoding(Method):
    """Makes a table k-anonymous, and what `constraints` ask, with little loss and no row lost.

    Args:
        k: the least size of a class.
        constraints: such as `DistinctDiversity("income", 2)`, or tables with `model` and its entries.
        columns: columns with hierarchies; the quasi-identifiers if None.

    Raises:
        HierarchyError: a column has no hierarchy, or a value is not covered.
        UnreachableError: not even the whole table as one class is allowed.

    Reference: the problem: Xu et al., Utility-based anonymization using local recoding, KDD 2006.
    """

    word: ClassVar[str] = "local-recoding"

    def __init__(
        self, *, k: int = 5, constraints: tuple[Any, ...] = (), columns: tuple[str, ...] | None = None
    ) -> None:
        self.k = k
        self.constraints = constraints
        self.columns = columns

    def _fit(self, table: Table) -> None:
        columns = self.columns_of(table)
        table.complete(columns)
        self.bound_ = {column: _bound(table, column) for column in columns}
        if len(table) < self.k:
            raise UnreachableError(
                f"k is {self.k} and the table has {len(table)} rows.", "Lower k, or give more rows."
            )

    def _transform(self, table: Table) -> Table:
        columns = self.columns_of(table)
        table.complete(columns)
        self.bound_ = {column: _bound(table, column) for column in columns}
        if not columns:
            return table
        coded = [table.codes(column).codes for column in columns]
        levels = swept(list(self.bound_.values()), coded, Allowed(table, self.k, self.constraints))
        replaced = {}
        for place, column in enumerate(columns):
            cells = np.empty(len(table), dtype=object)
            for number, level in enumerate(self.bound_[column]):
                at = levels[:, place] == number
                cells[at] = np.array(level.labels, dtype=object)[level.groups[coded[place][at]]]
            replaced[column] = cells
        return table.replaced(replaced)

    def spread(self, column: str, sets: Sets) -> Sets:
        """A value may have become its label at any level, with high confidence."""
        if column not in self.bound_:
            return sets
        if isinstance(sets, IntervalSets):
            return self._of_numbers(column, sets)
        return self._labelled(column, sets)

    def _of_numbers(self, column: str, sets: IntervalSets) -> LabelSets:
        names, spans = zip(
            *(
                self.hierarchies_[column].spans(level, column)
                for level in range(1, self.hierarchies_[column].height + 1)
            ),
            strict=True,
        )
        own = self.bound_[column][0]
        numbers = np.array([float(label) for label in own.labels])
        ends = np.concatenate([np.stack([numbers, numbers], axis=1), *spans])
        labels = np.array([*own.labels, *itertools.chain(*names)], dtype=object)
        high, low = (
            (one[:, :1] <= ends[None, :, 1]) & (ends[None, :, 0] <= one[:, 1:])
            for one in (sets.high, sets.low)
        )
        return LabelSets(labels, high, low)

    def _labelled(self, column: str, sets: LabelSets) -> LabelSets:
        levels = self.hierarchies_[column].bind(sets.labels, column)
        labels = np.array(
            list(dict.fromkeys(itertools.chain(*(level.labels for level in levels)))), dtype=object
        )
        places = {label: place for place, label in enumerate(labels.tolist())}
        member = np.zeros((len(sets.labels), len(labels)), dtype=np.bool_)
        for level in levels:
            found = np.array([places[label] for label in level.labels])
            member[np.arange(len(sets.labels)), found[level.groups]] = True
        return LabelSets(labels, sets.high @ member, sets.low @ member)


def _bound(table: Table, column: str) -> tuple[Level, ...]:
    hierarchy = table.hierarchies.get(column)
    if hierarchy is None:
        raise HierarchyError(f"Column {column!r} has no hierarchy.", "Give one, or name other columns.")
    return hierarchy.bind(table.codes(column).values, column)


@dataclass(slots=True)
class _Sweep:
    """The rows that are left, and what has become of the others."""

    levels: Int
    allowed: Allowed
    left: Int = field(init=False)

    def __post_init__(self) -> None:
        self.left = np.arange(len(self.levels))

    def release(self, scheme: Int, labels: list[Int]) -> None:
        """Release the allowed classes of the rows that are left under a scheme."""
        classes, count = grouped([codes[self.left] for codes in labels])
        fine = self.allowed(self.left, classes, count)[classes]
        if fine.any():
            self.levels[self.left[fine]] = scheme
            self.left = self.left[~fine]


def swept(bound: list[tuple[Level, ...]], coded: list[Int], allowed: Allowed) -> Int:
    """The level of each row in each column.

    Args:
        bound: the levels of m columns.
        coded: the codes of each, shape (n,).
        allowed: which classes may be released.

    Returns:
        Shape (n, m).

    Raises:
        UnreachableError: the whole table as one class is not allowed.
    """
    labels = [[level.groups[codes] for level in levels] for levels, codes in zip(bound, coded, strict=True)]
    losses = [
        np.array([level.loss[groups].mean() for level, groups in zip(levels, found, strict=True)])
        for levels, found in zip(bound, labels, strict=True)
    ]
    sweep = _Sweep(np.full((len(coded[0]), len(bound)), -1, dtype=np.int64), allowed)
    for scheme in _schemes(losses):
        if not len(sweep.left):
            return sweep.levels
        sweep.release(scheme, [found[level] for found, level in zip(labels, scheme, strict=True)])
    if len(sweep.left):
        _join(sweep, bound, labels)
    return sweep.levels


def _schemes(losses: list[Float]) -> Iterator[Int]:
    """Schemes in the order of average loss, the top last."""
    shape = tuple(map(len, losses))
    total = losses[0]
    for one in losses[1:]:
        total = (total[:, None] + one[None, :]).reshape(-1)
    order = np.argsort(total, kind="stable")
    if len(order) > MOST_SCHEMES:
        order = order[np.linspace(0, len(order) - 1, MOST_SCHEMES).astype(np.int64)]
    top = np.array(shape) - 1
    for place in order.tolist():
        yield np.array(np.unravel_index(place, shape))
    yield top


def _join(sweep: _Sweep, bound: list[tuple[Level, ...]], labels: list[list[Int]]) -> None:
    """Let whole classes of the highest loss join the rows that are left, until those are allowed."""
    rows = len(sweep.levels)
    done = sweep.levels[:, 0] >= 0
    loss = np.zeros(rows)
    cells = []
    for place, levels in enumerate(bound):
        cell = np.zeros(rows, dtype=np.int64)
        for number, level in enumerate(levels):
            at = sweep.levels[:, place] == number
            cell[at] = labels[place][number][at] + (number << 32)
            loss[at] += level.loss[labels[place][number][at]]
        cells.append(np.unique(cell, return_inverse=True)[1])
    classes, count = grouped(cells)
    sizes = np.bincount(classes[done], minlength=count)
    worst = np.argsort(-np.bincount(classes, loss, minlength=count) / np.maximum(1, sizes), kind="stable")
    top = np.array([len(levels) - 1 for levels in bound])
    taken = 1
    while taken < 2 * count:
        joined = np.concatenate((sweep.left, np.flatnonzero(done & np.isin(classes, worst[:taken]))))
        if sweep.allowed(joined, np.zeros(len(joined), dtype=np.int64), 1)[0]:
            sweep.levels[joined] = top
            sweep.left = sweep.left[:0]
            return
        taken *= 2
    raise UnreachableError(
        "Not even the whole table as one class fulfils what is asked.", "Lower k, or relax the constraints."
    )
