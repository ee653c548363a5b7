"""What coins and agreement cost, and their records."""

from __future__ import annotations

from typing import Final

from smc.protocols import agreement, coins
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.spec import Cost, Procedure


def toss_cost() -> Cost:
    """The exact cost of one toss."""
    return TOSS_COST


_TOSS_BYTES: Final = coins.HASH_BYTES + coins.COIN_BYTES

TOSS_COST: Final = Cost((Flight.BOTH,) * 2, _TOSS_BYTES, _TOSS_BYTES)
"""What one toss costs."""


TOSS: Final = Procedure(
    name="coins",
    against=Against.ACTIVE,
    module=coins.__name__,
    cost=toss_cost,
)


def agreement_cost() -> Cost:
    """The exact cost of `agree`."""
    return AGREEMENT_COST


AGREEMENT_COST: Final = Cost((Flight.BOTH,), 1, 1)
"""The cost of `agree`."""


AGREEMENT: Final = Procedure(
    name="agreement",
    against=Against.ACTIVE,
    module=agreement.__name__,
    cost=agreement_cost,
)
