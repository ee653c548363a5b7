"""This party's result of a job, for scripts and notebooks."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from parties.errors import ConfigError, JobError
from parties.results.frames import columns_of
from parties.results.tables import ResultTable
from parties.texts import visible


@dataclass(frozen=True, slots=True)
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
    """

    job_id: str
    tables: dict[str, dict[str, list[Any]]]
    notes: tuple[str, ...]
    details: dict[str, Any]
    traffic: dict[str, Any]
    leakage: dict[str, list[str]]
    salt: str = field(default="", repr=False)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Result:
        """The result in the daemon's JSON."""
        outcome, facts = document["outcome"], dict(document["facts"])
        leakage = facts.pop("leakage")
        tables = {table["name"]: table["columns"] for table in outcome["tables"]}
        notes = tuple(outcome["notes"])
        return cls(document["job_id"], tables, notes, outcome["details"], facts, leakage, document["salt"])

    def table(self, name: str | None = None) -> ResultTable:
        """A table with what is known of its columns: intervals, dates, exact numbers.

        Raises:
            JobError: there is no such table, or no name and not exactly one table.
        """
        chosen = self._chosen(name)
        return ResultTable(chosen, self.tables[chosen], self.details.get("kinds", {}).get(chosen, {}))

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
        return self._framed(self._chosen(name))

    def frames(self) -> dict[str, Any]:
        """All tables as pandas DataFrames, by name; none for a party that is not a recipient.

        Raises:
            ConfigError: pandas is not installed.
        """
        return {name: self._framed(name) for name in self.tables}

    def _chosen(self, name: str | None) -> str:
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

    def _framed(self, name: str) -> Any:
        try:
            import pandas as pd
        except ImportError:
            raise ConfigError("Frames need pandas.", "Run pip install 'duetto[frames]'.") from None
        return pd.DataFrame(columns_of(self.table(name)))

    def _repr_html_(self) -> str:
        parts = [_html_table(name, columns) for name, columns in self.tables.items()]
        parts += [f"<p>{_escaped(note)}</p>" for note in self.notes]
        cost = ", ".join(f"{self.traffic[key]} {key}" for key in ("rounds", "sent", "received", "seconds"))
        return "".join([*parts, f"<p><small>{html.escape(cost)}</small></p>"])


def _html_table(name: str, columns: Mapping[str, list[Any]]) -> str:
    head = "".join(f"<th>{_escaped(column)}</th>" for column in columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{_escaped(cell)}</td>" for cell in row) + "</tr>"
        for row in zip(*columns.values(), strict=True)
    )
    return f"<table><caption>{_escaped(name)}</caption><tr>{head}</tr>{rows}</table>"


def _escaped(value: object) -> str:
    return html.escape(visible(str(value)))
