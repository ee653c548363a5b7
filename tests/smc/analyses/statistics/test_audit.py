"""Audit: the real privacy loss and coverage, from outputs on neighbouring tables.

Statistical tests alarm falsely once in a million.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp, log, sqrt

import numpy as np
import pytest

from smc.analyses.studies.columns import Column, Schema
from smc.secret.noise.laplace import DiscreteLaplace
from tests.smc.analyses.statistics_runs import joint, parsed, results, table

Z = 4.9  # standard deviations

BINS = 6000


@pytest.fixture(scope="module")
def neighbours():
    """Counts of 6000 bins, for epsilon 1: empty, and each with the row that the neighbouring table has."""
    schema = Schema("category", categories=tuple(str(index) for index in range(BINS)))
    study = parsed('epsilon = "1"\n[[queries]]\nkind = "histogram"\ncolumn = "x"')
    none, full = Column([], schema), Column(range(BINS), schema)
    return [
        np.array(joint(study, {"x": none}, {"x": column})[0].tables[1].columns["count"])
        for column in (none, full)
    ]


def privacy_loss_at_least(first, second):
    """A lower bound on epsilon, from all events "at least k" and "at most k" of both samples.

    Hoeffding intervals around both frequencies, all events together wrong with probability below 1e-6.
    """
    events = [(lambda v, k=k: v >= k) for k in range(-3, 5)] + [(lambda v, k=k: v <= k) for k in range(-3, 5)]
    slack = sqrt(log(2 * 2 * len(events) / 1e-6) / (2 * len(first)))
    best = 0.0
    for event in events:
        one, two = event(first).mean(), event(second).mean()
        for p, q in ((one, two), (two, one)):
            if p > slack:
                best = max(best, log((p - slack) / (q + slack)))
    return best


def test_audited_epsilon_is_not_above_the_stated_one(neighbours):
    assert 0.5 < privacy_loss_at_least(*neighbours) <= 1


def test_the_audit_catches_a_mechanism_with_a_third_of_the_noise(neighbours):
    weak = [
        np.trunc((counts - value) / 3).astype(int) + value
        for value, counts in zip((0, 1), neighbours, strict=True)
    ]
    assert privacy_loss_at_least(*weak) > 1


def test_intervals_cover_as_stated(neighbours):
    """The exact coverage is that of the discrete distribution, at least 95 %."""
    width = DiscreteLaplace.of(Fraction(1)).half_width(Fraction(1, 20))
    covered = 1 - 2 * exp(-(width + 1)) / (1 + exp(-1))
    for value, counts in zip((0, 1), neighbours, strict=True):
        hits = int((np.abs(counts - value) <= width).sum())
        assert abs(hits - BINS * covered) < Z * sqrt(BINS * covered * (1 - covered))
    assert covered >= 0.95


def test_mean_intervals_cover():
    """Many means of one table: at least 95 % of the intervals hold the exact mean."""
    runs = 400
    text = 'epsilon = "100"\nmaximum_rows = 1000\n' + "".join(
        f'[[queries]]\nname = "q{index}"\nkind = "mean"\ncolumn = "weight"\n' for index in range(runs)
    )
    alice, bob = table(600), table(400)
    outcome, _ = joint(parsed(text), alice, bob)
    weights = [*alice["weight"].values, *bob["weight"].values]
    exact = sum(weights) / len(weights) / 10
    rows = list(results(outcome).values())
    assert all(0 < row["upper_95"] - row["lower_95"] < 120 for row in rows)
    hits = sum(row["lower_95"] <= exact <= row["upper_95"] for row in rows)
    assert hits >= runs * 0.95 - Z * sqrt(runs * 0.05 * 0.95)
