"""One-to-one pairing within blocks."""

from __future__ import annotations

import numpy as np
import pytest

from smc.forms import Role
from smc.numeric.random import Randomness
from smc.pair import run_pair
from smc.secret import pairing
from tests.support.transcript import BYTES_BOUND, byte_statistic, shapes, transcripts

RANDOM = Randomness()


def distinct(blocks, side):
    """Scores from 1 to side**2, each once in a block."""
    rows = [RANDOM.permutation(side * side) for _ in range(blocks)]
    return np.array(rows).reshape(blocks, side, side) + 1


def program(eligible, scores, most, rounds):
    flips = RANDOM.bits(eligible.size).reshape(eligible.shape)
    masks = RANDOM.words(eligible.size).reshape(eligible.shape)

    def run(session):
        session.oblivious.setup()
        before = session.channel.traffic
        if session.role is Role.ALICE:
            chosen = pairing.pair(session, flips, masks, most, rounds)
        else:
            other = scores.astype(np.uint64) - masks
            chosen = pairing.pair(session, eligible.astype(np.uint8) ^ flips, other, most, rounds)
        return chosen, session.channel.traffic.since(before)

    return run


def mutual(eligible, scores, rounds):
    """The rule, pair by pair."""
    chosen = np.zeros_like(eligible)
    for block in range(len(eligible)):
        left = {(i, j) for i, j in np.argwhere(eligible[block]).tolist()}
        for _ in range(rounds):
            score = {pair: scores[block][pair] for pair in left}
            best = {
                (i, j)
                for i, j in left
                if all(score[i, j] >= score[p] for p in left if p[0] == i or p[1] == j)
            }
            for pair in best:
                chosen[block][pair] = True
            left = {p for p in left if all(p[0] != q[0] and p[1] != q[1] for q in best)}
    return chosen


@pytest.mark.parametrize("side", [1, 2, 3, 5, 8, 16])
@pytest.mark.parametrize("rounds", [1, 2])
def test_pairs_are_the_best_of_row_and_column_for_the_declared_cost(side, rounds):
    blocks, most = 6, side * side
    eligible = RANDOM.bits(blocks * most).reshape(blocks, side, side).astype(bool)
    eligible[0], eligible[1] = False, True
    scores = distinct(blocks, side)
    run = program(eligible, scores, most, rounds)
    (a, there), (b, back) = run_pair(run, run)
    assert ((a ^ b) == mutual(eligible, scores, rounds)).all()
    cost = pairing.cost(blocks, side, most, rounds)
    assert (there.sent, back.sent) == (cost.alice_bytes, cost.bob_bytes)
    assert max(there.rounds, back.rounds) == cost.rounds


def test_enough_rounds_give_the_greedy_pairing():
    blocks, side = 20, 4
    eligible = np.ones((blocks, side, side), dtype=bool)
    scores = distinct(blocks, side)
    run = program(eligible, scores, side * side, side)
    (a, _), (b, _) = run_pair(run, run)
    for block in range(blocks):
        wanted, rows, columns = set(), set(), set()
        for place in np.argsort(-scores[block], axis=None):
            i, j = divmod(int(place), side)
            if i not in rows and j not in columns:
                wanted.add((i, j))
                rows.add(i)
                columns.add(j)
        assert {tuple(pair) for pair in np.argwhere((a ^ b)[block]).tolist()} == wanted


@pytest.mark.parametrize("width", [6, 7, 8])
def test_narrow_shares_of_scores_suffice(width):
    """Words that are right modulo 2**width only, with 2 * most below that."""
    side = 4
    most = (1 << width - 1) - 1
    eligible = np.ones((10, side, side), dtype=bool)
    scores = distinct(10, side) + most - side * side
    blurred = scores.astype(np.uint64) + (RANDOM.words(scores.size).reshape(scores.shape) << np.uint64(width))
    run = program(eligible, blurred, most, 2)
    (a, _), (b, _) = run_pair(run, run)
    assert ((a ^ b) == mutual(eligible, scores, 2)).all()


@pytest.mark.parametrize("value", [False, True])
def test_rounds_and_messages_say_nothing(monkeypatch, value):
    eligible = np.full((40, 8, 8), value)
    run = program(eligible, distinct(40, 8), 64, 2)
    _, seen = transcripts(monkeypatch, run)
    for rows in seen.values():
        for kind in ("Corrections", "Openings", "Columns"):
            data = b"".join(body for name, body in rows if name == kind)
            assert len(data) > 5_000
            assert byte_statistic(data) < BYTES_BOUND
    mixed = RANDOM.bits(eligible.size).reshape(eligible.shape).astype(bool)
    _, other = transcripts(monkeypatch, program(mixed, distinct(40, 8), 64, 2))
    assert shapes(seen) == shapes(other)
