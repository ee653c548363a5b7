"""The interval of a noisy mean: it covers as stated, and is hardly wider than that asks."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from smc.analyses.records.noisy_means import edges, mean_ends
from smc.secret.noise.gaussian import DiscreteGaussian
from smc.secret.noise.laplace import DiscreteLaplace

MISS = Fraction(1, 20)
RUNS = 1500


def noises(kind, rate, half):
    if kind == "laplace":
        return DiscreteLaplace.of(rate / half), DiscreteLaplace.of(rate)
    return DiscreteGaussian.of((half / rate) ** 2), DiscreteGaussian.of(1 / rate**2)


def draws(noise, count, drawn):
    if isinstance(noise, DiscreteLaplace):
        part = 1 - np.exp(-float(noise.rate))
        return drawn.geometric(part, count) - drawn.geometric(part, count)
    return np.rint(drawn.normal(0, noise.deviation, count)).astype(np.int64)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize(("rows", "mean"), [(300, 3), (40, -12), (300, 20)])
def test_it_covers_and_is_narrow(kind, rows, mean):
    half, drawn = 20, np.random.default_rng(rows)
    values = np.clip(np.rint(drawn.normal(mean, 6, rows)), -half, half).astype(np.int64)
    laws = noises(kind, Fraction(1, 2), half)
    total, exact = int(values.sum()), values.mean()
    found, errors = [], []
    for off, more in zip(*(draws(law, RUNS, drawn) for law in laws), strict=True):
        found.append(mean_ends(float(total + off), float(rows + more), laws, MISS, (-half, half)))
        errors.append(abs((total + off) / max(rows + more, 1) - exact))
    low, high = np.array(found).T
    assert ((low >= -half) & (high <= half)).all()
    hits = int(((low <= exact) & (exact <= high)).sum())
    assert hits >= RUNS * 0.95 - 4.9 * sqrt(RUNS * 0.05 * 0.95)
    if abs(mean) < half:
        assert np.median(high - low) / 2 <= 1.15 * np.quantile(errors, 0.95)


def test_where_the_noise_may_be_all_rows_nothing_is_excluded():
    laws = noises("laplace", Fraction(1, 100), 20)
    assert mean_ends(500.0, 90.0, laws, MISS, (-20.0, 19.0)) == (-20.0, 19.0)


def test_the_search_ends_where_the_tail_falls_below():
    low, high = edges(2.0, (-10.0, 2.5), lambda value: 0.5 ** abs(value - 2), Fraction(1, 8))
    assert (low, high) == (pytest.approx(-1.0), 2.5)
    assert edges(2.0, (0.0, 2.0), lambda value: 0.001, Fraction(1, 8)) == (2.0, 2.0)
