"""Telling each other what columns are declared as."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smc.errors import ProtocolViolation
from smc.pair import run_pair
from smc.protocols.exchange.bounds import Declared, declarations_cost, exchange_declarations

BOUND = st.integers(1 - (1 << 63), (1 << 63) - 1)
DECLARED = st.builds(
    lambda a, b, scale: Declared(min(a, b), max(a, b), scale), BOUND, BOUND, st.integers(0, 18)
)


@given(st.lists(DECLARED, max_size=3), st.lists(DECLARED, max_size=3))
@settings(max_examples=25)
def test_both_learn_the_other_sides(alice, bob):
    def side(own, theirs):
        return lambda s: (exchange_declarations(s, own, theirs), s.channel.traffic)

    (of_bob, traffic), (of_alice, _) = run_pair(side(alice, len(bob)), side(bob, len(alice)))
    assert (of_alice, of_bob) == (alice, bob)
    cost = declarations_cost(len(alice), len(bob))
    assert (traffic.sent, traffic.received, traffic.rounds) == (cost.alice_bytes, cost.bob_bytes, cost.rounds)


@pytest.mark.parametrize("wrong", [Declared(2, 1, 0), Declared(-(1 << 63), 0, 0), Declared(0, 1, 19)])
def test_impossible_declarations_are_refused(wrong):
    with pytest.raises(ProtocolViolation):
        run_pair(lambda s: exchange_declarations(s, [wrong], 0), lambda s: exchange_declarations(s, [], 1))
