"""The oblivious engine between two parties."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from queue import Queue
from threading import Condition

import numpy as np
import pytest

from smc.channel.channel import Channel
from smc.channel.memory import MemoryTransport
from smc.errors import UsageError
from smc.forms import Role
from smc.oblivious import cost, silent_circuits, spans
from smc.oblivious.engine import ObliviousEngine
from smc.pair import run_pair
from smc.protocols.comparison.oblivious_record import OBLIVIOUS_TRANSFER as SPEC
from smc.protocols.spec import Parameters
from smc.protocols.transfer_costs import SETUP_COST, cost_below, cost_of, cost_settled
from smc.values import Nothing, Plain
from tests.smc.oblivious.engine_runs import both, compare
from tests.support.seeds import seeded

RANDOM = seeded()


def edge_pairs(bits):
    top = (1 << bits) - 1
    edges = {0, 1, top >> 1, (top + 1) >> 1, max(top - 1, 0), top}
    return [(x, y) for x in edges for y in edges]


@pytest.mark.parametrize("bits", [1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33, 63, 64, 65, 100, 127, 128, 256])
def test_comparison_on_edge_and_random_values(bits):
    pairs = edge_pairs(bits)
    pairs += [(v, v) for v in RANDOM.below(1 << bits, 10)]
    pairs += list(zip(RANDOM.below(1 << bits, 100), RANDOM.below(1 << bits, 100), strict=True))
    x, y = zip(*pairs, strict=True)
    result, _, _ = compare(x, y, bits)
    assert result == [a >= b for a, b in pairs]


def test_comparison_of_all_pairs_of_four_bits():
    pairs = [(x, y) for x in range(16) for y in range(16)]
    x, y = zip(*pairs, strict=True)
    assert compare(x, y, 4)[0] == [a >= b for a, b in pairs]


@pytest.mark.parametrize("count", [1, 7, 1000, 100_000])
def test_cost_is_as_declared_and_results_right_at_any_batch(count):
    bits = 16
    x, y = RANDOM.below(1 << bits, count), RANDOM.below(1 << bits, count)
    result, there, back = compare(x, y, bits)
    assert result == [a >= b for a, b in zip(x, y, strict=True)]
    declared = SETUP_COST + cost_of(cost.comparison(count, bits))
    assert (there.sent, back.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert there.rounds == back.rounds == declared.rounds


def test_rounds_are_logarithmic():
    rounds = [cost_of(cost.comparison(100, bits)).rounds for bits in (1, 2, 4, 32, 64, 128)]
    assert rounds == [2, 2, 2, 5, 6, 7]


def test_words_are_accepted_as_values():
    x = RANDOM.words(50)
    (a, _), (b, _) = both(lambda e: e.greater_equal_x(x, 64), lambda e: e.greater_equal_y(x[::-1].copy(), 64))
    assert ((a ^ b) == (x >= x[::-1])).all()


@pytest.mark.parametrize("swapped", [False, True])
def test_spec_runs_and_costs_as_declared_also_mirrored(swapped):
    parameters = Parameters(count=40, bits=20, alice_key_bits=2048, bob_key_bits=2048)
    x, y = RANDOM.below(1 << 20, 40), RANDOM.below(1 << 20, 40)

    def x_side(session):
        session.oblivious.setup()
        before = session.channel.traffic
        share = SPEC.alice(session, parameters, Plain(x), Nothing(40))
        return share, session.channel.traffic.since(before)

    def y_side(session):
        session.oblivious.setup()
        before = session.channel.traffic
        share = SPEC.bob(session, parameters, Nothing(40), Plain(y))
        return share, session.channel.traffic.since(before)

    runs = run_pair(y_side, x_side) if swapped else run_pair(x_side, y_side)
    declared = SPEC.cost(parameters).mirror if swapped else SPEC.cost(parameters)
    assert runs[0][0].modulus == runs[1][0].modulus == 2
    result = [a ^ b for a, b in zip(runs[0][0].values, runs[1][0].values, strict=True)]
    assert result == [a >= b for a, b in zip(x, y, strict=True)]
    assert (runs[0][1].sent, runs[1][1].sent) == (declared.alice_bytes, declared.bob_bytes)
    assert runs[0][1].rounds == declared.rounds


def test_spec_refuses_another_batch_size():
    parameters = Parameters(count=3, bits=4, alice_key_bits=2048, bob_key_bits=2048)
    with pytest.raises(UsageError):
        run_pair(
            lambda s: SPEC.alice(s, parameters, Plain([1]), Nothing(3)),
            lambda s: SPEC.bob(s, parameters, Nothing(3), Plain([1, 2, 3])),
        )


@pytest.mark.parametrize("count", [1, 64, 65, 300_000])
def test_and_of_shared_bits(count):
    left, right = RANDOM.bits(2 * count).reshape(2, -1), RANDOM.bits(2 * count).reshape(2, -1)
    (a, there), (b, back) = both(
        lambda e: e.and_bits(left[0], right[0]), lambda e: e.and_bits(left[1], right[1])
    )
    assert ((a ^ b) == ((left[0] ^ left[1]) & (right[0] ^ right[1]))).all()
    declared = SETUP_COST + cost_of(cost.conjunction(count))
    assert (there.sent, back.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert there.rounds == declared.rounds


@pytest.mark.parametrize("count", [1, 65, 300_000])
@pytest.mark.parametrize("sender", [None, Role.BOB])
def test_words_from_shared_bits(count, sender):
    bits = RANDOM.bits(2 * count).reshape(2, -1)
    says = {role: None if sender is None else role is sender for role in Role}
    (a, there), (b, back) = both(
        lambda e: e.bits_to_arithmetic(bits[0], says[Role.ALICE]),
        lambda e: e.bits_to_arithmetic(bits[1], says[Role.BOB]),
    )
    assert ((a + b) == (bits[0] ^ bits[1])).all()
    declared = cost_of(cost.bits_to_arithmetic(count))
    declared = SETUP_COST + (declared if sender is None else declared.mirror)
    assert (there.sent, back.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert there.rounds == declared.rounds


def test_correlated_transfers():
    deltas, choices = RANDOM.words(1000), RANDOM.bits(1000)
    (a, _), (b, _) = both(lambda e: e.correlate(deltas), lambda e: e.receive(choices))
    assert ((a + b) == deltas * choices).all()


@pytest.mark.parametrize("silent", [False, True])
def test_words_below_public_bounds(monkeypatch, silent):
    monkeypatch.setattr(silent_circuits, "SPAN_WORDS", 40_000)
    count = 70_000  # more than a span
    own, other = RANDOM.words(count), RANDOM.words(count)
    bounds = RANDOM.words(count)
    shared = own ^ other
    bounds[:6] = [0, 1, (1 << 64) - 1, shared[3], shared[4] + np.uint64(1), shared[5] - np.uint64(1)]
    (a, there), (b, back) = both(
        lambda e: e.below(own, bounds, silent=silent), lambda e: e.below(other, bounds, silent=silent)
    )
    assert ((a ^ b) == (shared < bounds)).all()
    declared = cost_settled(SETUP_COST + cost_below(count, silent=silent))
    assert (there.sent, back.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert there.rounds == declared.rounds


def test_an_empty_batch_sends_nothing():
    none: list[int] = []
    (a, there), _ = both(lambda e: e.greater_equal_x(none, 8), lambda e: e.greater_equal_y(none, 8))
    assert len(a) == 0
    assert there.messages == 0
    empty = np.empty(0, dtype=np.uint8)
    (words, there), _ = both(lambda e: e.bits_to_arithmetic(empty), lambda e: e.bits_to_arithmetic(empty))
    assert words.dtype == np.uint64
    assert there.messages == 0
    assert cost.comparison(0, 8) == cost.bits_to_arithmetic(0) == cost.below(0) == ()


def test_setup_runs_once():
    def twice(engine):
        engine.setup()
        engine.setup()

    (_, there), (_, back) = both(twice, twice)
    assert (there.sent, back.sent) == (SETUP_COST.alice_bytes, SETUP_COST.bob_bytes)
    assert there.rounds == SETUP_COST.rounds == 2


def test_many_steps_in_one_session():
    def steps(side):
        def run(engine):
            compare_side = (engine.greater_equal_x, engine.greater_equal_y)[side]
            shares = [compare_side([1, 2, 3], 2), compare_side([3, 2, 1], 2)]
            both_true = engine.and_bits(shares[0], shares[1])
            return engine.bits_to_arithmetic(both_true)

        return run

    (a, _), (b, _) = both(steps(0), steps(1))
    assert (a + b).tolist() == [1, 1, 1]


class Window:
    """What is under way in one direction; who sends waits, and not for ever, while it is full."""

    def __init__(self, most):
        self.frames = Queue()
        self._most = most
        self._held = 0
        self._changed = Condition()

    def put(self, frame):
        with self._changed:
            assert self._changed.wait_for(lambda: self._held < self._most, 20), "both sides wait"
            self._held += len(frame.data)
        self.frames.put(frame)

    def get(self, timeout):
        frame = self.frames.get(timeout=timeout)
        with self._changed:
            self._held -= len(frame.data)
            self._changed.notify_all()
        return frame


def test_a_transport_that_holds_a_span_each_way_suffices():
    count = 80_000
    assert len(list(spans.spans(count, spans.Digits.of(64).word_bytes))) > 1
    there, back = Window(spans.SPAN_BYTES), Window(spans.SPAN_BYTES)
    x, y = RANDOM.words(count), RANDOM.words(count)

    def side(role, transport, compare_as, values):
        engine = ObliviousEngine(role, Channel(transport), seeded())
        return compare_as(engine, values, 64)

    with ThreadPoolExecutor(2) as pool:
        runs = [
            pool.submit(side, *arguments)
            for arguments in (
                (Role.ALICE, MemoryTransport(there, back, 20), ObliviousEngine.greater_equal_x, x),
                (Role.BOB, MemoryTransport(back, there, 20), ObliviousEngine.greater_equal_y, y),
            )
        ]
        shares = [run.result() for run in runs]
    assert ((shares[0] ^ shares[1]) == (x >= y)).all()


@pytest.mark.parametrize("bits", [1, 4, 7, 12, 32, 64])
def test_no_flight_is_larger_than_a_span(bits):
    for step in cost.comparison(3_000_000, bits):
        assert max(step.first, step.second) <= spans.SPAN_BYTES


def test_both_holders_send_the_same_within_a_digit():
    for bits in (8, 32, 64):
        steps = cost.comparison(10_000, bits)
        assert sum(step.first for step in steps) == sum(step.second for step in steps)


@pytest.mark.parametrize("kind", [np.uint8, np.uint32, np.uint64])
def test_a_batch_across_spans_of_any_unsigned_type(kind, monkeypatch):
    monkeypatch.setattr(spans, "SPAN_BYTES", 1 << 13)
    x = RANDOM.words(1000).astype(kind) & kind(127)
    y = RANDOM.words(1000).astype(kind) & kind(127)
    result, there, _ = compare(x, y, 7)
    assert result == (x >= y).tolist()
    assert there.rounds == (SETUP_COST + cost_of(cost.comparison(1000, 7))).rounds > 10
