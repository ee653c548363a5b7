"""An XOR-shared bit times an integer shared modulo 2**64: what selecting is made of.

    Alice (c_A, w_A)                                  Bob (c_B, w_B)
      c_A w_A + c_B (1 - 2 c_A) w_A   == transfer ==    chooses with c_B
      chooses with c_A                == transfer ==    c_B w_B + c_A (1 - 2 c_B) w_B

    c w = (c_A w_A + c_B (1 - 2 c_A) w_A) + (c_B w_B + c_A (1 - 2 c_B) w_B)

In each bracket one party knows all but one bit, which the other chooses with: two correlated transfers at
once, or one where the integer is wholly one party's.

Inputs: XOR shares of bits, and shares modulo 2**w of integers, n each; w is 64 where nothing else is said.
Outputs: shares modulo 2**w of the products.
Learns: neither party anything.
Assumes: `smc.oblivious`.
Cost: `records.cost_select`; 8 bytes per product, and twice those of a word.
Reference: Rathee, Rathee, Kumar, Chandran, Gupta, Rastogi and Sharma, CrypTFlow2, CCS 2020, section 3 (the
multiplexer).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smc.forms import Role
from smc.numeric.narrow_words import WORD_BITS
from smc.protocols.session import Session


def select(
    session: Session,
    bits: NDArray[np.uint8],
    words: NDArray[np.uint64],
    owner: Role | None = None,
    width: int = WORD_BITS,
) -> NDArray[np.uint64]:
    """Shared bits times shared integers.

    Args:
        session: this side of the run.
        bits: local XOR shares, shape (n,).
        words: local shares, shape (n,).
        owner: the party whose shares are the integers themselves, the other's being zero; None if neither.
        width: bits of the integers that count, where neither owns them.

    Returns:
        Local shares modulo 2**width, shape (n,): the integer where the bit is 1, else 0; bits above are
        arbitrary.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    result = bits * words
    deltas = np.where(bits == 1, np.negative(words), words)
    if owner is None:
        sent, received = session.oblivious.exchange(deltas, bits, width)
        result += sent + received
    elif session.role is owner:
        result += session.oblivious.correlate(deltas)
    else:
        result += session.oblivious.receive(bits)
    return result
