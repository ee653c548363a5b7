"""Shared modulo the key's N to encrypted: Conversion 3.

    Alice (sk, z^A)                      Bob (pk, z^B)
      E(z^A)          -- Encrypted -->   E(z) = E(z^A) + z^B

Inputs: SS modulo the N of Alice's key.
Outputs: SE; Bob's ciphertexts are not fresh and must be re-randomised before they go anywhere (erratum 3).
Learns: nobody anything.
Assumes: semi-honest parties; DCR.
Cost: 1 flight, one ciphertext and one encryption per value.
Reference: thesis, section 3.2, Conversion 3; erratum 2 (sections 8.1.4 and Table 8.2 call it 1 and 2).
"""

from __future__ import annotations

from dataclasses import dataclass

from smc.channel.message import Message
from smc.ciphers.paillier import Fresh
from smc.errors import UsageError
from smc.forms import Form
from smc.protocols.flights import Flight
from smc.protocols.full_session import FullSession
from smc.protocols.spec import Cost, Parameters, Sharing, Spec
from smc.values import Encrypted, KeyHolder, Share


@dataclass(frozen=True, slots=True)
class EncryptedShares(Message, kind="shared-to-encrypted"):
    """Alice to Bob."""

    shares: Fresh


def _check_modulus(value: Share, key_modulus: int) -> None:
    if value.modulus != key_modulus:
        raise UsageError(
            "Shares can be encrypted only under the key whose N is their modulus.",
            "Convert them to that modulus first.",
        )


def alice(session: FullSession, parameters: Parameters, value: Share) -> KeyHolder:
    """Alice: encrypts her share."""
    del parameters
    _check_modulus(value, session.own.public.n)
    session.channel.send(EncryptedShares(session.own.encrypt(value.values)))
    return KeyHolder(len(value))


def bob(session: FullSession, parameters: Parameters, value: Share) -> Encrypted:
    """Bob: adds his share under encryption."""
    del parameters
    cipher = session.peer
    _check_modulus(value, cipher.public.n)
    others = session.channel.recv(EncryptedShares, cipher.expect(len(value)))
    return Encrypted(cipher.add_plain(others, value.values))


def cost(parameters: Parameters) -> Cost:
    """One ciphertext per value."""
    count = parameters.count
    return Cost((Flight.ALICE,), count * parameters.alice_ciphertext_bytes, 0, {"mask": count})


SPEC = Spec(
    name="shared-to-encrypted",
    inputs=(Form.SS,),
    output=Form.SE,
    alice=alice,
    bob=bob,
    cost=cost,
    takes=Sharing.ALICE_KEY,
)
