"""The route of a comparison job, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from smc.analyses.comparison.parameters import ComparisonParameters
from smc.analyses.comparison.prepared import agreement_cost
from smc.analyses.studies.columns import Schema
from smc.analyses.studies.memory import MEBI, Memory
from smc.analyses.studies.study import Estimate
from smc.forms import Form, Role
from smc.planning.cost import estimate_seconds
from smc.planning.plan import Plan
from smc.planning.route import plan_comparison
from smc.protocols.exchange.row_counts import counts_cost
from smc.protocols.spec import Cost, Modulus, Parameters, parse_modulus

_MEMORY: Final = Memory(12 * MEBI, 105)


def planned(parameters: ComparisonParameters, given: Parameters, moduli: Sequence[Modulus]) -> Plan:
    """The route of a job.

    Args:
        parameters: of the job.
        given: the number of comparisons, their bits and the sizes of keys.
        moduli: those of the columns that are shared, x before y.
    """
    first = moduli[0] if moduli else Role.ALICE
    last = moduli[-1] if moduli else Role.ALICE
    return plan_comparison(
        parameters.type,
        given,
        engine=parameters.engine,
        x_modulus=first,
        y_modulus=last,
        delta_modulus=parameters.delta_modulus,
    )


def estimate(
    parameters: ComparisonParameters, schemas: Mapping[str, Schema], rows: int, key_bits: int
) -> Estimate:
    """The exact bytes and rounds of the route and of exchanging the row counts, and the likely time.

    A job with `pool = true` is priced as if there were no pool in common.
    """
    given = Parameters(max(1, rows), parameters.bits, key_bits, key_bits)
    moduli = [parse_modulus(schemas[name].modulus) for name in ("x", "y") if parameters.form(name) is Form.SS]
    plan = planned(parameters, given, moduli)
    looking = agreement_cost(plan) if parameters.pool else Cost()
    cost = counts_cost(2) + plan.setup + looking + plan.cost(given)
    return Estimate(
        cost.rounds,
        cost.alice_bytes,
        cost.bob_bytes,
        estimate_seconds(cost, given),
        plan.route,
        _MEMORY.at(rows) if _has_model(parameters, plan) else None,
    )


def _has_model(parameters: ComparisonParameters, plan: Plan) -> bool:
    """Whether memory was measured: of oblivious transfer without ciphertexts, by no pool."""
    kind = parameters.type
    encrypted = {Form.ES, Form.SE} & {kind.x, kind.y, kind.delta}
    return plan.engine == "oblivious" and not encrypted and not parameters.pool
