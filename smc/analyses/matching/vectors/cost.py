"""What a matching of feature vectors costs."""

from __future__ import annotations

from typing import Final

from smc.analyses.disclosure.costs import cost_test
from smc.analyses.disclosure.limits import Limits
from smc.analyses.matching.vectors import pairs as vector_pairs
from smc.analyses.matching.vectors.checks import check_counts
from smc.analyses.matching.vectors.outcome import ROUTE
from smc.analyses.matching.vectors.scores import VectorMeasure
from smc.analyses.studies.estimates import Pace, estimated, sides
from smc.analyses.studies.memory import MEBI, Memory
from smc.analyses.studies.study import Estimate
from smc.forms import Role
from smc.protocols.exchange.row_counts import counts_cost
from smc.protocols.transfer_costs import SETUP_COST
from smc.secret import opening
from smc.secret.bounds import Bounds

_PACE: Final = Pace(0.06, byte=5.5e-9)
_MEMORY: Final = Memory(55 * MEBI, 105_000)


def estimate(
    measure: VectorMeasure, nearest: int, recipients: frozenset[Role], rows: int, limits: Limits
) -> Estimate:
    """Exact rounds and bytes of a run in a fresh session.

    Args:
        measure: of the job.
        nearest: how many of Bob's rows each of Alice's gets, 0 for a threshold.
        recipients: who learns the pairs.
        rows: of each side.
        limits: of both policies; there are as many matches as they ask for.

    Raises:
        DomainError: there are too many pairs.
    """
    alice, bob = sides(rows, least=1)
    check_counts(measure.parameters, alice, max(bob, nearest))
    cost = SETUP_COST + counts_cost(1) + vector_pairs.cost(measure, alice, bob)
    if limits.counts_matches:
        cost += vector_pairs.cost_matched(measure, alice, bob)
        cost += cost_test([(Bounds(0, count), limits.minimum_intersection) for count in (alice, bob)])
    cost += opening.cost_bits(alice * bob * max(1, nearest), recipients)
    return estimated(cost, _PACE.seconds(cost), ROUTE, _MEMORY.at(max(alice, bob)))
