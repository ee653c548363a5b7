"""How often each value of a column occurs, and each combination: what is rare before anything is decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import HierarchyError
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.risk.classes import classes_of
from anonymizer.tables.table import Table

Int = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RareLabels:
    """What a level of a hierarchy leaves rare if the whole column has its labels.

    Attributes:
        labels: different ones that occur.
        rare: those of fewer rows than asked for.
        rows: that have these.
    """

    labels: int
    rare: int
    rows: int


@dataclass(frozen=True, slots=True)
class ValueCounts:
    """Of some columns together.

    Attributes:
        columns: their names.
        values: of each combination the cells as texts, None where one is missing; the commonest first.
        counts: rows of each, shape (v,).
        k: below it a combination is rare.
        levels: of one column with a hierarchy, level 1 first.
        problem: why its hierarchy was not looked at, a sentence; else "".
    """

    columns: tuple[str, ...]
    values: Sequence[tuple[str | None, ...]] = field(repr=False)
    counts: Int = field(repr=False)
    k: int
    levels: tuple[RareLabels, ...] = ()
    problem: str = ""

    @property
    def rare(self) -> int:
        """Combinations of fewer rows than k."""
        return int((self.counts < self.k).sum())

    @property
    def rare_rows(self) -> int:
        """Rows that have these."""
        return int(self.counts[self.counts < self.k].sum())


def frequencies(table: Table, columns: tuple[str, ...], k: int) -> ValueCounts:
    """Count the values of a column, or the combinations of several; a missing cell is a value of its own.

    Args:
        table: with its hierarchies.
        columns: at least one.
        k: below it a combination is rare, at least 1.

    Raises:
        TableError: a column is not there.
    """
    for name in columns:
        table.require(name)
    classes, count = classes_of(table, columns)
    counts = np.bincount(classes, minlength=count)
    first = np.zeros(count, dtype=np.int64)
    first[classes[::-1]] = np.arange(len(classes))[::-1]
    cells = []
    for name in columns:
        codes = table.codes(name)
        texts: list[str | None] = [*map(text_of, codes.values.tolist()), None]
        cells.append([texts[code] for code in codes.codes[first].tolist()])
    order = np.lexsort((np.arange(count), -counts))
    values = list(zip(*cells, strict=True))
    levels, problem = _levels(table, columns, k)
    return ValueCounts(columns, [values[place] for place in order], counts[order], k, levels, problem)


def _levels(table: Table, columns: tuple[str, ...], k: int) -> tuple[tuple[RareLabels, ...], str]:
    if len(columns) > 1 or columns[0] not in table.hierarchies:
        return (), ""
    codes = table.codes(columns[0])
    try:
        levels = table.hierarchies[columns[0]].bind(codes.values, columns[0])[1:]
    except HierarchyError as problem:
        return (), str(problem)
    here = codes.codes[codes.codes >= 0]
    missing = len(codes.codes) - len(here)
    found = []
    for level in levels:
        counts = np.bincount(level.groups[here], minlength=len(level.labels))
        counts = np.append(counts, missing)
        counts = counts[counts > 0]
        rare = counts[counts < k]
        found.append(RareLabels(len(counts), len(rare), int(rare.sum())))
    return tuple(found), ""
