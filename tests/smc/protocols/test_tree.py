"""The tree protocol: encodings, and the known attack on it (erratum 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from gmpy2 import invert, mpz, powmod

from smc.ciphers.ciphertexts import Ciphertexts, Fresh, declare_fresh
from smc.errors import ProtocolViolation
from smc.forms import Role
from smc.pair import run_pair
from smc.protocols.comparison import tree
from smc.protocols.session import Session
from smc.protocols.spec import Parameters
from smc.protocols.trees import membership
from smc.protocols.trees.dyadic import Cover, cover_below, cover_from, pack, point_nodes
from smc.values import Nothing, Plain
from tests.support.keys import toy
from tests.support.seeds import seeded

ALICE, BOB = toy(Role.ALICE), toy(Role.BOB)
BITS = 4


def covered(cover: Cover, point: int, bits: int) -> int:
    hits = sum(a == b for a, b in zip(cover.nodes, point_nodes(point, bits), strict=True))
    return hits + cover.whole


@pytest.mark.parametrize("bits", [1, 2, 3, 4, 7])
def test_a_cover_hits_every_point_of_its_range_once(bits: int) -> None:
    n = 1 << bits
    for point in range(n):
        for start in range(n):
            assert covered(cover_from(start, bits), point, bits) == int(point >= start)
        for end in range(n + 1):
            assert covered(cover_below(end, bits), point, bits) == int(point < end)


def test_the_example_of_the_thesis() -> None:
    # pointEnc(6), rangeEnc([4, 8]) and rangeEnc([1, 3]) for n = 8, leaves and nodes counted from 0
    assert point_nodes(5, 3) == (5, 2, 1)
    assert cover_from(3, 3).nodes == (3, None, 1)
    assert cover_below(3, 3).nodes == (2, 0, None)


def test_pack_is_injective() -> None:
    for bits in (1, 3, 5):
        nodes = [(layer, i) for layer in range(bits) for i in range(1 << bits - layer)]
        assert len({pack(layer, i, bits) for layer, i in nodes}) == len(nodes)


def randomness_of(ciphertext: mpz) -> mpz:
    """The key owner reads the randomness out of any ciphertext."""
    n, phi = ALICE.public.n, (ALICE.p - 1) * (ALICE.q - 1)
    return powmod(ciphertext % n, invert(n, phi), n)


def attack(
    received: Ciphertexts, plain: Sequence[int], points: Sequence[int], rhos: Sequence[mpz]
) -> set[int]:
    """Alice looks for node labels: m = r d, and rho**(m / d) is the randomness if only r changed it."""
    n = ALICE.public.n
    found: set[int] = set()
    for ciphertext, m in zip(received.values, plain, strict=True):
        for layer, (point, rho) in enumerate(zip(points, rhos, strict=True)):
            for candidate in range(1 << BITS - layer):
                d = point - pack(layer, candidate, BITS)
                if d and powmod(rho, m * invert(d, n) % n, n) == randomness_of(ciphertext):
                    found.add(pack(layer, candidate, BITS))
    return found


def labels(y: int) -> set[int]:
    return {
        pack(layer, node, BITS) for layer, node in enumerate(cover_from(y, BITS).nodes) if node is not None
    }


def curious_alice(x: int, found: dict[int, set[int]], y: int) -> Callable[[Session], None]:
    def run(session: Session) -> None:
        key = ALICE.public
        points = [pack(layer, node, BITS) for layer, node in enumerate(point_nodes(x, BITS))]
        rhos = [mpz(r) for r in seeded().units(int(key.n), BITS)]
        sent = [
            (1 + point * key.n) * powmod(rho, key.n, key.n_squared) % key.n_squared
            for point, rho in zip(points, rhos, strict=True)
        ]
        session.channel.send(membership.TreePoints(declare_fresh(key, sent)))
        received = session.channel.recv(membership.TreeTests, session.own.expect(BITS))
        found[y] = attack(received, session.own.decrypt(received), points, rhos)

    return run


def leaky_tests(session: Session, nodes: Ciphertexts, covers: Sequence[Cover], bits: int) -> Fresh:
    """The protocol without its last re-randomisation: c**r times a deterministic g**m."""
    refresh = session.peer.refresh
    session.peer.refresh = lambda batch: declare_fresh(batch.key, batch.values)  # type: ignore[method-assign]
    try:
        return HONEST(session, nodes, covers, bits)
    finally:
        session.peer.refresh = refresh  # type: ignore[method-assign]


HONEST = membership.blinded_differences


def spy(x: int) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for y in range(1, 1 << BITS):
        run_pair(
            curious_alice(x, found, y),
            lambda session, y=y: membership.hide_ranges(session, [cover_from(y, BITS)], BITS),
            keys=(ALICE, BOB),
        )
    return found


def test_the_attack_of_erratum_3_learns_nothing() -> None:
    assert all(not learned for learned in spy(0).values())


def test_the_attack_of_erratum_3_breaks_the_variant_without_rerandomisation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(membership, "blinded_differences", leaky_tests)
    for y, learned in spy(0).items():
        assert learned == labels(y)  # from which y follows


def collect_tests(x: int, y: int, count: int) -> list[list[int]]:
    """What Alice decrypts in `count` runs of Protocol 2 on the same input."""

    nodes = [pack(layer, node, BITS) for layer, node in enumerate(point_nodes(x, BITS))]
    pieces = [piece.stop - piece.start for piece in membership._pieces(count, BITS)]

    def alice(session: Session) -> list[list[int]]:
        for size in pieces:
            session.channel.send(membership.TreePoints(session.own.encrypt(nodes * size)))
        opened: list[int] = []
        for size in pieces:
            received = session.channel.recv(membership.TreeTests, session.own.expect(BITS * size))
            opened += session.own.decrypt(received)
        return [opened[i : i + BITS] for i in range(0, len(opened), BITS)]

    def bob(session: Session) -> None:
        parameters = Parameters(count, BITS, ALICE.public.bits, BOB.public.bits)
        tree.SPEC.bob(session, parameters, Nothing(count), Plain([y] * count))

    return run_pair(alice, bob, keys=(ALICE, BOB))[0]


@pytest.mark.parametrize(("x", "y"), [(5, 5), (0, 15), (15, 0), (7, 8), (0, 0)])
def test_what_alice_sees_in_protocol_2_does_not_depend_on_the_inputs(x: int, y: int) -> None:
    """At most one zero, its place uniform, its presence a fair coin; all else uniform modulo N.

    256 runs each; every bound is crossed by chance with probability below 1e-6.
    """
    runs = collect_tests(x, y, 256)
    n = int(ALICE.public.n)
    hits = [values.index(0) for values in runs if 0 in values]
    assert all(values.count(0) <= 1 for values in runs)
    assert 128 - 40 < len(hits) < 128 + 40  # 5 standard deviations of 8
    for place in range(BITS):
        mean, deviation = len(hits) / BITS, (len(hits) * 3 / 16) ** 0.5
        assert abs(hits.count(place) - mean) < 5.2 * deviation
    rest = [value for values in runs for value in values if value]
    assert len(set(rest)) == len(rest)
    high = sum(value > n // 2 for value in rest)
    assert abs(high - len(rest) / 2) < 5.2 * (len(rest) / 4) ** 0.5


def test_two_hits_are_a_violation() -> None:
    def bob(session: Session) -> None:
        session.channel.recv(membership.TreePoints, session.peer.expect(BITS))
        session.channel.send(membership.TreeTests(session.peer.encrypt([0] * BITS)))

    with pytest.raises(ProtocolViolation, match="several of the nodes"):
        run_pair(lambda session: membership.find_points(session, [3], BITS), bob, keys=(ALICE, BOB))


def test_bobs_work_does_not_depend_on_his_number() -> None:
    counts = []
    for y in (0, 1, 10, 15):

        def bob(session: Session, y: int = y) -> dict[str, int]:
            membership.hide_ranges(session, [cover_from(y, BITS)], BITS)
            return dict(session.peer.operations)

        counts.append(run_pair(lambda s: membership.find_points(s, [3], BITS), bob, keys=(ALICE, BOB))[1])
    assert all(count == {"power": BITS, "mask": BITS} for count in counts)
