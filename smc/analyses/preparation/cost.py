"""What a preparation costs."""

from __future__ import annotations

from typing import Final

from smc.analyses.preparation.parameters import PreparationParameters
from smc.analyses.studies.memory import MEBI, Memory
from smc.analyses.studies.study import Estimate
from smc.forms import Role
from smc.network import LOOPBACK
from smc.oblivious.cost import comparison_transfers, preparation
from smc.planning.cost import estimate_seconds
from smc.protocols.spec import Cost, Parameters
from smc.protocols.transfer_costs import SETUP_COST, cost_of

ROUTE: Final = "oblivious transfers for later"
_MEMORY: Final = Memory(12 * MEBI, 2.1)
"""Of each bit of each comparison."""


def estimate(parameters: PreparationParameters, key_bits: int) -> Estimate:
    """The exact bytes and rounds, and the likely time; rows do not matter."""
    cost = cost_of(preparation(parameters.count, parameters.bits))
    transfers = {"ot": parameters.count * sum(comparison_transfers(parameters.bits))}
    cost += Cost(alice_operations=transfers, bob_operations=transfers)
    cost = SETUP_COST + (cost if parameters.x_at is Role.ALICE else cost.mirror)
    given = Parameters(parameters.count, parameters.bits, key_bits, key_bits)
    seconds = estimate_seconds(cost, given, LOOPBACK)
    memory = _MEMORY.at(parameters.count * parameters.bits)
    return Estimate(cost.rounds, cost.alice_bytes, cost.bob_bytes, seconds, ROUTE, memory)
