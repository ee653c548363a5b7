"""What of a result can be drawn: figures with error bars, by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from parties.results.curves import Curves, curves_of, steps_along
from parties.results.figures import Estimated
from parties.results.tables import DETAILS, UNIT, VALUE, ResultTable
from parties.results.words import cut
from smc.analyses.studies.columns import DAYS

MAX_FIGURES: Final = 40
"""Figures of one plot; the tables have all."""

MAX_PLOTS: Final = 24
"""Plots of one result."""

_RESULTS: Final = "results"
"""How a table of queries is called; in a plan the name of the part stands before it."""

_COUNTS: Final = frozenset({"count", "size"})
_GROUP, _QUERY, _CLUSTER = "group", "query", "cluster"
_NOT_DRAWN: Final = frozenset({"row", "pair", "slot", "quantity"})
"""Tables with such a column are of single rows, or of quantities that have no common axis."""


@dataclass(frozen=True, slots=True)
class Plot:
    """Figures on one axis.

    Attributes:
        title: what they are about.
        axis: what they measure, with the unit.
        names: of the figures.
        figures: with values; those without an interval have no error bar.
        is_count: whether they are numbers of rows, which are drawn as bars from 0.
        left: how many more there are in the table.
    """

    title: str
    axis: str
    names: tuple[str, ...]
    figures: tuple[Estimated, ...]
    is_count: bool
    left: int = 0

    @property
    def has_intervals(self) -> bool:
        """Whether a figure has an error bar."""
        return any(figure.half_width is not None for figure in self.figures)

    @property
    def words(self) -> str:
        """The plot for those who do not see it."""
        said = "; ".join(
            f"{name}: {figure.text()}" for name, figure in zip(self.names, self.figures, strict=True)
        )
        more = f"; {self.left} more in the table" if self.left else ""
        return f"{self.title}, {self.axis}: {said}{more}"


def plots_of(tables: Sequence[ResultTable]) -> list[Plot | Curves]:
    """The plots of a result, `MAX_PLOTS` at most; none where it has no figures that share an axis."""
    found: list[Plot | Curves] = []
    for table in tables:
        along = steps_along(table)
        if along is not None:
            found += curves_of(table, along)
            continue
        found += _of_queries(table) if {_QUERY, VALUE} <= table.columns.keys() else _of_columns(table)
    return found[:MAX_PLOTS]


def _of_queries(table: ResultTable) -> Iterator[Plot]:
    """One plot for each unit, or each query where there are groups; of a plan with the name of the part."""
    part = table.name.removesuffix(_RESULTS) if table.name.endswith(_RESULTS) else ""
    together: dict[tuple[str, str], list[int]] = {}
    for row in range(table.rows):
        unit = str(table.columns[UNIT][row] or "") if UNIT in table.columns else ""
        query = str(table.columns[_QUERY][row]) if _GROUP in table.columns else ""
        together.setdefault((query, unit), []).append(row)
    for (query, unit), rows in together.items():
        names = [_name(table, row, (_GROUP,) if query else (_QUERY,)) for row in rows]
        axis = "date" if unit == DAYS else unit or VALUE
        title = part + (query or _RESULTS)
        yield from _plot(table, VALUE, title, axis, names, rows, is_count=unit == "rows")


def _of_columns(table: ResultTable) -> Iterator[Plot]:
    """One plot for each column of figures, of rows that texts name."""
    ends = {end for pair in table.intervals.values() for end in pair}
    texts = [name for name in table.columns if not table.is_numeric(name)]
    naming = [_CLUSTER] if _CLUSTER in table.columns else texts
    if not naming or not table.columns.keys().isdisjoint(_NOT_DRAWN):
        return
    names = [_name(table, row, naming) for row in range(table.rows)]
    for column in table.columns:
        if column in naming or column in ends or column in DETAILS or not table.is_numeric(column):
            continue
        if table.intervals and column not in table.intervals:
            continue
        rows = range(table.rows)
        yield from _plot(table, column, table.name, column, names, rows, is_count=column in _COUNTS)


def _plot(
    table: ResultTable,
    column: str,
    title: str,
    axis: str,
    names: Sequence[str],
    rows: Sequence[int],
    *,
    is_count: bool,
) -> Iterator[Plot]:
    figures = [(name, table.figure(column, row)) for name, row in zip(names, rows, strict=True)]
    drawn = [(name, one) for name, one in figures if one is not None and one.value is not None]
    if drawn:
        shown = drawn[:MAX_FIGURES]
        titles = tuple(name for name, _ in shown)
        found = tuple(one for _, one in shown)
        yield Plot(cut(title), cut(axis), titles, found, is_count, len(drawn) - len(shown))


def _name(table: ResultTable, row: int, columns: Sequence[str]) -> str:
    cells = [table.columns[column][row] for column in columns]
    said = ", ".join(str(cell) for cell in cells if cell is not None)
    return cut(f"cluster {said}" if columns == [_CLUSTER] else said or "all")
