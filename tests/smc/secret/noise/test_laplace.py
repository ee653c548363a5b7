"""The discrete Laplace distribution and its digits."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp, log

import pytest

from smc.errors import UsageError
from smc.secret.noise.laplace import MAX_DIGITS, DiscreteLaplace, Geometric

RATES = [Fraction(1, 1000), Fraction(1, 120), Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(20)]


@pytest.mark.parametrize("rate", RATES)
def test_thresholds_are_the_digit_probabilities(rate):
    distribution = DiscreteLaplace.of(rate)
    assert len(distribution.thresholds) == distribution.digits
    for digit, threshold in enumerate(distribution.thresholds):
        power = float(rate) * 2**digit
        assert threshold / 2**64 == pytest.approx(exp(-power) / (1 + exp(-power)), rel=1e-9, abs=2**-64)


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(20)])
def test_distance_bounds_the_true_distance(rate):
    """Exact distance of one geometric variable, summed over every value that its digits can form."""
    distribution = DiscreteLaplace.of(rate)
    with localcontext() as context:
        context.prec = 80
        t = Decimal(rate.numerator) / rate.denominator
        drawn = [Decimal(1)]
        for threshold in distribution.thresholds:
            one = Decimal(threshold) / 2**64
            drawn = [p * (1 - one) for p in drawn] + [p * one for p in drawn]
        ideal = [(1 - (-t).exp()) * (-t * k).exp() for k in range(len(drawn))]
        beyond = (-t * len(drawn)).exp()
        distance = (sum(abs(a - b) for a, b in zip(drawn, ideal, strict=True)) + beyond) / 2
    assert 0 < 2 * distance <= distribution.distance < Decimal(2) ** -56


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("miss", [Fraction(1, 20), Fraction(1, 40), Fraction(1, 10**6)])
def test_half_width_is_the_exact_quantile(rate, miss):
    def beyond(width):
        return 2 * exp(-float(rate) * (width + 1)) / (1 + exp(-float(rate)))

    width = DiscreteLaplace.of(rate).half_width(miss)
    assert beyond(width) <= float(miss)
    assert width == 0 or beyond(width - 1) > float(miss)


def test_half_width_against_a_summed_tail():
    distribution = DiscreteLaplace.of(Fraction(1))
    ratio = exp(-1)
    mass = [(1 - ratio) / (1 + ratio) * ratio ** abs(k) for k in range(60)]
    width = next(w for w in range(60) if mass[0] + 2 * sum(mass[1 : w + 1]) >= 0.95)
    assert distribution.half_width(Fraction(1, 20)) == width == 3


def test_digits_grow_with_the_scale():
    assert [DiscreteLaplace.of(rate).digits for rate in RATES] == [16, 13, 8, 6, 5, 2]
    assert DiscreteLaplace.of(Fraction(100)).digits == 1
    assert DiscreteLaplace.of(Fraction(1)).bound == 63


def test_the_cut_mass_is_small_and_not_needlessly_so():
    for rate in RATES:
        distribution = DiscreteLaplace.of(rate)
        assert float(rate) * 2**distribution.digits >= 64 * log(2)
        assert distribution.digits == 1 or float(rate) * 2 ** (distribution.digits - 1) < 64 * log(2)


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(-1), Fraction(1, 10**30)])
def test_impossible_rates_are_refused(rate):
    with pytest.raises(UsageError):
        DiscreteLaplace.of(rate)


def test_the_smallest_rate_leaves_room_for_data():
    assert DiscreteLaplace.of(Fraction(1, 10**16)).digits <= MAX_DIGITS < 63


def test_distance_counts_the_cut_and_the_rounding():
    distribution = DiscreteLaplace.of(Fraction(7, 10))  # just above the cut: 0.7 * 64 > 64 ln 2
    assert distribution.digits == 6
    assert float(distribution.distance) == pytest.approx(2 * exp(-0.7 * 64) + 6 / 2**64, rel=1e-9, abs=0)


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(1), Fraction(20)])
def test_a_geometric_distribution_is_half_a_laplace_distribution(rate):
    whole, half = DiscreteLaplace.of(rate), Geometric.of(rate)
    assert half.thresholds == whole.thresholds
    assert 2 * float(half.distance) == pytest.approx(float(whole.distance), rel=1e-12, abs=0)
    assert half.bound == whole.bound
    ratio = exp(-float(rate))
    assert half.deviation == pytest.approx(ratio**0.5 / (1 - ratio))
    for miss in (Fraction(1, 20), Fraction(1, 10**6)):
        width = half.half_width(miss)
        assert ratio ** (width + 1) <= float(miss) * (1 + 1e-12)
        assert width == 0 or ratio**width > float(miss)
