"""A quasi-identifier in an order in which whatever a class covers is a range.

The values of a hierarchy are ordered by its branches, numbers by size. A class covers the range from its
least to its greatest value: the lowest label that holds both ends holds all between. So the cover of a class
is two numbers, that of a join of classes the minimum and the maximum, and its loss a table look-up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import HierarchyError
from anonymizer.hierarchies.hierarchy import ANY, Level, text_of
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]
Texts = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Attribute(ABC):
    """One column.

    Attributes:
        codes: of each row the place of its value in the order, shape (n,).
        width: the number of distinct values.
    """

    codes: Int = field(repr=False)
    width: int

    @abstractmethod
    def loss(self, low: Int, high: Int) -> Float:
        """The NCP of covers, in [0, 1].

        Args:
            low: where each begins, shape (c,).
            high: where each ends, itself included, shape (c,).
        """

    @abstractmethod
    def labels(self, low: Int, high: Int) -> Texts:
        """The texts of covers, shape (c,); arguments as `loss`."""

    @abstractmethod
    def parts(self, codes: Int, classes: Int, low: Int, high: Int, *, relaxed: bool) -> Int:
        """Into which part of its class each row goes if the class is cut along this column.

        Args:
            codes: of the rows, shape (r,).
            classes: of the rows, from 0, shape (r,).
            low: the cover of each class, shape (c,).
            high: its end.
            relaxed: whether rows of one value may go to different parts.

        Returns:
            A number from 0, shape (r,).
        """


@dataclass(frozen=True, slots=True)
class Labelled(Attribute):
    """A column with a hierarchy; it is cut into the labels below the one that covers the class.

    Attributes:
        levels: over the values in their order; the highest has one label.
    """

    levels: tuple[Level, ...] = field(repr=False)

    @classmethod
    def of(cls, table: Table, column: str) -> Labelled:
        """Bind the hierarchy of a column; `*` goes on top where several labels are.

        Raises:
            HierarchyError: there is none, or a value is not covered.
        """
        hierarchy = table.hierarchies.get(column)
        if hierarchy is None:
            raise HierarchyError(f"Column {column!r} has no hierarchy.", "Give one, or name other columns.")
        codes = table.codes(column)
        levels = list(hierarchy.bind(codes.values, column))
        width = len(codes.values)
        if len(levels[-1].labels) > 1:
            levels.append(Level((ANY,), np.zeros(width, dtype=np.int64), np.ones(1)))
        order = np.lexsort([level.groups for level in levels])
        place = np.empty(width, dtype=np.int64)
        place[order] = np.arange(width)
        ordered = tuple(Level(level.labels, level.groups[order], level.loss) for level in levels)
        return cls(place[codes.codes], width, ordered)

    def level(self, low: Int, high: Int) -> Int:
        """The lowest level with one label for each cover, shape (c,); arguments as `loss`."""
        found = np.full(len(low), len(self.levels) - 1)
        for number in range(len(self.levels) - 2, -1, -1):
            groups = self.levels[number].groups
            found[groups[low] == groups[high]] = number
        return found

    def loss(self, low: Int, high: Int) -> Float:
        """As `Attribute.loss`."""
        return self.at(low, self.level(low, high))

    def at(self, codes: Int, levels: Int) -> Float:
        """The loss of values at levels, each of shape (r,)."""
        loss = np.empty(len(codes))
        for number, level in enumerate(self.levels):
            here = np.flatnonzero(levels == number)
            loss[here] = level.loss[level.groups[codes[here]]]
        return loss

    def labels(self, low: Int, high: Int) -> Texts:
        """As `Attribute.labels`."""
        return self.texts(low, self.level(low, high))

    def texts(self, codes: Int, levels: Int) -> Texts:
        """The labels of values at levels, each of shape (r,)."""
        texts = np.empty(len(codes), dtype=object)
        for number, level in enumerate(self.levels):
            here = np.flatnonzero(levels == number)
            texts[here] = np.array(level.labels, dtype=object)[level.groups[codes[here]]]
        return texts

    def parts(self, codes: Int, classes: Int, low: Int, high: Int, *, relaxed: bool) -> Int:
        """As `Attribute.parts`."""
        del relaxed
        below = np.maximum(self.level(low, high) - 1, 0)[classes]
        found = np.empty(len(codes), dtype=np.int64)
        for number, level in enumerate(self.levels):
            here = np.flatnonzero(below == number)
            found[here] = level.groups[codes[here]]
        return found


@dataclass(frozen=True, slots=True)
class Measured(Attribute):
    """A column of numbers without a hierarchy; it is cut at the median, and a cover is `[low, high]`.

    Attributes:
        values: the distinct numbers, increasing.
    """

    values: NDArray[Any] = field(repr=False)

    @classmethod
    def of(cls, table: Table, column: str) -> Measured:
        """Order a numeric column."""
        codes = table.codes(column)
        return cls(codes.codes, len(codes.values), codes.values)

    def ends(self, low: Int, high: Int) -> Float:
        """The numbers at both ends of covers, shape (c, 2)."""
        return np.stack([self.values[low], self.values[high]], axis=1).astype(np.float64)

    def loss(self, low: Int, high: Int) -> Float:
        """As `Attribute.loss`: the part of the range of the column."""
        ends = self.ends(low, high)
        whole = float(self.values[-1]) - float(self.values[0])
        lost: Float = (ends[:, 1] - ends[:, 0]) / (whole or 1.0)
        return lost

    def labels(self, low: Int, high: Int) -> Texts:
        """As `Attribute.labels`; a single number stands for itself."""
        found = np.empty(len(low), dtype=object)
        texts = [text_of(value) for value in self.values.tolist()]
        found[:] = [
            texts[first] if first == last else f"[{texts[first]}, {texts[last]}]"
            for first, last in zip(low.tolist(), high.tolist(), strict=True)
        ]
        return found

    def parts(self, codes: Int, classes: Int, low: Int, high: Int, *, relaxed: bool) -> Int:
        """As `Attribute.parts`: 0 up to the median, 1 above; equal numbers halved if relaxed."""
        order = np.lexsort((codes, classes))
        sizes = np.bincount(classes, minlength=len(low))
        starts = np.cumsum(sizes) - sizes
        if relaxed:
            rank = np.empty(len(codes), dtype=np.int64)
            rank[order] = np.arange(len(codes)) - starts[classes[order]]
            return (rank >= sizes[classes] // 2).astype(np.int64)
        median = codes[order[starts + (sizes - 1) // 2]]
        median = np.where(median == high, high - 1, median)
        return (codes > median[classes]).astype(np.int64)


def attribute(table: Table, column: str) -> Attribute:
    """A column by its hierarchy, or as numbers if it has none.

    Raises:
        HierarchyError: it has no hierarchy and holds no numbers, or a value is not covered.
        TableError: a number is infinite.
    """
    if column not in table.hierarchies and table.is_numeric(column):
        table.numbers(column)
        return Measured.of(table, column)
    return Labelled.of(table, column)


def covers(codes: Int, classes: Int, count: int) -> tuple[Int, Int]:
    """Where the cover of each class begins and ends, shape (count,) each.

    Args:
        codes: of rows in one attribute, shape (r,).
        classes: of the rows, each of 0 .. count - 1 at least once.
        count: the number of classes.
    """
    low = np.full(count, np.iinfo(np.int64).max)
    high = np.full(count, -1)
    np.minimum.at(low, classes, codes)
    np.maximum.at(high, classes, codes)
    return low, high


def class_losses(attributes: list[Attribute], classes: Int, count: int) -> Float:
    """The NCP of each class, summed over attributes, shape (count,)."""
    total = np.zeros(count)
    for one in attributes:
        total += one.loss(*covers(one.codes, classes, count))
    return total
