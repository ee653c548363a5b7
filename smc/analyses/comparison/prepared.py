"""Comparison jobs that take a pool: the agreement, and what people read."""

from __future__ import annotations

from smc.planning.plan import Plan
from smc.planning.pools import need_of, takes_pools
from smc.protocols.full_session import FullSession
from smc.protocols.pools import offer_cost, take_pool
from smc.protocols.spec import Cost, Parameters


def agreement_cost(plan: Plan) -> Cost:
    """The cost of looking for a pool when there is none in common."""
    return offer_cost() if takes_pools(plan) else Cost()


def use_prepared(session: FullSession, plan: Plan, parameters: Parameters) -> str:
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
