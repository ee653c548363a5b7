"""From parsed queries and declared columns to statistics with their noise, checked against overflow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Final

from smc.analyses.records.held_conditions import Where
from smc.analyses.records.real_units import real
from smc.analyses.statistics.kinds.bins import Bins
from smc.analyses.statistics.kinds.crosstabs import Cells, CrossTable
from smc.analyses.statistics.kinds.moments import (
    Correlation,
    Covariance,
    Deviation,
    Mean,
    Variance,
    WeightedMean,
)
from smc.analyses.statistics.kinds.quantiles import Quantile
from smc.analyses.statistics.kinds.regression import Regression
from smc.analyses.statistics.kinds.statistic import Part, Statistic, additive
from smc.analyses.statistics.kinds.summary import Summary
from smc.analyses.statistics.kinds.sums import Clamp, Clamped, ClampedSum, Count
from smc.analyses.statistics.kinds.survival.statistic import Survival
from smc.analyses.statistics.kinds.ttest import TTest, two_labels
from smc.analyses.statistics.plans.events import of_events
from smc.analyses.statistics.plans.followed import layout_of
from smc.analyses.statistics.plans.groups import MAX_ENTRIES, groups, schema_of
from smc.analyses.statistics.plans.planned import COUNT_WEIGHT, Planned
from smc.analyses.statistics.queries.asked import Query
from smc.analyses.statistics.queries.parameters import MAX_DELTA, StatisticsParameters
from smc.analyses.statistics.queries.query import MAX_POINTS, OF_EVENTS
from smc.analyses.studies.columns import Schema
from smc.analyses.studies.loss import Loss
from smc.errors import UsageError

MIN_STATED_DELTA: Final = Fraction(1, 1 << 30)
"""The guarantee of a job with Gaussian noise may be stated for this delta and larger ones."""

DEFAULT_POINTS: Final = 1024
"""Candidates of a quantile whose query does not state a step."""

_NUMERIC: Final = ("integer", "decimal")
_CLAMPED: Final[Mapping[str, type[Clamped]]] = {
    "sum": ClampedSum,
    "mean": Mean,
    "weighted-mean": WeightedMean,
    "variance": Variance,
    "deviation": Deviation,
    "summary": Summary,
    "covariance": Covariance,
    "correlation": Correlation,
    "regression": Regression,
}


def plan(
    parameters: StatisticsParameters, schemas: Mapping[str, Schema], *, counted: bool = False
) -> tuple[Planned, ...]:
    """Resolve all queries of a job with noise.

    Args:
        parameters: the parsed parameters.
        schemas: the declared columns, which both sides share.
        counted: whether every group's rows are to be counted, for a limit on the size of groups.

    Raises:
        UsageError: a query does not fit its columns, or a total could leave 63 bits.
    """
    found = [_plan(query, parameters, schemas, counted=counted) for query in parameters.queries]
    if sum(planned.words for planned in found) > MAX_ENTRIES:
        raise UsageError(
            f"The queries ask for more than {MAX_ENTRIES} numbers.", "Use several jobs, or fewer bins."
        )
    if sum((planned.delta for planned in found), Decimal(0)) > Decimal(1) / MAX_DELTA.denominator:
        raise UsageError(
            "Drawing the noise from 64-bit words would make delta larger than 2**-40.",
            "Lower epsilon or rho, or ask fewer queries, candidates or bins.",
        )
    return tuple(found)


def _plan(
    query: Query, parameters: StatisticsParameters, schemas: Mapping[str, Schema], *, counted: bool
) -> Planned:
    statistic = resolve(query, parameters, schemas)
    distribution = None
    if counted and statistic.counts is None:
        distribution = additive(query.loss, Part(1, 1, COUNT_WEIGHT), parameters.neighbours.changes)
        rest = 1 - COUNT_WEIGHT
        reduced = Loss(query.loss.epsilon * rest, rho=query.loss.rho * rest)
        statistic = replace(statistic, query=replace(query, loss=reduced))
    if statistic.largest(parameters.maximum_rows) >= 1 << 63:
        raise UsageError(
            f"Query {query.name!r} could exceed 63 bits: 2 * maximum_rows * bound + noise is too large.",
            "Lower maximum_rows, clamp to narrower bounds, or raise epsilon.",
        )
    epsilon = parameters.loss.epsilon_at(MIN_STATED_DELTA) if parameters.loss.rho else query.loss.epsilon
    bound = conditions(query, schemas)
    return Planned(query, statistic, *groups(query, schemas), distribution, epsilon, bound)


def conditions(query: Query, schemas: Mapping[str, Schema]) -> Where:
    """The conditions of a query on held values.

    Raises:
        UsageError: a constant does not fit its column.
    """
    return tuple(condition.bind(schemas, f"Query {query.name!r}") for condition in query.where)


def resolve(query: Query, parameters: StatisticsParameters, schemas: Mapping[str, Schema]) -> Statistic:
    """The statistic of a query.

    Raises:
        UsageError: the query does not fit its columns.
    """
    own = tuple(schema_of(query, column, schemas) for column in query.columns)
    common = (query, own, parameters.neighbours.changes)
    if query.kind == "count":
        return Count(*common)
    if query.kind in ("histogram", "crosstab"):
        bins = tuple(_bins(query, place, schema) for place, schema in enumerate(own))
        return (CrossTable if query.kind == "crosstab" else Cells)(*common, bins)
    if query.kind in OF_EVENTS:
        return of_events(*common, exact=parameters.is_exact)
    if query.follow_up is not None:
        finest = Fraction(1, 10 ** own[0].scale)
        usual = finest if parameters.is_exact else query.follow_up.every
        return Survival(*common, layout_of(query, query.follow_up, schemas, usual))
    return _clamp_statistic(*common, parameters.maximum_rows)


def _clamp_statistic(query: Query, own: tuple[Schema, ...], changes: int, maximum_rows: int) -> Statistic:
    common = (query, own, changes)
    if query.kind == "t-test":
        return TTest(*common, (_clamp(query, 0, own[0]),), two_labels(query, own[1], 1))
    clamps = tuple(_clamp(query, place, schema) for place, schema in enumerate(own))
    if query.kind == "weighted-mean":
        clamps = (clamps[0], _weights(query, clamps[1]))
    if query.kind in _CLAMPED:
        return _CLAMPED[query.kind](*common, clamps)
    step = _step(query, clamps[0], own[0])
    return Quantile(*common, clamps[0].lower, clamps[0].upper, step, maximum_rows)


def _to_held(value: Fraction, query: Query, place: int, schema: Schema, what: str) -> int:
    held = value * 10**schema.scale
    if held.denominator != 1:
        raise UsageError(
            f"Query {query.name!r}: {what} has more decimals than column {query.columns[place]!r}, which "
            f"has {schema.scale}.",
            "Round it to as many.",
        )
    return int(held.numerator)


def _clamp(query: Query, place: int, schema: Schema) -> Clamp:
    column = query.columns[place]
    if schema.kind not in _NUMERIC:
        raise UsageError(
            f"Query {query.name!r}: a {query.kind} needs a number, column {column!r} is declared "
            f"{schema.kind}.",
            "Name an integer or decimal column.",
        )
    if query.kind == "summary" and schema.is_date:
        raise UsageError(
            f"Query {query.name!r}: column {column!r} holds dates, which have no deviation in their unit.",
            "Derive days, years or groups from it, and name these.",
        )
    ends = []
    for side, stated, declared in (
        ("lower", query.lower[place], schema.lower),
        ("upper", query.upper[place], schema.upper),
    ):
        if stated is not None:
            ends.append(_to_held(stated, query, place, schema, side))
        elif declared is not None:
            ends.append(declared)
        else:
            raise UsageError(
                f"Query {query.name!r}: neither the query nor column {column!r} has a {side} bound.",
                f"Set {side} in the query, or declare it in the catalog.",
            )
    clamp = Clamp(ends[0], ends[1], schema.scale)
    fixed = query.kind == "sum" and clamp.lower == clamp.upper != 0
    if clamp.lower >= clamp.upper and not fixed:
        raise UsageError(
            f"Query {query.name!r}: the bounds leave at most one value.", "Set lower below upper."
        )
    return clamp


def _weights(query: Query, clamp: Clamp) -> Clamp:
    if clamp.lower < 0:
        raise UsageError(
            f"Query {query.name!r}: column {query.columns[1]!r} may be below 0, and weights are not.",
            "Declare lower = 0 in the catalog, or state it in the query.",
        )
    return Clamp.of_weights(clamp.upper, clamp.scale)


def _step(query: Query, clamp: Clamp, schema: Schema) -> int:
    span = clamp.upper - clamp.lower
    if query.step is None:
        return max(1, -(-span // ((query.points or DEFAULT_POINTS) - 1)))
    step = _to_held(query.step, query, 0, schema, "the step")
    if span // step >= MAX_POINTS:
        raise UsageError(
            f"Query {query.name!r} has more than {MAX_POINTS} candidates.",
            "Widen the step or narrow the bounds.",
        )
    return step


def _bins(query: Query, place: int, schema: Schema) -> Bins:
    column, edges, labels = query.columns[place], query.edges[place], query.categories[place]
    if schema.kind == "category":
        chosen = labels or schema.categories
        if edges or not chosen or not set(chosen) <= set(schema.categories):
            raise UsageError(
                f"Query {query.name!r}: column {column!r} has labels, but the query has edges or "
                "unknown labels.",
                "Leave edges out, and take categories from the column's declaration.",
            )
        return Bins.of_labels(schema, chosen)
    if schema.kind not in _NUMERIC or not edges:
        raise UsageError(
            f"Query {query.name!r}: a {query.kind} of column {column!r}, declared {schema.kind}, "
            "does not fit.",
            "Give edges for an integer or decimal column; count labels of a category column.",
        )
    held = tuple(_to_held(edge, query, place, schema, "an edge") for edge in edges)
    names = [str(real(edge, schema.scale)) for edge in held]
    closing = [")"] * (len(held) - 2) + ["]"]
    return Bins(tuple(f"[{a}, {b}{end}" for a, b, end in zip(names, names[1:], closing, strict=False)), held)


def check_alike(query: Query, alice: Mapping[str, Schema], bob: Mapping[str, Schema], *, noisy: bool) -> None:
    """Check that both sides declare the query's columns so that their numbers add up.

    Args:
        query: as asked.
        alice: columns of Alice's side by name.
        bob: those of Bob's.
        noisy: whether there is noise, without which a query states no bounds.

    Raises:
        UsageError: a side lacks a column, or the declarations differ in what the query depends on.
    """
    for column in query.all_columns:
        for side, schemas in (("Alice", alice), ("Bob", bob)):
            if column not in schemas:
                raise UsageError(
                    f"Query {query.name!r}: {side} has no column {column!r}.",
                    "Add it to that side of the job.",
                )
        differing = _differences(alice[column], bob[column], _depends_on(query, column))
        if differing:
            stated = (
                " or state the bound in the query" if noisy and differing[0] in ("lower", "upper") else ""
            )
            raise UsageError(
                f"Query {query.name!r}: Alice and Bob declare {differing[0]} of {column!r} differently.",
                f"Declare the columns alike{stated}.",
            )


def _depends_on(query: Query, column: str) -> list[str]:
    fields = ["kind", "scale", "unit", "categories"]
    if (
        query.kind not in ("count", "histogram", "crosstab", "survival", *OF_EVENTS)
        and column in query.columns
    ):
        place = query.columns.index(column)
        fields += [name for name in ("lower", "upper") if getattr(query, name)[place] is None]
    return fields


def _differences(alice: Schema, bob: Schema, fields: Sequence[str]) -> list[str]:
    return [name for name in fields if getattr(alice, name) != getattr(bob, name)]
