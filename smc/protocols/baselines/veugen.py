"""Comparison of bits under encryption by one zero among shuffled numbers: PN x NP -> SS, after [VBdHE15].

    Alice (sk, x)                       Bob (pk, y, s^B uniform; s = 1 if s^B = 1, else -1)
      E(x_i), all i     -- bits -->
                        <-- tests --    E(r_i c_i), c_i = s + x_i - y_i + 3 (differing bits above i), and
                                        E(r (s^B + all differing bits)); r_i, r uniform in Z_N^*; shuffled
      s^A = one of them is zero
    s = 1 asks whether x < y, s = -1 whether x >= y; s^A xor s^B = (x >= y)

Inputs: PN-NP, plain integers of `bits` bits, any batch.
Outputs: SS with modulus 2.
Learns: nobody delta: Alice gets delta xor a uniform bit of Bob's; nothing from the place of the zero
    (shuffle) or the other values (uniform r_i in Z_N^*, erratum 5).
Assumes: semi-honest parties; DCR. Bob inverts every ciphertext and keeps what he needs, and sends a test
    for equality whichever way he asks, so that his work and the sizes do not depend on his bits.
Cost: 2 flights; `bits` ciphertexts to Bob and bits + 1 back, each of them raised to a power as long as N.
Reference: [VBdHE15] Veugen, Blom, de Hoogh and Erkin, Secure comparison protocols in the semi-honest
    model, IEEE JSTSP 9(7), 2015. Their text was not at hand. From the thesis (section 8.2) comes what it
    says of the protocol: type 2, with more than one key pair, for it builds on the comparison of Damgard,
    Geisler and Kroigaard. The construction is rebuilt from what is generally known of that: the sign that
    Bob draws and the numbers c_i are theirs, and so is type 2 from it by Conversion 5 (thesis, section
    3.2). It runs on Paillier's cipher here, as the other protocols it is measured against, and not on
    that of these three authors, whose ciphertexts are shorter and whose exponents are small: the figures
    compare protocols and not ciphers. Errata 3, 5.
"""

from __future__ import annotations

from dataclasses import dataclass

from smc.channel.message import Message
from smc.ciphers.paillier import Ciphertexts, Fresh
from smc.errors import ProtocolViolation
from smc.forms import Form
from smc.protocols.baselines.bit_planes import bit_planes, first_differences, flatten
from smc.protocols.engines import baseline
from smc.protocols.flights import Flight
from smc.protocols.full_session import FullSession
from smc.protocols.spec import Cost, Parameters, Sharing, Spec
from smc.values import Nothing, Plain, Share


@dataclass(frozen=True, slots=True)
class VeugenBits(Message, kind="veugen-bits"):
    """Alice to Bob: her bits, the least significant of the whole batch first."""

    bits: Fresh


@dataclass(frozen=True, slots=True)
class VeugenTests(Message, kind="veugen-tests"):
    """Bob to Alice: for each pair bits + 1 numbers, of which one may be zero."""

    numbers: Fresh


def alice(session: FullSession, parameters: Parameters, x: Plain, y: Nothing) -> Share:
    """Alice: looks for the zero.

    Raises:
        ProtocolViolation: the peer's tests are malformed or hit more than once.
    """
    count, bits = len(y), parameters.bits
    cipher = session.own
    session.channel.send(VeugenBits(cipher.encrypt(flatten(bit_planes(x.values, bits)))))
    size = bits + 1
    zero = cipher.is_zero(session.channel.recv(VeugenTests, cipher.expect(count * size)))
    found = [sum(zero[start : start + size]) for start in range(0, count * size, size)]
    if max(found) > 1:
        raise ProtocolViolation("In one pair two different bits claim to be the first that differs.")
    return Share(found, 2)


def bob(session: FullSession, parameters: Parameters, x: Nothing, y: Plain) -> Share:
    """Bob: asks for one of the two directions, at random."""
    count, bits = len(x), parameters.bits
    cipher, random = session.peer, session.random
    others = session.channel.recv(VeugenBits, cipher.expect(count * bits))
    flips = [int(bit) for bit in random.bits(count)]
    signs = [2 * flip - 1 for flip in flips]
    found, differing = first_differences(cipher, others, bit_planes(y.values, bits), signs)
    numbers = Ciphertexts.concat([*found, cipher.add_plain(differing, flips)])
    order = [place * count + row for row in range(count) for place in random.shuffled(range(bits + 1))]
    blinded = cipher.scale(numbers.take(order), random.units(int(cipher.public.n), len(order)))
    session.channel.send(VeugenTests(cipher.refresh(blinded)))
    return Share(flips, 2)


def cost(parameters: Parameters) -> Cost:
    """Two flights."""
    there = parameters.count * parameters.bits
    back = there + parameters.count
    size = parameters.alice_ciphertext_bytes
    return Cost(
        (Flight.ALICE, Flight.BOB),
        there * size,
        back * size,
        {"mask": there, "zero_test": back},
        {"inverse": there, "power": back, "mask": back},
    )


SPEC = Spec(
    name="vbdhe15",
    inputs=(Form.PN, Form.NP),
    output=Form.SS,
    gives=Sharing.XOR,
    alice=alice,
    bob=bob,
    cost=cost,
    engine=baseline("vbdhe15"),
)
