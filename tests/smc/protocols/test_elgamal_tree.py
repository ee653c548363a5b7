"""The tree protocol on ElGamal's cipher: erratum 3, what the parties see, what a peer may not send."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from smc.channel.channel import Traffic
from smc.channel.vectors import ByteRows
from smc.ciphers.curve import ORDER, POINT_BYTES, Point, add, generate, multiply, same
from smc.ciphers.elgamal import (
    CIPHERTEXT_BYTES,
    ElGamal,
    ElGamalCiphertexts,
    FreshElGamalCiphertexts,
    OwnElGamal,
)
from smc.errors import ProtocolViolation
from smc.pair import run_pair
from smc.protocols.cipher_context import KeyedCipherContext, PublicPoint
from smc.protocols.comparison import elgamal_tree
from smc.protocols.session import Session
from smc.protocols.spec import Parameters
from smc.protocols.trees import membership
from smc.protocols.trees.dyadic import cover_from, pack, point_nodes
from smc.values import Nothing, Plain, Share
from tests.support.seeds import seeded

BITS = 4
CipherContext = KeyedCipherContext[OwnElGamal, ElGamal]


def secret_of(context: CipherContext) -> int:
    return context.own._secret.scalar


def labels(x: int) -> list[int]:
    return [pack(layer, node, BITS) for layer, node in enumerate(point_nodes(x, BITS))]


def open_difference(pair: tuple[Point, Point], secret: int) -> Point:
    """The key owner's dG."""
    return add(pair[1], multiply(multiply(pair[0], secret), -1))


def attack(received: ElGamalCiphertexts, points: list[int], scalars: list[int], secret: int) -> set[int]:
    """Alice looks for labels: if all that happened to (k G, ..) is r, then r k G and r d G betray d."""
    found: set[int] = set()
    for pair in received.values:
        difference = open_difference(pair, secret)
        for layer, (point, k) in enumerate(zip(points, scalars, strict=True)):
            for candidate in range(1 << BITS - layer):
                d = point - pack(layer, candidate, BITS)
                if d and same(multiply(difference, k), multiply(pair[0], d)):
                    found.add(pack(layer, candidate, BITS))
    return found


def spy(x: int, answer: Callable[[CipherContext], None]) -> dict[int, set[int]]:
    """What a curious Alice finds out for every y; `answer` prepares Bob."""
    found: dict[int, set[int]] = {}
    for y in range(1, 1 << BITS):

        def alice(session: Session, y: int = y) -> None:
            context = session.elgamal
            secret, points = secret_of(context), labels(x)
            scalars = [1 + k for k in seeded().below(ORDER - 1, BITS)]
            sent = [(generate(k), generate(m + k * secret)) for m, k in zip(points, scalars, strict=True)]
            context.channel.send(
                membership.TreePoints(FreshElGamalCiphertexts.declare(context.own.public, sent))
            )
            received = context.channel.recv(membership.TreeTests, context.own.expect(BITS))
            found[y] = attack(received, points, scalars, secret)

        def bob(session: Session, y: int = y) -> None:
            answer(session.elgamal)
            membership.hide_ranges(session.elgamal, [cover_from(y, BITS)], BITS)

        run_pair(alice, bob)
    return found


def forget_to_refresh(context: CipherContext) -> None:
    context.peer.refresh = lambda batch: FreshElGamalCiphertexts.declare(batch.key, batch.values)  # type: ignore[method-assign]


def test_the_attack_of_erratum_3_learns_nothing() -> None:
    assert all(not learned for learned in spy(0, lambda context: None).values())


def test_the_attack_of_erratum_3_breaks_the_variant_without_rerandomisation() -> None:
    for y, learned in spy(0, forget_to_refresh).items():
        nodes = enumerate(cover_from(y, BITS).nodes)
        assert learned == {pack(layer, node, BITS) for layer, node in nodes if node is not None}


def collect(x: int, y: int, count: int) -> list[list[Point]]:
    """The differences dG that Alice opens in `count` runs of Protocol 2 on the same input."""

    sizes = [piece.stop - piece.start for piece in membership._pieces(count, BITS)]

    def alice(session: Session) -> list[list[Point]]:
        context = session.elgamal
        for size in sizes:
            context.channel.send(membership.TreePoints(context.own.encrypt(labels(x) * size)))
        due = [context.own.expect(BITS * size) for size in sizes]
        received = [
            pair for expected in due for pair in context.channel.recv(membership.TreeTests, expected).values
        ]
        assert len({pair[0].format() for pair in received if pair[0]}) == BITS * count
        opened = [open_difference(pair, secret_of(context)) for pair in received]
        return [opened[i : i + BITS] for i in range(0, len(opened), BITS)]

    def bob(session: Session) -> None:
        elgamal_tree.SPEC.bob(session, Parameters(count, BITS, 0, 0), Nothing(count), Plain([y] * count))

    return run_pair(alice, bob)[0]


@pytest.mark.parametrize(("x", "y"), [(5, 5), (0, 15), (15, 0), (7, 8), (0, 0)])
def test_what_alice_sees_does_not_depend_on_the_inputs(x: int, y: int) -> None:
    """At most one identity, its place uniform, its presence a fair coin; all else random points.

    256 runs each; every bound is crossed by chance with probability below 1e-6.
    """
    runs = collect(x, y, 256)
    hits = [place for points in runs for place, point in enumerate(points) if point is None]
    assert all(sum(point is None for point in points) <= 1 for points in runs)
    assert 128 - 40 < len(hits) < 128 + 40  # 5 standard deviations of 8
    for place in range(BITS):
        mean, deviation = len(hits) / BITS, (len(hits) * 3 / 16) ** 0.5
        assert abs(hits.count(place) - mean) < 5.2 * deviation
    rest = [point.format() for points in runs for point in points if point is not None]
    assert len(set(rest)) == len(rest)
    for bit in (
        (data[0] & 1 for data in rest),
        (data[1] >> 7 for data in rest),
        (data[-1] & 1 for data in rest),
    ):
        assert abs(sum(bit) - len(rest) / 2) < 5.2 * (len(rest) / 4) ** 0.5


def test_two_hits_are_a_violation() -> None:
    def bob(session: Session) -> None:
        context = session.elgamal
        context.channel.recv(membership.TreePoints, context.peer.expect(BITS))
        context.channel.send(membership.TreeTests(context.peer.encrypt([0] * BITS)))

    with pytest.raises(ProtocolViolation, match="several of the nodes"):
        run_pair(lambda session: membership.find_points(session.elgamal, [3], BITS), bob)


def run(x: list[int], y: list[int], bits: int) -> tuple[list[int], Traffic, dict[str, int]]:
    """Opened results, Alice's traffic without the set-up, and Bob's operations."""
    given = Parameters(len(x), bits, 0, 0)

    def alice(session: Session) -> tuple[Share, Traffic]:
        assert session.elgamal
        before = session.channel.traffic
        share = elgamal_tree.SPEC.alice(session, given, Plain(x), Nothing(len(x)))
        return share, session.channel.traffic.since(before)

    def bob(session: Session) -> tuple[Share, dict[str, int]]:
        share = elgamal_tree.SPEC.bob(session, given, Nothing(len(y)), Plain(y))
        return share, dict(session.elgamal.peer.operations)

    (a, traffic), (b, operations) = run_pair(alice, bob)
    return [p ^ q for p, q in zip(a.values, b.values, strict=True)], traffic, operations


def test_sizes_and_work_depend_on_public_parameters_only() -> None:
    seen = set()
    for x, y in ((0, 0), (0, 15), (15, 0), (9, 9), (15, 15)):
        results, traffic, operations = run([x] * 3, [y] * 3, BITS)
        assert results == [int(x >= y)] * 3
        seen.add((traffic, *sorted(operations.items())))
    assert len(seen) == 1
    ((traffic, *_),) = seen
    size = 3 * BITS * CIPHERTEXT_BYTES
    assert (traffic.sent, traffic.received, traffic.rounds) == (size, size, 2)


def test_the_widest_numbers() -> None:
    most = elgamal_tree.MAX_BITS
    assert elgamal_tree.applies(Parameters(1, most, 0, 0))
    assert not elgamal_tree.applies(Parameters(1, most + 1, 0, 0))
    top = (1 << most) - 1
    pairs = [(0, 0), (0, 1), (top, top), (top - 1, top), (top, 0), (top >> 1, (top >> 1) + 1)]
    results, _, _ = run([x for x, _ in pairs], [y for _, y in pairs], most)
    assert results == [int(x >= y) for x, y in pairs]


def test_a_batch_of_several_messages() -> None:
    x = [i * 37 % 256 for i in range(300)]
    y = [i * 91 % 256 for i in range(300)]
    assert run(x, y, 8)[0] == [int(a >= b) for a, b in zip(x, y, strict=True)]


def test_keys_are_exchanged_once_and_differ_between_sessions() -> None:
    def party(session: Session) -> tuple[bytes, bytes]:
        context = session.elgamal
        traffic = session.channel.traffic
        assert session.elgamal is context
        assert session.channel.traffic == traffic
        assert (traffic.sent, traffic.received) == (POINT_BYTES, POINT_BYTES)
        return context.own.public.data, context.peer.public.data

    keys = set()
    for _ in range(2):
        (own_a, peer_a), (own_b, peer_b) = run_pair(party, party)
        assert (own_a, own_b) == (peer_b, peer_a)
        keys |= {own_a, own_b}
    assert len(keys) == 4


def test_a_key_off_the_curve_is_refused() -> None:
    bad = b"\x02" + (5).to_bytes(32, "big")

    def bob(session: Session) -> None:
        session.channel.send(PublicPoint(ByteRows(np.frombuffer(bad, dtype=np.uint8).reshape(1, -1))))

    with pytest.raises(ProtocolViolation, match="not on the curve"):
        run_pair(lambda session: session.elgamal, bob)


class Forged(FreshElGamalCiphertexts):
    """Sends given bytes."""

    __slots__ = ("data",)

    def encode(self) -> bytes:
        return self.data


def forged(context: CipherContext, data: bytes) -> Forged:
    made = Forged.declare(context.own.public, [])
    made.data = data
    return made


@pytest.mark.parametrize("data", [bytes(BITS * CIPHERTEXT_BYTES), b"\x02" * (BITS * CIPHERTEXT_BYTES - 1)])
def test_forged_ciphertexts_are_refused_on_both_sides(data: bytes) -> None:
    def as_alice(session: Session) -> None:
        session.elgamal.channel.send(membership.TreePoints(forged(session.elgamal, data)))

    def as_bob(session: Session) -> None:
        context = session.elgamal
        context.channel.recv(membership.TreePoints, context.peer.expect(BITS))
        context.channel.send(membership.TreeTests(forged(context, data)))

    given = Parameters(1, BITS, 0, 0)
    with pytest.raises(ProtocolViolation):
        run_pair(as_alice, lambda session: elgamal_tree.SPEC.bob(session, given, Nothing(1), Plain([3])))
    with pytest.raises(ProtocolViolation):
        run_pair(lambda session: elgamal_tree.SPEC.alice(session, given, Plain([3]), Nothing(1)), as_bob)
