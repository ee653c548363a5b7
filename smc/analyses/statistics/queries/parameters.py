"""The `[parameters]` of a statistics job, checked and frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from commons.settings.reader import Tables
from commons.settings.shapes import Document, keys_schema
from smc.analyses.records.conditions import Presence, columns_of, parse_where
from smc.analyses.records.matched_columns import Vertical
from smc.analyses.records.numbers import loss_term
from smc.analyses.statistics.queries import table_one
from smc.analyses.statistics.queries.asked import Query
from smc.analyses.statistics.queries.query import (
    OF_EVENTS,
    POOLED_KINDS,
    check_keys,
    parse_query,
    query_schema,
)
from smc.analyses.statistics.queries.vertical import (
    HORIZONTAL,
    KEYS,
    LAYOUTS,
    VERTICAL,
    check_columns,
    parse_vertical,
)
from smc.analyses.studies.facts import Asked, Stated
from smc.analyses.studies.loss import Loss, rho_within
from smc.analyses.studies.neighbours import Neighbours
from smc.analyses.studies.parameters import reject_unknown, take
from smc.errors import UsageError
from smc.forms import Role

NOISES: Final = ("laplace", "gaussian", "none")
EXACT_KINDS: Final = (
    "count",
    "sum",
    "mean",
    "weighted-mean",
    "histogram",
    "crosstab",
    "risks",
    "standardised-ratio",
    "standardised-rates",
    "mantel-haenszel",
    "survival",
)
SORTING_KINDS: Final = ("histogram", "crosstab", *OF_EVENTS, "survival")
DEFAULT_MAX_ROWS: Final = 10_000_000
MAX_ROWS: Final = 1 << 40
MAX_QUERIES: Final = 1000
MAX_EPSILON: Final = 100
MAX_ROWS_PER_PERSON: Final = 10_000

MAX_DELTA: Final = Fraction(1, 1 << 40)
"""What the statistical distances of all noise of a job may add to delta; a job that needs more is refused."""

_KEYS: Final = {"layout", "noise", "epsilon", "delta", "rho", "maximum_rows", "queries", "where"}


@dataclass(frozen=True, slots=True)
class StatisticsParameters:
    """Parsed parameters.

    Attributes:
        loss: the total privacy loss, with what the drawing of noise adds to delta at most; nothing for
            exact results.
        noise: one of `NOISES`.
        maximum_rows: public bound on the rows of either side.
        rows_per_person: the most rows of one person that a side takes in; 1 over matched rows.
        queries: the statistics, in the job's order.
        vertical: how rows are matched where the sides have different columns; None where both have rows of
            their own over the same columns.
    """

    loss: Loss
    noise: str
    maximum_rows: int
    rows_per_person: int
    queries: tuple[Query, ...]
    vertical: Vertical | None = None

    @property
    def is_exact(self) -> bool:
        """Whether results are released without noise."""
        return self.noise == "none"

    @property
    def neighbours(self) -> Neighbours:
        """What the guarantee is about; how many rows each side has is secret unless rows are matched."""
        if self.vertical is not None:
            return self.vertical.neighbours
        return Neighbours(self.rows_per_person, rows_public=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the queries name, each once."""
        return tuple(dict.fromkeys(name for query in self.queries for name in query.all_columns))

    @property
    def names(self) -> tuple[str, ...]:
        """What people call the figures: a table one is one of them."""
        return tuple(dict.fromkeys(q.entry.table if q.entry else q.name for q in self.queries))

    @property
    def keeps_missing(self) -> frozenset[str]:
        """The columns of which missing cells are counted, so that their rows are kept."""
        return frozenset(
            condition.column
            for query in self.queries
            for condition in query.where
            if isinstance(condition, Presence)
        )

    @property
    def sorts_by(self) -> frozenset[str]:
        """The columns by whose values exact tables sort rows: of bins and labels, of `by` and `where`."""
        if not self.is_exact:
            return frozenset()
        found = {name for query in self.queries if query.kind in SORTING_KINDS for name in query.columns}
        return frozenset(found.union(*((*query.by, *columns_of(query.where)) for query in self.queries)))

    @property
    def asked(self) -> Asked:
        """What the job asks for, in words of policies."""
        bounded = any(bound is not None for q in self.queries for bound in (*q.lower, *q.upper))
        keys = frozenset(() if self.vertical is None else self.vertical.match.columns)
        said = ((Stated.WHERE, any(q.where for q in self.queries)), (Stated.BOUNDS, bounded))
        return Asked(
            queries=frozenset(table_one.KIND if q.entry is not None else q.kind for q in self.queries),
            keys=keys,
            values=keys & frozenset(self.columns),
            states=frozenset(word for word, holds in said if holds),
        )

    def columns_of(self, role: Role) -> tuple[str, ...]:
        """The columns that a side brings."""
        return self.columns if self.vertical is None else self.vertical.columns(role)


def parse(parameters: Mapping[str, Any]) -> StatisticsParameters:
    """Check the `[parameters]` of a job.

    Raises:
        UsageError: a key is unknown or missing, or a value impossible; names the place.
    """
    layout = take(parameters, "layout", str, "parameters", HORIZONTAL)
    if layout not in LAYOUTS:
        raise UsageError(
            f"parameters.layout cannot be {layout!r}.", f"Choose one of {', '.join(map(repr, LAYOUTS))}."
        )
    further = KEYS if layout == VERTICAL else ("rows_per_person",)
    reject_unknown(parameters, {*_KEYS, *further}, f"parameters ({layout})")
    vertical = parse_vertical(parameters) if layout == VERTICAL else None
    noise = parameters.get("noise", "laplace")
    if noise not in NOISES:
        raise UsageError(
            "parameters.noise is not a known kind of noise.", f"Choose one of {', '.join(NOISES)}."
        )
    if noise == "none" and "rows_per_person" in parameters:
        raise UsageError(
            "parameters.rows_per_person is only for jobs with noise: exact figures take in all rows.",
            "Leave it out, or add epsilon.",
        )
    budget = _budget(parameters, noise)
    tables = parameters.get("queries")
    if not isinstance(tables, Sequence) or isinstance(tables, str) or not 1 <= len(tables) <= MAX_QUERIES:
        raise UsageError(
            f"parameters.queries must hold 1 to {MAX_QUERIES} queries.",
            "Write [[parameters.queries]] tables.",
        )
    places = [f"parameters.queries[{index}]" for index in range(len(tables))]
    for table, place in zip(tables, places, strict=True):
        check_keys(table, place)
    shares = _shares(tables, places)
    where = parse_where(parameters["where"], "parameters.where") if "where" in parameters else ()
    queries: tuple[Query, ...] = ()
    for table, place, share in zip(tables, places, shares, strict=True):
        loss = Loss(budget.epsilon * share, rho=budget.rho * share)
        if table["kind"] == table_one.KIND:
            queries += table_one.expand(table, place, loss, where)
        else:
            queries += (parse_query(table, place, loss, where),)
    queries = table_one.with_presence(queries)
    if vertical is not None:
        check_columns(vertical, queries, noise)
    _check_queries(queries, noise)
    rows = _whole(parameters, "maximum_rows", DEFAULT_MAX_ROWS, MAX_ROWS)
    per_person = _whole(parameters, "rows_per_person", 1, MAX_ROWS_PER_PERSON)
    total = budget + Loss(delta=MAX_DELTA) if budget else budget
    parsed = StatisticsParameters(total, noise, rows, per_person, queries, vertical)
    if vertical is None and not parsed.columns:
        raise UsageError(
            "No query names a column, so there are no rows to count.",
            'Name the column of the count, as in column = "...".',
        )
    return parsed


def parameters_schema() -> Document:
    """JSON Schema of `[parameters]`: which keys it has, by the layout."""
    said: Document = {"noise": {"enum": [*NOISES]}, "queries": {"type": "array", "items": query_schema()}}
    horizontal = {"rows_per_person": {"type": "integer"}, "layout": {"const": HORIZONTAL}}
    vertical = {**Tables(Vertical).schema["properties"], "layout": {"const": VERTICAL}}
    return {
        "anyOf": [
            keys_schema(sorted(_KEYS), ("queries",), **said, **horizontal),
            keys_schema(sorted(_KEYS), ("queries", "layout"), **said, **vertical),
        ]
    }


def _budget(parameters: Mapping[str, Any], noise: str) -> Loss:
    """The loss that the queries share."""
    given = {key for key in ("epsilon", "delta", "rho") if key in parameters}
    if noise == "none":
        if given:
            raise UsageError(
                "parameters.noise is 'none', so epsilon, delta and rho have no meaning.",
                "Remove them, or choose a noise.",
            )
        return Loss()
    if noise == "laplace":
        reject_unknown(dict.fromkeys(given), {"epsilon"}, "parameters (laplace)")
        return Loss(_epsilon(parameters))
    if given == {"rho"}:
        rho = loss_term(parameters["rho"], "parameters.rho")
        if rho > MAX_EPSILON:
            raise UsageError(
                f"parameters.rho is above {MAX_EPSILON}.", "Lower it: so large a loss protects nobody."
            )
        return Loss(rho=rho)
    if given != {"epsilon", "delta"}:
        raise UsageError(
            "Gaussian noise needs either parameters.rho, or parameters.epsilon and parameters.delta.",
            'Write rho = "1/100", or epsilon = "1" and delta = "1/1000000".',
        )
    delta = loss_term(parameters["delta"], "parameters.delta")
    if not MAX_DELTA < delta < 1:
        raise UsageError(
            "parameters.delta is not between 2**-40 and 1.", 'Write, for example, delta = "1/1000000".'
        )
    return Loss(rho=rho_within(_epsilon(parameters), delta - MAX_DELTA))


def _epsilon(parameters: Mapping[str, Any]) -> Fraction:
    if "epsilon" not in parameters:
        raise UsageError("parameters.epsilon is missing.", 'Write the total, such as epsilon = "1.0".')
    epsilon = loss_term(parameters["epsilon"], "parameters.epsilon")
    if epsilon > MAX_EPSILON:
        raise UsageError(
            f"parameters.epsilon is above {MAX_EPSILON}.", "Lower it: so large a loss protects nobody."
        )
    return epsilon


def _whole(parameters: Mapping[str, Any], key: str, default: int, most: int) -> int:
    value = parameters.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise UsageError(f"parameters.{key} is out of range.", f"Use a whole number from 1 to {most}.")
    return value


def _shares(tables: Sequence[Mapping[str, Any]], places: Sequence[str]) -> list[Fraction]:
    """Every query's part of the loss: equal, or by shares that all queries state and that sum to 1."""
    stated = [place for table, place in zip(tables, places, strict=True) if "share" in table]
    if not stated:
        return [Fraction(1, len(tables))] * len(tables)
    if len(stated) < len(tables):
        missing = next(place for place in places if place not in stated)
        raise UsageError(
            f"{missing}.share is missing while other queries state theirs.",
            "Give every query a share, or none of them.",
        )
    shares = [
        loss_term(table["share"], f"{place}.share") for table, place in zip(tables, places, strict=True)
    ]
    if sum(shares) != 1:
        raise UsageError("The shares of epsilon do not sum to 1.", "Correct the queries' shares.")
    return shares


def _check_queries(queries: Sequence[Query], noise: str) -> None:
    if noise == "none" and len(queries) > 1 and any(query.follow_up is not None for query in queries):
        raise UsageError(
            "Without noise a query about survival is the only one of its job.",
            "Ask for the others in jobs of their own, or add noise.",
        )
    seen: set[str] = set()
    for query in queries:
        if query.name in seen:
            raise UsageError(f"Two queries are called {query.name!r}.", "Give each its own name.")
        seen.add(query.name)
        if noise == "none" and query.entry is not None:
            raise UsageError(
                f"Query {query.entry.table!r}: a table-one is not released without noise.",
                f"Choose a noise; without it there are {', '.join(EXACT_KINDS)}.",
            )
        if noise == "none" and any(bound is not None for bound in (*query.lower, *query.upper)):
            raise UsageError(
                f"Query {query.name!r}: lower and upper need noise. Without it the bounds are those that the "
                "catalogs declare, by which limits are measured.",
                "Leave lower and upper out, or add noise.",
            )
        if noise != "none" and query.kind in POOLED_KINDS:
            raise UsageError(
                f"Query {query.name!r}: a {query.kind} pools strata that nobody sees, and has no noise.",
                'Choose noise = "none"; or ask for risks by stratum, with where.',
            )
        if noise == "none" and query.kind not in EXACT_KINDS:
            raise UsageError(
                f"Query {query.name!r}: a {query.kind} is not released without noise.",
                f"Choose a noise; without it there are {', '.join(EXACT_KINDS)}.",
            )
