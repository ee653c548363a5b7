"""What comparison by oblivious transfer costs, and its record."""

from __future__ import annotations

from typing import Final

from smc.forms import Form
from smc.oblivious.cost import compares_in_lanes, comparison, comparison_transfers
from smc.protocols.against import Against
from smc.protocols.comparison.oblivious import alice, bob
from smc.protocols.engines import OBLIVIOUS
from smc.protocols.spec import Cost, Parameters, Sharing, Spec
from smc.protocols.transfer_costs import TRANSFERS, cost_of


def cost(parameters: Parameters) -> Cost:
    """Exact cost without the set-up; operations count the transfers that a party takes part in, in a lane."""
    transfers = parameters.count * sum(comparison_transfers(parameters.bits))
    if compares_in_lanes(parameters.count, parameters.bits, parameters.lanes):
        transfers //= parameters.lanes
    total = cost_of(comparison(parameters.count, parameters.bits, parameters.lanes))
    return Cost(total.flights, total.alice_bytes, total.bob_bytes, {"ot": transfers}, {"ot": transfers})


OBLIVIOUS_TRANSFER: Final = Spec(
    name="oblivious",
    against=Against.PRIVATE,
    inputs=(Form.PN, Form.NP),
    output=Form.SS,
    alice=alice,
    bob=bob,
    cost=cost,
    engine=OBLIVIOUS,
    gives=Sharing.XOR,
    setups=(TRANSFERS,),
    arrays=True,
)
