"""Limits of two policies, and the release that keeps to one gate."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.disclosure.release import Release
from smc.errors import DisclosureRefused, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.bounds import Bounds
from smc.secret.ints import SecretInts

COUNTS = st.integers(0, 20)
LIMITS = st.builds(
    Limits,
    COUNTS,
    st.fractions(Fraction(1, 9), 1, max_denominator=9),
    COUNTS,
    st.just(Fraction(0)) | st.fractions(1, 9, max_denominator=9),
    COUNTS,
)


@given(LIMITS, LIMITS, LIMITS)
def test_the_stricter_limits_do_not_depend_on_order_and_satisfy_both(one, other, third):
    both = one.stricter(other)
    assert both == other.stricter(one)
    assert both.stricter(one) == both.stricter(other) == both
    assert one.stricter(other.stricter(third)) == both.stricter(third)
    assert one.stricter(NO_LIMITS) == one.stricter(one) == one


@given(LIMITS, LIMITS, st.integers(1, 50), st.integers(1, 50))
def test_sets_pass_the_stricter_limits_where_they_pass_both(one, other, own, peer):
    def passes(limits):
        try:
            limits.check_sets(own, peer)
        except DisclosureRefused:
            return False
        return True

    assert passes(one.stricter(other)) == (passes(one) and passes(other))
    assert passes(one) == (
        min(own, peer) >= one.minimum_set
        and (not one.maximum_ratio or max(own, peer) <= one.maximum_ratio * min(own, peer))
    )


def test_the_gate_is_passed_once_and_before_the_first_opening():
    def side(session):
        told = []

        def gate(channel):
            told.append((channel.traffic.sent, channel.traffic.received))

        release = Release(NO_LIMITS, gate)
        value = SecretInts.from_shares(session, np.array([3, 4], np.uint64), Bounds(0, 100))
        got = [release.ints(value, frozenset({Role.BOB})), release.bits(value >= 7, frozenset(Role))]
        return told, got, release.passed

    (told, alice, passed), (_, bob, _) = run_pair(side, side)
    assert told == [(0, 0)]
    assert passed
    assert alice[0] is None
    assert bob[0].tolist() == [6, 8]
    assert alice[1].tolist() == bob[1].tolist() == [False, True]


def test_a_gate_that_raises_keeps_everything_closed():
    def side(session):
        def gate(channel):
            raise UsageError("The loss could not be written.")

        release = Release(NO_LIMITS, gate)
        value = SecretInts.from_shares(session, np.array([3], np.uint64), Bounds(0, 100))
        for opening in (release.ints, lambda v, r: release.words(session, v.shares, r)):
            with pytest.raises(UsageError):
                opening(value, frozenset(Role))
        return release.passed, session.channel.traffic.sent

    assert run_pair(side, side) == ((False, 0), (False, 0))
