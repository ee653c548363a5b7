"""Comparisons whose silent transfers were ordered: the same results, at the stated cost, within memory."""

from __future__ import annotations

import numpy as np
import pytest

from smc.forms import Role
from smc.network import Network
from smc.oblivious import cost, silent_circuits
from smc.pair import run_pair
from smc.secret.comparison import msb
from smc.secret.sharing.bounds import Bounds
from smc.secret.sharing.prefetch import NO_PREFETCH, Prefetch
from smc.tracing.session import trace
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


def stated(own):
    """What such a run takes, without numbers."""

    def run(session):
        own.order(session)
        own.deliver(session)
        for count in COUNTS:
            msb.nonnegative(session, session.random.words(count), BOUNDS)

    return trace(run, SLOW)


def batches(*counts):
    return [(count, BOUNDS.sign_bits) for count in counts]


@pytest.mark.parametrize("counts", [COUNTS, COUNTS[:1], (), (2, 3)])
def test_comparisons_cost_what_is_stated_after_an_order(counts):
    own = Prefetch.of(SLOW, 1, batches(*counts))
    alice, bob = compared(own)
    whole = stated(own)
    assert (alice.sent, bob.sent) == (whole.alice_bytes, whole.bob_bytes)
    assert max(alice.rounds, bob.rounds) == whole.rounds


def test_only_silent_comparisons_are_ordered_and_they_save_their_rounds():
    own = Prefetch.of(SLOW, 1, batches(*COUNTS))
    layout = silent_circuits.SilentDigits.of(BOUNDS.sign_bits)
    # 50 comparisons take extended transfers.
    assert own.words == layout.transfers * (-(-30_000 // 64) + -(-12_000 // 64))
    assert own.whole
    ordered, usual = stated(own), stated(NO_PREFETCH)
    # One flight delivers what two batches then need not wait for.
    assert usual.rounds - ordered.rounds == 1
    assert (ordered.silent_rows, usual.ahead_rows) == (0, 0)
    assert ordered.ahead_rows > 0
    assert Prefetch.of(None, 1, batches(*COUNTS)) == Prefetch(0, True)


def test_beside_an_order_what_is_prepared_is_silent_and_saves_its_bytes():
    own = Prefetch.of(SLOW, 1, batches(*COUNTS), lambda: (50_000, 20))
    assert (own.prepared, own.triples) == (50_000, 20)
    alice, bob = compared(own)
    whole, alone = stated(own), stated(Prefetch.of(SLOW, 1, batches(*COUNTS)))
    assert (alice.sent, bob.sent) == (whole.alice_bytes, whole.bob_bytes)
    assert max(alice.rounds, bob.rounds) == whole.rounds == alone.rounds
    assert whole.alice_bytes - alone.alice_bytes < cost.prepare(50_000, 20)[0].first / 1.5
    assert whole.ahead_rows > alone.ahead_rows


def test_no_more_is_ordered_than_is_made_at_once(monkeypatch):
    monkeypatch.setattr(silent_circuits, "SPAN_WORDS", 12_000)
    own = Prefetch.of(SLOW, 1, batches(*COUNTS))
    assert not own.whole
    assert 0 < own.words <= 12_000
    alice, bob = compared(own)
    assert alice.sent == stated(own).alice_bytes
    assert max(alice.rounds, bob.rounds) == stated(own).rounds
    assert own.memory < 2_000_000
