"""What a run costs: rounds and bytes of its steps, counted as the program sends them, and its memory."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from smc.analyses.clustering import lloyd, matched, privacy
from smc.analyses.clustering.census import cost_counted, cost_limits, cost_summed
from smc.analyses.clustering.checks import likely_grid
from smc.analyses.clustering.orders import cost_stops, orders
from smc.analyses.clustering.parameters import ClusteringParameters, Layout
from smc.analyses.clustering.privacy import NoisyMeans
from smc.analyses.clustering.sides import cost_agree
from smc.analyses.clustering.start import cost_start
from smc.analyses.clustering.table import Shape, cost_norms, cost_prepare, cost_sums
from smc.analyses.disclosure.limits import Limits
from smc.analyses.studies.columns import Schema
from smc.analyses.studies.estimates import Pace, estimated, sides
from smc.analyses.studies.memory import MEBI, Memory
from smc.analyses.studies.study import Estimate
from smc.forms import Role
from smc.network import lanes_priced, network_priced
from smc.protocols.spec import Cost
from smc.protocols.transfer_costs import SETUP_COST
from smc.secret import mux, opening, products
from smc.secret.ahead import NOTHING

_PACE: Final = Pace(0.0, byte=4.2e-9, round=1.3e-3)
_FIXED_MEMORY: Final = 30 * MEBI
_ROW_MEMORY: Final = 670
_CELL_MEMORY: Final = 12.3
"""Of each row for a column of a centre; also below."""

_BATCH_CELL_MEMORY: Final = 50
_FULL_BATCHES: Final = 140 * MEBI
"""Most that batches take, which larger tables fill."""

_TRANSFER_MEMORY: Final = 16
_MARKED_COLUMN_MEMORY: Final = 20


def estimate(
    parameters: ClusteringParameters,
    schemas: Mapping[str, Schema],
    recipients: frozenset[Role],
    rows: int,
    limits: Limits,
) -> Estimate:
    """What a run with `rows` rows a side costs; see `smc.analyses.studies.study.Study.cost`."""
    columns = likely_grid(parameters, schemas)
    counts = sides(rows)
    shape = Shape.of(parameters, columns, *counts)
    total = cost_agree(parameters)
    total += SETUP_COST if shape.owner is None else matched.cost(parameters, shape, limits)
    total += run_cost(parameters, shape, recipients, limits, privacy.plan(parameters, columns))
    return estimated(
        total,
        _PACE.seconds(total),
        "Lloyd's iterations over shared centres; assignments stay secret",
        _memory(parameters, shape, limits, max(counts)),
    )


def run_cost(
    parameters: ClusteringParameters,
    shape: Shape,
    recipients: AbstractSet[Role],
    limits: Limits,
    noisy: NoisyMeans | None,
) -> Cost:
    """The exact cost of `Program.run` with all iterations, without the set-up of oblivious transfer."""
    scaled, k, n = shape.scaled, parameters.clusters, shape.count
    own, later = orders(network_priced(), lanes_priced(), parameters, shape, noisy)
    total = cost_prepare(shape) + own.cost()
    valid = shape.owner is not None
    for number in range(parameters.iterations):
        ordered = NOTHING if noisy is not None and number + 1 == parameters.iterations else later
        first = number == 0
        with (own if first else later).priced():
            if first:
                start, made = cost_start(parameters, shape)
                total += start
            total += lloyd.cost_assign(shape, k, first=first and not made, valid=valid)
            total += cost_sums(shape, k)
        total += ordered.cost()
        with ordered.priced():
            total += lloyd.cost_update(shape, k) if noisy is None else noisy.cost(n)
            total += cost_stops(parameters, shape)
    if noisy is not None:
        return total + opening.cost(k, recipients) + opening.cost(k * scaled.dimensions, recipients)
    with later.priced():
        total += lloyd.cost_assign(shape, k, first=False, valid=valid) + cost_sums(shape, k)
    total += _cost_inertia(shape, k)
    if limits.counts_clusters:
        total += cost_counted(shape, k) + cost_summed(shape, k)
        total += cost_limits(shape, k, limits, labels=parameters.labels)
    for numbers in (k, k * scaled.dimensions, 1):
        total += opening.cost(numbers, recipients)
    if parameters.labels:
        if shape.layout is not Layout.HORIZONTAL:
            return total + opening.cost_bits(n * k, recipients)
        for role in sorted(recipients, key=list(Role).index):
            total += opening.cost_bits(shape.entries(role).rows * k, frozenset({role}))
    return total


def _cost_inertia(shape: Shape, clusters: int) -> Cost:
    numbers = clusters * shape.scaled.dimensions
    halves = lloyd.cost_half_norms(shape.scaled, clusters)
    norms = cost_norms(shape) + (mux.cost(shape.count) if shape.owner is not None else Cost())
    return norms + halves + products.cost_multiply(clusters) + products.cost_multiply(numbers)


def _memory(parameters: ClusteringParameters, shape: Shape, limits: Limits, rows: int) -> int:
    """Measured, with so many rows a side: batches that fill, what is kept of rows, and of their transfers."""
    cells = parameters.clusters * shape.scaled.dimensions
    each = _ROW_MEMORY + _CELL_MEMORY * cells
    if parameters.epsilon is None and limits.counts_clusters:
        each += _MARKED_COLUMN_MEMORY * shape.scaled.dimensions
    batches = min(_FULL_BATCHES, _BATCH_CELL_MEMORY * cells * rows)
    kept = _kept_memory(parameters, shape) + 2 * max(
        each.memory for each in orders(network_priced(), lanes_priced(), parameters, shape, None)
    )
    return Memory(_FIXED_MEMORY + batches + kept, each).at(rows)


def _kept_memory(parameters: ClusteringParameters, shape: Shape) -> int:
    """Of the transfers that rows are multiplied by in each pass, where these are kept from the first one."""
    if shape.lattice(parameters.clusters - 1, shape.scaled.width) is not None:
        return 0
    blocks = [entries for entries in map(shape.entries, Role) if entries.kept]
    return _TRANSFER_MEMORY * sum(entries.rows * entries.transfers for entries in blocks)
