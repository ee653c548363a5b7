"""A table one: the characteristics of a population, as one query of a job that stands for many.

[[queries]]
kind = "table-one"
numbers = ["age", "weight"]           # of each: missing, mean (sd), median and quartiles
categories = ["smoker"]               # of each: missing, rows of each label
by = "sex"                            # optional: a column of the table for each label, instead of one for all
points = 256                          # candidates of each quantile
lower = { weight = 30 }               # optional, as of a mean
upper = { weight = 200 }

What it stands for shares its loss in parts: the number of rows has 1, each column's number of missing cells
1, mean and deviation 3, each of the three quantiles 1, and the labels of a category together 1. So a table of
N numbers and C categories has 1 + 7 N + 2 C parts.

Rows with missing cells are kept (`Facts.keeps_missing`), and each figure is about the rows that have cells in
the columns that it names; so is every other query of such a job.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from smc.analyses.records.conditions import Condition, Presence, columns_of
from smc.analyses.statistics.queries.asked import Entry, Query
from smc.analyses.statistics.queries.query import MAX_NAME, parse_query
from smc.analyses.studies.loss import Loss
from smc.errors import UsageError

KIND: Final = "table-one"
MAX_VARIABLES: Final = 100
POINTS: Final = 256

ROWS: Final = "rows"
MISSING: Final = "missing"
SUMMARY: Final = "summary"
QUANTILES: Final = {
    "first quartile": Fraction(1, 4),
    "median": Fraction(1, 2),
    "third quartile": Fraction(3, 4),
}
LABELS: Final = "labels"

_PARTS: Final = {SUMMARY: 3}


def expand(
    table: Mapping[str, Any], place: str, loss: Loss, where: tuple[Condition, ...]
) -> tuple[Query, ...]:
    """The queries that a table one stands for.

    Args:
        table: the query, whose keys have been checked.
        place: how errors call it.
        loss: its part of the job's.
        where: conditions of the job, beside its own.

    Raises:
        UsageError: a value is impossible; names the place.
    """
    numbers, categories = (_names(table, key, place) for key in ("numbers", "categories"))
    every = (*numbers, *categories)
    if not 1 <= len(every) <= MAX_VARIABLES or len(set(every)) < len(every):
        raise UsageError(
            f"{place} does not name 1 to {MAX_VARIABLES} different columns.",
            'Write numbers = ["age"], categories = ["smoker"], or both.',
        )
    if isinstance(table.get("by", ""), list):
        raise UsageError(f"{place}.by is not one column.", 'Write by = "sex".')
    common = {key: table[key] for key in ("by", "where") if key in table}
    named = {"name": table.get("name", f"{KIND} of {', '.join(every)}"[:MAX_NAME])}
    first = parse_query({"kind": "count", "column": every[0]} | named | common, place, loss, where)
    if set(first.by) & set(every):
        raise UsageError(f"{place}.by names a column of the table itself.", "Group by another column.")
    for key in ("lower", "upper"):
        _check_by_column(table, key, numbers, place)
    found = [replace(first, columns=(), entry=Entry(first.name, "", ROWS))]
    for column in every:
        for entry, keys in _entries(column, table, is_number=column in numbers):
            query = parse_query(keys | common, place, loss, where)
            title = f"{first.name}: {column}, {entry}"
            found.append(replace(query, name=title, entry=Entry(first.name, column, entry)))
    parts = [_PARTS.get(query.entry.what, 1) if query.entry else 1 for query in found]
    shares = [Fraction(part, sum(parts)) for part in parts]
    return tuple(
        replace(query, kind=_kind(query), loss=Loss(loss.epsilon * share, rho=loss.rho * share))
        for query, share in zip(found, shares, strict=True)
    )


def with_presence(queries: tuple[Query, ...]) -> tuple[Query, ...]:
    """Queries about the rows that have cells in the columns they name, where a table one keeps the others."""
    kept = {query.entry.column for query in queries if query.entry and query.entry.column}
    return tuple(
        replace(query, where=(*_presence(query, kept), *query.where)) if kept else query for query in queries
    )


def _presence(query: Query, kept: set[str]) -> Iterator[Presence]:
    counted = query.entry.column if query.entry and query.entry.what == MISSING else ""
    for column in dict.fromkeys((*query.all_columns, *columns_of(query.where))):
        if column in kept:
            yield Presence(column, there=column != counted)


def _entries(
    column: str, table: Mapping[str, Any], *, is_number: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    yield MISSING, {"kind": "count", "column": column}
    if not is_number:
        yield LABELS, {"kind": "histogram", "column": column}
        return
    bounds = {key: {column: table[key][column]} for key in ("lower", "upper") if column in table.get(key, {})}
    yield SUMMARY, {"kind": "deviation", "column": column, **bounds}
    grid = {"points": table.get("points", POINTS), **bounds}
    for name, level in QUANTILES.items():
        yield name, {"kind": "quantile", "column": column, "level": str(level), **grid}


def _kind(query: Query) -> str:
    return SUMMARY if query.entry and query.entry.what == SUMMARY else query.kind


def _names(table: Mapping[str, Any], key: str, place: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
        raise UsageError(f"{place}.{key} is not a list of columns.", f'Write {key} = ["..."].')
    return tuple(value)


def _check_by_column(table: Mapping[str, Any], key: str, numbers: tuple[str, ...], place: str) -> None:
    value = table.get(key, {})
    if not isinstance(value, Mapping) or not set(value) <= set(numbers):
        raise UsageError(
            f"{place}.{key} is not a table of bounds by the columns in numbers.",
            f"Write {key} = {{ {numbers[0] if numbers else 'column'} = 0 }}.",
        )
