"""An engine with lanes: the results of one without, on the wire exactly what was stated, and its failures."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from smc.channel.channel import Clock
from smc.channel.memory import memory_pair
from smc.errors import DomainError, DuettoError, PeerAborted, ProtocolViolation, UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious import cost, silent_circuits
from smc.oblivious.lane_engine import METHODS, LaneEngine
from smc.oblivious.lanes import LaneAnswer, LaneCall, LaneLost
from smc.pair import run_pair
from smc.protocols.flights import Flight
from smc.protocols.spec import Cost
from smc.protocols.transfer_costs import SETUP_COST, SILENT_TRANSFERS, cost_of, cost_settled

RANDOM = Randomness.from_seed(b"tests", "lanes of an engine")
COUNT = 100_001
MANY = 300_000
X, Y = RANDOM.words(COUNT), RANDOM.words(COUNT)
A, B, C, D = ((RANDOM.words(MANY) & np.uint64(1)).astype(np.uint8) for _ in range(4))
CHOICES = A[:COUNT], B[:COUNT]


def own(session, *pair):
    return pair[session.role is Role.BOB]


def compare(session, silent=False):
    engine = session.oblivious
    method = engine.greater_equal_x if session.role is Role.ALICE else engine.greater_equal_y
    return method(own(session, X, Y), 64, silent=silent)


def equal(session):
    values = X, np.where(A[:COUNT] == 1, X, Y)
    return session.oblivious.equal(own(session, *values), 64, holds_x=session.role is Role.ALICE)


def below(session, silent=False):
    bounds = np.full(COUNT, 1 << 63, dtype=np.uint64)
    return session.oblivious.below(own(session, X, Y), bounds, silent=silent)


def conjunction(session):
    return session.oblivious.and_bits(own(session, A, B), own(session, C, D))


def converted(session):
    return session.oblivious.bits_to_arithmetic(own(session, *CHOICES))


def correlated(session):
    return (
        session.oblivious.correlate(X) if session.role is Role.ALICE else session.oblivious.receive(B[:COUNT])
    )


def exchanged(session):
    return np.stack(session.oblivious.exchange(own(session, X, Y), own(session, *CHOICES)))


def xored(alice, bob):
    return alice ^ bob


def added(alice, bob):
    return alice + bob


def crossed(alice, bob):
    return alice + bob[::-1]


METHODS_TRIED: dict[str, tuple[Callable[..., Any], Callable[..., Any], Any, Callable[[int], Any]]] = {
    "comparison": (compare, xored, X >= Y, lambda lanes: cost.comparison(COUNT, 64, lanes)),
    "silent comparison": (
        partial(compare, silent=True),
        xored,
        X >= Y,
        lambda lanes: silent_circuits.comparison(COUNT, 64, lanes),
    ),
    "equality": (equal, xored, A[:COUNT] == 1, lambda lanes: cost.comparison(COUNT, 64, lanes)),
    "below": (below, xored, np.uint64(1 << 63) > (X ^ Y), lambda lanes: cost.below(COUNT, lanes)),
    "silent below": (
        partial(below, silent=True),
        xored,
        np.uint64(1 << 63) > (X ^ Y),
        lambda lanes: silent_circuits.below(COUNT, lanes),
    ),
    "conjunction": (conjunction, xored, (A ^ B) & (C ^ D), lambda lanes: cost.conjunction(MANY, lanes)),
    "conversion": (
        converted,
        added,
        CHOICES[0] ^ CHOICES[1],
        lambda lanes: cost.bits_to_arithmetic(COUNT, lanes),
    ),
    "correlation": (correlated, added, X * CHOICES[1], lambda lanes: cost.bits_to_arithmetic(COUNT, lanes)),
    "exchange": (
        exchanged,
        crossed,
        np.stack([X * CHOICES[1], Y * CHOICES[0]]),
        lambda lanes: cost.exchange(COUNT, lanes),
    ),
}


@pytest.mark.parametrize("lanes", [2, 3])
@pytest.mark.parametrize("name", METHODS_TRIED)
def test_results_are_right_and_traffic_is_what_was_stated(name, lanes):
    step, opened, truth, stated = METHODS_TRIED[name]

    def side(session):
        result = step(session)
        return result, session.channel.traffic

    (alice, there), (bob, back) = run_pair(side, lanes=lanes)
    assert np.array_equal(opened(alice, bob), truth)
    steps = stated(lanes)
    assert steps[0] == cost.OPENING
    # Alice is the first party in all of them; the lanes set up at once, so the session's own does not.
    total = cost_settled(cost_of(steps), lanes)
    assert (there.sent, back.sent) == (total.alice_bytes, total.bob_bytes)
    assert there.rounds == back.rounds == total.rounds


def test_small_batches_take_no_lanes_and_lanes_are_opened_once():
    def side(session):
        engine = session.oblivious
        before = engine.and_bits(A[:1000], C[:1000])
        small = session.channel.traffic
        for _ in range(2):
            conjunction(session)
        return before, small, session.channel.traffic

    (_, small, all_of_it), _ = run_pair(side, lanes=2)
    steps = cost.conjunction(1000, 2)
    first = cost_settled(SETUP_COST + cost_of(steps), 2)
    both = cost_settled(SETUP_COST + cost_of([*steps, *cost.conjunction(MANY, 2) * 2]), 2)
    assert small.sent == first.alice_bytes
    assert all_of_it.sent == both.alice_bytes
    assert all_of_it.rounds == both.rounds


@pytest.mark.parametrize("lanes", [1, 2, 16])
def test_parts_are_whole_words_and_make_up_the_batch(lanes):
    for count in (1, 63, 64, 65, 1000, 1_000_003):
        parts = cost.lane_parts(count, lanes)
        assert len(parts) == lanes
        assert [at for part in parts for at in (part.start, part.stop)][1:-1] == [
            at for part in parts[1:] for at in (part.start, part.start)
        ]
        assert parts[0].start == 0
        assert parts[-1].stop == count
        assert all(part.start % 64 == 0 or part.start == count for part in parts)
        sizes = [part.stop - part.start for part in parts]
        assert max(sizes) - min(sizes) <= 64 + 63


def test_a_peer_with_another_number_of_lanes_is_refused_before_anything_is_sent_in_them():
    def side(session):
        session.lanes = 2 if session.role is Role.ALICE else 3
        conjunction(session)

    with pytest.raises(ProtocolViolation, match="lanes"):
        run_pair(side)


def test_a_peer_without_lanes_is_refused():
    def side(session):
        session.lanes = 2 if session.role is Role.ALICE else 1
        conjunction(session)

    with pytest.raises(ProtocolViolation):
        run_pair(side)


class Broken(LaneEngine):
    """A lane that fails in its second call, after the set-up."""

    def run(self, call: LaneCall, clock: Clock) -> LaneAnswer:
        if call.method != "setup_silent":
            raise LaneLost("the process is gone")
        return super().run(call, clock)


def test_a_lane_that_fails_ends_the_engine_and_the_session():
    def side(session):
        if session.role is Role.ALICE:
            session.open_lane = lambda role, number, *given: (Broken if number == 2 else LaneEngine)(
                role, number, *given
            )
        try:
            return conjunction(session)
        except DuettoError as error:
            with pytest.raises(UsageError, match="cannot be used again"):
                conjunction(session)
            session.channel.abort(error.stable_code)
            raise

    with pytest.raises((LaneLost, PeerAborted)):
        run_pair(side, lanes=2, timeout=20)


def test_values_out_of_their_bound_are_refused_in_lanes_too():
    def side(session):
        engine = session.oblivious
        values = np.full(COUNT, 1 << 32, dtype=np.uint64)
        return engine.equal(values, 32, holds_x=session.role is Role.ALICE)

    with pytest.raises((DomainError, PeerAborted)):
        run_pair(side, lanes=2, timeout=20)


@pytest.mark.parametrize(
    "values", [[-1] * COUNT, np.full(COUNT, 1.5), np.full(COUNT, -1), ["x"] * COUNT, [1 << 70] * COUNT]
)
def test_what_is_no_number_of_64_bits_is_refused_as_without_lanes(values):
    def side(session):
        return session.oblivious.equal(values, 64, holds_x=session.role is Role.ALICE)

    refused = []
    for lanes in (1, 2):
        with pytest.raises(Exception) as caught:
            run_pair(side, lanes=lanes, timeout=20)
        refused.append(type(caught.value))
    assert refused[0] is refused[1]


def test_a_lane_does_what_is_listed_and_nothing_else():
    lane = LaneEngine(Role.ALICE, 1, memory_pair(1)[0])
    for method in ("use_pool", "close", "__init__", "_compare"):
        assert method not in METHODS
        with pytest.raises(UsageError):
            lane.run(LaneCall(method), Clock())


def test_the_flights_of_opening_count_once():
    opened = Cost((Flight.LANES, Flight.BOTH, Flight.LANES), 1, 1)
    assert opened.rounds == 5
    two, four = cost_settled(opened, 2), cost_settled(opened, 4)
    each = SETUP_COST.alice_bytes + SILENT_TRANSFERS.cost.alice_bytes
    assert four.alice_bytes - two.alice_bytes == 2 * each
