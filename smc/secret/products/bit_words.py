"""XOR-shared bits as words that are shared modulo 2**w, for w up to 64.

    Alice (bits a)                                    Bob (bits b)
      a of the first half     == transfers ==           chooses with b
      chooses with a          == transfers ==           b of the second half
      a - 2 (her share of a b)                          b - 2 (his share of a b)

    a xor b = a + b - 2 a b

Either party sends for half of the bits, so that both directions carry as much, at once.

Inputs: XOR shares of n bits.
Outputs: shares modulo 2**w of the bits.
Learns: neither party anything.
Assumes: `smc.oblivious`.
Cost: `cost`; 4 bytes a bit, and the bytes of a word; without the 4, and in one round, where transfers are
prepared.
Reference: Demmler, Schneider and Zohner, ABY, NDSS 2015, section IV.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.forms import Role
from smc.oblivious import cost as oblivious
from smc.protocols.against import Against
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import TRANSFERS, cost_of
from smc.tracing.repeats import traced_once

Word = NDArray[np.uint64]
Bit = NDArray[np.uint8]


@traced_once
def to_words(session: Session, bits: Bit, width: int) -> Word:
    """Turn bits into words.

    Args:
        session: this side of the run.
        bits: local XOR shares, shape (n,).
        width: w, 1 to 64.

    Returns:
        Local shares modulo 2**w, shape (n,), the bits above w being 0.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    count, half = len(bits), -(-len(bits) // 2)
    halves = np.zeros((2, half), dtype=np.uint8, like=bits)
    halves[0], halves[1, : count - half] = bits[:half], bits[half:]
    given, chosen = halves if session.role is Role.ALICE else halves[::-1]
    shares = session.oblivious.exchange(given.astype(np.uint64), chosen, width)
    products = np.concatenate(shares if session.role is Role.ALICE else shares[::-1])
    words: Word = bits - (products[:count] << np.uint64(1))
    return words & np.uint64((1 << width) - 1)


def cost(count: int, width: int) -> Cost:
    """The exact cost of `to_words`: flights and bytes, without the set-up of oblivious transfer."""
    return cost_of(oblivious.exchange(-(-count // 2), bits=width))


SPEC: Final = Procedure(
    name="bits-to-words",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost,
    setups=(TRANSFERS,),
    example={"count": 1000, "width": 32},
)
