"""Sums of products row by row: exact up to their bound, what they cost, messages, and faults."""

from __future__ import annotations

import numpy as np
import pytest

from smc.ciphers.slot_transform import DEGREE
from smc.errors import ProtocolViolation, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.products.lattice_multiply import SlotResponse
from smc.secret.products.narrow_sums import MOST, cost, sums
from tests.support.seeds import seeded
from tests.support.transcript import truncated

RANDOM = seeded()


def program(x, y):
    """Sums of own integers, shape (answers, terms, n), and the peer's, shape (1, terms, n)."""

    def side(session):
        session.oblivious.setup()
        before = session.channel.traffic
        own = x if session.role is Role.ALICE else y
        count, terms = y.shape[2], y.shape[1]
        found = sums(session, count, terms, len(x), lambda part: [each[:, part] for each in own])
        return found, session.channel.traffic.since(before)

    return side


def drawn(bits, *shape):
    found = RANDOM.words(int(np.prod(shape))) % np.uint64(1 << (bits + 1))
    return (found.astype(np.int64) - (1 << bits)).reshape(shape)


@pytest.mark.parametrize(("count", "terms", "answers"), [(1, 1, 1), (2 * DEGREE, 7, 1), (40_000, 3, 2)])
def test_sums_and_their_cost(count, terms, answers):
    x, y = drawn(12, answers, terms, count), drawn(12, 1, terms, count)
    side = program(x, y)
    (alice, there), (bob, back) = run_pair(side, side, timeout=60)
    assert ((alice + bob).view(np.int64) == (x * y).sum(axis=1)).all()
    declared = cost(count, terms, answers)
    assert (there.sent, back.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert len(np.unique(alice)) == alice.size


def test_the_largest_sums_do_not_wrap():
    """Of either sign, in slots of both primes, in all rows of a block."""
    signs = np.where(np.arange(2 * DEGREE) % 2, 1, -1)
    x, y = np.full((1, 1, 2 * DEGREE), MOST // 4), (4 * signs)[None, None]
    side = program(x, y)
    (alice, _), (bob, _) = run_pair(side, side, timeout=60)
    assert ((alice + bob).view(np.int64) == MOST * signs).all()


def test_too_many_terms_are_refused():
    def side(session):
        with pytest.raises(UsageError, match="Add up at most 24"):
            sums(session, 5, 25, 1, lambda _: [])

    run_pair(side, side)
    with pytest.raises(UsageError, match="not exact"):
        cost(5, 25, 1)


def test_a_response_of_another_size_is_a_violation(monkeypatch):
    channels = truncated(monkeypatch, SlotResponse.__name__)
    x, y = drawn(3, 1, 1, 5), drawn(3, 1, 1, 5)
    side = program(x, y)

    def listed(session):
        if session.role is Role.ALICE:
            channels.append(session.channel)
        return side(session)

    with pytest.raises(ProtocolViolation):
        run_pair(listed, listed, timeout=60)
