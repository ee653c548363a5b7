"""The best pairs of blocks."""

from __future__ import annotations

import numpy as np
import pytest

from smc.forms import Role
from smc.oblivious.circuits import Openings
from smc.oblivious.correlated_transfers import TransferColumns
from smc.oblivious.transfers import TransferCorrections
from smc.pair import run_pair
from smc.secret.comparison import pairing
from tests.support.seeds import seeded
from tests.support.transcript import BYTES_BOUND, byte_statistic, shapes, transcripts

RANDOM = seeded()


def distinct(blocks, side):
    """Scores from 1 to side**2, each once in a block."""
    rows = [RANDOM.permutation(side * side) for _ in range(blocks)]
    return np.array(rows).reshape(blocks, side, side) + 1


def program(eligible, scores, most):
    flips = RANDOM.bits(eligible.size).reshape(eligible.shape)
    masks = RANDOM.words(eligible.size).reshape(eligible.shape)

    def run(session):
        session.oblivious.setup()
        before = session.channel.traffic
        if session.role is Role.ALICE:
            found = pairing.best(session, flips, masks, most)
        else:
            other = scores.astype(np.uint64) - masks
            found = pairing.best(session, eligible.astype(np.uint8) ^ flips, other, most)
        return found, session.channel.traffic.since(before)

    return run


def mutual(eligible, scores):
    """The rule, pair by pair."""
    chosen = np.zeros_like(eligible)
    for block, here in enumerate(eligible):
        pairs = np.argwhere(here).tolist()
        for i, j in pairs:
            rivals = [scores[block][k, m] for k, m in pairs if k == i or m == j]
            chosen[block][i, j] = scores[block][i, j] == max(rivals)
    return chosen


def opened(first, second, width=64):
    """Which pairs are best, and the best scores of rows and columns modulo 2**width."""
    modulus = np.uint64((1 << width) - 1)
    tops = [(getattr(first, side) + getattr(second, side)) & modulus for side in ("rows", "columns")]
    return first.mutual ^ second.mutual, *tops


@pytest.mark.parametrize("side", [1, 2, 3, 5, 8, 16])
def test_pairs_are_the_best_of_row_and_column_for_the_declared_cost(side):
    blocks, most = 6, side * side
    eligible = RANDOM.bits(blocks * most).reshape(blocks, side, side).astype(bool)
    eligible[0], eligible[1] = False, True
    scores = distinct(blocks, side)
    run = program(eligible, scores, most)
    (a, there), (b, back) = run_pair(run, run)
    chosen, rows, columns = opened(a, b)
    assert (chosen == mutual(eligible, scores)).all()
    assert (rows == np.where(eligible, scores, 0).max(axis=2)).all()
    assert (columns == np.where(eligible, scores, 0).max(axis=1)).all()
    cost = pairing.cost(blocks, side, most)
    assert (there.sent, back.sent) == (cost.alice_bytes, cost.bob_bytes)
    assert max(there.rounds, back.rounds) == cost.rounds


@pytest.mark.parametrize("width", [6, 7, 8])
def test_narrow_shares_of_scores_suffice(width):
    """Words that are right modulo 2**width only, with 2 * most below that."""
    side = 4
    most = (1 << width - 1) - 1
    eligible = RANDOM.bits(10 * side**2).reshape(10, side, side).astype(bool)
    scores = distinct(10, side) + most - side * side
    blurred = scores.astype(np.uint64) + (RANDOM.words(scores.size).reshape(scores.shape) << np.uint64(width))
    run = program(eligible, blurred, most)
    (a, _), (b, _) = run_pair(run, run)
    chosen, rows, _ = opened(a, b, width)
    assert (chosen == mutual(eligible, scores)).all()
    assert (rows == np.where(eligible, scores, 0).max(axis=2)).all()


def test_pairs_of_marked_rows_and_columns():
    marks = RANDOM.bits(2 * 40).reshape(2, 10, 4)
    masks = RANDOM.bits(2 * 40).reshape(2, 10, 4)

    def run(session):
        own = masks if session.role is Role.ALICE else marks ^ masks
        session.oblivious.setup()
        before = session.channel.traffic
        return pairing.both(session, *own), session.channel.traffic.since(before)

    (a, there), (b, back) = run_pair(run, run)
    assert ((a ^ b) == marks[0][:, :, None] & marks[1][:, None]).all()
    assert (there.sent, back.sent) == (
        pairing.cost_both(10, 4).alice_bytes,
        pairing.cost_both(10, 4).bob_bytes,
    )


@pytest.mark.parametrize("value", [False, True])
def test_messages_say_nothing(monkeypatch, value):
    eligible = np.full((80, 8, 8), value)
    run = program(eligible, distinct(80, 8), 64)
    _, seen = transcripts(monkeypatch, run)
    for rows in seen.values():
        for kind in (TransferCorrections.__name__, Openings.__name__, TransferColumns.__name__):
            data = b"".join(body for name, body in rows if name == kind)
            assert len(data) > 5_000
            assert byte_statistic(data) < BYTES_BOUND
    mixed = RANDOM.bits(eligible.size).reshape(eligible.shape).astype(bool)
    _, other = transcripts(monkeypatch, program(mixed, distinct(80, 8), 64))
    assert shapes(seen) == shapes(other)
