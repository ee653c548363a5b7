"""The discrete Gaussian distribution and its sums. Statistical tests alarm falsely once in a million."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest

from smc.errors import UsageError
from smc.pair import run_pair
from smc.protocols.transfer_costs import SETUP_COST
from smc.secret.noise import noise
from smc.secret.noise.gaussian import LOW_VARIANCE, MAX_NARROW, DiscreteGaussian
from smc.secret.noise.laplace import DiscreteLaplace, Geometric
from smc.secret.noise.records import cost_draw

VARIANCES = [Fraction(1, 10), Fraction(1, 2), Fraction(7, 3), Fraction(56), Fraction(57), Fraction(400)]


def drawn(distributions):
    a, b = run_pair(lambda s: noise.draw(s, distributions), lambda s: noise.draw(s, distributions))
    return (a + b).view(np.int64)


def exact_distribution(distribution):
    """The probabilities with which the words give each value, as Decimals, by adding up the terms."""
    mass = {0: Decimal(1)}
    for place, layer in enumerate(distribution.layers):
        reach = len(layer) // 2
        steps = [1 << 64, *layer, 0]
        chances = [Decimal(a - b) / (1 << 64) for a, b in pairwise(steps)]
        found: dict[int, Decimal] = {}
        for value, p in mass.items():
            for index, q in enumerate(chances):
                key = value + ((index - reach) << place)
                found[key] = found.get(key, Decimal(0)) + p * q
        mass = found
    return mass


def ideal_distribution(variance, reach):
    v = 2 * Decimal(variance.numerator) / variance.denominator
    mass = {k: (-Decimal(k * k) / v).exp() for k in range(-reach, reach + 1)}
    total = sum(mass.values())
    return {k: p / total for k, p in mass.items()}


@pytest.mark.parametrize("variance", VARIANCES)
def test_distance_bounds_the_true_distance(variance):
    distribution = DiscreteGaussian.of(variance)
    with localcontext() as context:
        context.prec = 60
        real = exact_distribution(distribution)
        assert sum(real.values()) == pytest.approx(1)
        ideal = ideal_distribution(variance, 2 * distribution.bound)  # what lies beyond is far below 2**-200
        distance = sum(abs(real.get(k, Decimal(0)) - p) for k, p in ideal.items()) / 2
    assert 0 < distance <= distribution.distance < Decimal(2) ** -57


def test_a_bound_that_leaves_out_the_sums_would_be_broken_by_narrower_terms(monkeypatch):
    """The sum of two terms that are too narrow is farther away than 2**-57: the tests above could fail."""
    monkeypatch.setattr("smc.secret.noise.gaussian.MAX_NARROW", 20)
    distribution = DiscreteGaussian.of(Fraction(21))
    with localcontext() as context:
        context.prec = 60
        real = exact_distribution(distribution)
        ideal = ideal_distribution(Fraction(21), 2 * distribution.bound)
        distance = sum(abs(real.get(k, Decimal(0)) - p) for k, p in ideal.items()) / 2
    assert Decimal(2) ** -57 < distance <= distribution.distance


def test_the_terms_have_the_variance():
    for variance in (Fraction(57), Fraction(10**6), Fraction(10**14, 3)):
        distribution = DiscreteGaussian.of(variance)
        depth = len(distribution.layers) - 1
        top = (variance - LOW_VARIANCE * Fraction(4**depth - 1, 3)) / 4**depth
        assert 10 < top <= MAX_NARROW
        assert distribution.bound < 40 * variance**0.5
        assert distribution.deviation == pytest.approx(float(variance) ** 0.5)


@pytest.mark.parametrize("variance", [Fraction(1, 2), Fraction(7, 3), Fraction(80)])
def test_draws_follow_the_distribution(variance):
    distribution = DiscreteGaussian.of(variance)
    count = 4000 if variance < 10 else 1200
    values = drawn([distribution] * count)
    deviation = float(variance) ** 0.5
    edges = [round(deviation * z) for z in (-2, -1, -0.5, 0, 0.5, 1, 2)]
    edges = sorted(set(edges))
    v = float(variance)
    weights = {k: np.exp(-k * k / (2 * v)) for k in range(-distribution.bound, distribution.bound + 1)}
    total = sum(weights.values())
    bins = np.searchsorted(edges, values, side="right")
    expected = np.zeros(len(edges) + 1)
    for k, weight in weights.items():
        expected[np.searchsorted(edges, k, side="right")] += count * weight / total
    observed = np.bincount(bins, minlength=len(expected))
    statistic = ((observed - expected) ** 2 / expected).sum()
    # the 1 - 1e-6 quantile of chi-square, bounded by Wilson and Hilferty's approximation and a margin
    k = len(expected) - 1
    limit = k * (1 - 2 / (9 * k) + NormalDist().inv_cdf(1 - 1e-6) * (2 / (9 * k)) ** 0.5) ** 3 * 1.05
    assert statistic < limit
    shifted = np.bincount(np.searchsorted(edges, values + max(1, int(deviation / 2)), side="right"))
    assert ((shifted - expected) ** 2 / expected).sum() > limit


@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("miss", [Fraction(1, 20), Fraction(1, 10**6)])
def test_half_width_covers_as_stated(variance, miss):
    distribution = DiscreteGaussian.of(variance)
    v = float(variance)
    weights = np.exp(-(np.arange(-2 * distribution.bound, 2 * distribution.bound + 1) ** 2) / (2 * v))
    width = distribution.half_width(miss)
    inside = np.exp(-(np.arange(-width, width + 1) ** 2) / (2 * v)).sum()
    assert 1 - inside / weights.sum() <= float(miss)
    assert width <= 5 * v**0.5 + 1


def test_distributions_of_all_kinds_stand_in_their_places():
    distributions = [
        DiscreteLaplace.of(Fraction(30)),
        DiscreteGaussian.of(Fraction(10**12)),
        Geometric.of(Fraction(1, 10**6)),
        DiscreteGaussian.of(Fraction(1, 100)),
    ] * 30  # each line fails by chance less than once in a million runs
    values = drawn(distributions).reshape(30, 4)
    assert (np.abs(values[:, 0]) <= 3).all()
    assert (np.abs(values[:, 1]) > 1000).sum() >= 24
    assert (values[:, 1] < 0).any()
    assert (values[:, 2] >= 0).all()
    assert (values[:, 2] > 1000).sum() >= 24
    assert (values[:, 3] == 0).all()


def test_cost_is_as_declared():
    distributions = [
        DiscreteGaussian.of(Fraction(90)),
        DiscreteLaplace.of(Fraction(1)),
        Geometric.of(Fraction(2)),
    ] * 3

    def side(session):
        noise.draw(session, distributions)
        return session.channel.traffic

    alice, bob = run_pair(side, side)
    declared = SETUP_COST + cost_draw(distributions)
    assert (alice.sent, bob.sent) == (declared.alice_bytes, declared.bob_bytes)
    assert alice.rounds == bob.rounds == declared.rounds


@pytest.mark.parametrize("variance", [Fraction(0), Fraction(-1), Fraction(10**40)])
def test_impossible_variances_are_refused(variance):
    with pytest.raises(UsageError):
        DiscreteGaussian.of(variance)
