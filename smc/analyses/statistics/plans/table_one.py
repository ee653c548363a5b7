"""The results of a table one, as people read it: a row for each characteristic, a column for each group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from smc.analyses.statistics.kinds.statistic import MISS, Result, Statistic
from smc.analyses.statistics.plans.differences import NOTHING, Value, standardise
from smc.analyses.statistics.queries.asked import Query
from smc.analyses.statistics.queries.table_one import LABELS, MISSING, ROWS, SUMMARY
from smc.analyses.studies.outcome import Table

TOTAL: Final = "total"
"""The column of all rows, where there are no groups."""

TABLE_ONE_NOTE: Final = (
    "In a table one, figures of a column are about the rows that have a cell there, and percentages are of "
    "these. Its loss is shared in parts: rows 1; of each column missing cells 1, mean and sd 3, each "
    "quartile 1, labels 1. Intervals hold at 95 % each and speak of the noise; those of a mean with sampling "
    "include sampling error."
)

SMD_NOTE: Final = (
    "The smd of a table one is the standardised mean difference of its two groups: the first minus the "
    "second, over the root of their mean variance; of a label that of its shares. Its interval speaks of the "
    "noise, to the first order."
)

SMD: Final = "smd"
"""The column of standardised mean differences, where there are two groups."""

WITH_SAMPLING: Final = "mean, with sampling"
"""The quantity of a mean whose interval includes sampling error."""

Key = tuple[str, str, str, str, str]
"""Variable, quantity, unit, query, and what it is to the table."""

_HEADS: Final = ("variable", "quantity", "unit")


def tables_one(reported: Sequence[tuple[Query, Statistic, str | None, Result]]) -> tuple[Table, ...]:
    """The tables of all queries that are entries of one, each with its name; others are left out.

    Columns are `variable`, `quantity`, `unit`, and of each group one with its label, and the ends of its
    intervals as `smc.analyses.studies.outcome.Table` has them.
    """
    found: dict[str, list[tuple[Query, Statistic, str | None, Result]]] = {}
    for each in reported:
        if entry := each[0].entry:
            found.setdefault(entry.table, []).append(each)
    return tuple(Table(name, _columns(entries)) for name, entries in found.items())


def _columns(entries: Sequence[tuple[Query, Statistic, str | None, Result]]) -> Mapping[str, Sequence[Any]]:
    cells: dict[Key, dict[str, Value]] = {}
    groups: dict[str, None] = {}
    for query, statistic, group, result in entries:
        name = TOTAL if group is None else f"{group} rows" if group in (*_HEADS, SMD) else group
        groups[name] = None
        for quantity, unit, value in _cells(query, statistic, result):
            # a label may have the name of a quantity
            entry = query.entry
            column, what = (entry.column, entry.what) if entry else ("", "")
            key: Key = (column, quantity, unit, query.name, what)
            cells.setdefault(key, {})[name] = value
    columns: dict[str, Sequence[Any]] = {
        head: [key[place] for key in cells] for place, head in enumerate(_HEADS)
    }
    shown = list(groups)
    if len(groups) == 2:
        for key, difference in _differences(cells, shown):
            cells[key][SMD] = difference
        shown.append(SMD)
    for name in shown:
        for place, end in enumerate(("", "_lower_95", "_upper_95")):
            columns[name + end] = [row.get(name, NOTHING)[place] for row in cells.values()]
    return columns


def _differences(
    cells: Mapping[Key, Mapping[str, Value]], groups: Sequence[str]
) -> Iterable[tuple[Key, Value]]:
    """Of each mean and each share of a label its standardised difference between two groups."""
    for key, row in cells.items():
        first, second = (row.get(group, NOTHING) for group in groups)
        if key[1] == "mean" and key[-1] == SUMMARY:
            spreads = cells[key[0], "sd", key[2], key[3], key[4]]
            yield key, standardise(first, second, *(spreads.get(group, NOTHING) for group in groups))
        elif key[2] == "%":
            yield key, standardise(_part(first), _part(second))


def _part(percentage: Value) -> Value:
    value, low, high = (None if end is None else end / 100 for end in percentage)
    return value, low, high


def _cells(query: Query, statistic: Statistic, result: Result) -> Iterable[tuple[str, str, Value]]:
    what = query.entry.what if query.entry else ""
    table = result.table or {}
    if what in (ROWS, MISSING):
        yield "n" if what == ROWS else MISSING, "rows", _value(result.value, result.lower, result.upper)
    elif what == SUMMARY:
        for place, quantity in enumerate(("mean", "sd")):
            ends = [table[key][place] if table else None for key in ("value", "lower_95", "upper_95")]
            yield quantity, statistic.unit, _value(*ends)
            if not place:
                value = ends[0] if result.sampled else None
                yield WITH_SAMPLING, statistic.unit, _value(value, *(result.sampled or (None, None)))
    elif what == LABELS:
        labels, counts, lower, upper = (table[key] for key in ("bin", "count", "lower_95", "upper_95"))
        for label, *counted in zip(labels, counts, lower, upper, strict=True):
            yield label, "rows", _value(*counted)
        width = statistic.distributions[0].half_width(MISS / len(labels)) if counts != lower else 0
        for label, share in zip(labels, _shares(counts, width), strict=True):
            yield label, "%", share
    else:
        yield what, statistic.unit, _value(result.value, result.lower, result.upper)


def _value(value: Any, lower: Any, upper: Any) -> Value:
    if value is None:
        return NOTHING
    first, second, third = (
        end if end is None or isinstance(end, int) else float(Fraction(end)) for end in (value, lower, upper)
    )
    return first, second, third


def _shares(counts: Sequence[int | None], width: int) -> list[Value]:
    """Percentages of the counts among them, and the ends of their intervals.

    A share grows with its own count and falls with the others, so that the ends of its interval are where its
    own count is at one end and the others at the opposite ones.

    Args:
        counts: of the labels; None where one is withheld.
        width: all counts at once are within so much of the exact ones, but for 5 %.
    """
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        return [NOTHING] * len(counts)
    ends = [[max(count + by, 0) for count in known] for by in (-width, 0, width)]
    low, exact, high = ends
    found = []
    for place in range(len(known)):
        least, share, most = (
            _percent(own[place], sum(rest) - rest[place])
            for own, rest in ((low, high), (exact, exact), (high, low))
        )
        found.append(NOTHING if share is None else (share, least, most))
    return found


def _percent(own: int, rest: int) -> float | None:
    return 100 * own / (own + rest) if own + rest else None
