"""Comparison by scalar products of shares, bit after bit: PN x NP -> SE, after [BO07].

    Alice (sk, x)                             Bob (pk, y)
      E(x_i), all i         -- bits -->
      t_i = x_i y_i         <-- Products --   E(x_i y_i - t_i^B), t_i^B uniform
      e_i = [x_i = y_i] = 1 - x_i - y_i + 2 t_i, shared modulo N by local work
      E(e_i^A), all i > 0   -- Equalities -->
      c_1 = [x_0 >= y_0] = 1 - y_0 + t_0; from then on, for i = 1 .. bits - 1:
      E(c_i^A)              -- state -->
                            <-- Crossing --   E(e_i^A c_i^B + c_i^A e_i^B - u_i^B), u_i^B uniform
      c_(i+1) = [x_i > y_i] + [x_i = y_i] c_i = x_i - t_i + e_i c_i
      E(c_bits^A)           -- state -->      E(delta) = E(c_bits^A) + c_bits^B

Inputs: PN-NP, plain integers of `bits` bits, any batch.
Outputs: SE; the ciphertexts are not fresh and must be re-randomised before they go anywhere (erratum 3).
Learns: nobody anything: all that Alice opens are shares that Bob drew uniformly modulo N, all that Bob
    gets is encrypted.
Assumes: semi-honest parties; DCR.
Cost: 2 bits + 2 flights (3 for one bit). Alice sends 3 bits - 1 ciphertexts per pair (2 for one bit), Bob
    2 bits - 1. Bob raises 2 bits - 2 ciphertexts to powers as long as N.
Reference: [BO07] Bunn and Ostrovsky, Secure two-party k-means clustering, CCS 2007. Their text was not at
    hand. From the thesis (sections 2.3.3 and 8.2) comes what it says of the protocol: type 1, one key
    pair, a cost that is proportional to the bits. The construction is rebuilt from what is generally
    known of it: values shared additively modulo N are compared by way of their bits, one bit after the
    other, with products of shares by the scalar product protocol on Paillier's cipher. How the bits are
    chained here, and that shares of x and y become plain bits of each party by Conversion 5, which hides
    d = x - y under a sum of two numbers that one party each knows, are choices of duetto. Erratum 3.
"""

from __future__ import annotations

from dataclasses import dataclass

from smc.channel.message import Message
from smc.ciphers.paillier import Ciphertexts, Fresh
from smc.forms import Form
from smc.protocols.baselines.bit_planes import bit_planes, flatten
from smc.protocols.engines import baseline
from smc.protocols.flights import Flight
from smc.protocols.full_session import FullSession
from smc.protocols.spec import Cost, Parameters, Spec
from smc.values import Encrypted, KeyHolder, Nothing, Plain


@dataclass(frozen=True, slots=True)
class BunnOstrovskyBits(Message, kind="bunn-ostrovsky-bits"):
    """Alice to Bob: her bits, the least significant of the whole batch first."""

    bits: Fresh


@dataclass(frozen=True, slots=True)
class Products(Message, kind="bunn-ostrovsky-products"):
    """Bob to Alice: her shares of x_i y_i."""

    shares: Fresh


@dataclass(frozen=True, slots=True)
class Equalities(Message, kind="bunn-ostrovsky-equalities"):
    """Alice to Bob: her shares of [x_i = y_i] for i > 0."""

    shares: Fresh


@dataclass(frozen=True, slots=True)
class CarryState(Message, kind="bunn-ostrovsky-state"):
    """Alice to Bob: her share of the comparison of the bits below i."""

    share: Fresh


@dataclass(frozen=True, slots=True)
class Crossing(Message, kind="bunn-ostrovsky-crossing"):
    """Bob to Alice: her share of what the scalar product has across the parties."""

    share: Fresh


def alice(session: FullSession, parameters: Parameters, x: Plain, y: Nothing) -> KeyHolder:
    """Alice: encrypts her shares and opens those that Bob deals her."""
    count, bits = len(y), parameters.bits
    cipher, channel = session.own, session.channel
    modulus = int(cipher.public.n)
    planes = bit_planes(x.values, bits)
    channel.send(BunnOstrovskyBits(cipher.encrypt(flatten(planes))))
    opened = cipher.decrypt(channel.recv(Products, cipher.expect(count * bits)))
    products = [opened[start : start + count] for start in range(0, count * bits, count)]
    equalities = [
        [(1 - bit + 2 * t) % modulus for bit, t in zip(plane, row, strict=True)]
        for plane, row in zip(planes, products, strict=True)
    ]
    if bits > 1:
        channel.send(Equalities(cipher.encrypt(flatten(equalities[1:]))))
    state = [(1 + t) % modulus for t in products[0]]
    for place in range(1, bits):
        channel.send(CarryState(cipher.encrypt(state)))
        crossing = cipher.decrypt(channel.recv(Crossing, cipher.expect(count)))
        state = [
            (bit - t + e * c + u) % modulus
            for bit, t, e, c, u in zip(
                planes[place], products[place], equalities[place], state, crossing, strict=True
            )
        ]
        session.report("compare", place * count // bits, count)
    channel.send(CarryState(cipher.encrypt(state)))
    return KeyHolder(count)


def bob(session: FullSession, parameters: Parameters, x: Nothing, y: Plain) -> Encrypted:
    """Bob: multiplies by his shares under encryption and deals shares of the products."""
    count, bits = len(x), parameters.bits
    cipher, channel = session.peer, session.channel
    modulus = int(cipher.public.n)
    planes = bit_planes(y.values, bits)
    others = channel.recv(BunnOstrovskyBits, cipher.expect(count * bits))
    mine = session.random.below(modulus, count * bits)
    crossed = cipher.scale(others, flatten(planes))
    channel.send(Products(cipher.refresh(cipher.add_plain(crossed, [-t for t in mine]))))
    products = [mine[start : start + count] for start in range(0, count * bits, count)]
    equalities = [
        [(2 * t - bit) % modulus for bit, t in zip(plane, row, strict=True)]
        for plane, row in zip(planes, products, strict=True)
    ]
    state = [(t - bit) % modulus for bit, t in zip(planes[0], products[0], strict=True)]
    if bits > 1:
        theirs = channel.recv(Equalities, cipher.expect(count * (bits - 1)))
    for place in range(1, bits):
        equal = theirs[(place - 1) * count : place * count]
        other = channel.recv(CarryState, cipher.expect(count))
        mine = session.random.below(modulus, count)
        factors = [*state, *equalities[place]]
        parts = cipher.scale(Ciphertexts.concat([equal, other]), factors)
        crossing = cipher.add_plain(cipher.add(parts[:count], parts[count:]), [-u for u in mine])
        channel.send(Crossing(cipher.refresh(crossing)))
        state = [
            (e * c + u - t) % modulus
            for t, e, c, u in zip(products[place], equalities[place], state, mine, strict=True)
        ]
        session.report("compare", place * count // bits, count)
    return Encrypted(cipher.add_plain(channel.recv(CarryState, cipher.expect(count)), state))


def cost(parameters: Parameters) -> Cost:
    """Two flights per bit and two more."""
    count, bits, size = parameters.count, parameters.bits, parameters.alice_ciphertext_bytes
    again = bits - 1
    begin = (Flight.ALICE, Flight.BOB, *((Flight.ALICE,) if again else ()))
    return Cost(
        (*begin, *((Flight.ALICE, Flight.BOB) * again), Flight.ALICE),
        count * (bits + 2 * again + 1) * size,
        count * (bits + again) * size,
        {"mask": count * (bits + 2 * again + 1), "decrypt": count * (bits + again)},
        {
            "mask": count * (bits + again),
            "small_power": count * bits,
            **({"power": count * 2 * again} if again else {}),
        },
    )


SPEC = Spec(
    name="bo07",
    inputs=(Form.PN, Form.NP),
    output=Form.SE,
    alice=alice,
    bob=bob,
    cost=cost,
    engine=baseline("bo07"),
)
