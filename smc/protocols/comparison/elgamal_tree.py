"""The tree protocol on ElGamal's cipher in the exponent: as `tree`, with 66-byte ciphertexts.

    Alice (x)                                 Bob (y)
      Q_A            -- PublicPoint --          Q_B     (both at once, once in a session)
      E(nodes)       -- points -->
                     <-- tests --               blinded differences, re-randomised and shuffled
      the zero test: s C_1 = C_2

Inputs: PN-NP, plain integers of `bits` bits, at most `MAX_BITS`, any batch.
Outputs: PN, NP, or SS with modulus 2, as in `tree`.
Learns: what the parties of `tree` learn, and of a difference only whether it is zero: the plaintexts stay
    behind a discrete logarithm even for the key owner.
Assumes: semi-honest parties; decisional Diffie-Hellman on secp256k1, about 128 bits. The blinding factors are
    uniform in all of Z_q^* and the re-randomisation is perfect (errata 3, 5).
Cost: 2 flights, `bits` ciphertexts of two compressed points each way: 132 bytes per bit of a pair. The first
    use in a session sets up `KEYS`.
Reference: thesis, section 8.1.3, Protocols 1 and 2, with the cipher exchanged; see `smc.ciphers.elgamal`.
"""

from __future__ import annotations

from typing import Final

from smc.ciphers.curve import ORDER, POINT_BYTES
from smc.ciphers.elgamal import CIPHERTEXT_BYTES
from smc.protocols.engines import ELGAMAL
from smc.protocols.flights import Flight
from smc.protocols.full_session import FullSession
from smc.protocols.spec import Cost, Parameters, Setup
from smc.protocols.trees import membership
from smc.protocols.trees.dyadic import pack

MAX_BITS: Final = 248
"""Up to this size every node has a number of its own below the order of the group (erratum 4)."""


def _exchange_keys(session: FullSession) -> None:
    _ = session.elgamal


KEYS: Final = Setup("elgamal-keys", _exchange_keys, Cost((Flight.BOTH,), POINT_BYTES, POINT_BYTES))
"""What the first use in a session costs."""


def applies(parameters: Parameters) -> bool:
    """Whether the numbers of the nodes, the root's too, fit into the plaintexts."""
    return pack(parameters.bits, 1, parameters.bits) < ORDER


def cost(parameters: Parameters) -> Cost:
    """Two flights; Alice has the points."""
    return membership.nodes_cost(parameters.count * parameters.bits, CIPHERTEXT_BYTES, "ec_")


SPEC, SPEC_ALICE_LEARNS, SPEC_BOB_LEARNS = membership.records(
    "elgamal-tree",
    __name__,
    cost,
    lambda session: session.elgamal,
    engine=ELGAMAL,
    setups=(KEYS,),
    applies=applies,
)
