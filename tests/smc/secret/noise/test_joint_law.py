"""The tails of sums of noises, against sums over all their values."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from smc.secret.noise.gaussian import DiscreteGaussian
from smc.secret.noise.joint_law import JointLaw
from smc.secret.noise.laplace import DiscreteLaplace

SUMS = {
    "one": [(1, Fraction(1, 3))],
    "far apart": [(1, Fraction(1, 20)), (0.25, Fraction(1, 2))],
    "alike": [(1, Fraction(1, 3)), (1, Fraction(1, 3)), (-1, Fraction(1, 3))],
    "little noise": [(1, Fraction(4)), (1, Fraction(4))],
    "three": [(1, Fraction(2)), (-0.5, Fraction(1, 2)), (0.25, Fraction(1))],
}


def values_and_chances(noise, reach):
    values = np.arange(-reach, reach + 1)
    square = isinstance(noise, DiscreteGaussian)
    logs = -(values**2) / (2 * float(noise.variance)) if square else -float(noise.rate) * np.abs(values)
    return values, np.exp(logs) / np.exp(logs).sum()


def exact_tail(terms, at):
    """P(|sum| > at), by convolution over the multiples of a quarter."""
    found = np.ones(1)
    for factor, noise in terms:
        steps = abs(round(4 * factor))
        values, chances = values_and_chances(noise, int(30 * noise.deviation) + 10)
        spaced = np.zeros(steps * (len(values) - 1) + 1)
        spaced[::steps] = chances
        found = np.convolve(found, spaced)
    places = np.abs(np.arange(len(found)) - len(found) // 2) / 4
    return found[places > at].sum()


def terms(name, kind):
    made = DiscreteLaplace.of if kind == "laplace" else lambda rate: DiscreteGaussian.of(1 / rate**2)
    return [(factor, made(rate)) for factor, rate in SUMS[name]]


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("miss", [Fraction(1, 5), Fraction(1, 20), Fraction(1, 200)])
def test_nothing_is_beyond_the_width_more_often_than_stated(name, kind, miss):
    every = terms(name, kind)
    width = JointLaw.of(every).width(miss)
    assert exact_tail(every, width) <= miss
    if name == "little noise":  # of a unit or less: what counts is how much that is beside the figures
        return
    slack = sum(abs(factor) for factor, _ in every)
    spread = sqrt(sum((factor * noise.deviation) ** 2 for factor, noise in every))
    assert exact_tail(every, width - slack - 0.1 * spread - 0.26) > miss  # nearly as narrow as can be


def test_the_sum_over_a_period_is_the_closed_form():
    every = terms("three", "laplace")
    law = JointLaw.of(every)
    for at in (1.0, 3.0, 7.5, 20.0):
        assert law._invert(at - law.slack) == pytest.approx(law.tail(at), abs=1.1e-5)
        assert law._invert(at - law.slack) >= law.tail(at)


def test_a_normal_and_a_laplace_variable_add_up():
    law = JointLaw.of([(1, DiscreteLaplace.of(Fraction(1, 50))), (1, DiscreteGaussian.of(Fraction(2500)))])
    drawn = np.random.default_rng(3)
    sums = np.abs(drawn.laplace(0, 50, 200_000) + drawn.normal(0, 50, 200_000))
    for at in (40, 100, 200):
        share = (sums > at).mean()
        assert law.tail(at) == pytest.approx(share, abs=0.01)


def test_no_noise_has_no_width():
    assert JointLaw.of([]).width(Fraction(1, 20)) < 1e-9
