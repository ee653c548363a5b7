"""What a plan asks of a pool of correlated randomness."""

from __future__ import annotations

from dataclasses import dataclass, replace

from smc.forms import Role
from smc.oblivious.bitmatrix import SLOTS, words_for
from smc.planning.plan import Plan
from smc.protocols.spec import Parameters


@dataclass(frozen=True, slots=True)
class Need:
    """What a plan asks of a pool.

    Attributes:
        comparisons: every batch of the run rounded up to a multiple of 64.
        bits: their width, which is larger than that of the job where shares are compared.
        x_at: who holds x there.
    """

    comparisons: int
    bits: int
    x_at: Role


def need_of(plan: Plan, parameters: Parameters) -> Need | None:
    """What the comparisons at the bottom of a plan ask of a pool; None if they cannot take one.

    Args:
        plan: the route.
        parameters: of the whole run.
    """
    if not takes_pools(plan):
        return None
    full, rest = divmod(parameters.count, size := plan.chunk(parameters))
    chunks = [size] * full + ([rest] if rest else [])
    bottoms = [_bottom(plan, replace(parameters, count=count)) for count in chunks]
    slots = sum(SLOTS * words_for(inside.count) for inside, _ in bottoms)
    inside, mirrored = bottoms[0]
    return Need(slots, inside.bits, Role.BOB if mirrored else Role.ALICE)


def takes_pools(plan: Plan) -> bool:
    """Whether the comparison at the bottom of a plan can take a pool."""
    engine = plan.bottom.engine
    return engine is not None and engine.pools


def _bottom(plan: Plan, parameters: Parameters) -> tuple[Parameters, bool]:
    """Count and bits of the innermost comparison of one chunk, and whether Bob holds x there."""
    flipped = False
    while plan.inner is not None and plan.comparison.spec.subprotocol is not None:
        parameters = plan.comparison.spec.subprotocol.parameters(plan.comparison.parameters(parameters))
        flipped ^= plan.comparison.mirrored
        plan = plan.inner
    return parameters, flipped ^ plan.comparison.mirrored
