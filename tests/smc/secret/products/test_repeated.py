"""Repeated products, sums over secret groups, one-hot minima and uniform integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc.channel.channel import Channel
from smc.errors import PeerError, ProtocolViolation, UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.pair import run_pair
from smc.protocols.transfer_costs import SETUP_COST
from smc.secret import uniform
from smc.secret.comparison import argmin_one_hot
from smc.secret.products import grouped, repeated
from smc.secret.products.grouped import Grouping
from smc.secret.products.repeated import FactorShape, RepeatedFactors
from smc.secret.sharing import masks
from smc.secret.sharing.bounds import Bounds
from tests.smc.secret.secret_runs import RANDOM

WORD = np.uint64


def words(shape, bits):
    count = int(np.prod(shape))
    return (RANDOM.words(count) >> WORD(64 - bits)).reshape(shape) if bits else np.zeros(shape, dtype=WORD)


def shared(values):
    """Additive shares of both roles."""
    mask = RANDOM.words(values.size).reshape(values.shape)
    return dict(zip(Role, (mask, values.astype(np.int64).view(WORD) - mask), strict=True))


def shared_bits(values):
    mask = RANDOM.bits(values.size).reshape(values.shape)
    return dict(zip(Role, (mask, values.astype(np.uint8) ^ mask), strict=True))


def matrices(alice, bob):
    """Random matrices of declared entries."""
    sides = dict(zip(Role, (alice, bob), strict=True))
    return sides, {
        role: np.stack([words(e.rows, bits) for bits in e.bits], axis=1) for role, e in sides.items()
    }


def check_products(alice, bob, lengths, width, times=2):
    entries, held = matrices(alice, bob)
    size = dict(zip(Role, lengths, strict=True))
    factor = {role: words((len(entries[role].bits), size[role]), min(width, 63)) for role in Role}
    part = {role: shared(factor[role]) for role in Role}

    def side(session):
        role = session.role
        session.oblivious.setup()
        product = RepeatedFactors(session, held[role], entries[role], entries[role.other])
        found = []
        for _ in range(times):
            result = product.times(part[role][role], part[role.other][role], width)
            found.append((result, session.channel.traffic))
        return found

    mask, declared = (1 << width) - 1, SETUP_COST
    for number, (mine, theirs) in enumerate(zip(*run_pair(side, side), strict=True)):
        ((own_a, peer_a), traffic_a), ((own_b, peer_b), traffic_b) = mine, theirs
        for role, left, right in ((Role.ALICE, own_a, peer_b), (Role.BOB, own_b, peer_a)):
            expected = held[role] @ factor[role]
            assert ((left.astype(WORD) + right & WORD(mask)) == (expected & WORD(mask))).all()
        declared += repeated.cost(alice, bob, lengths, width, first=number == 0)
        assert (traffic_a.sent, traffic_b.sent) == (declared.alice_bytes, declared.bob_bytes)
        assert max(traffic_a.rounds, traffic_b.rounds) == declared.rounds


@pytest.mark.parametrize("count", [1, 64, 65, 5000])
def test_rows_differ_by_the_offset_where_the_choice_is_1(count):
    choices = RANDOM.bits(count)

    def alice(session):
        first = session.oblivious.send_rows(count)
        return first, session.oblivious.send_rows(count)

    def bob(session):
        return session.oblivious.receive_rows(choices), session.oblivious.receive_rows(choices)

    sent, received = run_pair(alice, bob)
    for (rows, offset), found in zip(sent, received, strict=True):
        assert (found == rows ^ (offset * choices[:, None])).all()
        assert len(np.unique(rows, axis=0)) == count
    assert (sent[0][0] != sent[1][0]).any()


@pytest.mark.parametrize("width", [1, 8, 17, 31, 32, 33, 40, 64])
def test_products_of_any_width(width):
    check_products(FactorShape(7, (3, 0, 5)), FactorShape(2, (4, 1)), (2, 5), width)


@pytest.mark.parametrize(
    ("alice", "bob", "lengths"),
    [
        (FactorShape(1, (1,)), FactorShape(1, (1,)), (1, 1)),
        (FactorShape(0, (2, 2)), FactorShape(9, (2, 2)), (3, 3)),
        (FactorShape(9, (0, 0)), FactorShape(3, (12,)), (4, 1)),
        (FactorShape(64, (12, 12)), FactorShape(65, (20, 3)), (9, 4)),
    ],
)
def test_products_of_any_shape(alice, bob, lengths):
    check_products(alice, bob, lengths, 32)


def test_products_in_many_blocks_and_bursts(monkeypatch):
    monkeypatch.setattr(repeated, "_BLOCK_TRANSFERS", 70)
    monkeypatch.setattr(repeated, "_PIECE_BYTES", 200)
    monkeypatch.setattr(repeated, "SPAN_BYTES", 900)
    check_products(FactorShape(50, (3, 4)), FactorShape(23, (5, 1, 2)), (2, 3), 20)


def test_transfers_that_are_not_kept_are_made_anew(monkeypatch):
    monkeypatch.setattr(repeated, "KEPT_TRANSFERS", 30)
    check_products(FactorShape(10, (3, 4)), FactorShape(4, (5, 1)), (2, 3), 20, times=3)


def test_corrections_are_masked_afresh_each_time(monkeypatch):
    sent = []
    honest = Channel.send

    def send(self, message):
        if isinstance(message, masks.MaskedWords):
            sent.append(message.words.values.tobytes())
        honest(self, message)

    monkeypatch.setattr(Channel, "send", send)
    check_products(FactorShape(6, (4,)), FactorShape(0, (4,)), (4, 4), 32, times=2)
    first, second = sent
    assert len(first) == len(second)
    assert sum(a == b for a, b in zip(first, second, strict=True)) < len(first) / 4


def test_another_matrix_than_declared_is_refused():
    def side(session):
        entries = FactorShape(2, (3,))
        for wrong in (np.zeros((3, 1), dtype=WORD), np.full((2, 1), 8, dtype=WORD)):
            with pytest.raises(UsageError, match="declared shape"):
                RepeatedFactors(session, wrong, entries, entries)

    run_pair(side, side)


def test_a_message_of_another_size_is_a_violation(monkeypatch):
    honest = Channel.send

    def send(self, message):
        if isinstance(message, masks.MaskedWords):
            message = masks.MaskedWords(message.key, masks.ByteRows(message.words.values[:-1]))
        honest(self, message)

    monkeypatch.setattr(Channel, "send", send)
    with pytest.raises(ProtocolViolation):
        check_products(FactorShape(3, (2,)), FactorShape(3, (2,)), (1, 1), 16)


@given(st.integers(1, 64), st.integers(0, 5), st.integers(1, 4))
def test_packing(width, rows, length):
    kind = masks.word_type(width)
    held = words((rows, length), width).astype(kind)

    def sender(session):
        masks.send_masked(session, bytes(16), [(held, width), (held, width)])

    def receiver(session):
        shape = ((rows, length), width)
        return list(masks.receive_masked(session, [shape, shape]).words(kind))

    first, second = run_pair(sender, receiver)[1]
    assert (first == held).all()
    assert (second == held).all()


def sums(alice, bob, groups, largest):
    """Sums of random rows over random groups, by both parties and in the clear."""
    width = grouped.word_bits(largest)
    sides = dict(zip(Role, (alice, bob), strict=True))
    held = {role: words((g.rows, g.length), 8) for role, g in sides.items()}
    shares = {role: shared_bits(groups[role]) for role in Role}

    def side(session):
        role = session.role
        session.oblivious.setup()
        # Columns come in parts of any type.
        columns = [held[role][:, :1].astype(np.uint8), held[role][:, 1:]]
        parts = grouped.sums(
            session, columns, shares[role][role], sides[role.other], shares[role.other][role], width
        )
        cost = session.channel.traffic
        return [
            grouped.extend_shares(session, part, width)
            for part in (parts if role is Role.ALICE else parts[::-1])
        ], cost

    (first, cost_a), (second, cost_b) = run_pair(side, side)
    declared = SETUP_COST + grouped.cost(alice, bob, width)
    assert (cost_a.sent, cost_b.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert max(cost_a.rounds, cost_b.rounds) == declared.rounds
    for role, left, right in zip(Role, first, second, strict=True):
        assert (left + right == groups[role].T.astype(WORD) @ held[role]).all()


@pytest.mark.parametrize("largest", [1 << 20, 1 << 40])
@pytest.mark.parametrize(("n", "m", "k"), [(1, 1, 1), (5, 0, 3), (40, 7, 4)])
def test_sums_over_secret_groups(n, m, k, largest):
    alice, bob = Grouping(n, 3, k), Grouping(m, 6, k)
    groups = {
        role: RANDOM.bits(g.rows * k).reshape(-1, k) for role, g in zip(Role, (alice, bob), strict=True)
    }
    sums(alice, bob, groups, largest)


def test_sums_in_many_blocks(monkeypatch):
    monkeypatch.setattr(grouped, "SPAN_BYTES", 600)
    alice, bob = Grouping(30, 2, 2), Grouping(11, 1, 2)
    groups = {role: np.ones((g.rows, 2), dtype=np.uint8) for role, g in zip(Role, (alice, bob), strict=True)}
    sums(alice, bob, groups, 1 << 20)


@pytest.mark.parametrize("value", [0, 1, (1 << 31) - 1])
@pytest.mark.parametrize("mask", [0, 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1])
def test_lifting_at_the_edges(value, mask):
    def side(session):
        own = mask if session.role is Role.ALICE else (value - mask) % (1 << 32)
        return grouped.extend_shares(session, np.array([[own]], dtype=np.uint32), 32)

    alice, bob = run_pair(side, side)
    assert int((alice + bob)[0, 0]) == value


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 7, 8, 13])
def test_one_hot_minima(columns):
    held = np.array(RANDOM.below(7, 30 * columns), dtype=np.int64).reshape(30, columns) - 3
    shares, differences = shared(held), Bounds(-6, 6)

    def side(session):
        session.oblivious.setup()
        found = argmin_one_hot.one_hot(session, shares[session.role], differences)
        return found, session.channel.traffic

    (first, cost_a), (second, cost_b) = run_pair(side, side)
    assert ((first ^ second) == np.eye(columns, dtype=np.uint8)[held.argmin(axis=1)]).all()
    declared = SETUP_COST + argmin_one_hot.cost(30, columns, differences)
    assert (cost_a.sent, cost_b.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert max(cost_a.rounds, cost_b.rounds) == declared.rounds


def test_minima_need_only_the_low_bits_of_shares():
    held = np.array([[5, 3, 4], [-6, 6, 0]])
    shares, mask = shared(held), WORD((1 << 5) - 1)

    def side(session):
        return argmin_one_hot.one_hot(session, shares[session.role] & mask, Bounds(-12, 12))

    first, second = run_pair(side, side)
    assert ((first ^ second).argmax(axis=1) == [1, 0]).all()


def test_uniform_integers():
    """Chi-square over 16 values at a false-alarm rate of 1e-6: 15 degrees of freedom."""
    first, second = run_pair(*[lambda session: uniform.uniform(session, 4, 4096).reveal()] * 2)
    assert (first == second).all()
    counts = np.bincount(first, minlength=16)
    assert counts.size == 16
    assert ((counts - 256) ** 2 / 256).sum() < 56.5


def test_one_party_alone_does_not_fix_a_uniform_integer():
    fixed = Randomness(bytes)

    def side(session):
        if session.role is Role.ALICE:
            session.oblivious.setup()
            session.random = fixed
        return uniform.uniform(session, 40, 8).reveal()

    assert len(set(run_pair(side, side)[0].tolist())) == 8


def test_a_vanished_peer_is_noticed():
    def alice(session):
        grouped.sums(
            session,
            [words((3, 2), 4)],
            RANDOM.bits(6).reshape(3, 2),
            Grouping(0, 1, 2),
            np.zeros((0, 2), dtype=np.uint8),
            32,
        )

    def bob(session):
        session.oblivious.setup()
        raise UsageError("gone")

    with pytest.raises((UsageError, PeerError)):
        run_pair(alice, bob, timeout=5)
