"""What figures about an intersection cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from smc.analyses.disclosure.costs import SumShape, cost_test
from smc.analyses.disclosure.crowds import BESIDE_BOUNDS
from smc.analyses.disclosure.limits import Limits
from smc.analyses.matching.aggregates.parameters import (
    SHARES,
    SIZE,
    STATISTICS,
    AggregateParameters,
    FigureParameters,
    declared,
    distributions,
)
from smc.analyses.records.joint_keys import ALIGNED_MEMORY, KEYING_COST, KEYING_SECONDS
from smc.analyses.studies.columns import Schema
from smc.analyses.studies.estimates import Pace, estimated, sides
from smc.analyses.studies.memory import Memory
from smc.analyses.studies.study import Estimate
from smc.forms import Role
from smc.protocols.exchange.bounds import declarations_cost
from smc.protocols.intersection import cuckoo
from smc.protocols.spec import Cost
from smc.secret import circuit_psi, majority, mux, noise, opening
from smc.secret.bounds import Bounds

_ROUTE: Final = "rows aligned in secret by their keys; sums over the intersection"
_PACE: Final = Pace(KEYING_SECONDS, byte=4.5e-9)
_SECONDS_PER_KEY: Final = 0.6e-6
_DIGIT_MEMORY: Final = 72
_UNKNOWN: Final = Bounds(-(1 << 31), 1 << 31)


def estimate(
    parameters: AggregateParameters,
    schemas: Mapping[str, Schema],
    recipients: frozenset[Role],
    rows: int,
    limits: Limits,
) -> Estimate:
    """Exact rounds and bytes of a run in a fresh session, where the declarations of all values are known.

    Args:
        parameters: as parsed.
        schemas: declarations by column name.
        recipients: who gets the results.
        rows: of each side.
        limits: of both policies, none of which stands against the result.
    """
    counts = sides(rows)
    total = KEYING_COST + aggregate_cost(parameters, schemas, recipients, counts, limits)
    more = _DIGIT_MEMORY * digits(parameters, schemas, limits)
    return estimated(
        total,
        _PACE.seconds(total) + _SECONDS_PER_KEY * max(counts),
        _ROUTE,
        Memory(ALIGNED_MEMORY.fixed, ALIGNED_MEMORY.row + more).at(max(counts)),
    )


def aggregate_cost(
    parameters: AggregateParameters,
    schemas: Mapping[str, Schema],
    recipients: frozenset[Role],
    counts: tuple[int, int],
    limits: Limits,
) -> Cost:
    """What the figures cost after `smc.analyses.records.joint_keys.key_rows`; exact in flights and bytes.

    Args:
        parameters: as parsed.
        schemas: declarations by column name; a column that has none is taken for one of 32-bit numbers.
        recipients: who gets the results.
        counts: rows of Alice and of Bob.
        limits: of both policies, none of which stands against the result.
    """
    columns = [len(parameters.value_columns(role)) for role in Role]
    total = declarations_cost(*columns) if parameters.values else Cost()
    bounds = spans_of(parameters, schemas)
    exact_sums = parameters.epsilon is None and parameters.output == STATISTICS
    weighs, counts_groups = (exact_sums and asked for asked in (limits.weighs, limits.counts_groups))
    aligned = list(columns)
    for value, span in zip(parameters.values, bounds, strict=True):
        further = (weighs and span.lower < 0) + counts_groups * (BESIDE_BOUNDS + span.span_bits)
        aligned[list(Role).index(value.side)] += further
    total += circuit_psi.cost(*counts, *aligned, fresh=True)
    fewer = min(counts)
    slots = cuckoo.bins_for(fewer)
    total += mux.cost_to_words(slots)
    noises = distributions(parameters, tuple(bounds))
    size = Bounds(0, fewer)
    if noises:
        total += noise.cost(noises)
        size += Bounds(-noises[0].bound, noises[0].bound)
    least = limits.minimum_intersection
    if parameters.output != SIZE:
        least = max(least, limits.minimum_group)
    sums = [SumShape(each, slots, fewer) for span in bounds for each in weighed(span)] if weighs else []
    apart = []
    if counts_groups:
        widths = [span.span_bits for span in bounds]
        total += majority.cost(slots, fewer, widths)
        apart = [Bounds(0, fewer)] * (BESIDE_BOUNDS * len(bounds))
        apart += [Bounds(0, fewer if width else 0) for width in widths]
    total += cost_test([(size, least)], limits, sums, apart)
    if parameters.output == SHARES:
        return total
    return total + opening.cost(1 + len(parameters.values), recipients)


def digits(parameters: AggregateParameters, schemas: Mapping[str, Schema], limits: Limits) -> int:
    """How many digits of values are secret columns of a run, to find the value that most matches have."""
    if parameters.epsilon is not None or parameters.output != STATISTICS or not limits.counts_groups:
        return 0
    return sum(span.span_bits for span in spans_of(parameters, schemas))


def spans_of(parameters: FigureParameters, schemas: Mapping[str, Schema]) -> list[Bounds]:
    """Bounds of all values as far as the declarations are known."""
    found = []
    for value in parameters.values:
        schema = schemas.get(value.column)
        each = None if schema is None else declared(value, schema)
        found.append(_UNKNOWN if each is None else Bounds(each.lower, each.upper))
    return found


def weighed(bounds: Bounds) -> list[Bounds]:
    """Of what is compared with a sum: distances from the lower bound, absolute values if it is negative."""
    distances = Bounds(0, bounds.upper - bounds.lower)
    return [distances, Bounds(0, bounds.magnitude)] if bounds.lower < 0 else [distances]
