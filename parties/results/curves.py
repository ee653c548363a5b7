"""Curves that step, of results whose figures hold from one number to the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Final

from parties.results.figures import Estimated, number, number_text
from parties.results.tables import ResultTable
from parties.results.words import cut
from smc.analyses.studies.outcome import STEPS

MAX_CURVES: Final = 6
"""Of one plot; the tables have all."""

_SAID: Final = 5
"""Figures of a curve that are said to those who do not see it."""


@dataclass(frozen=True, slots=True)
class StepLine:
    """A curve.

    Attributes:
        name: whom it is about.
        starts: from where each figure holds, increasing.
        figures: as many; each has a value.
    """

    name: str
    starts: tuple[float, ...]
    figures: tuple[Estimated, ...]


@dataclass(frozen=True, slots=True)
class Curves:
    """Curves over one axis.

    Attributes:
        title: what they are about.
        axis: what they measure.
        along: what they step along.
        lines: the curves.
        left: how many more there are in the table.
    """

    title: str
    axis: str
    along: str
    lines: tuple[StepLine, ...]
    left: int = 0

    @property
    def has_intervals(self) -> bool:
        """Whether a figure has an interval."""
        return any(figure.half_width is not None for line in self.lines for figure in line.figures)

    @property
    def words(self) -> str:
        """The curves for those who do not see them, at a few places each."""
        said = "; ".join(map(self._line_words, self.lines))
        more = f"; {self.left} more in the table" if self.left else ""
        return f"{self.title}, {self.axis} by {self.along}: {said}{more}"

    def _line_words(self, line: StepLine) -> str:
        every = -(-len(line.starts) // _SAID)
        places = [*range(0, len(line.starts) - 1, every), len(line.starts) - 1]
        figures = (f"{line.figures[place].text()} at {number_text(line.starts[place])}" for place in places)
        return f"{line.name}: {', '.join(figures)}"


def steps_along(table: ResultTable) -> str | None:
    """The column along which the figures of a table make curves; None if there is none."""
    return next((name for name, kind in table.kinds.items() if kind == STEPS and name in table.columns), None)


def curves_of(table: ResultTable, along: str) -> Iterator[Curves]:
    """The curves of each column of figures that has intervals.

    Args:
        table: of a result.
        along: the column that they step along.
    """
    naming = [name for name in table.columns if any(isinstance(cell, str) for cell in table.columns[name])]
    rows: dict[tuple[str, ...], list[int]] = {}
    for row in range(table.rows):
        rows.setdefault(tuple(str(table.columns[name][row]) for name in naming), []).append(row)
    for column in (name for name in table.intervals if table.is_numeric(name)):
        lines = [line for names, own in rows.items() if (line := _line(table, column, along, names, own))]
        if lines:
            shown = tuple(lines[:MAX_CURVES])
            yield Curves(cut(table.name), cut(column), cut(along), shown, len(lines) - len(shown))


def _line(
    table: ResultTable, column: str, along: str, names: tuple[str, ...], rows: list[int]
) -> StepLine | None:
    """A curve through the figures that are shown; None without any."""
    found: list[tuple[float, Estimated]] = []
    for row in rows:
        start, figure = number(table.columns[along][row]), table.figure(column, row)
        if start is not None and figure is not None and figure.value is not None:
            if found and float(start) <= found[-1][0]:
                return None
            found.append((float(start), figure))
    if not found or abs(found[-1][0]) == inf:
        return None
    starts, figures = zip(*found, strict=True)
    return StepLine(cut(", ".join(names) or "all"), starts, figures)
