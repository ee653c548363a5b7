"""What a run over matched rows costs: rounds, bytes, time and memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import Any, Final

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.records.conditions import days
from smc.analyses.records.numbers import number
from smc.analyses.statistics.plans import noisy
from smc.analyses.statistics.queries.parameters import StatisticsParameters
from smc.analyses.statistics.queries.query import Query
from smc.analyses.statistics.queries.vertical import Vertical
from smc.analyses.statistics.vertical import sums as vertical_sums
from smc.analyses.statistics.vertical.run import planned
from smc.analyses.statistics.vertical.schemas import written
from smc.analyses.statistics.vertical.terms import pairs
from smc.analyses.studies.columns import DAYS, Schema
from smc.analyses.studies.estimates import Pace, estimated, sides
from smc.analyses.studies.memory import MEBI, Memory
from smc.analyses.studies.study import Estimate
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.coins import TOSS_COST
from smc.protocols.exchange.bounds import MAX_SCALE
from smc.protocols.exchange.row_counts import counts_cost
from smc.protocols.exchange.texts import texts_cost
from smc.protocols.spec import Cost
from smc.secret import msb, opening
from smc.secret.bits import BOTH
from smc.secret.bounds import LIMIT, Bounds

_ROUTE: Final = "rows aligned in secret by their keys; secret products; joint noise; open to recipients"
_PACE: Final = Pace(0.07, byte=6.2e-9, numpy=1.2)
_FIXED_MEMORY: Final = 20 * MEBI
_ROW_MEMORY: Final = 400
_FEATURE_MEMORY: Final = 64
_FEATURE_BIT_MEMORY: Final = 3
_ASSUMED_LABELS: Final = 8
_ASSUMED_UPPER: Final = 1000


def run_cost(
    parameters: StatisticsParameters,
    vertical: Vertical,
    schemas: Mapping[str, Schema],
    recipients: frozenset[Role],
    counts: tuple[int, int],
    limits: Limits = NO_LIMITS,
) -> Cost:
    """The exact cost of a run in a fresh session, without what the gate sends.

    Args:
        parameters: as parsed.
        vertical: as parsed.
        schemas: the declared columns of both sides.
        recipients: who gets the results.
        counts: rows of Alice and of Bob.
        limits: of both policies.
    """
    counting = {"counts_matches": limits.minimum_intersection > 0, "counts_groups": limits.minimum_group > 0}
    plans = planned(parameters, schemas, **counting)
    lengths = [len(written(schemas[name] for name in vertical.values(role))) for role in Role]
    total = counts_cost(2) + texts_cost(*lengths) + TOSS_COST
    wanted = [pair for each in plans for pair in pairs(each, vertical.alice)]
    total += vertical_sums.cost(wanted, *counts) + noisy.noise_cost(plans) + noisy.seed_cost(plans)
    if limits.minimum_intersection:
        half = Bounds(1 - LIMIT // 2, LIMIT // 2 - 1)
        least = Bounds(limits.minimum_intersection, limits.minimum_intersection)
        total += msb.cost_nonnegative(1, half - least) + opening.cost_bits(1, BOTH)
        plans = plans[1:]
    return total + noisy.opening_cost(plans, limits.minimum_group, recipients)


def estimate(
    parameters: StatisticsParameters,
    vertical: Vertical,
    schemas: Mapping[str, Schema],
    recipients: frozenset[Role],
    rows: int,
    limits: Limits,
) -> Estimate:
    """As of a run that no limit stops; columns of the other side that are not given are assumed."""
    names = (*vertical.alice, *vertical.bob)
    every = {name: schemas.get(name) or _assumed(name, parameters.queries) for name in names}
    counts = sides(rows)
    total = run_cost(parameters, vertical, every, recipients, counts, limits)
    memory = Memory(_FIXED_MEMORY, _ROW_MEMORY + _feature_memory(parameters, vertical, every))
    return estimated(total, _PACE.seconds(total), _ROUTE, memory.at(max(counts)))


def _feature_memory(
    parameters: StatisticsParameters, vertical: Vertical, schemas: Mapping[str, Schema]
) -> int:
    """Of a row, for the features of the party that does not own the table of keys, which are aligned."""
    plans = planned(parameters, schemas, counts_matches=False, counts_groups=False)
    wanted = [pair for each in plans for pair in pairs(each, vertical.alice)]
    bounds = [vertical_sums.FeatureLayout.of(wanted, owner).other_bounds for owner in Role]
    return max(
        sum(_FEATURE_MEMORY + _FEATURE_BIT_MEMORY * feature.span_bits for feature in features)
        for features in bounds
    )


def _assumed(name: str, queries: Sequence[Query]) -> Schema:
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
            numbers += [*edges, *(bound for bound in bounds if bound is not None)]
            if query.kind == "t-test" and place == 1:
                spare = 2
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
    scale = 0
    while scale < MAX_SCALE and any((each * 10**scale).denominator > 1 for each in numbers):
        scale += 1
    reach = max(_ASSUMED_UPPER, *(ceil(abs(each)) for each in numbers), 0) * 10**scale
    return Schema("decimal", scale, -reach if min(numbers, default=0) < 0 else 0, reach)


def _is(read: Callable[[Any, str], object], value: str | int) -> bool:
    try:
        read(value, "")
    except UsageError:
        return False
    return True
