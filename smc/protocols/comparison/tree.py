"""Tree-based comparison: Protocols 1 and 2 of the thesis, without the root.

    Point holder (sk, p)                        Range holder (pk, R)
      E(H(i, p >> i)), i < bits  -- Points -->
                                 <-- Tests --   E(r_i (H(i, p >> i) - H(i, a_i)))  if R has a node (i, a_i),
                                                E(uniform)                         if not; shuffled
      p in R  iff  one of them is zero

    Protocol 1, delta to x's holder:  p = x, R = [y, n)
    Protocol 1, delta to y's holder:  p = y, R = [0, x]
    Protocol 2, delta shared:         p = x, R = [y, n) xor-flipped to [0, y) by Bob's random s^B

Inputs: PN-NP, plain integers of `bits` bits, any batch.
Outputs: PN or NP (Protocol 1), or SS with modulus 2 (Protocol 2, steps 1-3). Steps 4 and 5 of Protocol 2,
    to shares modulo another number, are the conversions `bit-to-encrypted` and `encrypted-to-shared`.
Learns: the point holder whether p lies in R, which is delta or delta xor a uniform bit of Bob's; nothing from
    the place of the zero (shuffle) or the other values (uniform r_i in Z_N^*, erratum 5). The range holder
    learns nothing.
Assumes: semi-honest parties; the cipher is semantically secure: DCR for Paillier's, which is meant here. The
    code asks for no more than an additively homomorphic cipher with a zero test (`CipherContext`), and
    `elgamal_tree` runs it on another.
    Every ciphertext that the range holder returns is re-randomised (erratum 3). The range holder does the
    same work on every layer, so neither sizes nor counts of operations depend on R.
Cost: 2 flights, `bits` ciphertexts each way; `bits` encryptions and zero tests at the point holder, `bits`
    powers and re-randomisations at the range holder.
Reference: thesis, section 8.1.3, Protocols 1 and 2, "Improvement", after [NNPC10]; errata 1, 3-5, 8, 9.
    Protocol 1 is announced there for type 5, whose output goes to Bob, but as printed it tells Alice; here
    are both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from smc.channel.message import Message
from smc.ciphers.batch import FreshBatch
from smc.ciphers.homomorphic import B
from smc.errors import ProtocolViolation
from smc.forms import Form, Role
from smc.protocols.cipher_context import CipherContext
from smc.protocols.comparison.dyadic import Cover, cover_below, cover_from, pack, point_nodes
from smc.protocols.engines import PAILLIER
from smc.protocols.spec import Cost, Flight, Parameters, Sharing, Spec
from smc.values import Nothing, Plain, Share

_PIECE = 256
"""About how many ciphertexts go into one message, so that both parties work at the same time."""


@dataclass(frozen=True, slots=True)
class Points(Message, kind="tree-points"):
    """Point holder to range holder."""

    nodes: FreshBatch[Any, Any]


@dataclass(frozen=True, slots=True)
class Tests(Message, kind="tree-tests"):
    """Range holder to point holder."""

    differences: FreshBatch[Any, Any]


def _pieces(count: int, bits: int) -> Iterator[slice]:
    size = max(1, _PIECE // bits)
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def find_points(session: CipherContext[Any], points: Sequence[int], bits: int) -> list[int]:
    """The point holder's part: for each point 1 if it lies in the peer's range, else 0.

    Args:
        session: this side; its own key is used.
        points: integers in [0, 2**bits).
        bits: layers below the root.

    Raises:
        ProtocolViolation: the peer's tests are malformed or hit more than once.
    """
    cipher = session.own
    for piece in _pieces(len(points), bits):
        nodes = [
            pack(layer, node, bits)
            for point in points[piece]
            for layer, node in enumerate(point_nodes(point, bits))
        ]
        session.channel.send(Points(cipher.encrypt(nodes)))
    found: list[int] = []
    for piece in _pieces(len(points), bits):
        size = (piece.stop - piece.start) * bits
        zero = cipher.is_zero(session.channel.recv(Tests, cipher.expected(size)))
        hits = [sum(zero[start : start + bits]) for start in range(0, size, bits)]
        if max(hits) > 1:
            raise ProtocolViolation("A point lies in more than one node of the peer's range.")
        found += hits
        session.report("compare", len(found), len(points))
    return found


def hide_ranges(session: CipherContext[Any], covers: Sequence[Cover], bits: int) -> None:
    """The range holder's part; see `find_points`.

    Args:
        session: this side; the peer's key is used.
        covers: one cover for each of the peer's points.
        bits: layers below the root.
    """
    cipher = session.peer
    for done, piece in enumerate(_pieces(len(covers), bits), start=1):
        size = (piece.stop - piece.start) * bits
        nodes = session.channel.recv(Points, cipher.expected(size))
        session.channel.send(Tests(blinded_differences(session, nodes, covers[piece], bits)))
        session.report("compare", min(done * (piece.stop - piece.start), len(covers)), len(covers))


def blinded_differences(
    session: CipherContext[B], nodes: B, covers: Sequence[Cover], bits: int
) -> FreshBatch[Any, Any]:
    """The blinded differences of eq. 8.6, shuffled within each comparison and re-randomised.

    One formula serves all layers, E(r h + t) from E(h) with a unit r: t = -r a tests a node a, and uniform t
    gives a uniform plaintext where the range has none. For a range that is the root (erratum 9), a ciphertext
    of a known h takes the place of one layer's, so that t = -r h makes the one zero there.
    """
    cipher = session.peer
    modulus = cipher.order
    factors = session.random.units(modulus, len(nodes))
    offsets = session.random.below(modulus, len(nodes))
    root = pack(bits, 1, bits)
    sources = list(range(len(nodes)))  # of which row len(nodes) will be the known ciphertext
    order: list[int] = []
    for number, cover in enumerate(covers):
        base = number * bits
        for layer, node in enumerate(cover.nodes):
            if node is not None:
                offsets[base + layer] = -factors[base + layer] * pack(layer, node, bits) % modulus
        if cover.whole:
            place = base + session.random.below(bits, 1)[0]
            sources[place] = len(nodes)
            offsets[place] = -factors[place] * root % modulus
        order += session.random.shuffled(range(base, base + bits))
    points = type(nodes).concat([nodes, cipher.known([root])]).take(sources)
    blinded = cipher.scale(points, factors)
    differences = cipher.add_plain(blinded, offsets)
    return cipher.refresh(differences.take(order))


def alice_learns_as_alice(session: CipherContext[Any], parameters: Parameters, x: Plain, y: Nothing) -> Plain:
    """Protocol 1, Alice: she has the point x and learns delta."""
    del y
    return Plain(find_points(session, [int(v) for v in x.values], parameters.bits))


def alice_learns_as_bob(session: CipherContext[Any], parameters: Parameters, x: Nothing, y: Plain) -> Nothing:
    """Protocol 1, Bob: his range is [y, n)."""
    hide_ranges(session, [cover_from(int(v), parameters.bits) for v in y.values], parameters.bits)
    return Nothing(len(x))


def bob_learns_as_alice(session: CipherContext[Any], parameters: Parameters, x: Plain, y: Nothing) -> Nothing:
    """Protocol 1 with the roles of point and range exchanged, Alice: her range is [0, x]."""
    hide_ranges(session, [cover_below(int(v) + 1, parameters.bits) for v in x.values], parameters.bits)
    return Nothing(len(y))


def bob_learns_as_bob(session: CipherContext[Any], parameters: Parameters, x: Nothing, y: Plain) -> Plain:
    """Protocol 1 with the roles of point and range exchanged, Bob: he has the point y and learns delta."""
    del x
    return Plain(find_points(session, [int(v) for v in y.values], parameters.bits))


def alice(session: CipherContext[Any], parameters: Parameters, x: Plain, y: Nothing) -> Share:
    """Protocol 2, Alice: s^A is whether x lies in Bob's range."""
    del y
    return Share(find_points(session, [int(v) for v in x.values], parameters.bits), 2)


def bob(session: CipherContext[Any], parameters: Parameters, x: Nothing, y: Plain) -> Share:
    """Protocol 2, Bob: s^B uniform, R = [0, y) if s^B = 1 and [y, n) if s^B = 0."""
    del x
    flips = [int(bit) for bit in session.random.bits(len(y))]
    covers = [
        cover_below(int(v), parameters.bits) if flip else cover_from(int(v), parameters.bits)
        for v, flip in zip(y.values, flips, strict=True)
    ]
    hide_ranges(session, covers, parameters.bits)
    return Share(flips, 2)


def nodes_cost(nodes: int, ciphertext_bytes: int, prefix: str = "") -> Cost:
    """Two flights of `nodes` ciphertexts; Alice has the points.

    Args:
        nodes: nodes in the batch, `bits` for each comparison.
        ciphertext_bytes: bytes of one ciphertext under Alice's key.
        prefix: of the names by which the cipher counts its operations.
    """
    size = nodes * ciphertext_bytes
    return Cost(
        (Flight.ALICE, Flight.BOB),
        size,
        size,
        {f"{prefix}mask": nodes, f"{prefix}zero_test": nodes},
        {f"{prefix}mask": nodes, f"{prefix}power": nodes},
    )


def cost(parameters: Parameters) -> Cost:
    """Two flights; Alice has the points."""
    return nodes_cost(parameters.count * parameters.bits, parameters.alice_ciphertext_bytes)


def _cost_bob_points(parameters: Parameters) -> Cost:
    return cost(parameters.mirror).mirror


_SECURITY = "semi-honest; DCR"

SPEC = Spec(
    name="tree",
    inputs=(Form.PN, Form.NP),
    output=Form.SS,
    gives=Sharing.XOR,
    alice=alice,
    bob=bob,
    cost=cost,
    learns="Nobody learns delta: Alice gets delta xor a uniform bit of Bob's.",
    security=_SECURITY,
    reference="thesis, 8.1.3, Protocol 2 steps 1-3 and Improvement; errata 1, 3, 4, 5, 8, 9",
    engine=PAILLIER,
)

SPEC_ALICE_LEARNS = Spec(
    name="tree-to-x-holder",
    inputs=(Form.PN, Form.NP),
    output=Form.PN,
    alice=alice_learns_as_alice,
    bob=alice_learns_as_bob,
    cost=cost,
    learns="Alice learns delta, Bob nothing.",
    security=_SECURITY,
    reference="thesis, 8.1.3, Protocol 1 and Improvement; errata 1, 3, 4, 5, 9",
    opens=frozenset({Role.ALICE}),
    engine=PAILLIER,
)

SPEC_BOB_LEARNS = Spec(
    name="tree-to-y-holder",
    inputs=(Form.PN, Form.NP),
    output=Form.NP,
    alice=bob_learns_as_alice,
    bob=bob_learns_as_bob,
    cost=_cost_bob_points,
    learns="Bob learns delta, Alice nothing.",
    security=_SECURITY,
    reference="thesis, 8.1.3, Protocol 1, point and range exchanged for its type 5; errata 1, 3, 4, 5, 9",
    opens=frozenset({Role.BOB}),
    engine=PAILLIER,
)
