"""Plain to encrypted, from either side.

    PN -> SE:  Alice (sk, z)   E(z)  -- Encrypted -->   Bob (E(z))
    NP -> SE:  Alice (sk)                               Bob (z) encrypts under Alice's key, no message

Inputs: PN or NP.
Outputs: SE.
Learns: nobody anything.
Assumes: semi-honest parties; DCR.
Cost: 1 flight and one ciphertext per value from Alice, none from Bob; one encryption per value.
Reference: immediate from encryption; thesis, Lemmas 2.1 and 3.1 reach the same by way of shares.
"""

from __future__ import annotations

from dataclasses import dataclass

from smc.channel.message import Message
from smc.ciphers.paillier import Fresh
from smc.forms import Form
from smc.protocols.flights import Flight
from smc.protocols.full_session import FullSession
from smc.protocols.spec import Cost, Parameters, Spec
from smc.values import Encrypted, KeyHolder, Nothing, Plain


@dataclass(frozen=True, slots=True)
class EncryptedValues(Message, kind="plain-to-encrypted"):
    """Alice to Bob."""

    values: Fresh


def alice_sends(session: FullSession, parameters: Parameters, value: Plain) -> KeyHolder:
    """Alice: encrypts under her own key and sends."""
    del parameters
    session.channel.send(EncryptedValues(session.own.encrypt(value.values)))
    return KeyHolder(len(value))


def bob_receives(session: FullSession, parameters: Parameters, value: Nothing) -> Encrypted:
    """Bob: receives."""
    del parameters
    return Encrypted(session.channel.recv(EncryptedValues, session.peer.expect(len(value))))


def alice_waits(session: FullSession, parameters: Parameters, value: Nothing) -> KeyHolder:
    """Alice: has the key, Bob does the rest."""
    del session, parameters
    return KeyHolder(len(value))


def bob_encrypts(session: FullSession, parameters: Parameters, value: Plain) -> Encrypted:
    """Bob: encrypts under Alice's key and keeps the ciphertexts."""
    del parameters
    return Encrypted(session.peer.encrypt(value.values))


def cost_alice(parameters: Parameters) -> Cost:
    """One ciphertext per value from Alice."""
    count = parameters.count
    return Cost((Flight.ALICE,), count * parameters.alice_ciphertext_bytes, 0, {"mask": count})


def cost_bob(parameters: Parameters) -> Cost:
    """One encryption per value at Bob."""
    return Cost(bob_operations={"mask": parameters.count})


SPEC_FROM_ALICE = Spec(
    name="plain-to-encrypted",
    inputs=(Form.PN,),
    output=Form.SE,
    alice=alice_sends,
    bob=bob_receives,
    cost=cost_alice,
)

SPEC_FROM_BOB = Spec(
    name="plain-to-own-encrypted",
    inputs=(Form.NP,),
    output=Form.SE,
    alice=alice_waits,
    bob=bob_encrypts,
    cost=cost_bob,
)
