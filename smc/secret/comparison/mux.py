"""An XOR-shared bit times an integer shared modulo 2**64: what selecting is made of.

    Alice (c_A, w_A)                                  Bob (c_B, w_B)
      c_A w_A + c_B (1 - 2 c_A) w_A   == transfer ==    chooses with c_B
      chooses with c_A                == transfer ==    c_B w_B + c_A (1 - 2 c_B) w_B

    c w = (c_A w_A + c_B (1 - 2 c_A) w_A) + (c_B w_B + c_A (1 - 2 c_B) w_B)

In each bracket one party knows all but one bit, which the other chooses with: two correlated transfers at
once, or one where the integer is wholly one party's.

Inputs: XOR shares of bits, and shares modulo 2**64 of integers, n each.
Outputs: shares modulo 2**64 of the products.
Learns: neither party anything.
Assumes: semi-honest parties, `smc.oblivious`.
Cost: `records.cost_select`; 24 bytes per product.
Reference: Rathee, Rathee, Kumar, Chandran, Gupta, Rastogi and Sharma, CrypTFlow2, CCS 2020, section 3 (the
multiplexer).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smc.forms import Role
from smc.protocols.session import Session


def select(
    session: Session, bits: NDArray[np.uint8], words: NDArray[np.uint64], owner: Role | None = None
) -> NDArray[np.uint64]:
    """Shared bits times shared integers.

    Args:
        session: this side of the run.
        bits: local XOR shares, shape (n,).
        words: local shares, shape (n,).
        owner: the party whose shares are the integers themselves, the other's being zero; None if neither.

    Returns:
        Local shares, shape (n,): the integer where the bit is 1, else 0.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    result = bits * words
    deltas = np.where(bits == 1, np.negative(words), words)
    if owner is None:
        sent, received = session.oblivious.exchange(deltas, bits)
        result += sent + received
    elif session.role is owner:
        result += session.oblivious.correlate(deltas)
    else:
        result += session.oblivious.receive(bits)
    return result
