"""Result tables as people read them: values with their intervals in one column, dates as dates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from parties.results.figures import PLUS_MINUS, Estimated, date_text, estimate_in_cells, number, number_text
from parties.texts import with_unit
from smc.analyses.studies.brief import WHETHER
from smc.analyses.studies.columns import DAYS
from smc.analyses.studies.outcome import DATE, DAY_NUMBER, NUMBER

LOWER: Final = "lower_95"
UPPER: Final = "upper_95"
UNIT: Final = "unit"
VALUE: Final = "value"
QUERY: Final = "query"
COLUMN: Final = "column"

DETAILS: Final = frozenset({"kind", "epsilon", "rho", "noise_scale"})
"""Columns that people see only if they ask for details."""

ABOUT_QUERIES: Final = DETAILS | {QUERY, COLUMN, UNIT}
"""Columns that say what a figure is; the others hold figures."""

_HEADS: Final[Mapping[str, str]] = {
    "p_value": "p",
    "p_holm": "p (Holm)",
    "p_benjamini_hochberg": "p (Benjamini, Hochberg)",
    "r_squared": "R2",
    "with_sampling_lower_95": "with sampling, from",
    "with_sampling_upper_95": "with sampling, to",
    "standard_error": "standard error",
    "odds_ratio": "odds ratio",
    "rate_ratio": "rate ratio",
    "hazard_ratio": "hazard ratio",
    "auc": "area under the curve",
    "with_outcome": "with the outcome",
    "predicted_1": "predicted 1",
    "predicted_0": "predicted 0",
    "noise_alone": "noise alone",
}
_HEADS_IN: Final[Mapping[str, Mapping[str, str]]] = {
    "results": {QUERY: "figure"},
    WHETHER: {"delta": "x >= y", "share": "share of x >= y"},
}
"""Of tables whose columns the program alone names: in others one of somebody's data may be called so."""
_DATES: Final = "date"


@dataclass(frozen=True, slots=True)
class ResultTable:
    """A table of a result.

    Attributes:
        name: of the table.
        columns: by name, of equal length.
        kinds: `DATE`, `DAY_NUMBER` or `NUMBER` of columns whose cells alone do not show it.
    """

    name: str
    columns: Mapping[str, Sequence[Any]]
    kinds: Mapping[str, str]

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.columns.values()), ()))

    @property
    def intervals(self) -> dict[str, tuple[str, str]]:
        """The columns of the ends of the interval of a column, by that column's name."""
        names, found = list(self.columns), {}
        for place, name in enumerate(names):
            if f"{name}_{LOWER}" in self.columns and f"{name}_{UPPER}" in self.columns:
                found[name] = (f"{name}_{LOWER}", f"{name}_{UPPER}")
            elif names[place + 1 : place + 3] == [LOWER, UPPER]:
                found[name] = (LOWER, UPPER)
        return found

    def is_numeric(self, name: str) -> bool:
        """Whether a column holds numbers, or nothing but missing cells in a column of numbers."""
        if self.kinds.get(name) == NUMBER:
            return True
        cells = [cell for cell in self.columns[name] if cell is not None]
        return bool(cells) and all(isinstance(cell, int | float) for cell in cells)

    def is_date(self, name: str, row: int) -> bool:
        """Whether a cell of numbers stands for a date: by the kind of its column, or the unit of its row."""
        if self.kinds.get(name) == DAY_NUMBER:
            return True
        if UNIT not in self.columns or self.columns[UNIT][row] != DAYS:
            return False
        return name == VALUE or name in self.intervals.get(VALUE, ())

    def figure(self, name: str, row: int) -> Estimated | None:
        """The figure of a column with its interval, if it has one; None if it is not a number."""
        ends = self.intervals.get(name)
        cells = [self.columns[end][row] for end in ends] if ends else [None, None]
        return estimate_in_cells(self.columns[name][row], *cells, is_date=self.is_date(name, row))

    def values(self, name: str) -> list[Any]:
        """The cells of a column as they are computed with: numbers that stand as texts become floats."""
        cells = list(self.columns[name])
        if self.kinds.get(name) != NUMBER:
            return cells
        found = [number(cell) if isinstance(cell, str) else None for cell in cells]
        return [cell if one is None else float(one) for cell, one in zip(cells, found, strict=True)]

    def cells_of(self, name: str, most: int | None = None) -> list[Any]:
        """The cells of a column as a file has them: as they stand, and dates as dates."""
        cells = list(self.columns[name][:most])
        if self.kinds.get(name) != DAY_NUMBER and UNIT not in self.columns:
            return cells  # none is a date
        return [
            date_text(cell) if isinstance(cell, int | float) and self.is_date(name, row) else cell
            for row, cell in enumerate(cells)
        ]


@dataclass(frozen=True, slots=True)
class Heading:
    """A column as it is shown.

    Attributes:
        text: its head.
        is_number: whether it holds numbers, which stand to the right and are never broken.
    """

    text: str
    is_number: bool


@dataclass(frozen=True, slots=True)
class TableView:
    """A table as it is shown.

    Attributes:
        name: of the table.
        heads: its columns.
        rows: the cells of the first rows.
        left: how many more rows there are.
    """

    name: str
    heads: tuple[Heading, ...]
    rows: tuple[tuple[str, ...], ...]
    left: int


def show_table(
    table: ResultTable, *, most: int, details: bool = False, plus_minus: str = PLUS_MINUS
) -> TableView:
    """A table for people.

    Args:
        table: of a result.
        most: rows at most.
        details: whether kind, loss, noise scale and the ends of intervals have columns of their own, and so
            the column of a query, by the name that it has in the job.
        plus_minus: what stands between a value and the half width of its interval.
    """
    ends = {end for pair in table.intervals.values() for end in pair}
    named = {COLUMN} if QUERY in table.columns else frozenset()
    hidden = frozenset() if details else {*ends, *DETAILS, *named}
    heads, columns = [], []
    for name in table.columns:
        if name in hidden:
            continue
        is_number = table.is_numeric(name) and table.kinds.get(name) != DATE
        known = {} if details else {**_HEADS, **_HEADS_IN.get(table.name, {})}
        heads.append(Heading(known.get(name, name), is_number))
        columns.append(_cells(table, name, min(most, table.rows), plus_minus))
    rows = tuple(zip(*columns, strict=True))
    return TableView(table.name, tuple(heads), rows, table.rows - len(rows))


def figures_by_group(
    figures: Sequence[Mapping[str, Any]],
) -> tuple[list[str], dict[str, dict[str, Mapping[str, Any]]]]:
    """Expected figures in the shape of their result: a line for each, a column for each group.

    Args:
        figures: each with `query`, `term`, `group` and `unit`; None for what it has not.

    Returns:
        the groups, "" for what is of none; and by the name of a line its figures by group.
    """
    groups = [*dict.fromkeys(str(figure["group"] or "") for figure in figures)]
    lines: dict[str, dict[str, Mapping[str, Any]]] = {}
    for figure in figures:
        name = figure["query"] if figure["term"] is None else f"{figure['query']}, {figure['term']}"
        lines.setdefault(with_unit(name, figure["unit"]), {})[str(figure["group"] or "")] = figure
    return groups, lines


def _cells(table: ResultTable, name: str, most: int, plus_minus: str) -> list[str]:
    if name in table.intervals:
        figures = (table.figure(name, row) for row in range(most))
        return [_figure(*both, plus_minus) for both in zip(figures, table.columns[name], strict=False)]
    if name == UNIT:
        return [_DATES if cell == DAYS else _text(cell) for cell in table.columns[name][:most]]
    return [_text(cell) for cell in table.cells_of(name, most)]


def _figure(figure: Estimated | None, cell: Any, plus_minus: str) -> str:
    """What has no interval stands as it is."""
    if figure is None or (figure.half_width is None and not figure.is_date):
        return _text(cell)
    return figure.text(plus_minus)


def _text(cell: Any) -> str:
    return "-" if cell is None else number_text(cell)
