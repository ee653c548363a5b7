"""The report of a joint result: one HTML file, without scripts, and with every text escaped."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from parties.errors import ConfigError
from parties.release import release
from parties.results.plots import plots_of
from parties.results.svg import svg
from parties.results.tables import ResultTable, show_table
from parties.texts import escape_unprintable

Facts = Sequence[tuple[str, str]]
"""Names and values, in the order in which a page lists them."""

ROWS: Final = 200
TABLES: Final = 100
"""What the report has of a result at most: rows of a table, and tables."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a report says beside the tables of the result.

    Attributes:
        title: of the page.
        subtitle: below it.
        cards: a figure or word, and what it is.
        asked: who computed what, on which data.
        parameters: of the analysis, as text.
        notes: of the result.
        learned: who learned what, and what was public.
        spent: what the job has cost in privacy.
        totals: sentences about what all jobs have cost, and what is left.
        cost: of the run.
        certificate: what the signed certificate says.
    """

    title: str
    subtitle: str
    cards: Facts
    asked: Facts
    parameters: str
    notes: Sequence[str]
    learned: Facts
    spent: Facts
    totals: Sequence[str]
    cost: Facts
    certificate: Facts


def report_page(report: Report, tables: Sequence[ResultTable]) -> str:
    """The report as HTML.

    Args:
        report: what it says.
        tables: of the result; the first `ROWS` rows of the first `TABLES` are in it, and figures with
            error bars of all that can be drawn.

    Raises:
        ConfigError: Jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError:
        raise ConfigError("Reports need Jinja2.", "Run pip install 'duetto[report]'.") from None
    space = Environment(
        loader=PackageLoader("parties.results", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else _escape(value),
    )
    seen = [(show_table(table, most=ROWS), table) for table in tables[:TABLES]]
    page = space.get_template("report.html").render(
        {name: getattr(report, name) for name in Report.__slots__},
        tables=[
            {
                "name": one.name,
                "heads": one.heads,
                "rows": one.rows,
                "left": one.left,
                "intervals": bool(table.intervals),
            }
            for one, table in seen
        ],
        tables_left=max(0, len(tables) - TABLES),
        figures=[
            (Markup(svg(plot)), f"{plot.title}: {plot.axis}{_bars(plot.has_intervals)}")  # noqa: S704 - own drawing
            for plot in plots_of(tables)
        ],
        newline=Markup("\n"),
        version=release(),
        date=dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    return page.lstrip()


def _bars(has_intervals: bool) -> str:
    return ", with 95 % intervals" if has_intervals else ""


def _escape(value: Any) -> Any:
    return escape_unprintable(value) if isinstance(value, str) else value
