"""The leaves that secret decisions lead to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smc.errors import ProtocolViolation, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.products import tree_walks
from smc.secret.products.tree_walks import MaskedTables, TableKey
from tests.support.seeds import seeded
from tests.support.transcript import BYTES_BOUND, byte_statistic, shapes, transcripts, truncated

RANDOM = seeded()


def side(decisions, leaves, width, owner=Role.ALICE):
    """Both parties' shares of the decisions, and the leaves at their owner."""

    def run(session):
        session.oblivious.setup()
        before = session.channel.traffic
        mine = decisions[session.role is Role.BOB]
        given_leaves = leaves if session.role is owner else None
        shares = tree_walks.walk(session, mine, owner, given_leaves, leaves.shape[2], width)
        return shares, session.channel.traffic.since(before)

    return run


def drawn(count, depth, size, width, trees=1):
    inner = (1 << depth) - 1
    decisions = [RANDOM.bits(count * inner).reshape(count, inner) for _ in Role]
    leaves = RANDOM.words(trees * size << depth).reshape(trees, 1 << depth, size)
    return decisions, leaves & np.uint64((1 << width) - 1)


def reached(decisions, leaves):
    """The same in the clear, one tree after the other."""
    bits, found = decisions[0] ^ decisions[1], []
    for number, row in enumerate(bits):
        node = 0
        while node < len(row):
            node = 2 * node + 1 + int(row[node])
        found.append(leaves[number % len(leaves), node - len(row)])
    return np.array(found, dtype=np.uint64).reshape(len(bits), leaves.shape[2])


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 20),
    st.integers(1, 3),
    st.integers(1, 6),
    st.integers(1, 4),
    st.integers(1, 57),
    st.sampled_from(Role),
)
def test_shares_add_up_to_the_leaves_and_cost_what_is_declared(rows, trees, depth, size, width, owner):
    decisions, leaves = drawn(rows * trees, depth, size, width, trees)
    run = side(decisions, leaves, width, owner)
    (a, there), (b, back) = run_pair(run, run)
    assert ((a + b) & np.uint64((1 << width) - 1) == reached(decisions, leaves)).all()
    cost = tree_walks.cost(rows * trees, depth, size, width, owner)
    assert (there.sent, back.sent) == (cost.alice_bytes, cost.bob_bytes)
    assert max(there.rounds, back.rounds) == cost.rounds


def test_every_leaf_of_a_tree_is_reached_by_its_decisions():
    depth = 4
    paths = np.arange(1 << depth)
    bits = np.zeros((1 << depth, (1 << depth) - 1), dtype=np.uint8)
    node = np.zeros(1 << depth, dtype=np.int64)
    for level in range(depth):
        bit = paths >> (depth - 1 - level) & 1
        bits[np.arange(1 << depth), node] = bit
        node = 2 * node + 1 + bit
    shares = RANDOM.bits(bits.size).reshape(bits.shape)
    leaves = np.arange(1 << depth, dtype=np.uint64).reshape(1, -1, 1)
    run = side([shares, bits ^ shares], leaves, 8)
    (a, _), (b, _) = run_pair(run, run)
    assert (a + b & np.uint64(255))[:, 0].tolist() == paths.tolist()


def test_what_is_offered_looks_like_noise_where_all_leaves_and_decisions_are_alike(monkeypatch):
    inner = [np.zeros((300, 63), dtype=np.uint8), np.ones((300, 63), dtype=np.uint8)]
    leaves = np.full((1, 64, 2), 7, dtype=np.uint64)
    results, seen = transcripts(monkeypatch, side(inner, leaves, 56))
    for role in Role:
        data = b"".join(body for name, body in seen[role] if name == MaskedTables.__name__)
        assert byte_statistic(data) < BYTES_BOUND
    (*_, last) = (body for name, body in seen[Role.BOB] if name == MaskedTables.__name__)
    entries = np.frombuffer(last, dtype=np.uint8).reshape(-1, 7)
    assert len(np.unique(entries, axis=0)) == 300 * 64 * 2
    for shares, _ in results:
        assert byte_statistic(shares.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :7].tobytes()) < 450


def test_what_a_party_sees_does_not_depend_on_values(monkeypatch):
    _, seen = transcripts(monkeypatch, side(*drawn(100, 5, 1, 8), 8))
    _, again = transcripts(monkeypatch, side(*drawn(100, 5, 1, 8), 8))
    assert shapes(seen) == shapes(again)


@pytest.mark.parametrize("kind", [MaskedTables.__name__, TableKey.__name__])
def test_messages_of_another_size_are_refused(monkeypatch, kind):
    channels = truncated(monkeypatch, kind)
    inner = side(*drawn(9, 3, 1, 10), 10)

    def run(session):
        if session.role is Role.ALICE:
            channels.append(session.channel)
        return inner(session)

    with pytest.raises(ProtocolViolation):
        run_pair(run, run)


@pytest.mark.parametrize(
    ("count", "inner", "size", "width"),
    [(1, 2, 1, 8), (1, 0, 1, 8), (1, 1, 1, 58), (1, 1, 0, 8), (1 << 17, 15, 1, 8), (1, (1 << 13) - 1, 1, 8)],
)
def test_trees_that_do_not_fit_are_refused(count, inner, size, width):
    decisions = [np.zeros((count, inner), dtype=np.uint8)] * 2
    run = side(decisions, np.zeros((1, inner + 1, size), dtype=np.uint64), width)
    with pytest.raises(UsageError, match="trees"):
        run_pair(run, run)
