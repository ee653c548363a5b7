"""Matrices of both parties times secret matrices, by lattice encryption."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from smc.errors import ProtocolViolation, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.lattice import matrices as lattice_products
from smc.secret.lattice.factors import LatticeFactors, LatticePlan, cost
from smc.secret.lattice.matrices import LatticeQuery, LatticeResponse
from smc.secret.products.repeated import FactorShape
from tests.smc.secret.products.test_repeated import matrices, shared, words
from tests.support.transcript import BYTES_BOUND, byte_statistic, shapes, transcripts, truncated, used_bits

WORD = np.uint64


def program(alice, bob, lengths, width, held, factor, times=1):
    """Both sides: shares of their products, one after the other, and the traffic."""
    entries = dict(zip(Role, (alice, bob), strict=True))
    plan = LatticePlan.of(alice, bob, lengths, width, times)
    assert plan is not None
    part = {role: shared(factor[role]) for role in Role}

    def side(session):
        role = session.role
        factors = LatticeFactors(session, plan, held[role], entries[role], entries[role.other])
        found = [factors.times(part[role][role], part[role.other][role], width) for _ in range(times)]
        return found, session.channel.traffic

    return side


def check(alice, bob, lengths, width, times=2, worst=False):
    entries, held = matrices(alice, bob)
    factor = {
        role: words((len(entries[role].bits), length), min(width, 63))
        for role, length in zip(Role, lengths, strict=True)
    }
    if worst:
        for role in Role:
            held[role][:] = (1 << np.array(entries[role].bits)) - 1
            factor[role][:] = (1 << width) - 1
    side = program(alice, bob, lengths, width, held, factor, times)
    (mine, there), (theirs, back) = run_pair(side, side)
    mask = WORD((1 << width) - 1)
    for (own_a, peer_a), (own_b, peer_b) in zip(mine, theirs, strict=True):
        for role, left, right in ((Role.ALICE, own_a, peer_b), (Role.BOB, own_b, peer_a)):
            assert ((left + right & mask) == (held[role] @ factor[role] & mask)).all()
    one = cost(alice, bob, lengths, width, times)
    assert (there.sent, back.sent) == (times * one.alice_bytes, times * one.bob_bytes)
    assert max(there.rounds, back.rounds) == times * one.rounds


@pytest.mark.parametrize("worst", [False, True])
@pytest.mark.parametrize(
    ("alice", "bob", "lengths", "width"),
    [
        (FactorShape(1, (1,)), FactorShape(1, (1,)), (1, 1), 8),
        (FactorShape(70, (12, 12, 3)), FactorShape(500, (8,)), (4, 2), 32),
        (FactorShape(9, (0, 5)), FactorShape(3, (12, 0)), (3, 1), 24),
        (FactorShape(40, (16, 16)), FactorShape(60, (16,)), (2, 2), 40),
    ],
)
def test_products(alice, bob, lengths, width, worst):
    check(alice, bob, lengths, width, worst=worst)


def test_unequal_numbers_of_batches(monkeypatch):
    monkeypatch.setattr(lattice_products, "_BATCH_WORDS", 1 << 12)
    alice, bob = FactorShape(700, (8, 8)), FactorShape(3, (8,))
    plan = LatticePlan.of(alice, bob, (3, 3), 24, 1)
    assert len(list(plan.alice.batches(700))) > len(list(plan.bob.batches(3)))
    check(alice, bob, (3, 3), 24, times=1)


def test_messages_say_nothing(monkeypatch):
    """Of the same sizes for the most uneven matrices as for zeros, and uniform but for the idle bits of
    ciphertexts, which are zero whatever the data."""
    alice, bob = FactorShape(300, (12, 12)), FactorShape(200, (12,))
    seen = []
    for value in (0, (1 << 12) - 1):
        held = {
            role: np.full((e.rows, len(e.bits)), value, dtype=WORD)
            for role, e in zip(Role, (alice, bob), strict=True)
        }
        factor = {
            role: np.full((len(e.bits), 4), value, dtype=WORD)
            for role, e in zip(Role, (alice, bob), strict=True)
        }
        seen.append(transcripts(monkeypatch, program(alice, bob, (4, 4), 32, held, factor))[1])
    assert shapes(seen[0]) == shapes(seen[1])
    plan = LatticePlan.of(alice, bob, (4, 4), 32, 1)
    for role, rows in seen[1].items():
        queried = partial(used_bits, plan.layout(role).parameters)
        for kind, used in ((LatticeQuery, queried), (LatticeResponse, bytes)):
            data = b"".join(used(body) for name, body in rows if name == kind.__name__)
            assert len(data) > 5_000
            assert byte_statistic(data) < BYTES_BOUND


def test_words_of_another_width_are_refused():
    alice, bob = FactorShape(3, (4,)), FactorShape(2, (4,))
    plan = LatticePlan.of(alice, bob, (1, 1), 16, 2)

    def side(session):
        role = session.role
        own, peer = (alice, bob) if role is Role.ALICE else (bob, alice)
        factors = LatticeFactors(session, plan, np.ones((own.rows, 1), dtype=WORD), own, peer)
        factor = np.ones((1, 1), dtype=WORD)
        with pytest.raises(UsageError, match="words of 16 bits"):
            factors.times(factor, factor, 17)

    run_pair(side, side)


def test_a_message_of_another_size_is_a_violation(monkeypatch):
    channels = truncated(monkeypatch, LatticeResponse.__name__)
    alice, bob = FactorShape(3, (4,)), FactorShape(2, (4,))
    _, held = matrices(alice, bob)
    run = program(alice, bob, (1, 1), 16, held, dict.fromkeys(Role, np.ones((1, 1), dtype=WORD)))

    def cheating(session):
        channels.append(session.channel)
        return run(session)

    with pytest.raises(ProtocolViolation):
        run_pair(cheating, run)


def test_sizes_that_no_lattice_takes():
    entries = FactorShape(5, (32,))
    assert LatticePlan.of(entries, entries, (1, 1), 64, 1) is None
    assert LatticePlan.of(FactorShape(0, (3,)), FactorShape(5, (3,)), (1, 1), 16, 1) is None
    with pytest.raises(UsageError, match="oblivious transfer"):
        cost(entries, entries, (1, 1), 64, 1)
