"""Permuting shared vectors in an order that one party knows, and the register that uses it."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc.errors import ProtocolViolation, UsageError
from smc.forms import Role
from smc.oblivious.correlated_transfers import TransferColumns
from smc.pair import run_pair
from smc.secret.joins.row_state import RowState
from smc.secret.orders import permutation
from smc.secret.orders.benes import apply, columns_for, switches, wires_for
from smc.secret.orders.permutation import SwitchCorrections
from tests.support.seeds import seeded
from tests.support.transcript import BYTES_BOUND, byte_statistic, shapes, transcripts, truncated

RANDOM = seeded()


def routed(order):
    order = np.array(order)
    crossed = switches(order)
    assert crossed.shape == (columns_for(len(order)), len(order) // 2)
    values = np.arange(100, 100 + 3 * len(order)).astype(np.uint64).reshape(-1, 3)
    found = apply(values, lambda differences, column: differences * crossed[column][:, None])
    assert (
        apply(values[:, 1], lambda differences, column: differences * crossed[column]) == found[:, 1]
    ).all()
    return found, values[order]


@pytest.mark.parametrize("wires", [2, 4])
def test_a_small_network_does_every_permutation(wires):
    for order in permutations(range(wires)):
        found, wanted = routed(order)
        assert (found == wanted).all()


@given(st.integers(3, 9).flatmap(lambda t: st.permutations(range(1 << t))))
def test_a_network_does_any_permutation(order):
    found, wanted = routed(order)
    assert (found == wanted).all()


def test_networks_have_a_power_of_two_wires():
    assert [wires_for(count) for count in (0, 1, 2, 3, 4, 5, 1025)] == [2, 2, 2, 4, 4, 8, 2048]


def side(values, order, owner, bits=64):
    masks = RANDOM.words(values.size).reshape(values.shape)

    def run(session):
        session.oblivious.setup()
        before = session.channel.traffic
        shares = masks if session.role is Role.ALICE else values - masks
        moved = permutation.permute(session, shares, owner, order if session.role is owner else None, bits)
        return moved, session.channel.traffic.since(before)

    return run


@pytest.mark.parametrize(("bits", "columns"), [(1, 1), (9, 4), (31, 1), (32, 2), (48, 3), (64, 1), (64, 5)])
@pytest.mark.parametrize("owner", list(Role))
@pytest.mark.parametrize("count", [1, 2, 3, 64, 100])
def test_shares_are_permuted_for_the_declared_cost(owner, count, bits, columns):
    values, order = RANDOM.words(count * columns).reshape(count, columns), RANDOM.permutation(count)
    run = side(values, order, owner, bits)
    (a, there), (b, back) = run_pair(run, run)
    unused = np.uint64(64 - bits)
    assert ((a + b) << unused == values[order] << unused).all()
    assert (a >> np.uint64(bits - 1) <= 1).all()
    cost = permutation.cost(count, owner, bits=bits, columns=columns)
    assert (there.sent, back.sent) == (cost.alice_bytes, cost.bob_bytes)
    assert max(there.rounds, back.rounds) == cost.rounds == 2


def test_a_message_holds_a_piece_of_the_network(monkeypatch):
    values, order = RANDOM.words(300).reshape(100, 3), RANDOM.permutation(100)
    whole = permutation.cost(100, Role.BOB, columns=3)
    monkeypatch.setattr(permutation, "_PIECE_BYTES", 4 * 64 * 3 * 8)
    pieces = permutation.cost(100, Role.BOB, columns=3)
    run = side(values, order, Role.BOB)
    (a, there), (b, back) = run_pair(run, run)
    assert (a + b == values[order]).all()
    assert (there.sent, back.sent) == (pieces.alice_bytes, pieces.bob_bytes)
    assert pieces.alice_bytes == whole.alice_bytes + 3 * 16  # 13 columns of switches are 4 messages
    assert max(there.rounds, back.rounds) == pieces.rounds == 2


@pytest.mark.parametrize("bits", [0, 65])
def test_words_are_of_1_to_64_bits(bits):
    run = side(RANDOM.words(5), RANDOM.permutation(5), Role.ALICE, bits)
    with pytest.raises(UsageError, match=f"{bits} bits"):
        run_pair(run, run)


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("turned", [False, True])
def test_the_order_does_not_show(monkeypatch, turned, bits):
    values, order = np.zeros(256, dtype=np.uint64), np.arange(256)
    run = side(values, order[::-1] if turned else order, Role.ALICE, bits)
    results, seen = transcripts(monkeypatch, run)
    sent = b"".join(data for kind, data in seen[Role.BOB] if kind == TransferColumns.__name__)
    answered = b"".join(data for kind, data in seen[Role.ALICE] if kind == SwitchCorrections.__name__)
    assert byte_statistic(sent) < BYTES_BOUND
    assert byte_statistic(answered) < BYTES_BOUND
    for shares, _ in results:
        assert byte_statistic(shares.astype(f"<u{bits // 8}").tobytes()) < BYTES_BOUND
    _, other = transcripts(monkeypatch, side(RANDOM.words(256), RANDOM.permutation(256), Role.ALICE, bits))
    assert shapes(seen) == shapes(other)


@pytest.mark.parametrize(
    ("order", "match"),
    [
        ([0, 0, 1], "not a permutation"),
        ([0, 1], "not a permutation"),
        ([0, 1, 3], "not a permutation"),
        (None, "owner"),
    ],
)
def test_wrong_orders_are_refused(order, match):
    def run(session):
        given = None if order is None else np.array(order)
        mine = given if session.role is Role.ALICE else None
        return permutation.permute(session, np.zeros(3, dtype=np.uint64), Role.ALICE, mine)

    with pytest.raises(UsageError, match=match):
        run_pair(run, run)


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize(
    ("kind", "cheat"), [(TransferColumns.__name__, Role.ALICE), (SwitchCorrections.__name__, Role.BOB)]
)
def test_messages_of_another_size_are_refused(monkeypatch, kind, cheat, bits):
    channels = truncated(monkeypatch, kind)
    run = side(RANDOM.words(5), RANDOM.permutation(5), Role.ALICE, bits)

    def watched(session):
        if session.role is cheat:
            channels.append(session.channel)
        return run(session)

    with pytest.raises(ProtocolViolation):
        run_pair(watched, watched)


@pytest.mark.parametrize("owner", list(Role))
def test_a_register_follows_its_owners_order(owner):
    orders = [RANDOM.permutation(10) for _ in range(3)]
    added = [RANDOM.words(10), RANDOM.words(4)]

    def run(session):
        def mine(order):
            return order if session.role is owner else None

        def part(words):
            return words if session.role is Role.ALICE else np.zeros_like(words)

        register = RowState(session, owner, 10)
        before = session.channel.traffic
        register.arrange(mine(orders[0]))
        assert session.channel.traffic == before
        register.add(part(added[0]))
        register.arrange(mine(orders[1]))
        register.add(part(added[1]))
        register.arrange(mine(orders[2]))
        register.arrange(mine(np.arange(10)))
        return register.shares

    a, b = run_pair(run, run)
    wanted = np.zeros(10, dtype=np.uint64)
    for order, words in zip(orders, added, strict=False):
        wanted[order[: len(words)]] += words
    assert (a + b == wanted).all()


def test_a_registers_order_comes_from_its_owner():
    def run(session):
        RowState(session, Role.ALICE, 3).arrange(None)

    with pytest.raises(UsageError, match="owner"):
        run_pair(run, lambda session: session.channel.traffic)
