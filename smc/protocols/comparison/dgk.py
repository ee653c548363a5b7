"""Comparison bit by bit under the DGK cipher, the result shared.

    Alice (sk, x)                                  Bob (pk, y)
      n, g, h          -- PublicNumbers --           n, g, h     (both at once, once in a session)
      E(x_i), i < bits -- encrypted bits -->
                                                     s = -1 or 1, random: -1 asks x >= y, 1 asks x < y
                                                     w_j = x_j xor y_j
                                                     c_i = x_i - y_i + s + 3 sum_(j > i) w_j,  i < bits
                                                     c_(-1) = 1 + s + 3 sum_j w_j
                       <-- Blinded --                E(r_i c_i), r_i uniform in Z_u^*; shuffled
      d_A = one is 0                                 d_B = 1 if s = 1 else 0

    d_A xor d_B = (x >= y)

Inputs: PN-NP, plain integers of `bits` bits, at most 256, any batch.
Outputs: SS with modulus 2.
Learns: nobody delta: Alice gets delta xor a uniform bit of Bob's, and nothing from the place of the zero
    (shuffle) or the other values (uniform in Z_u^*, for u is prime). Bob learns nothing.
Assumes: semi-honest parties; the subgroup assumption of the DGK cipher, about 112 bits.
    Every ciphertext that Bob returns is re-randomised (erratum 3). His work does not depend on y or s.
Cost: 2 flights, `bits` ciphertexts of 256 bytes to Bob and `bits` + 1 to Alice. The first use in a session
    sets up `KEYS`.
Reference: Damgard, Geisler, Kroigaard 2007 and 2009, and Veugen's variant with a shared result as the thesis
    describes [VBdHE15]; rebuilt, the papers' texts were not at hand. Equality is settled by a further bit
    below the lowest, 1 for x and 0 for y: 2 x + 1 > 2 y says x >= y. Erratum 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from smc.channel.message import Message
from smc.ciphers.dgk import Dgk, DgkCiphertexts, FreshDgk, OwnDgk
from smc.ciphers.dgk_keys import BITS, KEY_BYTES, PLAINTEXTS
from smc.errors import ProtocolViolation
from smc.forms import Form
from smc.numeric.random import Randomness
from smc.pieces import chunks
from smc.protocols.cipher_context import KeyedCipherContext
from smc.protocols.engines import DGK
from smc.protocols.flights import Flight
from smc.protocols.full_session import FullSession
from smc.protocols.spec import Cost, Parameters, Setup, Sharing, Spec
from smc.values import Nothing, Plain, Share


def _exchange_keys(session: FullSession) -> None:
    _ = session.dgk


KEYS: Final = Setup(
    "dgk-keys",
    _exchange_keys,
    Cost((Flight.BOTH,), KEY_BYTES, KEY_BYTES, {"dgk_key": 1}, {"dgk_key": 1}),
)
"""What the first use in a session costs, unless the parties gave it keys: then they are not made."""

_PIECE = 1024
"""About how many ciphertexts go into one message, so that both parties work at the same time."""


@dataclass(frozen=True, slots=True)
class DgkBits(Message, kind="dgk-bits"):
    """Alice to Bob: the bits of x, the least significant first."""

    bits: FreshDgk


@dataclass(frozen=True, slots=True)
class Blinded(Message, kind="dgk-blinded"):
    """Bob to Alice."""

    values: FreshDgk


def applies(parameters: Parameters) -> bool:
    """Whether no c_i, which lies in [-2, 3 bits + 2], wraps to 0 modulo u."""
    return 3 * parameters.bits + 2 < PLAINTEXTS


def _pieces(count: int, bits: int) -> Iterator[slice]:
    size = max(1, _PIECE // (bits + 1))
    return chunks(count, size)


def alice(session: FullSession, parameters: Parameters, x: Plain, y: Nothing) -> Share:
    """Alice: encrypts her bits and looks for a zero.

    Raises:
        ProtocolViolation: the peer's ciphertexts are malformed, or more than one is zero.
    """
    del y
    context: KeyedCipherContext[OwnDgk, Dgk] = session.dgk
    bits = parameters.bits
    values = [int(value) for value in x.values]
    for piece in _pieces(len(values), bits):
        spread = [value >> i & 1 for value in values[piece] for i in range(bits)]
        context.channel.send(DgkBits(context.own.encrypt(spread)))
    found: list[int] = []
    for piece in _pieces(len(values), bits):
        size = (piece.stop - piece.start) * (bits + 1)
        zero = context.own.is_zero(context.channel.recv(Blinded, context.own.expect(size)))
        hits = [sum(zero[start : start + bits + 1]) for start in range(0, size, bits + 1)]
        if max(hits) > 1:
            raise ProtocolViolation("In one comparison several bits claim to be the first that differs.")
        found += hits
        session.report("compare", len(found), len(values))
    return Share(found, 2)


def bob(session: FullSession, parameters: Parameters, x: Nothing, y: Plain) -> Share:
    """Bob: computes the c_i of a random direction and blinds them.

    Raises:
        ProtocolViolation: the peer's ciphertexts are malformed.
    """
    del x
    context: KeyedCipherContext[OwnDgk, Dgk] = session.dgk
    bits = parameters.bits
    values = [int(value) for value in y.values]
    flips = [int(bit) for bit in context.random.bits(len(values))]
    for piece in _pieces(len(values), bits):
        size = (piece.stop - piece.start) * bits
        received = context.channel.recv(DgkBits, context.peer.expect(size))
        blinded = blind(context.peer, context.random, received, values[piece], flips[piece], bits)
        context.channel.send(Blinded(blinded))
        session.report("compare", piece.stop, len(values))
    return Share(flips, 2)


def blind(
    cipher: Dgk,
    random: Randomness,
    received: DgkCiphertexts,
    values: Sequence[int],
    flips: Sequence[int],
    bits: int,
) -> FreshDgk:
    """The r_i c_i of a batch, shuffled within each comparison and re-randomised.

    Args:
        cipher: under the key of the received bits.
        random: the source of randomness.
        received: `bits` ciphertexts for each comparison, the least significant bit first.
        values: Bob's numbers.
        flips: for each 1 to ask x < y and 0 to ask x >= y.
        bits: bits of x and y.

    Returns:
        `bits` + 1 ciphertexts for each comparison.
    """
    count = len(values)
    own = [value >> i & 1 for value in values for i in range(bits)]
    signs = [1 if flip else -1 for flip in flips]
    turned = cipher.add_plain(
        cipher.subtract(cipher.encrypt_trivially([0] * len(own)), received), [1] * len(own)
    )
    pairs = DgkCiphertexts.concat([received, turned])
    differing = pairs.take([row + len(own) * bit for row, bit in enumerate(own)])
    above = cipher.encrypt_trivially([0] * count)
    parts: list[DgkCiphertexts] = []
    for i in reversed(range(bits)):
        rows = range(i, len(own), bits)
        public = [sign - own[row] for sign, row in zip(signs, rows, strict=True)]
        parts.append(cipher.add_plain(cipher.add(received.take(rows), above), public))
        above = cipher.add(above, cipher.scale(differing.take(rows), [3] * count))
    parts.append(cipher.add_plain(above, [1 + sign for sign in signs]))
    order = [place * count + number for number in range(count) for place in random.shuffled(range(bits + 1))]
    factors = [1 + factor for factor in random.below(PLAINTEXTS - 1, len(order))]
    return cipher.refresh(cipher.scale(DgkCiphertexts.concat(parts).take(order), factors))


def cost(parameters: Parameters) -> Cost:
    """Two flights; Alice has the key."""
    sent = parameters.count * parameters.bits
    returned = sent + parameters.count
    return Cost(
        (Flight.ALICE, Flight.BOB),
        sent * (BITS // 8),
        returned * (BITS // 8),
        {"dgk_mask": sent, "dgk_zero_test": returned},
        {"dgk_mask": returned, "dgk_power": sent + returned, "dgk_inverse": sent},
    )


SPEC: Final = Spec(
    name="dgk",
    inputs=(Form.PN, Form.NP),
    output=Form.SS,
    alice=alice,
    bob=bob,
    cost=cost,
    engine=DGK,
    gives=Sharing.XOR,
    setups=(KEYS,),
    applies=applies,
)
