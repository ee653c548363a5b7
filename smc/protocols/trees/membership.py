"""Whether a point of one party lies in a range of the other's, on any additively homomorphic cipher.

The steps of the tree protocols, `smc.protocols.comparison.tree` on Paillier's cipher and `elgamal_tree` on
ElGamal's, which have the figure and say who learns what. A protocol gives the context of its cipher.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from smc.channel.message import Message
from smc.ciphers.batch import FreshBatch
from smc.ciphers.homomorphic import B
from smc.errors import ProtocolViolation
from smc.forms import Form, Role
from smc.pieces import chunks
from smc.protocols.cipher_context import CipherContext
from smc.protocols.flights import Flight
from smc.protocols.full_session import FullSession
from smc.protocols.spec import Cost, Parameters, RoleCode, Sharing, Spec
from smc.protocols.trees.dyadic import Cover, cover_below, cover_from, pack, point_nodes
from smc.values import Nothing, Plain, Share

_PIECE: Final = 256
"""About how many ciphertexts go into one message, so that both parties work at the same time."""


@dataclass(frozen=True, slots=True)
class TreePoints(Message, kind="tree-points"):
    """Point holder to range holder."""

    nodes: FreshBatch[Any, Any]


@dataclass(frozen=True, slots=True)
class TreeTests(Message, kind="tree-tests"):
    """Range holder to point holder."""

    differences: FreshBatch[Any, Any]


def _pieces(count: int, bits: int) -> Iterator[slice]:
    size = max(1, _PIECE // bits)
    return chunks(count, size)


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
        session.channel.send(TreePoints(cipher.encrypt(nodes)))
    found: list[int] = []
    for piece in _pieces(len(points), bits):
        size = (piece.stop - piece.start) * bits
        zero = cipher.is_zero(session.channel.recv(TreeTests, cipher.expect(size)))
        hits = [sum(zero[start : start + bits]) for start in range(0, size, bits)]
        if max(hits) > 1:
            raise ProtocolViolation(
                "A point lies in several of the nodes that should cover the peer's range without overlap."
            )
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
        nodes = session.channel.recv(TreePoints, cipher.expect(size))
        session.channel.send(TreeTests(blinded_differences(session, nodes, covers[piece], bits)))
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
    points = type(nodes).concat([nodes, cipher.encrypt_trivially([root])]).take(sources)
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


def shared_as_alice(session: CipherContext[Any], parameters: Parameters, x: Plain, y: Nothing) -> Share:
    """Protocol 2, Alice: s^A is whether x lies in Bob's range."""
    del y
    return Share(find_points(session, [int(v) for v in x.values], parameters.bits), 2)


def shared_as_bob(session: CipherContext[Any], parameters: Parameters, x: Nothing, y: Plain) -> Share:
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


def records(
    name: str,
    module: str,
    price: Callable[[Parameters], Cost],
    context: Callable[[FullSession], CipherContext[Any]],
    **traits: Any,
) -> tuple[Spec, Spec, Spec]:
    """The protocols on a cipher as records: with a shared result, and with one for the holder of x, or of y.

    Args:
        name: of the first; those of the others follow from it.
        module: whose text describes them.
        price: the cost where Alice has the points.
        context: the keys of a session that they take.
        traits: of all three, as of `Spec`.
    """

    def code(step: RoleCode) -> RoleCode:
        def run(session: FullSession, parameters: Parameters, x: Any, y: Any) -> Any:
            return step(context(session), parameters, x, y)

        run.__module__ = module
        return run

    def record(end: str, output: Form, alice: RoleCode, bob: RoleCode, **own: Any) -> Spec:
        forms: dict[str, Any] = {"inputs": (Form.PN, Form.NP), "output": output, "cost": price}
        return Spec(name=name + end, alice=code(alice), bob=code(bob), **(forms | traits | own))

    return (
        record("", Form.SS, shared_as_alice, shared_as_bob, gives=Sharing.XOR),
        record(
            "-to-x-holder",
            Form.PN,
            alice_learns_as_alice,
            alice_learns_as_bob,
            opens=frozenset({Role.ALICE}),
        ),
        record(
            "-to-y-holder",
            Form.NP,
            bob_learns_as_alice,
            bob_learns_as_bob,
            opens=frozenset({Role.BOB}),
            cost=lambda parameters: price(parameters.mirror).mirror,
        ),
    )
