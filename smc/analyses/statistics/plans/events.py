"""From queries about an event, a label of a column, to statistics."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from smc.analyses.statistics.kinds.bins import Bins
from smc.analyses.statistics.kinds.mantel_haenszel import MantelHaenszel
from smc.analyses.statistics.kinds.risks import Risks
from smc.analyses.statistics.kinds.standardised import (
    RATE_DIGITS,
    Rates,
    StandardisedCells,
    StandardisedRatio,
)
from smc.analyses.statistics.kinds.standardised_rates import StandardisedRates
from smc.analyses.statistics.kinds.statistic import Statistic
from smc.analyses.statistics.kinds.ttest import two_labels
from smc.analyses.statistics.queries.asked import Query
from smc.analyses.studies.columns import Schema
from smc.errors import UsageError

MAX_STRATA: Final = 10_000


def of_events(query: Query, schemas: tuple[Schema, ...], changes: int, *, exact: bool) -> Statistic:
    """The statistic of a query of a kind about an event.

    Args:
        query: the query.
        schemas: of its columns.
        changes: as of `Statistic`.
        exact: whether there is no noise.

    Raises:
        UsageError: the query does not fit its columns.
    """
    first, second, *others = schemas
    event = _event(query, second)
    if query.kind == "risks":
        return Risks(query, schemas, changes, (two_labels(query, first, 0), event))
    if query.kind == "mantel-haenszel":
        groups = two_labels(query, first, 0)
        return MantelHaenszel(query, schemas, changes, groups, event, _strata(query, others))
    if query.kind == "standardised-rates":
        (strata,) = _strata(query, others)
        bins = (two_labels(query, first, 0), event, strata)
        _check_labels(query, strata.labels, query.columns[2])
        given, total = dict(query.rates), sum(weight for _, weight in query.rates)
        weights = tuple(float(given[label] / total) for label in strata.labels)
        return StandardisedRates(query, schemas, changes, bins, weights)
    rates = _rates(query, first)
    if exact:
        strata = Bins.of_labels(first, first.categories)
        return StandardisedCells(query, schemas, changes, (strata, event), rates)
    return StandardisedRatio(query, schemas, changes, event, rates)


def _strata(query: Query, schemas: Sequence[Schema]) -> tuple[Bins, ...]:
    for column, schema in zip(query.columns[2:], schemas, strict=True):
        if schema.kind != "category" or not schema.categories:
            raise UsageError(
                f"Query {query.name!r}: strata are labels, but column {column!r} is declared {schema.kind}.",
                "Name a category column, or derive one by cuts of a number.",
            )
    if prod(len(schema.categories) for schema in schemas) > MAX_STRATA:
        raise UsageError(
            f"Query {query.name!r} has more than {MAX_STRATA} strata.", "Use columns of fewer labels."
        )
    return tuple(Bins.of_labels(schema, schema.categories) for schema in schemas)


def _event(query: Query, schema: Schema) -> Bins:
    (label,) = query.categories[1]
    if schema.kind != "category" or label not in schema.categories or len(schema.categories) < 2:
        raise UsageError(
            f"Query {query.name!r}: event {label!r} is not a label of column {query.columns[1]!r}, or its "
            "only one.",
            "Name a category column, or derive one by cuts of a number, and one of its labels.",
        )
    return Bins.of_event(schema, label)


def _check_labels(query: Query, labels: Sequence[str], column: str) -> None:
    if {label for label, _ in query.rates} != set(labels):
        raise UsageError(
            f"Query {query.name!r}: rates or weights are not those of the labels of column {column!r}.",
            "Name a category column, or derive one by cuts of a number, and give each of its labels one.",
        )


def _rates(query: Query, schema: Schema) -> Rates:
    given, labels = dict(query.rates), schema.categories
    _check_labels(query, labels, query.columns[0])
    for digits in range(RATE_DIGITS + 1):
        held = [given[label] * 10**digits for label in labels]
        if all(rate.denominator == 1 for rate in held):
            return Rates(tuple(map(int, held)), digits)
    raise UsageError(
        f"Query {query.name!r}: a rate has more than {RATE_DIGITS} decimals.", "Round it to as many."
    )
