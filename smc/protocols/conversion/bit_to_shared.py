"""XOR-shared bit to a bit shared modulo any M, by oblivious transfer.

    Alice (b^A)                                       Bob (b^B)
      p uniform modulo M
      sender of d = 1 - 2 b^A  == correlated transfer ==  chooser of b^B
      z^A = b^A - p                                     z^B = p + b^B (1 - 2 b^A)

    b = b^A xor b^B = b^A + b^B (1 - 2 b^A)

Inputs: SS with modulus 2.
Outputs: SS modulo any M > 2: 2**64, a prime, a Paillier N. Both shares are uniform modulo M, within distance
    2**-64 for M other than a power of two up to 2**64, whatever the shares of the bit are.
Learns: nobody anything.
Assumes: what `smc.protocols.correlated` assumes.
Cost: 2 flights per span of 16 MiB; per bit 4 bytes of matrix from Bob and a number modulo M from Alice, per
    span 16 bytes more where pads are seeds. The first use in a session sets up `TRANSFERS`.
Reference: Demmler, Schneider and Zohner, ABY, NDSS 2015, section IV (B2A); by one correlated transfer: Rathee
    et al., CrypTFlow2, CCS 2020, section 3. The correlation 1 - 2 b^A instead of b^A makes both shares
    uniform.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.forms import Form
from smc.protocols import correlated
from smc.protocols.against import Against
from smc.protocols.session import Session
from smc.protocols.spec import Parameters, Sharing, Spec
from smc.protocols.transfer_costs import TRANSFERS
from smc.values import Share


def applies(parameters: Parameters) -> bool:
    """Whether the bit is to be shared modulo another number than 2."""
    return parameters.modulus_out != 2


def alice(session: Session, parameters: Parameters, value: Share) -> Share:
    """Alice: sends the transfers.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    modulus = parameters.number_out
    bits = _bits(value)
    held = correlated.numbers(bits, modulus)
    signs = correlated.select_numbers(bits, modulus - 1, 1, modulus)
    return correlated.share(held + correlated.send(session, signs, modulus), modulus)


def bob(session: Session, parameters: Parameters, value: Share) -> Share:
    """Bob: chooses.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    modulus = parameters.number_out
    return correlated.share(correlated.choose(session, _bits(value), modulus), modulus)


def _bits(value: Share) -> NDArray[np.uint8]:
    return np.asarray(value.values, dtype=np.uint8)


SPEC: Final = Spec(
    name="bit-to-shared",
    against=Against.PRIVATE,
    inputs=(Form.SS,),
    output=Form.SS,
    alice=alice,
    bob=bob,
    cost=correlated.cost,
    takes=Sharing.XOR,
    gives=Sharing.ANY,
    improves="bit-to-encrypted",
    setups=(TRANSFERS,),
    applies=applies,
    arrays=True,
)
