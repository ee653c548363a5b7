"""The `[parameters]` of a statistics job, checked and frozen."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from smc.analyses.parameters import reject_unknown
from smc.errors import UsageError

KINDS: Final = ("count", "sum", "mean", "histogram")
DEFAULT_MAX_ROWS: Final = 10_000_000
MOST_ROWS: Final = 1 << 40
MOST_QUERIES: Final = 1000
MOST_BINS: Final = 10_000
MOST_EPSILON: Final = 100

_TOP_KEYS: Final = {"epsilon", "max_rows", "queries"}
_COMMON_KEYS: Final = {"name", "kind", "column", "share"}
_KIND_KEYS: Final[Mapping[str, set[str]]] = {
    "count": set(),
    "sum": {"lower", "upper"},
    "mean": {"lower", "upper"},
    "histogram": {"edges", "categories"},
}
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,30}(\.[0-9]{1,30})?|[+-]?[0-9]{1,30}/[0-9]{1,30}")
_LONGEST_NAME: Final = 100


@dataclass(frozen=True, slots=True)
class Query:
    """One statistic that a job asks for.

    Attributes:
        name: unique in the job.
        kind: one of `KINDS`.
        column: the column's name in the job; empty for a count that names none.
        epsilon: this query's part of the job's epsilon.
        lower: clamping bound in the column's real unit, or None for the column's declared bound.
        upper: the same, upper.
        edges: increasing edges of a histogram's bins in the real unit; empty for categories.
        categories: labels to count; empty for all declared ones.
    """

    name: str
    kind: str
    column: str
    epsilon: Fraction
    lower: Fraction | None = None
    upper: Fraction | None = None
    edges: tuple[Fraction, ...] = ()
    categories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StatisticsParameters:
    """Parsed parameters.

    Attributes:
        epsilon: the total privacy loss.
        max_rows: public bound on the rows of either side.
        queries: the statistics, in the job's order.
    """

    epsilon: Fraction
    max_rows: int
    queries: tuple[Query, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the queries name, each once."""
        return tuple(dict.fromkeys(query.column for query in self.queries if query.column))


def parse(parameters: Mapping[str, Any]) -> StatisticsParameters:
    """Check the `[parameters]` of a job.

    Raises:
        UsageError: a key is unknown or missing, or a value impossible; names the place.
    """
    reject_unknown(parameters, _TOP_KEYS, "parameters")
    if "epsilon" not in parameters:
        raise UsageError("parameters.epsilon is missing.", 'Write the total, such as epsilon = "1.0".')
    epsilon = _positive(parameters["epsilon"], "parameters.epsilon")
    if epsilon > MOST_EPSILON:
        raise UsageError(
            f"parameters.epsilon is above {MOST_EPSILON}.", "Nothing is private there; lower it."
        )
    tables = parameters.get("queries")
    if not isinstance(tables, Sequence) or isinstance(tables, str) or not 1 <= len(tables) <= MOST_QUERIES:
        raise UsageError(
            f"parameters.queries holds 1 to {MOST_QUERIES} queries.", "Write [[parameters.queries]] tables."
        )
    places = [f"parameters.queries[{index}]" for index in range(len(tables))]
    for table, place in zip(tables, places, strict=True):
        _check_keys(table, place)
    parts = _split(epsilon, tables, places)
    queries = tuple(
        _query(table, place, part) for table, place, part in zip(tables, places, parts, strict=True)
    )
    _check_names(queries)
    parsed = StatisticsParameters(epsilon, _max_rows(parameters), queries)
    if not parsed.columns:
        raise UsageError(
            "No query names a column, so there are no rows to count.", "Give the count a column."
        )
    return parsed


def _max_rows(parameters: Mapping[str, Any]) -> int:
    rows = parameters.get("max_rows", DEFAULT_MAX_ROWS)
    if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= MOST_ROWS:
        raise UsageError(f"parameters.max_rows is not an integer from 1 to {MOST_ROWS}.", "Correct it.")
    return rows


def _check_keys(table: Any, place: str) -> None:
    if not isinstance(table, Mapping):
        raise UsageError(f"{place} is not a table.", "Write [[parameters.queries]] tables.")
    kind = table.get("kind")
    if kind not in KINDS:
        raise UsageError(f"{place}.kind is not a known statistic.", f"Choose one of {', '.join(KINDS)}.")
    reject_unknown(table, _COMMON_KEYS | _KIND_KEYS[kind], f"{place} ({kind})")


def _split(epsilon: Fraction, tables: Sequence[Mapping[str, Any]], places: Sequence[str]) -> list[Fraction]:
    """Every query's part of epsilon: equal, or by shares that all queries state and that sum to 1."""
    stated = [place for table, place in zip(tables, places, strict=True) if "share" in table]
    if not stated:
        return [epsilon / len(tables)] * len(tables)
    if len(stated) < len(tables):
        missing = next(place for place in places if place not in stated)
        raise UsageError(
            f"{missing}.share is missing while other queries state theirs.",
            "Give every query a share or none.",
        )
    shares = [
        _positive(table["share"], f"{place}.share") for table, place in zip(tables, places, strict=True)
    ]
    if sum(shares) != 1:
        raise UsageError("The shares of epsilon do not sum to 1.", "Correct the queries' shares.")
    return [epsilon * share for share in shares]


def _query(table: Mapping[str, Any], place: str, epsilon: Fraction) -> Query:
    kind = table["kind"]
    column = _text(table, "column", place, "")
    if not column and kind != "count":
        raise UsageError(f"{place}.column is missing.", f"Name the column of the {kind}.")
    name = _text(table, "name", place, f"{kind} of {column}" if column else kind)
    lower, upper = (
        number(table[key], f"{place}.{key}") if key in table else None for key in ("lower", "upper")
    )
    if lower is not None and upper is not None and lower > upper:
        raise UsageError(f"{place}: lower is above upper.", "Exchange the bounds.")
    edges, categories = _bins(table, place)
    return Query(name, kind, column, epsilon, lower, upper, edges, categories)


def _bins(table: Mapping[str, Any], place: str) -> tuple[tuple[Fraction, ...], tuple[str, ...]]:
    if "edges" in table and "categories" in table:
        raise UsageError(
            f"{place} has edges and categories.", "Keep edges for numbers, categories for labels."
        )
    edges = tuple(number(edge, f"{place}.edges") for edge in _list(table, "edges", place))
    if "edges" in table and len(edges) < 2:
        raise UsageError(f"{place}.edges has fewer than two edges.", "Two edges make one bin.")
    if any(low >= high for low, high in pairwise(edges)):
        raise UsageError(f"{place}.edges do not increase.", "Write them in increasing order, each once.")
    categories = tuple(_list(table, "categories", place))
    if any(not isinstance(label, str) for label in categories) or len(set(categories)) < len(categories):
        raise UsageError(f"{place}.categories are not different strings.", "Write each label once, quoted.")
    if "categories" in table and not categories:
        raise UsageError(f"{place}.categories is empty.", "Leave it out to count all declared categories.")
    return edges, categories


def _list(table: Mapping[str, Any], key: str, place: str) -> Sequence[Any]:
    value = table.get(key, ())
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) > MOST_BINS:
        raise UsageError(f"{place}.{key} is not a list of at most {MOST_BINS} entries.", "Correct it.")
    return value


def _text(table: Mapping[str, Any], key: str, place: str, default: str) -> str:
    value = table.get(key, default)
    if not isinstance(value, str) or len(value) > _LONGEST_NAME or (key in table and not value.strip()):
        raise UsageError(f"{place}.{key} is not a name of 1 to {_LONGEST_NAME} characters.", "Correct it.")
    return value


def _check_names(queries: Sequence[Query]) -> None:
    seen: set[str] = set()
    for query in queries:
        if query.name in seen:
            raise UsageError(f"Two queries are called {query.name!r}.", "Give each its own name.")
        seen.add(query.name)


def _positive(value: Any, place: str) -> Fraction:
    exact = number(value, place)
    if exact <= 0:
        raise UsageError(f"{place} is not positive.", "Write a number above 0.")
    return exact


def number(value: Any, place: str) -> Fraction:
    """An exact number from a job file: an integer, or a string such as `0.1`, `-3` or `1/3`.

    Raises:
        UsageError: it is a float, which is not exact, or no number.
    """
    if isinstance(value, float):
        raise UsageError(f"{place} is a float, which is not exact.", f'Quote it: "{value}".')
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**30:
        return Fraction(value)
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        try:
            return Fraction(value.strip())
        except ZeroDivisionError:
            pass
    raise UsageError(
        f"{place} is not an exact number.", 'Write an integer or a string such as "0.5" or "1/3".'
    )
