"""Encrypted to shared, many values to a ciphertext, to any modulus.

    Alice (sk)                              Bob (E(z))
                                              r uniform in [0, 2**(bits + 64))
                          <-- masked --       E(sum (z_i + r_i) 2**(slot i)), fresh, one per pack
      z^A = (z + r) mod M                     z^B = -r mod M

Inputs: SE, integers of `bits` bits.
Outputs: SS modulo any M.
Learns: Alice each z_i + r_i, which is within statistical distance 2**-64 of uniform whatever z_i is; Bob
    nothing. For an M above 2**(bits + 65) her shares are not uniform modulo M, but as independent of the
    values.
Assumes: semi-honest parties; DCR.
    A slot has bits + 65 bits, which z + r never exceeds: no slot runs over, nothing wraps modulo N.
Cost: 1 flight; one ciphertext, one re-randomisation and one decryption per pack of
    (key bits - 1) div (bits + 65) values; bits + 65 squarings per value but the first of a pack.
Reference: duetto, from the thesis's Conversion 4 (section 3.2); errata 3, 6, 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from smc.channel.message import Message
from smc.ciphers.packing import MASK_BITS, Packing
from smc.ciphers.paillier import Fresh
from smc.forms import Form
from smc.protocols.flights import Flight
from smc.protocols.full_session import FullSession
from smc.protocols.spec import Cost, Parameters, Sharing, Spec
from smc.values import Encrypted, KeyHolder, Share


@dataclass(frozen=True, slots=True)
class MaskedPacks(Message, kind="packed-to-shared"):
    """Bob to Alice: packs of z + r."""

    packs: Fresh


def layout(parameters: Parameters) -> Packing:
    """How the masked values are packed under Alice's key.

    Raises:
        KeyMaterialError: the key is too small for one.
    """
    return Packing.under(parameters.alice_key_bits, parameters.bits + 1 + MASK_BITS)


def applies(parameters: Parameters) -> bool:
    """Whether Alice's key holds a masked value."""
    return parameters.alice_key_bits > parameters.bits + 1 + MASK_BITS


def alice(session: FullSession, parameters: Parameters, value: KeyHolder) -> Share:
    """Alice: opens the packs.

    Raises:
        ProtocolViolation: the packs are malformed.
    """
    modulus = parameters.number_out
    packing = layout(parameters)
    packs = session.channel.recv(MaskedPacks, session.own.expect(packing.packs(len(value))))
    opened = packing.split(session.own.decrypt(packs), len(value))
    return Share([z % modulus for z in opened], modulus)


def bob(session: FullSession, parameters: Parameters, value: Encrypted) -> Share:
    """Bob: packs, and masks the packs."""
    modulus = parameters.number_out
    packing = layout(parameters)
    cipher = session.peer
    masks = session.random.below(1 << (parameters.bits + MASK_BITS), len(value))
    packs = packing.pack(cipher, cipher.ciphertexts_of(value))
    session.channel.send(MaskedPacks(cipher.refresh(cipher.add_plain(packs, packing.join(masks)))))
    return Share([-r % modulus for r in masks], modulus)


def cost(parameters: Parameters) -> Cost:
    """One ciphertext per pack, from Bob."""
    count = parameters.count
    packing = layout(parameters)
    packs = packing.packs(count)
    return Cost(
        (Flight.BOB,),
        0,
        packs * parameters.alice_ciphertext_bytes,
        {"decrypt": packs},
        {"square": packing.squarings(count), "mask": packs},
    )


SPEC: Final = Spec(
    name="packed-to-shared",
    inputs=(Form.SE,),
    output=Form.SS,
    gives=Sharing.ANY,
    alice=alice,
    bob=bob,
    cost=cost,
    improves="encrypted-to-shared",
    applies=applies,
)
