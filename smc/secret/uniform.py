"""Integers that neither party knows, uniform in [0, 2**bits): each party's random bits, added over bits.

    Alice (random bits)      == XOR shares of bits to shares modulo 2**64 ==      Bob (random bits)

Inputs: nothing.
Outputs: shares modulo 2**64 of the integers.
Learns: neither party anything.
Assumes: `smc.oblivious`.
Cost: `cost`.
Reference: folklore.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from smc.oblivious import cost as oblivious
from smc.protocols.against import Against
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import TRANSFERS, cost_of
from smc.secret.bits import SecretBits
from smc.secret.ints import SecretInts
from smc.secret.sharing.bounds import Bounds


def uniform(session: Session, bits: int, count: int) -> SecretInts:
    """Independent uniform integers.

    Args:
        session: this side of the run.
        bits: of each, 1 to 62.
        count: how many.

    Returns:
        Shape (count,).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    own = SecretBits(session, session.random.bits(bits * count).reshape(count, bits))
    powers = np.left_shift(np.int64(1), np.arange(bits, dtype=np.int64))
    return (SecretInts.from_bits(own) @ powers).with_bounds(Bounds(0, (1 << bits) - 1))


def cost(bits: int, count: int) -> Cost:
    """The exact cost of `uniform`: flights and bytes, without the set-up of oblivious transfer."""
    return cost_of(oblivious.bits_to_arithmetic(bits * count))


SPEC: Final = Procedure(
    name="joint-uniform",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost,
    setups=(TRANSFERS,),
    example={"bits": 16, "count": 100},
)
