"""XOR-shared bits as words that are shared modulo 2**w, for w up to 64.

    Alice (bits a)                                    Bob (bits b)
                                 <-- matrices --        chooses with b
      c = G(q) - G(q + D) + a    -- c -->
      a - 2 (-G(q))                                     b - 2 (G(q + b D) + b c)

    a xor b = a + b - 2 a b

Inputs: XOR shares of n bits.
Outputs: shares modulo 2**w of the bits.
Learns: neither party anything; every correction is masked by what Bob did not choose.
Assumes: semi-honest parties, `smc.oblivious`, `smc.secret.sharing.masks`.
Cost: `cost`; 4 bytes a bit, and the bytes of a word.
Reference: Demmler, Schneider and Zohner, ABY, NDSS 2015, section IV; the masks: `smc.secret.sharing.masks`.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.forms import Role
from smc.oblivious.consistency import CHALLENGE_BYTES
from smc.oblivious.cost import matrix_bytes
from smc.pieces import chunks
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure, cost_each, lengths
from smc.protocols.transfer_costs import TRANSFERS
from smc.secret.sharing.masks import (
    KEY_BYTES,
    Expander,
    Words,
    masked_bytes,
    receive_masked,
    send_masked,
    word_type,
)
from smc.tracing.repeats import traced_once

Word = NDArray[np.uint64]
Bit = NDArray[np.uint8]

_BATCH: Final = 1 << 19


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
    result = np.empty(len(bits), dtype=np.uint64, like=bits)
    for part in chunks(len(bits), _BATCH):
        own = bits[part]
        products = _given(session, own, width) if session.role is Role.ALICE else _chosen(session, own, width)
        result[part] = own - (products.astype(np.uint64) << np.uint64(1))
    mask = np.uint64((1 << width) - 1)
    return result & mask


def _given(session: Session, bits: Bit, width: int) -> Words:
    """The sender's shares of the products."""
    rows, offset = session.oblivious.send_rows(len(bits))
    key = session.random.bytes(KEY_BYTES)
    expander = Expander(key, 1, width)
    masks = expander.masks(rows)[:, 0]
    send_masked(session, key, [(masks - expander.masks(rows ^ offset)[:, 0] + bits, width)])
    products: Words = np.negative(masks)
    return products


def _chosen(session: Session, bits: Bit, width: int) -> Words:
    """The chooser's shares of the products."""
    rows = session.oblivious.receive_rows(bits)
    masked = receive_masked(session, [((len(bits),), width)])
    (corrections,) = masked.words(word_type(width))
    corrections *= bits
    products: Words = corrections + Expander(masked.key, 1, width).masks(rows)[:, 0]
    return products


def cost(count: int, width: int) -> Cost:
    """The exact cost of `to_words`: flights and bytes, without the set-up of oblivious transfer."""

    def batch_cost(size: int) -> Cost:
        corrections = CHALLENGE_BYTES + masked_bytes([((size,), width)])
        return Cost((Flight.BOB, Flight.ALICE), corrections, matrix_bytes(size))

    return cost_each(lengths(chunks(count, _BATCH)), batch_cost)


SPEC: Final = Procedure(
    name="bits-to-words",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost,
    setups=(TRANSFERS,),
    example={"count": 1000, "width": 32},
)
