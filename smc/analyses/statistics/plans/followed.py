"""From a query about survival and declared columns to the cells that its rows are counted in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Final

from smc.analyses.statistics.kinds.survival.layout import MAX_STEPS, Endings, Labels, SurvivalCells
from smc.analyses.statistics.plans.groups import groups, schema_of
from smc.analyses.statistics.queries.asked import Query
from smc.analyses.statistics.queries.follow_up import FollowUp
from smc.analyses.studies.columns import Schema
from smc.errors import UsageError

_NUMERIC: Final = ("integer", "decimal")


def layout_of(query: Query, asked: FollowUp, schemas: Mapping[str, Schema], step: Fraction) -> SurvivalCells:
    """The cells of a query about survival.

    Args:
        query: the query.
        asked: what it asks.
        schemas: of its columns.
        step: of the times, where the query states none, in their real unit; it divides `every`.

    Raises:
        UsageError: a column is of another kind, or the steps do not fit it.
    """
    time, event = (schema_of(query, name, schemas) for name in (asked.time, asked.event))
    if time.kind not in _NUMERIC or time.is_date or (time.lower is None or time.lower < 0):
        raise UsageError(
            f"Query {query.name!r}: column {asked.time!r} is not one of times from 0 on.",
            "Name an integer or decimal column that is declared with lower = 0 or more, or derive the days "
            "or years between two dates, with lower = 0.",
        )
    width = asked.step or step
    held = width * 10**time.scale
    if held.denominator != 1:
        raise UsageError(
            f"Query {query.name!r}: a step of {width} has more decimals than column {asked.time!r}.",
            f"Use times with {time.scale} decimals.",
        )
    steps = asked.until / width
    if steps > MAX_STEPS:
        raise UsageError(
            f"Query {query.name!r} has more than {MAX_STEPS} steps.",
            "Set a longer step, which divides every.",
        )
    return SurvivalCells(
        asked.time,
        asked.event,
        _endings(query, asked, event),
        _labels(query, asked.by, schemas),
        _labels(query, asked.strata, schemas),
        int(held),
        int(steps),
        int(asked.every / width),
    )


def _labels(query: Query, by: tuple[str, ...], schemas: Mapping[str, Schema]) -> Labels:
    names, codes = groups(replace(query, by=by), schemas)
    return Labels(names, by, codes)


def _endings(query: Query, asked: FollowUp, schema: Schema) -> Endings:
    if schema.kind == "integer" and not asked.events and (schema.lower, schema.upper) == (0, 1):
        return Endings((frozenset({1}),))
    if schema.kind != "category" or not asked.events:
        raise UsageError(
            f"Query {query.name!r}: column {asked.event!r} does not say how the follow-up of a row ended.",
            "Name an integer column of 0 and 1, declared with lower = 0 and upper = 1, or a category column, "
            'and in events its labels that are the event, such as events = ["died"].',
        )
    unknown = [label for label in (*asked.events, *asked.competing) if label not in schema.categories]
    if unknown:
        raise UsageError(
            f"Query {query.name!r}: column {asked.event!r} has no label {unknown[0]!r}.",
            f"Choose among {', '.join(schema.categories[:20])}.",
        )
    place = schema.categories.index
    return Endings(
        (frozenset(map(place, asked.events)), *(frozenset({place(label)}) for label in asked.competing))
    )
