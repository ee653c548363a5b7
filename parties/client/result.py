"""This party's result of a job, for scripts and notebooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import Any, Final

from typing_extensions import override

from parties.errors import JobError
from parties.exits import why_unreadable
from parties.pki.files import PRIVATE, write_atomically
from parties.results.drawing import Drawing, draw_plots
from parties.results.frames import columns_of, pandas
from parties.results.html import escape_text, list_html, tables_html
from parties.results.plots import plots_of
from parties.results.tables import ABOUT_QUERIES, QUERY, ResultTable
from parties.texts import escape_unprintable
from smc.errors import UsageError

_COST: Final = ("rounds", "sent", "received", "seconds")
_NAMED: Final = 6
"""Tables that `repr` names."""


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """This party's result of a job.

    Attributes:
        job_id: the job.
        tables: columns by name, by table.
        notes: remarks for people.
        details: what the analysis says of the run: route, noise, guarantees.
        traffic: rounds, bytes sent and received, seconds, and the estimate of them.
        leakage: what Alice and Bob learned, and what was public.
        salt: shown with the result, lets others check it against the certificate; hexadecimal.
        reporter: makes its report; None for a result that no daemon gave.
    """

    job_id: str
    tables: dict[str, dict[str, list[Any]]]
    notes: tuple[str, ...]
    details: dict[str, Any]
    traffic: dict[str, Any]
    leakage: dict[str, list[str]]
    salt: str = ""
    reporter: Callable[[Result], str] | None = field(default=None, compare=False)

    @classmethod
    def from_document(
        cls, document: Mapping[str, Any], reporter: Callable[[Result], str] | None = None
    ) -> Result:
        """The result in the daemon's JSON.

        Args:
            document: as the daemon gives it.
            reporter: what makes its report.
        """
        outcome, facts = document["outcome"], dict(document["facts"])
        leakage = facts.pop("leakage")
        tables = {table["name"]: table["columns"] for table in outcome["tables"]}
        notes = tuple(outcome["notes"])
        return cls(
            document["job_id"], tables, notes, outcome["details"], facts, leakage, document["salt"], reporter
        )

    def table(self, name: str | None = None, *, whole: bool = False) -> ResultTable:
        """A table with what is known of its columns: intervals, dates, exact numbers.

        Args:
            name: of the table; may be left out if there is only one.
            whole: also with the rows of queries whose figures are a table of their own, as `tables` has
                them; these say kind, loss and noise, and have no value.

        Raises:
            JobError: there is no such table, or no name and not exactly one table.
        """
        chosen = self._choose(name)
        columns = self.tables[chosen]
        if not whole and QUERY in columns:
            figures = [column for head, column in columns.items() if head not in ABOUT_QUERIES]
            kept = [
                query not in self.tables or any(column[row] is not None for column in figures)
                for row, query in enumerate(columns[QUERY])
            ]
            columns = {head: [*compress(column, kept)] for head, column in columns.items()}
        return ResultTable(chosen, columns, self.details.get("kinds", {}).get(chosen, {}))

    def frame(self, name: str | None = None) -> Any:
        """A table as a pandas DataFrame: numbers as floats, dates as dates.

        Where a table of statistics has figures about dates, which are days since 1970-01-01 in `value`,
        columns `date`, `date_lower_95` and `date_upper_95` have them as dates.

        Args:
            name: the table; may be left out if there is only one.

        Raises:
            ConfigError: pandas is not installed.
            JobError: there is no such table, or no name and not exactly one table.
        """
        return self._to_frame(self._choose(name))

    def __getitem__(self, name: str) -> Any:
        """`frame` of a table by its name."""
        return self.frame(name)

    def frames(self) -> dict[str, Any]:
        """All tables as pandas DataFrames, by name; none for a party that is not a recipient.

        Raises:
            ConfigError: pandas is not installed.
        """
        return {name: self._to_frame(name) for name in self.tables}

    def _choose(self, name: str | None) -> str:
        known = ", ".join(map(repr, self.tables))
        if not known:
            raise JobError(
                "The result has no table for this party.", "Only recipients of the job get tables."
            )
        if name is None and len(self.tables) > 1:
            raise JobError(
                f"The result has {len(self.tables)} tables: {known}.",
                "Name one of them, or use frames(), which gives all.",
            )
        if name is None:
            return next(iter(self.tables))
        if name not in self.tables:
            raise JobError(f"The result has no table {name!r}.", f"It has {known}.")
        return name

    def _to_frame(self, name: str) -> Any:
        return pandas().DataFrame(columns_of(self.table(name)))

    def plot(self, name: str | None = None) -> Drawing:
        """The figures with their error bars: counts, means, histograms, coefficients, clusters.

        Args:
            name: of a table; all that can be drawn if None.

        Returns:
            The drawing, which a notebook shows; `figure` is one of matplotlib, `save(path)` writes a file.

        Raises:
            ConfigError: matplotlib is not installed.
            JobError: nothing of the result, or of this table, can be drawn; or there is no such table.
        """
        names = [*self.tables] if name is None else [self._choose(name)]
        plots = plots_of([self.table(one) for one in names])
        if not plots:
            raise JobError(
                "Nothing of this result can be drawn.",
                "Drawn are figures that share an axis: counts, means, histograms, coefficients, clusters. "
                "Use frame() and a library of your choice for all else.",
            )
        return draw_plots(plots)

    def report(self, path: Path | str | None = None) -> str:
        """The report of the job: what was asked and found, who learned what, what it cost and what is left.

        Args:
            path: a file to be written, readable by this account alone; none if None.

        Returns:
            One HTML file, without scripts and with nothing loaded from elsewhere.

        Raises:
            ConfigError: Jinja2 is not installed.
            JobError: the result does not come from a daemon, which knows the job.
            UsageError: the file cannot be written.
        """
        if self.reporter is None:
            raise JobError("This result comes from no daemon.", "Take that of `Party.job(...).result()`.")
        page = self.reporter(self)
        if path is not None:
            try:
                write_atomically(Path(path), page.encode(), PRIVATE)
            except OSError as problem:
                raise UsageError(
                    f"{path} cannot be written: {why_unreadable(problem)}.",
                    "Name a file in a folder that is there.",
                ) from None
        return page

    @override
    def __repr__(self) -> str:
        sizes = [f"{name} ({self.table(name).rows} rows)" for name in list(self.tables)[:_NAMED]]
        more = len(self.tables) - len(sizes)
        said = ", ".join([*sizes, *([f"{more} more"] if more else [])]) or "no tables"
        return f"Result({escape_unprintable(self.job_id)!r}: {escape_unprintable(said)})"

    def _repr_html_(self) -> str:
        cost = ", ".join(f"{self.traffic[key]} {key}" for key in _COST if key in self.traffic)
        learned = [
            f"{who} learned: {'; '.join(self.leakage[who]) or 'nothing'}"
            for who in ("alice", "bob")
            if who in self.leakage
        ]
        public = [f"public: {'; '.join(self.leakage['public'])}"] if self.leakage.get("public") else []
        parts = [tables_html([self.table(name) for name in self.tables]), list_html(self.notes)]
        return "".join([*parts, list_html([*learned, *public]), f"<p><small>{escape_text(cost)}</small></p>"])
