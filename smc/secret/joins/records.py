"""What aligning rows in secret costs, and its record."""

from __future__ import annotations

from typing import Final

from smc.forms import Role
from smc.protocols.against import Against
from smc.protocols.intersection import cuckoo
from smc.protocols.intersection.records import cost_opprf
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import TRANSFERS, VOLE, cost_comparison
from smc.secret.comparison.records import cost_select
from smc.secret.joins import circuit_psi


def cost_align(
    alice_count: int, bob_count: int, alice_columns: int, bob_columns: int, *, fresh: bool = False
) -> Cost:
    """The exact cost of `align`, flights and bytes.

    Args:
        alice_count: rows of Alice.
        bob_count: rows of Bob.
        alice_columns: columns of Alice.
        bob_columns: columns of Bob.
        fresh: whether this is the first use of oblivious transfer in the session, which sets it up.
    """
    owner = circuit_psi.table_owner(alice_count, bob_count)
    counts = {Role.ALICE: alice_count, Role.BOB: bob_count}
    columns = {Role.ALICE: alice_columns, Role.BOB: bob_columns}
    slots = cuckoo.bins_for(counts[owner])
    function = cost_opprf(counts[owner], counts[owner.other], 1 + columns[owner.other], fresh=fresh)
    test = cost_comparison(slots, circuit_psi.tag_bits(slots))
    total = function + test if owner is Role.ALICE else (function + test).mirror
    if columns[owner]:
        total += cost_select(slots * columns[owner], owner)
    if columns[owner.other]:
        total += cost_select(slots * columns[owner.other])
    return total


ALIGN: Final = Procedure(
    name="circuit-psi",
    module=circuit_psi.__name__,
    cost=cost_align,
    setups=(TRANSFERS, VOLE),
    against=Against.PRIVATE,
    example={"alice_count": 1000, "bob_count": 2000, "alice_columns": 1, "bob_columns": 1},
)
