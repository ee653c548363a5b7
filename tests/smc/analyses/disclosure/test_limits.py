"""Limits of two policies: the stricter of both holds."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.errors import DisclosureRefused

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
        min(own, peer) >= max(one.minimum_set, one.minimum_intersection)
        and (not one.maximum_ratio or max(own, peer) <= one.maximum_ratio * min(own, peer))
    )
