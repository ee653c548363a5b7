"""Comparison of encrypted values: Conversion 5, type 2 from type 3.

    Alice (sk)                                    Bob (E(x), E(y))
                        <-- masked --             E(a + b),  a = n + x - y,  b uniform in [0, N - 2n)
      s = a + b
      E(s div n)        -- Quotients -->
      x' = s mod n      == inner comparison ==    y' = b mod n
                                                  E(x' >= y')
                                                  E(delta) = E(s div n) - (b div n) - (1 - E(x' >= y'))

Inputs: SE-SE, ciphertexts of integers of `bits` bits under Alice's key; n = 2**bits, 4n < N.
Outputs: SE.
Learns: Alice s, which is within statistical distance 2n / N of uniform; Bob nothing.
Assumes: semi-honest parties; DCR; what the inner comparison assumes.
    b is drawn so that a + b cannot reach N: no key gives the wrong results of a wrap (erratum 7).
Cost: 2 flights and those of the inner comparison; one ciphertext each way and one decryption per value.
Reference: thesis, section 3.2, Conversion 5 and Lemma 3.2, after [Veu14]; errata 3, 7
    (its footnote 2 means 4n < N).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from smc.channel.message import Message
from smc.ciphers.keys import PublicKey
from smc.ciphers.paillier import Fresh
from smc.errors import KeyMaterialError, UsageError
from smc.forms import ComparisonType, Form
from smc.protocols.flights import Flight
from smc.protocols.full_session import FullSession
from smc.protocols.spec import Cost, Parameters, Spec, Subprotocol
from smc.values import Encrypted, KeyHolder, Nothing, Plain

Inner = Callable[[Parameters, Plain | Nothing, Plain | Nothing], Encrypted | KeyHolder]


@dataclass(frozen=True, slots=True)
class EncryptedMasked(Message, kind="encrypted-masked"):
    """Bob to Alice: E(a + b)."""

    sums: Fresh


@dataclass(frozen=True, slots=True)
class Quotients(Message, kind="encrypted-quotients"):
    """Alice to Bob: E((a + b) div n)."""

    quotients: Fresh


def mask_bound(key: PublicKey, bits: int) -> int:
    """The exclusive bound of b: a + b < N for every a < 2n.

    Raises:
        KeyMaterialError: the key is too small for numbers of this size.
    """
    if 4 << bits >= key.n:
        raise KeyMaterialError(
            f"A key of {key.bits} bits is too small to compare numbers of {bits} bits.",
            "Use a larger key, or compare numbers of fewer bits.",
        )
    return int(key.n) - (2 << bits)


def alice(
    session: FullSession, parameters: Parameters, x: KeyHolder, y: KeyHolder, inner: Inner
) -> KeyHolder:
    """Alice: opens the masked difference and compares its low part."""
    bits = parameters.bits
    mask_bound(session.own.public, bits)
    sums = session.own.decrypt(session.channel.recv(EncryptedMasked, session.own.expect(len(x))))
    session.channel.send(Quotients(session.own.encrypt([s >> bits for s in sums])))
    inner(inner_parameters(parameters), Plain([s & ((1 << bits) - 1) for s in sums]), Nothing(len(y)))
    return KeyHolder(len(x))


def bob(session: FullSession, parameters: Parameters, x: Encrypted, y: Encrypted, inner: Inner) -> Encrypted:
    """Bob: masks the difference and takes the mask's quotient off again."""
    bits = parameters.bits
    cipher = session.peer
    masks = session.random.below(mask_bound(cipher.public, bits), len(x))
    difference = cipher.subtract(cipher.ciphertexts_of(x), cipher.ciphertexts_of(y))
    masked = cipher.add_plain(difference, [(1 << bits) + b for b in masks])
    session.channel.send(EncryptedMasked(cipher.refresh(masked)))
    quotients = session.channel.recv(Quotients, cipher.expect(len(x)))
    low = inner(inner_parameters(parameters), Nothing(len(x)), Plain([b & ((1 << bits) - 1) for b in masks]))
    if not isinstance(low, Encrypted):
        raise UsageError(
            "The inner comparison did not leave its result encrypted at Bob.",
            "Use one whose output form is SE.",
        )
    total = cipher.add(quotients, cipher.ciphertexts_of(low))
    return Encrypted(cipher.add_plain(total, [-(b >> bits) - 1 for b in masks]))


def inner_parameters(parameters: Parameters) -> Parameters:
    """The inner comparison has as many pairs of as many bits."""
    return replace(parameters, modulus_in=None, modulus_out=None)


def cost(parameters: Parameters) -> Cost:
    """One ciphertext each way."""
    count = parameters.count
    size = count * parameters.alice_ciphertext_bytes
    return Cost(
        (Flight.BOB, Flight.ALICE),
        size,
        size,
        {"decrypt": count, "mask": count},
        {"mask": count, "inverse": count},
    )


SPEC = Spec(
    name="encrypted",
    inputs=(Form.SE, Form.SE),
    output=Form.SE,
    alice=alice,
    bob=bob,
    cost=cost,
    subprotocol=Subprotocol(ComparisonType(Form.PN, Form.NP, Form.SE), inner_parameters),
)
