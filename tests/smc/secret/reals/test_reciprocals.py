"""Reciprocals of counts: off by no more than is stated, at the stated cost."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from smc.errors import DomainError
from smc.pair import run_pair
from smc.secret.ints import SecretInts
from smc.secret.reals.reciprocal_steps import ReciprocalSteps
from smc.secret.reals.reciprocals import cheapest, cost, reciprocals
from smc.secret.sharing.bounds import Bounds
from tests.smc.secret.reals.sharing import cost_of_run, cost_of_trace, opened, reals
from tests.smc.secret.secret_runs import Secret, check_cost, uniform
from tests.smc.secret.secret_runs import opened as opened_ints

TOP = (1 << 20) - 1
UPPERS = [1, 2, 3, 4, 7, 15, 16, 200, 4095, 200_000, TOP, (1 << 26) - 1]


def counts_up_to(upper, many):
    """All small ones, those around powers of two and around ends of pieces, and any."""
    found = {1, upper, *range(1, min(upper, 70))}
    for bit in range(upper.bit_length() + 1):
        for third in (3, 4, 5):
            found |= {((third << bit) // 3) + more for more in (-1, 0, 1)}
    drawn = uniform(many, 1, upper) >> uniform(many, 0, upper.bit_length() - 1)
    return np.array(sorted({n for n in found if 1 <= n <= upper} | set(np.maximum(drawn, 1).tolist())))


def check(counts, steps):
    def program(a):
        shares = reciprocals(a.session, a.shares, steps)
        return SecretInts(a.session, shares, steps.result_bounds)

    held = opened_ints(program, Secret(counts, Bounds(1, steps.upper)))
    absolute, part = steps.error
    for count, found in zip(counts.tolist(), held.tolist(), strict=True):
        exact = Fraction(1, count)
        assert abs(Fraction(found, 1 << steps.bits) - exact) <= absolute + part * exact, count


@pytest.mark.parametrize("upper", UPPERS)
def test_none_is_further_off_than_is_stated(upper):
    for bits in (8, 24, 44):
        for steps in ReciprocalSteps.of(upper, bits)[:: 2 if upper > 255 else 1]:
            check(counts_up_to(upper, 60), steps)


def test_every_count_of_12_bits():
    check(np.arange(1, 1 << 12), cheapest(4095, (1 << 12) - 1, 30))


def test_a_start_is_no_further_off_than_stated_and_not_much_nearer():
    for upper in (200, TOP):
        steps = cheapest(10_000, upper, 30)
        first, last = 1 << (steps.width - 2), steps.largest
        z = np.unique(np.linspace(first, last - 1, 400_000).astype(np.int64))
        slack = 2 << steps.table_shift
        worst = 0.0
        for place, line in enumerate(steps.lines):
            end = steps.lines[place + 1].start + slack if place + 1 < len(steps.lines) else last
            part = z[(z >= line.start) & (z < end)]
            for value in part[::50].tolist():
                start = line.constant - line.slope * value
                worst = max(worst, abs(float(1 - Fraction(value * start, 1 << steps.point))))
        assert worst <= float(steps.start_error) <= worst * 1.2


@pytest.mark.parametrize("upper", [3, 200, TOP])
@pytest.mark.parametrize("count", [1, 7, 60])
def test_it_costs_what_is_declared(upper, count):
    counts = Secret(uniform(count, 1, upper), Bounds(1, upper))
    for steps in ReciprocalSteps.of(upper, 30):
        check_cost(cost(count, steps), lambda a, s=steps: reciprocals(a.session, a.shares, s), counts)


def test_the_way_is_the_cheapest():
    ways = ReciprocalSteps.of(TOP, 44)
    weights = [cost(10_000, way).alice_bytes + cost(10_000, way).bob_bytes for way in ways]
    chosen = cheapest(10_000, TOP, 44)
    assert weights[ways.index(chosen)] <= min(weights) + 64 * 1024 * 10
    # Few of them take fewer rounds instead.
    assert cost(1, cheapest(1, TOP, 44)).rounds < cost(1, chosen).rounds


def test_ten_thousand_counts_below_a_million_take_30_megabytes_and_40_rounds():
    counts = np.ones(10_000)
    found = cost_of_trace(lambda n: n.reciprocal(44), lambda s: reals(s, counts, 1, TOP, 0))
    assert found[0] + found[1] <= 30_000_000
    assert found[2] <= 40


def test_a_run_over_shapes_takes_the_bytes_and_rounds_of_a_run():
    counts = uniform(50, 1, 5000).astype(float)
    secret = lambda s: reals(s, counts, 1, 5000, 0)  # noqa: E731
    assert cost_of_run(lambda n: n.reciprocal(40), secret) == cost_of_trace(
        lambda n: n.reciprocal(40), secret
    )


def test_from_reals():
    counts = uniform(40, 1, 5000).astype(float)
    found = opened(lambda s: reals(s, counts, 1, 5000, 0).reciprocal(40).reveal())
    assert np.abs(found * counts - 1).max() < 1e-6


@pytest.mark.parametrize(
    ("lower", "upper", "bits", "message"),
    [(0, 9, 20, "zero or negative"), (1, 1 << 27, 20, "does not fit"), (1, 9, 60, "does not fit")],
)
def test_what_has_no_reciprocal_or_no_room_is_refused(lower, upper, bits, message):
    with pytest.raises(DomainError, match=message):
        run_pair(lambda s: reals(s, [3.0], lower, upper, 0).reciprocal(bits))
