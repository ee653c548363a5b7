"""A quasi-identifier in an order in which whatever a class covers is a range.

The values of a hierarchy are ordered by its branches, numbers by size. A class covers the range from its
least to its greatest value: the lowest label that holds both ends holds all between. So the cover of a class
is two numbers, that of a join of classes the minimum and the maximum, and its loss a table look-up.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import HierarchyError
from anonymizer.hierarchies.hierarchy import ANY, Level, text_of
from anonymizer.tables.encoding import Codes
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Attribute(ABC):
    """One column.

    Attributes:
        codes: of each row the place of its value in the order, shape (n,).
        width: the number of distinct values.
        weight: what a cell that says nothing loses; the loss of others is in proportion.
    """

    codes: Int = field(repr=False)
    width: int
    weight: float = field(default=1.0, kw_only=True)

    @abstractmethod
    def with_weight(self, weight: float) -> Self:
        """The same with another weight."""

    def among(self, rows: Int) -> Self:
        """The same of some rows."""
        return replace(self, codes=self.codes[rows])

    @abstractmethod
    def loss(self, low: Int, high: Int) -> Float:
        """The NCP of covers times the weight, in [0, weight].

        Args:
            low: where each begins, shape (c,).
            high: where each ends, itself included, shape (c,).
        """

    @abstractmethod
    def labels(self, low: Int, high: Int) -> Codes:
        """The texts of covers, as codes of shape (c,); arguments as `loss`."""

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
        levels: over the values in their order, their loss weighted; the highest has one label in each part of
            the table that classes may lie in.
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
            raise HierarchyError(
                f"Column {column!r} has no hierarchy.",
                "Write one below [hierarchies], or name other columns.",
            )
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

    @override
    def with_weight(self, weight: float) -> Self:
        levels = tuple(replace(one, loss=one.loss * (weight / self.weight)) for one in self.levels)
        return replace(self, levels=levels, weight=weight)

    def limit(self, least: int, most: int) -> Self:
        """The same with some of its levels only."""
        return replace(self, levels=self.levels[least : most + 1])

    def level(self, low: Int, high: Int) -> Int:
        """The lowest level with one label for each cover, shape (c,); arguments as `loss`."""
        found = np.full(len(low), len(self.levels) - 1)
        for number in range(len(self.levels) - 2, -1, -1):
            groups = self.levels[number].groups
            found[groups[low] == groups[high]] = number
        return found

    @override
    def loss(self, low: Int, high: Int) -> Float:
        return self.at(low, self.level(low, high))

    def at(self, codes: Int, levels: Int) -> Float:
        """The loss of values at levels, each of shape (r,)."""
        loss = np.empty(len(codes))
        for number, level in enumerate(self.levels):
            here = np.flatnonzero(levels == number)
            loss[here] = level.loss[level.groups[codes[here]]]
        return loss

    @override
    def labels(self, low: Int, high: Int) -> Codes:
        return self.texts(low, self.level(low, high))

    def texts(self, codes: Int, levels: Int) -> Codes:
        """The labels of values at levels, each of shape (r,)."""
        labels = np.array(list(itertools.chain(*(level.labels for level in self.levels))), dtype=object)
        starts = np.cumsum([0, *(len(level.labels) for level in self.levels[:-1])])
        places = np.concatenate(
            [start + level.groups for start, level in zip(starts, self.levels, strict=True)]
        )
        return Codes(labels, places[np.multiply(levels, self.width, dtype=np.int64) + codes])

    @override
    def parts(self, codes: Int, classes: Int, low: Int, high: Int, *, relaxed: bool) -> Int:
        below = np.maximum(self.level(low, high) - 1, 0)[classes]
        found = np.empty(len(codes), dtype=np.int64)
        for number, level in enumerate(self.levels):
            here = np.flatnonzero(below == number)
            found[here] = level.groups[codes[here]]
        return found


@dataclass(frozen=True, slots=True)
class NumericAttribute(Attribute):
    """A column of numbers without a hierarchy; it is cut at the median, and a cover is `[low, high]`.

    Attributes:
        values: the distinct numbers, increasing.
    """

    values: NDArray[Any] = field(repr=False)

    @classmethod
    def of(cls, table: Table, column: str) -> NumericAttribute:
        """Order a numeric column."""
        codes = table.codes(column)
        return cls(codes.codes, len(codes.values), codes.values)

    @override
    def with_weight(self, weight: float) -> Self:
        return replace(self, weight=weight)

    def ends(self, low: Int, high: Int) -> Float:
        """The numbers at both ends of covers, shape (c, 2)."""
        return np.stack([self.values[low], self.values[high]], axis=1).astype(np.float64)

    @override
    def loss(self, low: Int, high: Int) -> Float:
        """As `Attribute.loss`: the part of the range of the column."""
        ends = self.ends(low, high)
        whole = float(self.values[-1]) - float(self.values[0])
        lost: Float = self.weight * (ends[:, 1] - ends[:, 0]) / (whole or 1.0)
        return lost

    @override
    def labels(self, low: Int, high: Int) -> Codes:
        """As `Attribute.labels`; a single number stands for itself."""
        pairs, codes = np.unique(low * self.width + high, return_inverse=True)
        texts = [text_of(value) for value in self.values.tolist()]
        found = np.empty(len(pairs), dtype=object)
        found[:] = [
            texts[first] if first == last else f"[{texts[first]}, {texts[last]}]"
            for first, last in zip((pairs // self.width).tolist(), (pairs % self.width).tolist(), strict=True)
        ]
        return Codes(found, codes)

    @override
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
        return NumericAttribute.of(table, column)
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
