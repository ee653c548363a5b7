"""The comparison under the DGK cipher: erratum 3, what the parties see, what a peer may not send."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from gmpy2 import powmod

from smc.channel.channel import Traffic
from smc.channel.vectors import ByteRows
from smc.ciphers.dgk import Dgk, DgkCiphertexts, FreshDgk, OwnDgk
from smc.ciphers.dgk_keys import (
    BITS,
    KEY_BYTES,
    PLAINTEXTS,
    DgkPrivateKey,
)
from smc.errors import KeyMaterialError, ProtocolViolation
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.pair import run_pair
from smc.protocols.cipher_context import PublicNumbers
from smc.protocols.comparison import dgk
from smc.protocols.session import Session
from smc.protocols.spec import Parameters
from smc.values import Nothing, Plain, Share
from tests.support.keys import dgk as key_of
from tests.support.keys import toy_dgk
from tests.support.seeds import seeded

WIDTH = 3
SPREAD = WIDTH + 1
TOY = toy_dgk()
KEYS = {role: key_of(role) for role in Role}
POOL = ThreadPoolExecutor(2)


def with_key(session: Session) -> Session:
    session.dgk_key = KEYS[session.role]
    return session


def bits_of(x: int) -> list[int]:
    return [x >> i & 1 for i in range(WIDTH)]


class Unmasked(Dgk):
    """A cipher that forgets to re-randomise."""

    def refresh(self, a: DgkCiphertexts) -> FreshDgk:
        return FreshDgk.declare(a.key, a.values)


class Unblinded(Unmasked):
    """A cipher that also leaves small factors out: its results are the c_i themselves, in known places."""

    def scale(self, a: DgkCiphertexts, factors: list[int]) -> DgkCiphertexts:
        return super().scale(a, factors) if set(factors) == {3} else a


class Orderly(Randomness):
    """Shuffles nothing."""

    def shuffled(self, items):
        return list(items)


def candidates(sent: DgkCiphertexts) -> dict[int, list[set[int]]]:
    """For each y what Alice expects to get back, if nothing but r changed it: the powers of each c_i."""
    found: dict[int, list[set[int]]] = {}
    for y in range(1 << WIDTH):
        found[y] = []
        for flip in (0, 1):
            plain = Unblinded(TOY.public, seeded(), POOL)
            values = dgk.blind(plain, Orderly(), sent, [y], [flip], WIDTH).values
            for value in values:
                running, powers = value, set()
                for _ in range(PLAINTEXTS - 1):
                    powers.add(int(running))
                    running = running * value % TOY.public.n
                found[y].append(powers)
    return found


def spy(cipher: Dgk) -> dict[int, set[int]]:
    """Which y fit what Alice got, for every y that Bob had."""
    sent = OwnDgk(TOY, seeded(), POOL).encrypt(bits_of(5))
    expected = candidates(sent)
    learned: dict[int, set[int]] = {}
    for y in range(1 << WIDTH):
        flip = int(seeded().bits(1)[0])
        received = dgk.blind(cipher, seeded(), sent, [y], [flip], WIDTH).values
        learned[y] = {
            guess
            for guess, sets in expected.items()
            if all(any(int(value) in powers for powers in sets) for value in received)
        }
    return learned


def test_the_attack_of_erratum_3_learns_nothing() -> None:
    assert all(not fitting for fitting in spy(Dgk(TOY.public, seeded(), POOL)).values())


def test_the_attack_of_erratum_3_breaks_the_variant_without_rerandomisation() -> None:
    for y, fitting in spy(Unmasked(TOY.public, seeded(), POOL)).items():
        assert fitting == {y}


def plaintexts(key: DgkPrivateKey, received: DgkCiphertexts) -> list[int]:
    base = powmod(key.g, key.v_p, key.p)
    table = {powmod(base, m, key.p): m for m in range(PLAINTEXTS)}
    return [table[powmod(value, key.v_p, key.p)] for value in received.values]


def collect(x: int, y: int, count: int) -> list[list[int]]:
    """What Alice decrypts in `count` runs on the same input."""

    def alice(session: Session) -> list[list[int]]:
        context = with_key(session).dgk
        context.channel.send(dgk.DgkBits(context.own.encrypt(bits_of(x) * count)))
        received = context.channel.recv(dgk.Blinded, context.own.expect(SPREAD * count))
        assert len({powmod(value, PLAINTEXTS, context.own.public.n) for value in received.values}) == len(
            received
        )
        opened = plaintexts(KEYS[Role.ALICE], received)
        return [opened[i : i + SPREAD] for i in range(0, len(opened), SPREAD)]

    def bob(session: Session) -> None:
        dgk.bob(with_key(session), Parameters(count, WIDTH, 0, 0), Nothing(count), Plain([y] * count))

    return run_pair(alice, bob)[0]


@pytest.mark.parametrize(("x", "y"), [(5, 5), (0, 7), (7, 0), (3, 4), (0, 0)])
def test_what_alice_sees_does_not_depend_on_the_inputs(x: int, y: int) -> None:
    """At most one zero, its place uniform, its presence a fair coin; all else uniform in Z_u^*.

    256 runs each; every bound is crossed by chance with probability below 1e-6.
    """
    runs = collect(x, y, 256)
    hits = [values.index(0) for values in runs if 0 in values]
    assert all(values.count(0) <= 1 for values in runs)
    assert 128 - 40 < len(hits) < 128 + 40  # 5 standard deviations of 8
    for place in range(SPREAD):
        mean, deviation = len(hits) / SPREAD, (len(hits) * (SPREAD - 1) / SPREAD**2) ** 0.5
        assert abs(hits.count(place) - mean) < 5.2 * deviation
    rest = [value for values in runs for value in values if value]
    classes = [(value - 1) * 4 // (PLAINTEXTS - 1) for value in rest]
    for quarter in range(4):
        assert abs(classes.count(quarter) - len(rest) / 4) < 5.2 * (len(rest) * 3 / 16) ** 0.5
    for place in range(SPREAD):
        column = [values[place] for values in runs if values[place]]
        high = sum(value > PLAINTEXTS // 2 for value in column)
        assert abs(high - len(column) / 2) < 5.2 * (len(column) / 4) ** 0.5


def run(x: list[int], y: list[int], bits: int) -> tuple[list[int], Traffic, dict[str, int]]:
    """Opened results, Alice's traffic without the set-up, and Bob's operations."""
    given = Parameters(len(x), bits, 0, 0)

    def alice(session: Session) -> tuple[Share, Traffic]:
        assert with_key(session).dgk
        before = session.channel.traffic
        share = dgk.alice(session, given, Plain(x), Nothing(len(x)))
        return share, session.channel.traffic.since(before)

    def bob(session: Session) -> tuple[Share, dict[str, int]]:
        share = dgk.bob(with_key(session), given, Nothing(len(y)), Plain(y))
        return share, dict(session.dgk.peer.operations)

    (a, traffic), (b, operations) = run_pair(alice, bob)
    return [p ^ q for p, q in zip(a.values, b.values, strict=True)], traffic, operations


def test_every_pair_of_small_numbers() -> None:
    pairs = [(x, y) for x in range(1 << WIDTH) for y in range(1 << WIDTH)]
    results, _, _ = run([x for x, _ in pairs], [y for _, y in pairs], WIDTH)
    assert results == [int(x >= y) for x, y in pairs]


def test_sizes_and_work_depend_on_public_parameters_only() -> None:
    seen = set()
    for x, y in ((0, 0), (0, 7), (7, 0), (5, 5), (7, 7)):
        results, traffic, operations = run([x] * 3, [y] * 3, WIDTH)
        assert results == [int(x >= y)] * 3
        seen.add((traffic, *sorted(operations.items())))
    assert len(seen) == 1
    ((traffic, *_),) = seen
    size = BITS // 8
    assert (traffic.sent, traffic.received, traffic.rounds) == (3 * WIDTH * size, 3 * SPREAD * size, 2)


def test_the_widest_numbers() -> None:
    assert dgk.applies(Parameters(1, 256, 0, 0))
    assert not dgk.applies(Parameters(1, 257, 0, 0))
    top = (1 << 256) - 1
    pairs = [(0, 0), (top, top), (top - 1, top), (top, top - 1), (0, top), (top, 0)]
    results, _, _ = run([x for x, _ in pairs], [y for _, y in pairs], 256)
    assert results == [int(x >= y) for x, y in pairs]


def test_two_zeros_are_a_violation() -> None:
    def bob(session: Session) -> None:
        context = with_key(session).dgk
        context.channel.recv(dgk.DgkBits, context.peer.expect(WIDTH))
        context.channel.send(dgk.Blinded(context.peer.encrypt([0] * SPREAD)))

    given = Parameters(1, WIDTH, 0, 0)
    with pytest.raises(ProtocolViolation, match="first that differs"):
        run_pair(lambda session: dgk.alice(with_key(session), given, Plain([3]), Nothing(1)), bob)


def test_a_session_makes_a_key_if_it_has_none_and_exchanges_keys_once() -> None:
    def party(session: Session) -> tuple[str, str]:
        if session.role is Role.BOB:
            with_key(session)
        context = session.dgk
        traffic = session.channel.traffic
        assert session.dgk is context
        assert session.channel.traffic == traffic
        assert (traffic.sent, traffic.received, traffic.rounds) == (KEY_BYTES, KEY_BYTES, 1)
        assert session.dgk_key is not None
        return context.own.public.fingerprint, context.peer.public.fingerprint

    (own_a, peer_a), (own_b, peer_b) = run_pair(party, party)
    assert (own_a, own_b) == (peer_b, peer_a)
    assert own_b == KEYS[Role.BOB].public.fingerprint != own_a


def test_toy_keys_are_refused() -> None:
    def weak(session: Session) -> None:
        session.dgk_key = TOY
        assert session.dgk

    with pytest.raises(KeyMaterialError, match="512 bits"):
        run_pair(weak, weak)


def test_a_malformed_key_is_refused() -> None:
    def bob(session: Session) -> None:
        session.channel.send(PublicNumbers(ByteRows(np.ones((1, KEY_BYTES), dtype=np.uint8))))

    with pytest.raises(ProtocolViolation, match="not acceptable"):
        run_pair(lambda session: with_key(session).dgk, bob)


@pytest.mark.parametrize("number", [0, "n", "p"])
def test_numbers_that_are_no_ciphertexts_are_refused_on_both_sides(number: int | str) -> None:
    def batch(owner: Role, count: int) -> FreshDgk:
        key = KEYS[owner]
        value = {"n": key.public.n, "p": key.p}.get(str(number), number)
        return FreshDgk.declare(key.public, [value] * count)

    def as_alice(session: Session) -> None:
        with_key(session).dgk.channel.send(dgk.DgkBits(batch(Role.ALICE, WIDTH)))

    def as_bob(session: Session) -> None:
        context = with_key(session).dgk
        context.channel.recv(dgk.DgkBits, context.peer.expect(WIDTH))
        context.channel.send(dgk.Blinded(batch(Role.ALICE, SPREAD)))

    given = Parameters(1, WIDTH, 0, 0)
    with pytest.raises(ProtocolViolation, match="not a DGK ciphertext"):
        run_pair(as_alice, lambda session: dgk.bob(with_key(session), given, Nothing(1), Plain([3])))
    with pytest.raises(ProtocolViolation, match="not a DGK ciphertext"):
        run_pair(lambda session: dgk.alice(with_key(session), given, Plain([3]), Nothing(1)), as_bob)
