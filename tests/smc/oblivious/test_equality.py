"""Testing numbers of the two parties for equality."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smc.errors import DomainError
from smc.oblivious.cost import comparison
from tests.smc.oblivious.engine_runs import both


def equal(x, y, bits):
    """XOR of both sides' shares of x == y."""
    (a, _), (b, _) = both(lambda e: e.equal(x, bits, holds_x=True), lambda e: e.equal(y, bits, holds_x=False))
    return (a ^ b).tolist()


@pytest.mark.parametrize("bits", [1, 3, 4, 5, 61, 64])
def test_equality_at_the_edges(bits):
    top = (1 << bits) - 1
    x = [0, top, 0, top, top // 2, top >> 1]
    y = [0, top, top, 0, top // 2, top]
    assert equal(x, y, bits) == [int(a == b) for a, b in zip(x, y, strict=True)]


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), max_size=70))
@settings(max_examples=15)
def test_equality_of_any_numbers(pairs):
    x, y = [a for a, _ in pairs], [b for _, b in pairs]
    assert equal(x, y, 9) == [int(a == b) for a, b in pairs]


def test_each_differing_bit_is_seen():
    x = [0] * 61
    assert equal(x, [1 << bit for bit in range(61)], 61) == [0] * 61


def test_it_costs_what_a_comparison_costs():
    def side(holds_x):
        def run(engine):
            engine.setup()
            before = engine._channel.traffic
            engine.equal(np.arange(100, dtype=np.uint64), 61, holds_x=holds_x)
            return engine._channel.traffic.since(before)

        return run

    (alice, _), (bob, _) = both(side(True), side(False))
    steps = comparison(100, 61)
    assert (alice.sent, bob.sent) == (sum(s.first for s in steps), sum(s.second for s in steps))


def test_a_number_over_the_bound_is_refused():
    with pytest.raises(DomainError):
        equal([16], [3], 4)
