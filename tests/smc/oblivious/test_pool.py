"""Pools of correlated randomness: right, declared, and used once."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest

from smc.channel.message import Frame
from smc.errors import InconsistentTransfers, ProtocolViolation, UsageError
from smc.forms import Role
from smc.oblivious import cost, spans
from smc.oblivious.pool import Pool
from smc.pair import run_pair
from smc.protocols.transfer_costs import cost_of
from tests.support.dealt import dealing
from tests.support.recorded import recorded
from tests.support.seeds import seeded

RANDOM = seeded()
Z = 4.9  # standard deviations: a false alarm once in a million


def filled(count, bits):
    """Both halves of a pool for Alice's x, and the traffic of filling it."""

    def fill(holds_x):
        def run(session):
            session.oblivious.setup()
            before = session.channel.traffic
            pool = session.oblivious.fill_pool(count, bits, holds_x=holds_x)
            return pool, session.channel.traffic.since(before)

        return run

    return run_pair(fill(True), fill(False))


def used(pools, batches, bits):
    """Opened results and Alice's and Bob's traffic of comparing batches out of pools."""

    def run(index):
        def side(session):
            engine = session.oblivious
            engine.setup()
            engine.use_pool(pools[index])
            before = session.channel.traffic
            compare = (engine.greater_equal_x, engine.greater_equal_y)[index]
            shares = [compare(batch[index], bits) for batch in batches]
            return shares, session.channel.traffic.since(before)

        return side

    (a, there), (b, back) = run_pair(run(0), run(1))
    return [(left ^ right).tolist() for left, right in zip(a, b, strict=True)], there, back


def batch(count, bits):
    return RANDOM.below(1 << bits, count), RANDOM.below(1 << bits, count)


def expected(pair):
    return [x >= y for x, y in zip(*pair, strict=True)]


@pytest.mark.parametrize("bits", [1, 4, 7, 32, 70])
def test_results_and_costs_are_those_declared(bits):
    pairs = [batch(100, bits), batch(64, bits)]
    (left, there), (right, back) = filled(200, bits)
    declared = cost_of(cost.preparation(200, bits))
    assert (there.sent, back.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert max(there.rounds, back.rounds) == declared.rounds
    assert len(left) == len(right) == 256
    results, there, back = used((left, right), pairs, bits)
    assert results == [expected(pair) for pair in pairs]
    assert len(left) == len(right) == 64
    declared = cost_of((*cost.prepared_comparison(100, bits), *cost.prepared_comparison(64, bits)))
    assert (there.sent, back.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert max(there.rounds, back.rounds) == declared.rounds


def test_a_pool_saves_four_fifths_of_the_bytes():
    fresh, prepared = (cost_of(f(10_000, 32)) for f in (cost.comparison, cost.prepared_comparison))
    assert 5 * prepared.alice_bytes < fresh.alice_bytes
    assert prepared.rounds == fresh.rounds


def test_a_batch_that_does_not_fit_is_made_afresh():
    (left, _), (right, _) = filled(64, 8)
    pairs = [batch(65, 8), batch(3, 8), batch(3, 8)]
    results, _, _ = used((left, right), pairs, 8)
    assert results == [expected(pair) for pair in pairs]
    assert len(left) == 0


def test_a_pool_for_other_numbers_is_left_alone():
    (left, _), (right, _) = filled(64, 8)
    pairs = [batch(5, 16)]
    assert used((left, right), pairs, 16)[0] == [expected(pair) for pair in pairs]
    assert len(left) == 64


def test_a_batch_across_spans_and_a_pool_across_spans(monkeypatch):
    monkeypatch.setattr(spans, "SPAN_BYTES", 1 << 13)
    (left, _), (right, _) = filled(1000, 8)
    pairs = [batch(900, 8)]
    assert used((left, right), pairs, 8)[0] == [expected(pair) for pair in pairs]


@pytest.mark.parametrize("sender", Role)
@pytest.mark.parametrize(
    "kind", ["transfer-columns", "transfer-choice-columns", "transfer-mask", "transfer-proof"]
)
def test_no_half_is_kept_of_transfers_that_were_changed(sender, kind):
    """Columns, or what proves them, are nothing but zeros."""
    kept = []

    def fill(session):
        pool = session.oblivious.fill_pool(128, 16, holds_x=session.role is Role.ALICE)
        kept.append((session.role, pool))

    def zeros(frame):
        if frame.kind != kind:
            return frame
        return Frame(frame.sequence, frame.kind, frame.depth, frame.total, bytes(len(frame.data)), frame.lane)

    with contextmanager(dealing)():
        sides = recorded(fill, bends={sender: zeros})
    assert isinstance(sides[sender.other].error, InconsistentTransfers)
    assert sender.other not in dict(kept)


def test_a_stored_pool_works_in_another_session_and_is_empty_where_it_was():
    (left, _), (right, _) = filled(64, 8)
    stored = left.export(), right.export()
    assert len(left) == len(right) == 0
    pairs = [batch(64, 8)]
    assert used(tuple(map(Pool.load, stored)), pairs, 8)[0] == [expected(pair) for pair in pairs]


def test_what_is_taken_is_erased_and_never_given_again():
    (left, _), _ = filled(128, 8)
    arrays = list(left._arrays)
    first, second = left.take(64), left.take(64)
    assert not any(array.any() for array in arrays)
    assert not np.array_equal(first.choices, second.choices)
    with pytest.raises(UsageError, match="left"):
        left.take(1)


@pytest.mark.parametrize("cheat", ["restored", "mixed"])
def test_a_half_that_was_used_before_is_refused(cheat):
    (left, _), (right, _) = filled(128, 8)
    stored = left.export()
    if cheat == "restored":
        used((Pool.load(stored), right), [batch(64, 8)], 8)
        pools = Pool.load(stored), right  # Alice kept a copy; Bob knows what is left
    else:
        pools = Pool.load(stored), filled(128, 8)[1][0]
    with pytest.raises(ProtocolViolation, match="pool"):
        used(pools, [batch(64, 8)], 8)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[:-1],
        lambda data: data + b"\0",
        lambda data: b"x" + data[1:],
        lambda data: data[:20],
        lambda data: b"",
        lambda data: data[:46] + b"\0\0" + data[48:],
    ],
)
def test_bytes_that_are_no_pool_are_refused(spoil):
    (left, _), _ = filled(64, 8)
    with pytest.raises(UsageError, match="not a pool"):
        Pool.load(spoil(left.export()))


def test_shifts_are_uniform_whatever_the_numbers():
    (left, _), (right, _) = filled(20_000, 8)
    for half, column in ((left, 0), (right, 0)):
        choices = half.take(19_968).choices
        ones = int(np.bitwise_count(choices[column]).sum())
        assert abs(ones - choices.shape[1] * 32) < Z * (choices.shape[1] * 16) ** 0.5


def test_the_name_is_new_for_every_pool_and_nothing_secret_is_in_its_repr():
    (left, _), (right, _) = filled(64, 8)
    (other, _), _ = filled(64, 8)
    assert left.name == right.name != other.name
    assert repr(left) == "Pool(64 comparisons of 8 bits)"
    assert "array" not in repr(left.take(1))


def test_a_comparison_out_of_a_pool_sets_nothing_up_until_it_is_used_up() -> None:
    pools, _ = zip(*filled(64, 8), strict=True)
    x, y = batch(5, 8)

    def run(index):
        def side(session):
            engine = session.oblivious
            engine.use_pool(pools[index])
            engine.setup()
            before = session.channel.traffic
            compare = (engine.greater_equal_x, engine.greater_equal_y)[index]
            first = compare((x, y)[index], 8)
            used = session.channel.traffic.since(before)
            return first, used, compare((x, y)[index], 8)

        return side

    (a, there, later_a), (b, back, later_b) = run_pair(run(0), run(1))
    declared = cost_of(cost.prepared_comparison(5, 8))
    assert (there.sent, back.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert (a ^ b).tolist() == (later_a ^ later_b).tolist() == expected((x, y))
