"""What comparing, choosing and finding the least of secret numbers costs, and their records."""

from __future__ import annotations

from typing import Final

from smc.forms import Role
from smc.network import Network
from smc.numeric.narrow_words import WORD_BITS
from smc.oblivious import cost as oblivious
from smc.protocols.against import Against
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import TRANSFERS, cost_comparison, cost_of
from smc.secret.comparison import argmin, msb, mux
from smc.secret.sharing.bounds import Bounds


def cost_select(count: int, owner: Role | None = None, width: int = WORD_BITS) -> Cost:
    """The exact cost of `select`: flights and bytes, without the set-up of oblivious transfer."""
    if owner is None:
        return cost_of(oblivious.exchange(count, bits=width))
    once = cost_of(oblivious.bits_to_arithmetic(count))
    return once if owner is Role.ALICE else once.mirror


def cost_to_words(count: int) -> Cost:
    """The exact cost of turning XOR-shared bits into integers."""
    return cost_of(oblivious.bits_to_arithmetic(count))


SELECT: Final = Procedure(
    name="mux",
    against=Against.PRIVATE,
    module=mux.__name__,
    cost=cost_select,
    setups=(TRANSFERS,),
    example={"count": 1000},
)


def cost_nonnegative(count: int, bounds: Bounds, network: Network | None = None) -> Cost:
    """The exact cost of `nonnegative`: flights and bytes, without the set-up of oblivious transfer."""
    if msb.settled_sign(bounds) is not None:
        return Cost()
    return cost_comparison(count, bounds.sign_bits, network)


def cost_zero(count: int, bounds: Bounds, network: Network | None = None) -> Cost:
    """The exact cost of `zero`."""
    if not bounds.contains(0, 0) or bounds.magnitude == 0:
        return Cost()
    return cost_comparison(count, bounds.magnitude.bit_length(), network)


NONNEGATIVE: Final = Procedure(
    name="nonnegative",
    against=Against.PRIVATE,
    module=msb.__name__,
    cost=cost_nonnegative,
    setups=(TRANSFERS,),
    example={"count": 1000, "bounds": Bounds(-1000, 1000)},
)


ZERO: Final = Procedure(
    name="zero",
    against=Against.PRIVATE,
    module=msb.__name__,
    cost=cost_zero,
    setups=(TRANSFERS,),
    example={"count": 1000, "bounds": Bounds(-1000, 1000)},
)


def cost_least(rows: int, columns: int, bounds: Bounds) -> Cost:
    """The exact cost of `least`: flights and bytes, without the set-up of oblivious transfer."""
    total = Cost()
    while columns > 1:
        pairs = columns // 2
        total += cost_nonnegative(rows * pairs, bounds - bounds) + cost_select(2 * rows * pairs)
        columns -= pairs
    return total


LEAST: Final = Procedure(
    name="argmin",
    against=Against.PRIVATE,
    module=argmin.__name__,
    cost=cost_least,
    setups=(TRANSFERS,),
    example={"rows": 100, "columns": 8, "bounds": Bounds(0, 1000)},
)
