"""Declarations that the queries of a job would fit, for columns whose own are not known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil
from typing import Any, Final

from smc.analyses.records.conditions import days
from smc.analyses.records.numbers import number
from smc.analyses.statistics.queries.asked import Query
from smc.analyses.statistics.queries.query import OF_EVENTS
from smc.analyses.studies.columns import DAYS, Schema
from smc.errors import UsageError
from smc.protocols.exchange.bounds import MAX_SCALE

_ASSUMED_LABELS: Final = 8
_ASSUMED_UPPER: Final = 1000


def assume(name: str, queries: Sequence[Query]) -> Schema:
    """A declaration that the queries would fit: the labels and decimals that they name, or some."""
    labels: dict[str, None] = {}
    numbers: list[Fraction] = []
    spare = 0
    for query in queries:
        spare = spare or _ASSUMED_LABELS * (name in query.by)
        for place, column in enumerate(query.columns):
            if column != name:
                continue
            edges = query.edges[place]
            labels |= dict.fromkeys(query.categories[place])
            bounds = (query.lower[place], query.upper[place], query.step)
            followed = query.follow_up
            if followed is not None and place == 0:
                numbers += [each for each in (followed.every, followed.until, followed.step) if each]
            elif followed is not None and place == 1 and not followed.events:
                return Schema("integer", lower=0, upper=1)
            elif followed is not None:
                labels |= dict.fromkeys((*followed.events, *followed.competing) if place == 1 else ())
                spare = spare or _ASSUMED_LABELS
            numbers += [*edges, *(bound for bound in bounds if bound is not None)]
            if query.kind == "t-test" and place == 1:
                spare = 2
            elif query.kind in OF_EVENTS:
                spare = 2
                of_rates = place == (0 if query.kind == "standardised-ratio" else 2)
                labels |= dict.fromkeys(label for label, _ in query.rates if of_rates)
                labels |= dict.fromkeys(f"not {label}" for label in query.categories[place] if place == 1)
            elif query.kind in ("histogram", "crosstab") and not edges:
                spare = spare or _ASSUMED_LABELS
    compared = [each for query in queries for part in query.where for each in part.comparisons]
    constants = [value for each in compared if each.column == name for value in each.constants]
    if all(_is(days, value) for value in constants) and constants:
        return Schema("integer", unit=DAYS)
    if spare or not all(_is(number, value) for value in constants):
        assumed = (str(place) for place in range(1, spare + 1))
        return Schema(
            "category", categories=tuple(dict.fromkeys((*map(str, constants), *(labels or assumed))))
        )
    numbers += [number(value, name) for value in constants]
    scale = _scale(numbers)
    reach = max(_ASSUMED_UPPER, *(ceil(abs(each)) for each in numbers), 0) * 10**scale
    return Schema("decimal", scale, -reach if min(numbers, default=0) < 0 else 0, reach)


def _scale(numbers: Sequence[Fraction]) -> int:
    """The decimals that numbers need."""
    scale = 0
    while scale < MAX_SCALE and any((each * 10**scale).denominator > 1 for each in numbers):
        scale += 1
    return scale


def _is(read: Callable[[Any, str], object], value: str | int) -> bool:
    try:
        read(value, "")
    except UsageError:
        return False
    return True
