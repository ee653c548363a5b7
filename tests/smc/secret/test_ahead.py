"""Comparisons whose silent transfers were ordered: the same results, at the stated cost, within memory."""

from __future__ import annotations

import numpy as np
import pytest

from smc.forms import Role
from smc.network import Network, priced_over
from smc.oblivious import silent_circuits
from smc.pair import run_pair
from smc.protocols.transfer_costs import SETUP_COST, cost_settled
from smc.secret import msb
from smc.secret.ahead import NOTHING, Ahead
from smc.secret.bounds import Bounds
from tests.support.seeds import seeded

SLOW = Network(20, 100)
RANDOM = seeded()
BOUNDS = Bounds(-(1 << 20), 1 << 20)
COUNTS = (30_000, 50, 12_000)


def compared(own):
    """Signs of numbers, after an order for some of the batches."""
    values = [(RANDOM.words(count) & np.uint64((1 << 21) - 1)) - np.uint64(1 << 20) for count in COUNTS]
    masks = [RANDOM.words(count) for count in COUNTS]

    def run(session):
        own.order(session)
        own.deliver(session)
        shares = []
        for signed, mask in zip(values, masks, strict=True):
            words = signed - mask if session.role is Role.ALICE else mask.copy()
            shares.append(msb.nonnegative(session, words, BOUNDS))
        return shares, session.channel.traffic

    (left, alice), (right, bob) = run_pair(run, network=SLOW)
    for signed, one, other in zip(values, left, right, strict=True):
        assert ((one ^ other) == (signed.view(np.int64) >= 0)).all()
    return alice, bob


def batches(*counts):
    return [(count, BOUNDS.sign_bits) for count in counts]


@pytest.mark.parametrize("counts", [COUNTS, COUNTS[:1], (), (2, 3)])
def test_comparisons_cost_what_is_stated_after_an_order(counts):
    with priced_over(SLOW):
        own = Ahead.of(SLOW, 1, batches(*counts))
        total = SETUP_COST + own.cost()
        with own.priced():
            for count in COUNTS:
                total += msb.cost_nonnegative(count, BOUNDS)
    alice, bob = compared(own)
    whole = cost_settled(total)
    assert (alice.sent, bob.sent) == (whole.alice_bytes, whole.bob_bytes)
    assert max(alice.rounds, bob.rounds) == whole.rounds


def test_only_silent_comparisons_are_ordered_and_they_save_their_rounds():
    own = Ahead.of(SLOW, 1, batches(*COUNTS))
    layout = silent_circuits.SilentDigits.of(BOUNDS.sign_bits)
    # 50 comparisons take extended transfers.
    assert own.words == layout.transfers * (-(-30_000 // 64) + -(-12_000 // 64))
    assert own.whole
    with priced_over(SLOW), own.priced():
        ordered = [msb.cost_nonnegative(count, BOUNDS) for count in COUNTS]
    with priced_over(SLOW):
        usual = [msb.cost_nonnegative(count, BOUNDS) for count in COUNTS]
    assert [each.rounds - less.rounds for each, less in zip(usual, ordered, strict=True)] == [1, 0, 1]
    assert ordered[0].alice_operations == {}
    assert Ahead.of(None, 1, batches(*COUNTS)) == Ahead(0, True)
    assert NOTHING.cost().rounds == 0


def test_no_more_is_ordered_than_is_made_at_once(monkeypatch):
    monkeypatch.setattr(silent_circuits, "SPAN_WORDS", 12_000)
    own = Ahead.of(SLOW, 1, batches(*COUNTS))
    assert not own.whole
    assert 0 < own.words <= 12_000
    with priced_over(SLOW):
        total = SETUP_COST + own.cost()
        with own.priced():
            for count in COUNTS:
                total += msb.cost_nonnegative(count, BOUNDS)
    alice, bob = compared(own)
    assert alice.sent == cost_settled(total).alice_bytes
    assert max(alice.rounds, bob.rounds) == cost_settled(total).rounds
    assert own.memory < 2_000_000
