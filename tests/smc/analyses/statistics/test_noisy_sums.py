"""Intervals of variances, covariances and correlations from the joint law of their noise."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from smc.analyses.statistics.kinds.noisy_sums import NoisySums
from smc.secret.noise.gaussian import DiscreteGaussian
from smc.secret.noise.laplace import DiscreteLaplace
from tests.smc.analyses.records.test_noisy_means import draws

MISS = Fraction(1, 20)
HALF = 50
NAMES = [(0, 1), (0, 0), (1, 1), (0,), (1,), ()]
RUNS = 250


def spread(sums, first, second):
    return (sums[first, second] - sums[first,] * sums[second,] / sums[()]) / (sums[()] - 1)


def estimates(sums):
    varies = max(spread(sums, 0, 0) * spread(sums, 1, 1), 1e-9)
    joint = spread(sums, 0, 1)
    return {"variance": spread(sums, 0, 0), "covariance": joint, "correlation": joint / sqrt(varies)}


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize(("rows", "epsilon"), [(60, 2), (1000, 1), (5000, Fraction(1, 2))])
def test_they_cover_and_are_narrow(kind, rows, epsilon):
    drawn = np.random.default_rng(rows)
    first = np.clip(np.rint(drawn.normal(8, 15, rows)), -HALF, HALF)
    second = np.clip(np.rint(0.6 * first + drawn.normal(5, 12, rows)), -HALF, HALF)
    columns = [first, second]
    exact = {
        name: float(np.prod([columns[p] for p in name], axis=0).sum()) if name else rows for name in NAMES
    }
    part = Fraction(epsilon) / len(NAMES)
    rates = {name: part / HALF ** len(name) for name in NAMES}
    laws = {
        name: DiscreteLaplace.of(rate) if kind == "laplace" else DiscreteGaussian.of(1 / rate**2)
        for name, rate in rates.items()
    }
    noise = {name: draws(law, RUNS, drawn) for name, law in laws.items()}
    truth = estimates(exact)
    ends, errors = ({name: [] for name in truth} for _ in range(2))
    for run in range(RUNS):
        sums = {name: float(exact[name] + noise[name][run]) for name in NAMES}
        noisy = NoisySums(sums, laws, [HALF, HALF])
        ends["variance"].append(noisy.covariance(0, 0, MISS))
        ends["covariance"].append(noisy.covariance(0, 1, MISS))
        ends["correlation"].append(noisy.correlation(MISS))
        for name, value in estimates(sums).items():
            errors[name].append(abs(value - truth[name]))
    for name, value in truth.items():
        low, high = np.array(ends[name]).T
        hits = int(((low <= value) & (value <= high)).sum())
        assert hits >= RUNS * 0.95 - 4.9 * sqrt(RUNS * 0.05 * 0.95), name
        if rows > 60:
            allowed = {60: 0, 1000: 1.7, 5000: 1.4}[rows] if name == "correlation" else 1.3
            assert np.median(high - low) / 2 <= allowed * np.quantile(errors[name], 0.95), name
