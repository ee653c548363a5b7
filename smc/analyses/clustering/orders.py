"""What a run makes ahead, see `smc.secret.ahead`: for the start, and from each iteration to the next."""

from __future__ import annotations

from smc.analyses.clustering import lloyd
from smc.analyses.clustering import reference as plain
from smc.analyses.clustering.parameters import ClusteringParameters
from smc.analyses.clustering.privacy import NoisyMeans
from smc.analyses.clustering.start import comparisons, cost_start
from smc.analyses.clustering.table import Shape, cost_sums
from smc.network import Network
from smc.protocols.spec import Cost
from smc.secret import opening
from smc.secret.ahead import Ahead
from smc.secret.bits import BOTH


def orders(
    network: Network | None,
    lanes: int,
    parameters: ClusteringParameters,
    shape: Shape,
    noisy: NoisyMeans | None,
) -> tuple[Ahead, Ahead]:
    """What is made ahead: for the start to the first sums of clusters, and from sums to the next ones."""
    k, valid = parameters.clusters, shape.owner is not None
    assigned = lloyd.comparisons(shape, k)

    def first() -> Cost:
        start, made = cost_start(parameters, shape)
        start += lloyd.cost_assign(shape, k, first=not made, valid=valid)
        return start + cost_sums(shape, k)

    def later() -> Cost:
        step = lloyd.cost_update(shape, k) if noisy is None else noisy.cost(shape.count)
        step += cost_stops(parameters, shape)
        step += lloyd.cost_assign(shape, k, first=False, valid=valid)
        return step + cost_sums(shape, k)

    begun = Ahead.of(network, lanes, [*comparisons(parameters, shape), *assigned], first)
    return begun, Ahead.of(network, lanes, assigned, later)


def cost_stops(parameters: ClusteringParameters, shape: Shape) -> Cost:
    """The exact cost of finding out whether the centres have moved enough to go on."""
    if parameters.tolerance is None:
        return Cost()
    limit = plain.movement_limit(shape.scaled, parameters.tolerance)
    return lloyd.cost_settled(shape.scaled, parameters.clusters, limit) + opening.cost_bits(1, BOTH)
