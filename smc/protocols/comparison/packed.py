"""Comparison of encrypted values, many to a ciphertext, to XOR shares.

    Alice (sk)                                    Bob (E(x), E(y))
                                                    d = n + x - y,  b uniform in [0, 2**(bits + 1 + 64))
                        <-- masked --               E(sum (d_i + b_i) 2**(slot i)), fresh, one per pack
      s_i = d_i + b_i
      x' = s mod n      == inner comparison ==      y' = b mod n        gives XOR shares of x' >= y'
      d_A = s[bits] ^ (x' >= y')_A                  d_B = 1 ^ b[bits] ^ (x' >= y')_B

    delta = d div n is bit `bits` of s - b: the two bits of that place, and the borrow, which is x' < y'.

Inputs: SE-SE, ciphertexts of integers of `bits` bits under Alice's key; n = 2**bits.
Outputs: SS with modulus 2.
Learns: Alice each s_i, which is within statistical distance 2n / 2**(bits + 65) = 2**-64 of uniform whatever
    x_i and y_i are; Bob nothing.
Assumes: semi-honest parties; DCR; what the inner comparison assumes.
    A slot has bits + 66 bits: d + b stays below 2**(bits + 66), so no slot runs over into the next one and
    nothing wraps modulo N.
    Every pack is re-randomised before it leaves (erratum 3).
Cost: 1 flight and those of the inner comparison; one ciphertext, one re-randomisation and one decryption per
    pack of (key bits - 1) div (bits + 66) values; bits + 66 squarings per value but the first of a pack. No
    ciphertext comes back: for encrypted output `bit-to-encrypted` follows, as many ciphertexts as it takes.
Reference: duetto, from the thesis's Conversion 5 (section 3.2, Lemma 3.2, after [Veu14]); errata 3, 7.
    Of its quotients, which are taken off under encryption, only the parities are needed here, and those the
    parties take off on shares. Packing masked values is common knowledge of the field.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from smc.channel.message import Message
from smc.ciphers.packing import MASK_BITS, Packing
from smc.ciphers.paillier import Fresh
from smc.forms import ComparisonType, Form
from smc.protocols.flights import Flight
from smc.protocols.full_session import FullSession
from smc.protocols.spec import Cost, Parameters, Sharing, Spec, Subprotocol
from smc.values import Encrypted, KeyHolder, Nothing, Plain, Share

Inner = Callable[[Parameters, Plain | Nothing, Plain | Nothing], Share]


@dataclass(frozen=True, slots=True)
class PackedMasked(Message, kind="packed-masked"):
    """Bob to Alice: packs of d + b."""

    packs: Fresh


def layout(parameters: Parameters) -> Packing:
    """How the masked differences are packed under Alice's key.

    Raises:
        KeyMaterialError: the key is too small for one.
    """
    return Packing.under(parameters.alice_key_bits, parameters.bits + 2 + MASK_BITS)


def applies(parameters: Parameters) -> bool:
    """Whether Alice's key holds a masked difference."""
    return parameters.alice_key_bits > parameters.bits + 2 + MASK_BITS


def alice(session: FullSession, parameters: Parameters, x: KeyHolder, y: KeyHolder, inner: Inner) -> Share:
    """Alice: opens the packs and compares the low parts.

    Raises:
        UsageError: the batch is not of the declared size.
        ProtocolViolation: the packs are malformed.
    """
    parameters.check_pairs(len(x), len(y))
    packing = layout(parameters)
    packs = session.channel.recv(PackedMasked, session.own.expect(packing.packs(len(x))))
    sums = packing.split(session.own.decrypt(packs), len(x))
    low = Plain(_low_parts(sums, parameters.bits))
    return _shares(sums, parameters.bits, 0, inner(inner_parameters(parameters), low, Nothing(len(y))))


def bob(session: FullSession, parameters: Parameters, x: Encrypted, y: Encrypted, inner: Inner) -> Share:
    """Bob: packs the differences, masks the packs and compares the masks' low parts.

    Raises:
        UsageError: the batch is not of the declared size.
    """
    parameters.check_pairs(len(x), len(y))
    bits = parameters.bits
    packing = layout(parameters)
    cipher = session.peer
    masks = session.random.below(2 << (bits + MASK_BITS), len(x))
    differences = cipher.subtract(cipher.ciphertexts_of(x), cipher.ciphertexts_of(y))
    packs = packing.pack(cipher, differences)
    masked = cipher.add_plain(packs, packing.join([(1 << bits) + b for b in masks]))
    session.channel.send(PackedMasked(cipher.refresh(masked)))
    low = Plain(_low_parts(masks, bits))
    return _shares(masks, bits, 1, inner(inner_parameters(parameters), Nothing(len(x)), low))


def _low_parts(values: Sequence[int], bits: int) -> list[int]:
    return [value & ((1 << bits) - 1) for value in values]


def _shares(values: Sequence[int], bits: int, flip: int, low: Share) -> Share:
    """XOR of the values' bit number `bits`, of `flip` and of the shares of the low comparison."""
    return Share(
        [value >> bits & 1 ^ flip ^ int(bit) for value, bit in zip(values, low.values, strict=True)], 2
    )


def inner_parameters(parameters: Parameters) -> Parameters:
    """The inner comparison has as many pairs of as many bits."""
    return replace(parameters, modulus_in=None, modulus_out=None)


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
        {"inverse": count, "square": packing.squarings(count), "mask": packs},
    )


SPEC: Final = Spec(
    name="packed",
    inputs=(Form.SE, Form.SE),
    output=Form.SS,
    gives=Sharing.XOR,
    alice=alice,
    bob=bob,
    cost=cost,
    subprotocol=Subprotocol(ComparisonType(Form.PN, Form.NP, Form.SS), inner_parameters),
    improves="encrypted",
    applies=applies,
)
