"""Shared overlaps of rows of bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smc.errors import ProtocolViolation, UsageError
from smc.forms import Role
from smc.oblivious.correlated_transfers import TransferColumns
from smc.pair import run_pair
from smc.secret.products import common_ones
from smc.secret.products.common_ones import OverlapCorrections
from tests.support.seeds import seeded
from tests.support.transcript import BYTES_BOUND, byte_statistic, shapes, transcripts, truncated

RANDOM = seeded()


def bits(shape):
    return RANDOM.bits(int(np.prod(shape))).reshape(shape)


def side(alice, bob):
    def run(session):
        session.oblivious.setup()
        before = session.channel.traffic
        shares = common_ones.overlaps(session, alice if session.role is Role.ALICE else bob)
        return shares, session.channel.traffic.since(before)

    return run


def counted(alice, bob):
    return np.einsum("bit,bjt->bij", alice.astype(int), bob.astype(int))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 5), st.integers(1, 16), st.integers(1, 90))
def test_shares_add_up_to_the_overlaps_and_cost_what_is_declared(blocks, height, width):
    alice, bob = bits((blocks, height, width)), bits((blocks, height, width))
    (a, there), (b, back) = run_pair(side(alice, bob), side(alice, bob))
    assert (a + b == counted(alice, bob)).all()
    cost = common_ones.cost(blocks, height, width)
    assert (there.sent, back.sent) == (cost.alice_bytes, cost.bob_bytes)
    assert max(there.rounds, back.rounds) == cost.rounds


@pytest.mark.parametrize("most", [1, 7 * 3 * 20, 1 << 19])
def test_batches_of_any_size_give_the_same(monkeypatch, most):
    monkeypatch.setattr(common_ones, "BATCH_TRANSFERS", most)
    alice, bob = bits((9, 3, 20)), bits((9, 3, 20))
    (a, there), (b, back) = run_pair(side(alice, bob), side(alice, bob))
    assert (a + b == counted(alice, bob)).all()
    cost = common_ones.cost(9, 3, 20)
    assert (there.sent, back.sent, max(there.rounds, back.rounds)) == (
        cost.alice_bytes,
        cost.bob_bytes,
        cost.rounds,
    )


def test_all_ones_reach_255_and_no_further():
    ones = np.ones((1, 2, 255), dtype=np.uint8)
    (a, _), (b, _) = run_pair(side(ones, ones), side(ones, ones))
    assert (a + b == 255).all()


@pytest.mark.parametrize("value", [0, 1])
def test_what_a_party_sees_is_noise_of_one_size(monkeypatch, value):
    shape = (8, 16, 64)
    fixed = np.full(shape, value, dtype=np.uint8)
    results, seen = transcripts(monkeypatch, side(fixed, fixed))
    for role, kind in ((Role.ALICE, OverlapCorrections.__name__), (Role.BOB, TransferColumns.__name__)):
        data = b"".join(body for name, body in seen[role] if name == kind)
        assert len(data) > 20_000
        assert byte_statistic(data) < BYTES_BOUND
    for shares, _ in results:
        assert byte_statistic(shares.tobytes()) < BYTES_BOUND
    _, other = transcripts(monkeypatch, side(bits(shape), bits(shape)))
    assert shapes(seen) == shapes(other)


@pytest.mark.parametrize(
    ("kind", "cheat"), [(TransferColumns.__name__, Role.ALICE), (OverlapCorrections.__name__, Role.BOB)]
)
def test_messages_of_another_size_are_refused(monkeypatch, kind, cheat):
    channels = truncated(monkeypatch, kind)
    rows = bits((2, 3, 10))

    def run(session):
        if session.role is cheat:
            channels.append(session.channel)
        return common_ones.overlaps(session, rows)

    with pytest.raises(ProtocolViolation):
        run_pair(run, run)


@pytest.mark.parametrize("height", [0, 17])
def test_blocks_have_1_to_16_rows(height):
    rows = np.zeros((1, height, 4), dtype=np.uint8)
    with pytest.raises(UsageError, match="1 to 16 rows"):
        run_pair(side(rows, rows), side(rows, rows))
