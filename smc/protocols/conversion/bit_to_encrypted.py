"""XOR-shared bit to encrypted bit.

    Alice (sk, b^A)                      Bob (pk, b^B)
      E(b^A)          -- Encrypted -->   E(b^A xor b^B) = b^B + (1 - 2 b^B) E(b^A)

Inputs: SS with modulus 2.
Outputs: SE; Bob's ciphertexts are not fresh and must be re-randomised before they go anywhere (erratum 3).
Learns: nobody anything.
Assumes: semi-honest parties; DCR.
Cost: 1 flight, one ciphertext and one encryption per bit; Bob inverts every ciphertext and keeps what he
    needs, so that his work does not depend on his bits.
Reference: thesis, section 8.1.3, Protocol 2, steps 3 and 4 (where it is part of the comparison); erratum 6.
"""

from __future__ import annotations

from dataclasses import dataclass

from smc.channel.message import Message
from smc.ciphers.paillier import Ciphertexts, Fresh
from smc.forms import Form
from smc.protocols.flights import Flight
from smc.protocols.full_session import FullSession
from smc.protocols.spec import Cost, Parameters, Sharing, Spec
from smc.values import Encrypted, KeyHolder, Share


@dataclass(frozen=True, slots=True)
class EncryptedBits(Message, kind="bit-to-encrypted"):
    """Alice to Bob."""

    bits: Fresh


def alice(session: FullSession, parameters: Parameters, value: Share) -> KeyHolder:
    """Alice: encrypts her bit."""
    del parameters
    session.channel.send(EncryptedBits(session.own.encrypt(value.values)))
    return KeyHolder(len(value))


def bob(session: FullSession, parameters: Parameters, value: Share) -> Encrypted:
    """Bob: flips the encrypted bit where his own is 1."""
    del parameters
    cipher = session.peer
    bits = session.channel.recv(EncryptedBits, cipher.expect(len(value)))
    ones = Ciphertexts(cipher.public, [1] * len(value))
    flipped = cipher.add_plain(cipher.subtract(ones, bits), [1] * len(value))
    chosen = [
        (flip if own else keep)
        for own, keep, flip in zip(value.values, bits.values, flipped.values, strict=True)
    ]
    return Encrypted(Ciphertexts(cipher.public, chosen))


def cost(parameters: Parameters) -> Cost:
    """One ciphertext per bit."""
    count = parameters.count
    size = count * parameters.alice_ciphertext_bytes
    return Cost((Flight.ALICE,), size, 0, {"mask": count}, {"inverse": count})


SPEC = Spec(
    name="bit-to-encrypted",
    inputs=(Form.SS,),
    output=Form.SE,
    alice=alice,
    bob=bob,
    cost=cost,
    takes=Sharing.XOR,
)
