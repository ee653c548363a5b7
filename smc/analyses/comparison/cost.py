"""The route of a comparison job, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from smc.analyses.comparison.parameters import ComparisonParameters
from smc.analyses.comparison.prepared import agreement_cost
from smc.analyses.studies.columns import Schema
from smc.analyses.studies.memory import MEBI, Memory
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Cheaper, Estimate
from smc.forms import Form, Role
from smc.levels import level_of
from smc.moduli import Modulus, parse_modulus
from smc.network import LAN, LOOPBACK, Network
from smc.oblivious.pool import PoolInfo
from smc.planning.cost import estimate_seconds
from smc.planning.plan import Plan
from smc.planning.pools import takes_pools
from smc.planning.registry import AUTO
from smc.planning.route import plan_comparison
from smc.protocols.against import Against, weakest
from smc.protocols.exchange.records import counts_cost
from smc.protocols.spec import Cost, Parameters
from smc.protocols.transfer_costs import cost_of_opening, cost_settled

_SETUP_SECONDS: Final = 0.06
_MEMORY: Final = Memory(12 * MEBI, 105)

DEAR: Final = 100
"""How many times as long as with another engine a job takes before people are warned of it."""


def plan_route(
    parameters: ComparisonParameters, given: Parameters, moduli: Sequence[Modulus], network: Network | None
) -> Plan:
    """The route of a job.

    Args:
        parameters: of the job.
        given: the number of comparisons, their bits and the sizes of keys.
        moduli: those of the columns that are shared, x before y.
        network: that of the job, or None.
    """
    first = moduli[0] if moduli else Role.ALICE
    last = moduli[-1] if moduli else Role.ALICE
    return plan_comparison(
        parameters.type,
        replace(given, lanes=1),  # so that it is the same route with any number of them
        engine=parameters.engine,
        network=network or LAN,
        x_modulus=first,
        y_modulus=last,
        delta_modulus=parameters.delta_modulus,
    )


def estimate(
    parameters: ComparisonParameters, schemas: Mapping[str, Schema], setting: RunSetting
) -> Estimate:
    """The exact bytes and rounds of the route and of exchanging the row counts, and the time without a link.

    The route is that for the network of the run, or for a LAN without one. A job with
    `pool = true` is priced as if there were no pool in common. Where the planner's own choice of an engine
    would take less than a hundredth of the time, the estimate says so.
    """
    rows, key_bits = max(setting.rows), setting.key_bits
    given = Parameters(max(1, rows), parameters.bits, key_bits, key_bits, lanes=setting.lanes)
    moduli = [parse_modulus(schemas[name].modulus) for name in ("x", "y") if parameters.form(name) is Form.SS]
    plan = plan_route(parameters, given, moduli, setting.network)
    cost = _whole(parameters, plan, given)
    seconds = _seconds(plan, cost, given)
    return Estimate(
        cost.rounds,
        cost.alice_bytes,
        cost.bob_bytes,
        seconds,
        plan.route,
        _MEMORY.at(rows) if _has_model(parameters, plan) else None,
        _cheaper(parameters, given, moduli, setting.network, seconds),
        _against(parameters, plan),
    )


def _against(parameters: ComparisonParameters, plan: Plan) -> Against:
    """The plan's level; of one that may take a pool, no more than that of pools."""
    pools = [level_of(PoolInfo.__module__)] if parameters.pool and takes_pools(plan) else []
    return weakest([plan.against, *pools])


def _whole(parameters: ComparisonParameters, plan: Plan, given: Parameters) -> Cost:
    looking = agreement_cost(plan) if parameters.pool else Cost()
    return cost_settled(counts_cost(2) + plan.setup + looking + plan.cost(given), given.lanes)


def _seconds(plan: Plan, cost: Cost, given: Parameters) -> float:
    fixed = _SETUP_SECONDS if plan.setup.flights else 0.0
    return fixed + estimate_seconds(cost, given, LOOPBACK) + cost_of_opening(cost)


def _cheaper(
    parameters: ComparisonParameters,
    given: Parameters,
    moduli: Sequence[Modulus],
    network: Network | None,
    seconds: float,
) -> Cheaper | None:
    """What the planner would rather take, if that is much faster."""
    if parameters.engine == AUTO:
        return None
    free = replace(parameters, engine=AUTO)
    plan = plan_route(free, given, moduli, network)
    less = _seconds(plan, _whole(free, plan, given), given)
    return Cheaper(f'engine = "{AUTO}"', plan.engine, less) if seconds >= DEAR * less else None


def _has_model(parameters: ComparisonParameters, plan: Plan) -> bool:
    """Whether memory was measured: of oblivious transfer without ciphertexts, by no pool."""
    kind = parameters.type
    encrypted = {Form.ES, Form.SE} & {kind.x, kind.y, kind.delta}
    return plan.engine == "oblivious" and not encrypted and not parameters.pool
