"""What opening shares costs, and its records."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final

from smc.forms import Role
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.spec import Cost, Procedure
from smc.secret.sharing import opening


def cost_opening(count: int, recipients: AbstractSet[Role]) -> Cost:
    """The exact cost of `open_words`."""
    return _cost(8 * count, recipients)


def cost_opening_bits(count: int, recipients: AbstractSet[Role]) -> Cost:
    """The exact cost of `open_bits`."""
    return _cost((count + 7) // 8, recipients)


def _cost(size: int, recipients: AbstractSet[Role]) -> Cost:
    to_bob, to_alice = Role.BOB in recipients, Role.ALICE in recipients
    flights = {
        (True, True): (Flight.BOTH,),
        (True, False): (Flight.ALICE,),
        (False, True): (Flight.BOB,),
        (False, False): (),
    }
    return Cost(flights[to_bob, to_alice], size * to_bob, size * to_alice)


OPENING: Final = Procedure(
    name="opened-words",
    against=Against.PRIVATE,
    module=opening.__name__,
    cost=cost_opening,
    example={"count": 1000, "recipients": frozenset(Role)},
)


OPENING_BITS: Final = Procedure(
    name="opened-bits",
    against=Against.PRIVATE,
    module=opening.__name__,
    cost=cost_opening_bits,
    example={"count": 1000, "recipients": frozenset(Role)},
)
