"""Encrypted to plain for the key's owner.

    Alice (sk)                        Bob (E(z))
      z              <-- Returned --  E(z), fresh

Inputs: SE.
Outputs: PN.
Learns: Alice z, and by the re-randomisation nothing on how Bob came to it (erratum 3).
Assumes: semi-honest parties; DCR.
Cost: 1 flight; one ciphertext, one re-randomisation and one decryption per value.
Reference: immediate from decryption; erratum 3.
"""

from __future__ import annotations

from dataclasses import dataclass

from smc.channel.message import Message
from smc.ciphers.paillier import Fresh
from smc.forms import Form, Role
from smc.protocols.flights import Flight
from smc.protocols.full_session import FullSession
from smc.protocols.spec import Cost, Parameters, Spec
from smc.values import Encrypted, KeyHolder, Nothing, Plain


@dataclass(frozen=True, slots=True)
class Returned(Message, kind="encrypted-to-plain"):
    """Bob to Alice."""

    values: Fresh


def alice(session: FullSession, parameters: Parameters, value: KeyHolder) -> Plain:
    """Alice: decrypts."""
    del parameters
    return Plain(session.own.decrypt(session.channel.recv(Returned, session.own.expect(len(value)))))


def bob(session: FullSession, parameters: Parameters, value: Encrypted) -> Nothing:
    """Bob: re-randomises and returns."""
    del parameters
    session.channel.send(Returned(session.peer.refresh(session.peer.ciphertexts_of(value))))
    return Nothing(len(value))


def cost(parameters: Parameters) -> Cost:
    """One ciphertext per value."""
    count = parameters.count
    size = count * parameters.alice_ciphertext_bytes
    return Cost((Flight.BOB,), 0, size, {"decrypt": count}, {"mask": count})


SPEC = Spec(
    name="encrypted-to-plain",
    inputs=(Form.SE,),
    output=Form.PN,
    alice=alice,
    bob=bob,
    cost=cost,
    opens=frozenset({Role.ALICE}),
)
