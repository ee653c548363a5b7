"""Comparison jobs that take a pool: what the plan needs of it, the agreement, and what people read."""

from __future__ import annotations

from dataclasses import dataclass, replace

from smc.forms import Role
from smc.oblivious.bitmatrix import LANES, words_for
from smc.planning.plan import Plan
from smc.protocols.pools import offer_cost, take_pool
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Parameters


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
    if not _takes_pools(plan):
        return None
    full, rest = divmod(parameters.count, size := plan.chunk(parameters))
    chunks = [size] * full + ([rest] if rest else [])
    bottoms = [_bottom(plan, replace(parameters, count=count)) for count in chunks]
    slots = sum(LANES * words_for(inside.count) for inside, _ in bottoms)
    inside, mirrored = bottoms[0]
    return Need(slots, inside.bits, Role.BOB if mirrored else Role.ALICE)


def _takes_pools(plan: Plan) -> bool:
    engine = plan.bottom.engine
    return engine is not None and engine.pools


def agreement_cost(plan: Plan) -> Cost:
    """The cost of looking for a pool when there is none in common."""
    return offer_cost() if _takes_pools(plan) else Cost()


def use_prepared(session: Session, plan: Plan, parameters: Parameters) -> str:
    """Take a pool for a run of the plan, if both parties have one; both call it just before the run.

    Returns:
        What became of it, for people.

    Raises:
        DuettoError: as `smc.protocols.pools.take_pool`.
    """
    need = need_of(plan, parameters)
    if need is None:
        return f"No pool was used: the route ends in {plan.bottom.name}, which takes none."
    pool = take_pool(session, need.comparisons, need.bits, holds_x=session.role is need.x_at)
    if pool is None:
        return (
            f"No pool was used: the parties have none in common for {need.comparisons} comparisons of "
            f"{need.bits} bits with x at {need.x_at.value}."
        )
    left = len(pool) - need.comparisons
    return f"A pool was used: {need.comparisons} prepared comparisons; {left} that were left are gone."


def _bottom(plan: Plan, parameters: Parameters) -> tuple[Parameters, bool]:
    """Count and bits of the innermost comparison of one chunk, and whether Bob holds x there."""
    flipped = False
    while plan.inner is not None and plan.comparison.spec.subprotocol is not None:
        parameters = plan.comparison.spec.subprotocol.parameters(plan.comparison.parameters(parameters))
        flipped ^= plan.comparison.mirrored
        plan = plan.inner
    return parameters, flipped ^ plan.comparison.mirrored
