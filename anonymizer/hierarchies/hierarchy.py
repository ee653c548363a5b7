"""A hierarchy, and a hierarchy bound to the values of a column.

Level 0 is the value itself; the highest level is usually `*`, which says nothing. Every label of a level is
refined by the level below. References: Samarati, Protecting respondents' identities in microdata release,
IEEE TKDE 2001; loss: Xu et al., Utility-based anonymization using local recoding, KDD 2006 (NCP).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import HierarchyError

Int = NDArray[np.int64]
Float = NDArray[np.float64]

ANY: Final = "*"
"""The label that covers everything."""

GAP: Final = "(missing)"
"""What stands for a missing cell in columns where it counts as a value."""


def text_of(value: Any) -> str:
    """A value as hierarchies write it: 39 for 39 and 39.0, else its plain text."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a hierarchy over d values.

    Attributes:
        labels: the labels, each once.
        groups: of each value the place of its label, shape (d,).
        loss: of each label its NCP in [0, 1]: leaves covered less one by all leaves less one, or the part of
            the range that an interval covers; shape (len(labels),).
    """

    labels: tuple[str, ...]
    groups: Int = field(repr=False)
    loss: Float = field(repr=False)


class Hierarchy(ABC):
    """Coarser and coarser labels for the values of one column."""

    @property
    @abstractmethod
    def height(self) -> int:
        """The number of levels above the values."""

    @abstractmethod
    def bind(self, values: NDArray[Any], column: str) -> tuple[Level, ...]:
        """The levels over the given values, level 0 first: `height` + 1 of them.

        Args:
            values: distinct values of a column, shape (d,).
            column: its name, for errors.

        Raises:
            HierarchyError: a value is not covered; names column and value and says how to fix it.
        """

    @property
    def needs_table(self) -> bool:
        """Whether it is built of the cells of a whole table, by `fit_to`."""
        return False

    def fit_to(
        self,
        column: str,
        cells: Callable[[str], tuple[NDArray[Any], Int]],
        public: Collection[str] = (),
    ) -> Hierarchy:
        """The hierarchy for a table: itself, unless it is one that is built of the cells.

        Args:
            column: its column.
            cells: of a column its distinct values, and of each row the place of its own or -1. A column that
                is asked for is one that the labels depend on: the table keeps a note of it.
            public: values of the column that labels may name whoever has them: its declared categories.

        Raises:
            HierarchyError: it cannot be built of these cells.
        """
        del column, cells, public
        return self

    def spans(self, level: int, column: str) -> tuple[tuple[str, ...], Float]:
        """The labels of a level of a hierarchy of numbers, with the numbers that each covers.

        Args:
            level: above 0.
            column: the column's name, for errors.

        Returns:
            The labels, and their least and largest number, shape (w, 2).

        Raises:
            HierarchyError: the hierarchy is not one of numbers.
        """
        raise HierarchyError(
            f"The hierarchy of column {column!r} ({type(self).__name__}, level {level}) has no numbers.",
            "Put noise on numbers only, with a hierarchy of intervals.",
        )


class ValueHierarchy(Hierarchy):
    """A finite hierarchy: every value with its labels.

    A text means one thing: a label that is also a value, or stands at two levels, covers the same values
    wherever it stands. `*` covers everything at every level.

    Args:
        rows: of each value its text and its labels from level 1 upwards, all of one length.

    Raises:
        HierarchyError: rows differ in length or hold something else than texts, a value comes twice, two
            values share a label but not the labels above it, or a text means two things.
    """

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        if not rows or len({len(row) for row in rows}) != 1 or not rows[0]:
            raise HierarchyError(
                "The rows of a hierarchy have different lengths, or there are none.",
                "Give each value one label a level.",
            )
        self._rows: dict[str, tuple[str, ...]] = {}
        for number, row in enumerate(rows, 1):
            strange = [cell for cell in row if not isinstance(cell, str)]
            if strange:
                raise HierarchyError(
                    f"Row {number} of the hierarchy holds {strange[0]!r}, which is not a text.",
                    f'Put it in quotes: "{strange[0]}".',
                )
            if row[0] in self._rows:
                raise HierarchyError(f"The hierarchy has value {row[0]!r} twice.", "Keep one of the rows.")
            self._rows[row[0]] = tuple(row)
        self._height = len(rows[0]) - 1
        self._check_nesting()
        self._check_meanings()

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Values and labels, as given."""
        return tuple(self._rows.values())

    @property
    @override
    def height(self) -> int:
        """The number of levels above the values."""
        return self._height

    @override
    def bind(self, values: NDArray[Any], column: str) -> tuple[Level, ...]:
        """The levels over the given values; leaves are those of the whole hierarchy."""
        rows = []
        for value in values.tolist():
            text = text_of(value)
            row = self._rows.get(text) or self._rows.get(text.strip())
            if row is None:
                raise HierarchyError(
                    f"Column {column!r} has the value {text_of(value)!r}, not covered by its hierarchy.",
                    "Add a row for it, or generalize or drop it before.",
                )
            rows.append(row)
        return tuple(self._level(level, [row[level] for row in rows]) for level in range(self._height + 1))

    @override
    def spans(self, level: int, column: str) -> tuple[tuple[str, ...], Float]:
        """As `Hierarchy.spans`, if all values are numbers."""
        covered: dict[str, list[float]] = {}
        try:
            for row in self._rows.values():
                covered.setdefault(row[level], []).append(float(row[0]))
        except ValueError:
            return super().spans(level, column)
        ends = np.array([[min(numbers), max(numbers)] for numbers in covered.values()])
        return tuple(covered), ends

    def _level(self, level: int, texts: Sequence[str]) -> Level:
        labels = tuple(dict.fromkeys(texts))
        places = {label: place for place, label in enumerate(labels)}
        leaves = dict.fromkeys(labels, 0)
        for row in self._rows.values():
            if row[level] in leaves:
                leaves[row[level]] += 1
        others = max(1, len(self._rows) - 1)
        loss = np.array(
            [1.0 if label == ANY and level else (leaves[label] - 1) / others for label in labels],
            dtype=np.float64,
        )
        return Level(labels, np.array([places[text] for text in texts], dtype=np.int64), loss)

    def _check_nesting(self) -> None:
        for level in range(1, self._height):
            above: dict[str, str] = {}
            for row in self._rows.values():
                if above.setdefault(row[level], row[level + 1]) != row[level + 1]:
                    raise HierarchyError(
                        f"Label {row[level]!r} of level {level} lies below {above[row[level]]!r} and below "
                        f"{row[level + 1]!r}.",
                        "Give it one label at the next level.",
                    )

    def _check_meanings(self) -> None:
        """Check that each text covers the same values wherever it stands."""
        covered: list[dict[str, set[str]]] = [{} for _ in range(self._height + 1)]
        for value, row in self._rows.items():
            for level, label in enumerate(row):
                covered[level].setdefault(label, set()).add(value)
        first: dict[str, tuple[int, set[str]]] = {}
        for level, labels in enumerate(covered):
            for label, values in labels.items():
                before, same = first.setdefault(label, (level, values))
                if label != ANY and values != same:
                    where = "a value" if before == 0 else f"a label of level {before}"
                    raise HierarchyError(
                        f"{label!r} is {where} and a label of level {level} that covers other values "
                        f"({', '.join(sorted(values ^ same)[:3])}).",
                        "Give the label a name of its own.",
                    )


class GapHierarchy(Hierarchy):
    """A hierarchy in which a missing cell is a value: `GAP` at every level below `*`.

    Args:
        inner: of the other values.
    """

    def __init__(self, inner: Hierarchy) -> None:
        self._inner = inner

    @property
    @override
    def height(self) -> int:
        """That of the inner hierarchy."""
        return self._inner.height

    @override
    def bind(self, values: NDArray[Any], column: str) -> tuple[Level, ...]:
        """The levels over the given values, `GAP` among them or not."""
        gaps = np.array(
            [isinstance(value, str) and value == GAP for value in values.tolist()], dtype=np.bool_
        )
        if not gaps.any():
            return self._inner.bind(values, column)
        if gaps.all():
            texts = [GAP] * self.height + [ANY]
            return tuple(Level((text,), np.zeros(len(values), dtype=np.int64), np.ones(1)) for text in texts)
        inner = self._inner.bind(values[~gaps], column)
        return tuple(self._with_gap(level, gaps) for level in inner)

    def _with_gap(self, level: Level, gaps: NDArray[np.bool_]) -> Level:
        groups = np.full(len(gaps), len(level.labels))
        groups[~gaps] = level.groups
        if ANY in level.labels and len(level.labels) == 1:
            groups[gaps] = level.labels.index(ANY)
            return Level(level.labels, groups, level.loss)
        return Level((*level.labels, GAP), groups, np.append(level.loss, 0.0))

    @override
    def spans(self, level: int, column: str) -> tuple[tuple[str, ...], Float]:
        """As `Hierarchy.spans`, of the values that are not missing."""
        return self._inner.spans(level, column)
