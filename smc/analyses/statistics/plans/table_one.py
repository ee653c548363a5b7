"""The results of a table one, as people read it: a row for each characteristic, a column for each group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from smc.analyses.statistics.kinds.statistic import MISS, Result, Statistic
from smc.analyses.statistics.queries.query import Query
from smc.analyses.statistics.queries.table_one import LABELS, MISSING, ROWS, SUMMARY
from smc.analyses.studies.outcome import Table

TOTAL: Final = "total"
"""The column of all rows, where there are no groups."""

HALF: Final = " +-"
"""After the name of a column of values: the column of the half widths of their 95 % intervals."""

TABLE_ONE_NOTE: Final = (
    "In a table one, figures of a column are about the rows that have a cell there, and percentages are of "
    "these. Its loss is shared in parts: rows 1; of each column missing cells 1, mean and sd 3, each "
    "quartile 1, labels 1. The column after a value has the half width of its 95 % interval."
)

Value = tuple[float | int | None, float | int | None]
"""A value and the half width of its interval."""


def tables_one(reported: Sequence[tuple[Query, Statistic, str | None, Result]]) -> tuple[Table, ...]:
    """The tables of all queries that are entries of one, each with its name; others are left out.

    Columns are `variable`, `quantity`, `unit`, and for each group its label and its label with `HALF`.
    """
    found: dict[str, list[tuple[Query, Statistic, str | None, Result]]] = {}
    for each in reported:
        if entry := each[0].entry:
            found.setdefault(entry.table, []).append(each)
    return tuple(Table(name, _columns(entries)) for name, entries in found.items())


def _columns(entries: Sequence[tuple[Query, Statistic, str | None, Result]]) -> Mapping[str, Sequence[Any]]:
    groups = list(dict.fromkeys(group for _, _, group, _ in entries))
    cells: dict[tuple[str, str, str], dict[str | None, Value]] = {}
    for query, statistic, group, result in entries:
        for variable, quantity, unit, value in _cells(query, statistic, result):
            cells.setdefault((variable, quantity, unit), {})[group] = value
    columns: dict[str, Sequence[Any]] = {
        name: [key[place] for key in cells] for place, name in enumerate(("variable", "quantity", "unit"))
    }
    for group in groups:
        name = TOTAL if group is None else group
        columns[name] = [row.get(group, (None, None))[0] for row in cells.values()]
        columns[name + HALF] = [row.get(group, (None, None))[1] for row in cells.values()]
    return columns


def _cells(query: Query, statistic: Statistic, result: Result) -> Iterable[tuple[str, str, str, Value]]:
    if query.entry is None:
        return
    variable, what = query.entry.column, query.entry.what
    if what in (ROWS, MISSING):
        yield (
            variable,
            "n" if what == ROWS else MISSING,
            "rows",
            _value(result.value, result.lower, result.upper),
        )
        return
    table = result.table
    if what == SUMMARY:
        for place, quantity in enumerate(("mean", "sd")):
            ends = [table[key][place] if table else None for key in ("value", "lower_95", "upper_95")]
            yield variable, quantity, statistic.unit, _value(*ends)
    elif what == LABELS and table:
        labels, counts = table["bin"], table["count"]
        for label, *counted in zip(labels, counts, table["lower_95"], table["upper_95"], strict=True):
            yield variable, label, "rows", _value(*counted)
        noisy = counts != table["lower_95"]
        width = statistic.distributions[0].half_width(MISS / len(labels)) if noisy else 0
        for label, share in zip(labels, _shares(counts, width), strict=True):
            yield variable, label, "%", share
    elif what != LABELS:
        yield variable, what, statistic.unit, _value(result.value, result.lower, result.upper)


def _value(value: Any, lower: Any, upper: Any) -> Value:
    exact = [None if end is None else Fraction(end) for end in (value, lower, upper)]
    if exact[0] is None:
        return None, None
    half = None if exact[1] is None or exact[2] is None else float(exact[2] - exact[1]) / 2
    return value if isinstance(value, int) else float(exact[0]), half


def _shares(counts: Sequence[int | None], width: int) -> list[Value]:
    """Percentages of the counts among them, and the half widths of their intervals.

    A share grows with its own count and falls with the others, so that the ends of its interval are where its
    own count is at one end and the others at the opposite ones.

    Args:
        counts: of the labels; None where one is withheld.
        width: all counts at once are within so much of the exact ones, but for 5 %.
    """
    known = [max(count, 0) for count in counts if count is not None]
    if len(known) < len(counts):
        return [(None, None)] * len(counts)
    found: list[Value] = []
    for own in known:
        rest, most = sum(known) - own, width * (len(known) - 1)
        low, share, high = (
            100 * one / (one + others) if one + others else None
            for one, others in (
                (max(own - width, 0), rest + most),
                (own, rest),
                (own + width, max(rest - most, 0)),
            )
        )
        found.append((share, None if low is None or high is None or share is None else (high - low) / 2))
    return found
