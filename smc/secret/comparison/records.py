"""What comparing, choosing and finding the least of secret numbers costs, and their records."""

from __future__ import annotations

from typing import Final

from smc.forms import Role
from smc.oblivious import cost as oblivious
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import TRANSFER_SECURITY, TRANSFERS, cost_comparison, cost_of
from smc.secret.comparison import argmin, msb, mux
from smc.secret.sharing.bounds import Bounds


def cost_select(count: int, owner: Role | None = None) -> Cost:
    """The exact cost of `select`: flights and bytes, without the set-up of oblivious transfer."""
    if owner is None:
        return cost_of(oblivious.exchange(count))
    once = cost_of(oblivious.bits_to_arithmetic(count))
    return once if owner is Role.ALICE else once.mirror


def cost_to_words(count: int) -> Cost:
    """The exact cost of turning XOR-shared bits into integers."""
    return cost_of(oblivious.bits_to_arithmetic(count))


SELECT: Final = Procedure(
    name="mux",
    module=mux.__name__,
    inputs="XOR shares of bits, and shares modulo 2^64 of integers",
    outputs="shares of the integer where the bit is 1, of 0 elsewhere",
    cost=cost_select,
    learns="Neither party learns anything.",
    security=TRANSFER_SECURITY,
    reference="RRK+20 (CrypTFlow2), section 3.",
    setups=(TRANSFERS,),
    example={"count": 1000},
)


def cost_nonnegative(count: int, bounds: Bounds) -> Cost:
    """The exact cost of `nonnegative`: flights and bytes, without the set-up of oblivious transfer."""
    return Cost() if msb.settled_sign(bounds) is not None else cost_comparison(count, bounds.sign_bits)


def cost_zero(count: int, bounds: Bounds) -> Cost:
    """The exact cost of `zero`."""
    if not bounds.contains(0, 0) or bounds.magnitude == 0:
        return Cost()
    return cost_comparison(count, bounds.magnitude.bit_length())


NONNEGATIVE: Final = Procedure(
    name="nonnegative",
    module=msb.__name__,
    inputs="shares modulo 2^64 of integers within public bounds",
    outputs="XOR shares of whether they are not negative",
    cost=cost_nonnegative,
    learns="Neither party learns anything.",
    security=TRANSFER_SECURITY,
    reference="the identity of `shared`.",
    setups=(TRANSFERS,),
    example={"count": 1000, "bounds": Bounds(-1000, 1000)},
)


ZERO: Final = Procedure(
    name="zero",
    module=msb.__name__,
    inputs="shares modulo 2^64 of integers within public bounds",
    outputs="XOR shares of whether they are zero",
    cost=cost_zero,
    learns="Neither party learns anything.",
    security=TRANSFER_SECURITY,
    reference="the identity of `shared`, with a test for equality.",
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
    module=argmin.__name__,
    inputs="shares modulo 2^64 of rows of integers",
    outputs="shares of the least of each row and of its place",
    cost=cost_least,
    learns="Neither party learns anything.",
    security=TRANSFER_SECURITY,
    reference="this house; the knock-out is folklore.",
    setups=(TRANSFERS,),
    example={"rows": 100, "columns": 8, "bounds": Bounds(0, 1000)},
)
