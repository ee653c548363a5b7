"""What figures about the pairs of a tolerant matching cost."""

from __future__ import annotations

from collections.abc import Mapping

from smc.analyses.disclosure.costs import SumShape, cost_test
from smc.analyses.disclosure.crowds import BESIDE_BOUNDS
from smc.analyses.disclosure.limits import Limits
from smc.analyses.matching.aggregates.cost import spans_of, weighed
from smc.analyses.matching.aggregates.parameters import SIZE, STATISTICS
from smc.analyses.matching.linked.parameters import LinkedParameters
from smc.analyses.matching.tolerant.cost import cost_paired, memory, seconds
from smc.analyses.matching.tolerant.outcome import route
from smc.analyses.studies.columns import Schema
from smc.analyses.studies.estimates import estimated, sides
from smc.analyses.studies.memory import Memory
from smc.analyses.studies.study import Estimate
from smc.forms import Role
from smc.protocols.exchange.bounds import declarations_cost
from smc.protocols.exchange.row_counts import counts_cost
from smc.protocols.spec import Cost
from smc.protocols.transfer_costs import SETUP_COST
from smc.secret import majority, mux, opening
from smc.secret.bounds import Bounds

_COLUMN_MEMORY = 72
"""Bytes a row of a secret column of values, marks or digits."""


def estimate(
    parameters: LinkedParameters,
    schemas: Mapping[str, Schema],
    recipients: frozenset[Role],
    rows: int,
    limits: Limits,
) -> Estimate:
    """Exact rounds and bytes of a run over `rows` rows of each side; the rest as of `run_cost`."""
    counts = dict(zip(Role, sides(rows, least=1), strict=True))
    cost = run_cost(parameters, schemas, counts, recipients, limits)
    columns = sum(_columns(parameters, schemas, limits).values())
    pairing = memory(parameters.matching)
    whole = Memory(pairing.fixed, pairing.row + _COLUMN_MEMORY * columns)
    return estimated(
        cost,
        seconds(parameters.matching, cost),
        f"{route(parameters.matching)}; sums over the pairs",
        whole.at(max(counts.values())),
    )


def run_cost(
    parameters: LinkedParameters,
    schemas: Mapping[str, Schema],
    counts: Mapping[Role, int],
    recipients: frozenset[Role],
    limits: Limits,
) -> Cost:
    """The exact cost of a run in a fresh session, without the gate.

    Args:
        parameters: of the job.
        schemas: declarations by column name; a column that has none is taken for one of 32-bit numbers.
        counts: rows of each side, none 0.
        recipients: who gets the figures.
        limits: of both policies, none of which stands against the result.
    """
    figures = parameters.figures
    fewer = min(counts.values())
    total = counts_cost(1)
    if figures.values:
        total += declarations_cost(*(len(figures.value_columns(role)) for role in Role))
    total += SETUP_COST + cost_paired(parameters.matching, counts)
    weighs, counting = _asked(parameters, limits)
    total += mux.cost_to_words(counts[Role.ALICE])
    if weighs and any(value.side is Role.BOB for value in figures.values):
        total += mux.cost_to_words(counts[Role.BOB])
    for role, columns in _columns(parameters, schemas, limits).items():
        if columns:
            total += mux.cost(counts[role] * columns, role)
    spans = list(zip(figures.values, spans_of(figures, schemas), strict=True))
    distinguished = []
    for role in Role if counting else ():
        widths = [span.span_bits for value, span in spans if value.side is role]
        total += majority.cost(counts[role], fewer, widths)
        distinguished += [Bounds(0, fewer)] * (BESIDE_BOUNDS * len(widths))
        distinguished += [Bounds(0, fewer if width else 0) for width in widths]
    sums = [
        SumShape(each, counts[value.side], fewer) for value, span in spans if weighs for each in weighed(span)
    ]
    least = limits.minimum_intersection
    if figures.output != SIZE:
        least = max(least, limits.minimum_group)
    total += cost_test([(Bounds(0, fewer), least)], limits, sums, distinguished)
    return total + opening.cost(1 + len(figures.values), recipients)


def _asked(parameters: LinkedParameters, limits: Limits) -> tuple[bool, bool]:
    """Whether sums are weighed, and whether the rows that stand apart in them are counted."""
    sums = parameters.figures.output == STATISTICS
    return limits.weighs and sums, limits.counts_groups and sums


def _columns(parameters: LinkedParameters, schemas: Mapping[str, Schema], limits: Limits) -> dict[Role, int]:
    """How many columns each side brings, see `smc.analyses.matching.aggregates.columns`."""
    weighs, counting = _asked(parameters, limits)
    found = dict.fromkeys(Role, 0)
    for value, span in zip(parameters.figures.values, spans_of(parameters.figures, schemas), strict=True):
        found[value.side] += 1 + (weighs and span.lower < 0) + counting * (BESIDE_BOUNDS + span.span_bits)
    return found
