"""Into which cell a row belongs of which it is known how long it was followed, and how that ended.

A row is in one cell, by its group, its stratum, the step in which its time lies, and how it ended there: with
an event, a competing one, or with the end of its follow-up. Rows that are followed beyond the last step are
in a cell of their own. All that is asked about survival follows from the numbers of rows in the cells.

    step k holds the times in (k - 1, k] steps; those of 0 are in the first one, those beyond in the last
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from smc.analyses.statistics.kinds.bins import Bins, EqualSteps
from smc.analyses.statistics.queries.rows import Ints, LocalRows

MAX_STEPS: Final = 20_000
"""Steps of the times."""

Cells = TypeVar("Cells", NDArray[np.int64], NDArray[np.float64])

FOLLOWED: Final = 0
EVENT: Final = 1
"""The places of those who were followed to their time, and of those who had the event then, among the ways in
which a follow-up can end; competing events have those from 2."""


@dataclass(frozen=True, slots=True)
class Endings:
    """How the follow-up of a row ended, by the held value of its column of events.

    Attributes:
        events: held values that are the event, then of each competing kind.
    """

    events: tuple[frozenset[int], ...]

    @property
    def kinds(self) -> int:
        """In how many ways: `FOLLOWED`, and with each kind of event."""
        return 1 + len(self.events)

    def places(self, values: Ints) -> Ints:
        """The way of each row."""
        found = np.full(len(values), FOLLOWED, dtype=np.int64)
        for place, held in enumerate(self.events, 1):
            found[np.isin(values, list(held))] = place
        return found


@dataclass(frozen=True, slots=True)
class Labels:
    """Groups by the labels of some columns, each combination being one.

    Attributes:
        names: of the groups.
        columns: that make them.
        codes: for each group the held values of its labels.
    """

    names: tuple[str | None, ...]
    columns: tuple[str, ...]
    codes: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.names)

    def places(self, rows: LocalRows) -> Ints:
        """The group of each row."""
        found = np.zeros(rows.count, dtype=np.int64)
        for name, last in zip(self.columns, self.codes[-1], strict=True):
            found = found * (last + 1) + rows.columns[name]
        return found


@dataclass(frozen=True)
class SurvivalCells:
    """The cells of a query.

    Attributes:
        time: the column of times.
        event: the column of events.
        endings: how it is read.
        groups: that are compared.
        strata: within which they are.
        step: its width in held units of the times.
        steps: how many there are.
        stride: steps between two points at which curves are shown, of which the last step is one.
    """

    time: str
    event: str
    endings: Endings
    groups: Labels
    strata: Labels
    step: int
    steps: int
    stride: int

    @property
    def points(self) -> int:
        """At which curves are shown, without the start."""
        return self.steps // self.stride

    @property
    def missed(self) -> float:
        """The part of a step that rows miss whose follow-up ends in it: a unit of the times has no parts."""
        return 0.0 if self.step == 1 else 0.5

    @property
    def times(self) -> EqualSteps:
        """The steps; the last place is of rows that are followed beyond them."""
        return EqualSteps(1, self.step * self.steps + 1, self.step)

    @property
    def width(self) -> int:
        """Cells of a group and stratum."""
        return self.steps * self.endings.kinds + 1

    @property
    def size(self) -> int:
        """All cells."""
        return len(self.groups) * len(self.strata) * self.width

    def places(self, rows: LocalRows) -> Ints:
        """The cell of each row, by groups, strata, steps and endings in this order."""
        first = self.groups.places(rows) * len(self.strata) + self.strata.places(rows)
        return first * self.width + self.inside(rows.columns)

    def inside(self, columns: Mapping[str, Ints]) -> Ints:
        """Which of the cells of its group and stratum each row is in, by columns of times and events."""
        step = self.times.places(columns[self.time])
        ending = self.endings.places(columns[self.event])
        return np.where(step == self.steps, 0, ending) + step * self.endings.kinds

    def count(self, rows: LocalRows) -> Ints:
        """The rows of each cell, shape (size,)."""
        return np.bincount(self.places(rows), minlength=self.size).astype(np.int64)

    def split(self, cells: Cells) -> tuple[Cells, Cells]:
        """Cells by what they are about.

        Args:
            cells: shape (..., size).

        Returns:
            Rows by group, stratum, ending and step, shape (..., groups, strata, endings, steps); and those
            that are followed beyond, shape (..., groups, strata).
        """
        shaped = cells.reshape(*cells.shape[:-1], len(self.groups), len(self.strata), self.width)
        ended = shaped[..., :-1].reshape(*shaped.shape[:-1], self.steps, self.endings.kinds)
        return np.moveaxis(ended, -1, -2), shaped[..., -1]

    def coarser(self, factor: int) -> SurvivalCells:
        """With steps that are so many times as long; the factor divides the number of steps."""
        stride = self.stride // factor if self.stride % factor == 0 else 1
        return replace(self, step=self.step * factor, steps=self.steps // factor, stride=stride)

    def merge(self, cells: Cells, factor: int) -> Cells:
        """The cells of `coarser`, from those of this one, shape (..., size)."""
        shaped = cells.reshape(*cells.shape[:-1], -1, self.width)
        inside = shaped[..., :-1].reshape(*shaped.shape[:-1], -1, factor, self.endings.kinds)
        parts = [inside.sum(axis=-2).reshape(*shaped.shape[:-1], -1), shaped[..., -1:]]
        merged: Cells = np.concatenate(parts, axis=-1).reshape(*cells.shape[:-1], -1)
        return merged

    @cached_property
    def factors(self) -> tuple[tuple[tuple[str, Bins | EqualSteps | Endings, int], ...], ...]:
        """Of each cell the bins that a row of it is in: names of columns, their bins and the places."""
        return tuple(self._factors())

    def _factors(self) -> Iterator[tuple[tuple[str, Bins | EqualSteps | Endings, int], ...]]:
        endings, times = self.endings, self.times
        for one, other in product(self.groups.codes, self.strata.codes):
            labels = zip((*self.groups.columns, *self.strata.columns), (*one, *other), strict=True)
            inside = tuple((name, Bins((name,), (), ((code,),)), 0) for name, code in labels)
            for step, ending in product(range(self.steps), range(endings.kinds)):
                yield (*inside, (self.time, times, step), (self.event, endings, ending))
            yield (*inside, (self.time, times, self.steps))
