"""What is made ahead for the iterations: how much of it, by a run of their steps over shapes."""

from __future__ import annotations

from functools import lru_cache
from threading import Lock
from typing import Any, Final

import numpy as np

from smc.analyses.clustering import lloyd
from smc.analyses.clustering import reference as plain
from smc.analyses.clustering.parameters import ClusteringParameters
from smc.analyses.clustering.privacy import NoisyMeans
from smc.analyses.clustering.start import comparisons, first_centres
from smc.analyses.clustering.table import SecretTable, Shape
from smc.network import Network
from smc.numeric.shape_arrays import shape_array
from smc.secret.bits import SecretBits
from smc.secret.sharing.prefetch import Prefetch
from smc.tracing.session import TracedSession, trace

Taken = tuple[int, int]
"""Correlated transfers and words of triples."""

_LOCK: Final = Lock()


def orders(
    network: Network | None,
    lanes: int,
    parameters: ClusteringParameters,
    shape: Shape,
    noisy: NoisyMeans | None,
) -> tuple[Prefetch, Prefetch]:
    """What is made ahead: for the start to the first sums of clusters, and from sums to the next ones."""
    assigned = lloyd.comparisons(shape, parameters.clusters)
    given = (network, lanes, parameters, shape, noisy)
    batches = [*comparisons(parameters, shape), *assigned]
    begun = Prefetch.of(network, lanes, batches, lambda: _measure(*given)[0])
    return begun, Prefetch.of(network, lanes, assigned, lambda: _measure(*given)[1])


def _measure(*given: Any) -> tuple[Taken, Taken]:
    """See `_trace`; both sides of a traced run ask at once, and one of them finds out."""
    with _LOCK:
        return _trace(*given)


@lru_cache(64)
def _trace(
    network: Network | None,
    lanes: int,
    parameters: ClusteringParameters,
    shape: Shape,
    noisy: NoisyMeans | None,
) -> tuple[Taken, Taken]:
    """What steps take: from the start to the first sums, and from sums to the next ones."""
    taken: list[list[Taken]] = [[], []]

    def run(session: TracedSession) -> None:
        engine, scaled = session.engine, shape.scaled
        table = _table(session, shape)
        engine.count_from_here()
        before = first_centres(table, parameters)
        sums = table.sums(lloyd.assign(table, before))
        taken[0].append((engine.transfers, engine.triples))
        engine.count_from_here()
        after = lloyd.update(scaled, sums, before) if noisy is None else noisy.means(sums)[0]
        if parameters.tolerance is not None:
            lloyd.has_settled(before, after, plain.movement_limit(scaled, parameters.tolerance))
        table.sums(lloyd.assign(table, after))
        taken[1].append((engine.transfers, engine.triples))

    trace(run, network, lanes)
    begun, continued = ((max(t for t, _ in sides), max(w for _, w in sides)) for sides in taken)
    return begun, continued


def _table(session: TracedSession, shape: Shape) -> SecretTable:
    """A table without rows' values, which is ready to be summed."""
    rows = shape.rows_of(session.role)
    own = shape_array((rows.stop - rows.start, len(shape.columns_of(session.role))), np.uint64)
    valid = squares = None
    if shape.owner is not None:
        valid = SecretBits(session, shape_array(shape.count, np.uint8))
        squares = shape_array(shape.count, np.uint64)
    table = SecretTable(session, shape, own, valid, squares)
    table.prepare()
    return table
