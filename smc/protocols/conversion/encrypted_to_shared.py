"""Encrypted to shared: Conversion 4, to any modulus.

    Alice (sk)                           Bob (E(z))
                                           r uniform: in Z_N if M = N, else in [0, N - 2**bits)
      z^A = (z + r) mod M  <-- masked --   E(z + r), fresh
                                           z^B = -r mod M

Inputs: SE, integers of `bits` bits (any integers modulo N if M = N).
Outputs: SS modulo M: N itself, 2 (XOR shares of a bit), 2**64, or any other.
Learns: Alice z + r, uniform if M = N, else within statistical distance 2**bits / N of uniform; Bob nothing.
Assumes: semi-honest parties; DCR.
    For M other than N the sum cannot wrap modulo N, so the shares are always right.
Cost: 1 flight; one ciphertext, one re-randomisation and one decryption per value.
Reference: thesis, section 3.2, Conversion 4 (M = N); errata 3, 6, 7 for the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

from smc.channel.message import Message
from smc.ciphers.paillier import Fresh
from smc.errors import KeyMaterialError
from smc.forms import Form
from smc.protocols.flights import Flight
from smc.protocols.full_session import FullSession
from smc.protocols.spec import Cost, Parameters, Sharing, Spec
from smc.values import Encrypted, KeyHolder, Share


@dataclass(frozen=True, slots=True)
class MaskedValues(Message, kind="encrypted-to-shared"):
    """Bob to Alice: E(z + r)."""

    values: Fresh


def alice(session: FullSession, parameters: Parameters, value: KeyHolder) -> Share:
    """Alice: opens the masked value."""
    modulus = parameters.number_out
    opened = session.own.decrypt(session.channel.recv(MaskedValues, session.own.expect(len(value))))
    return Share([z % modulus for z in opened], modulus)


def bob(session: FullSession, parameters: Parameters, value: Encrypted) -> Share:
    """Bob: masks."""
    cipher = session.peer
    modulus = parameters.number_out
    bound = cipher.public.n
    if modulus != bound:
        bound -= 1 << parameters.bits
        if bound <= 1 << parameters.bits:
            raise KeyMaterialError("The key is too small to mask these values.", "Use a larger key.")
    masks = session.random.below(bound, len(value))
    masked = cipher.add_plain(cipher.ciphertexts_of(value), masks)
    session.channel.send(MaskedValues(cipher.refresh(masked)))
    return Share([-r % modulus for r in masks], modulus)


def cost(parameters: Parameters) -> Cost:
    """One ciphertext per value."""
    count = parameters.count
    size = count * parameters.alice_ciphertext_bytes
    return Cost((Flight.BOB,), 0, size, {"decrypt": count}, {"mask": count})


SPEC = Spec(
    name="encrypted-to-shared",
    inputs=(Form.SE,),
    output=Form.SS,
    gives=Sharing.ANY,
    alice=alice,
    bob=bob,
    cost=cost,
)
