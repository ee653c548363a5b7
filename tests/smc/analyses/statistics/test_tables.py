"""Cross tables and the chi-square test. Statistical tests alarm falsely once in a million."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smc.analyses.statistics.kinds.chi_square import SIMULATED, exact_test, noisy_test, survival
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.protocols.public_records import TOSS_COST
from smc.secret.noise.gaussian import DiscreteGaussian
from smc.secret.noise.laplace import DiscreteLaplace
from tests.smc.analyses.statistics_runs import (
    BOTH,
    SCHEMAS,
    columns,
    joint,
    parsed,
    results,
    silence,
    traffic,
)
from tests.support.seeds import seeded

RANDOM = seeded()
JOB = """
epsilon = "1"
maximum_rows = 1000
[[queries]]
kind = "crosstab"
columns = ["group", "age"]
categories = { group = ["0", "A"] }
edges = { age = [0, 50, 100] }
test = true
"""
NAME = "crosstab of group, age"


@settings(max_examples=25, deadline=None)
@given(rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 150)), max_size=20), cut=st.integers(0, 20))
def test_counts(rows, cut):
    groups, ages = [group for group, _ in rows], [age for _, age in rows]
    alice = columns(group=groups[:cut], age=ages[:cut])
    bob = columns(group=groups[cut:], age=ages[cut:])
    with pytest.MonkeyPatch.context() as patch:
        silence(patch)
        noiseless = joint(parsed(JOB), alice, bob)[0].tables[1].columns
    twin = parsed(JOB).reference(alice, bob, BOTH)[0].tables[1].columns
    assert twin == {**noiseless, "lower_95": twin["count"], "upper_95": twin["count"]}
    assert (twin["group"], twin["age"]) == (["0", "0", "A", "A"], ["[0, 50)", "[50, 100]"] * 2)
    expected = np.zeros((2, 2), dtype=int)
    for group, age in rows:
        if group in (0, 3) and age <= 100:
            expected[int(group == 0), int(age >= 50)] += 1
    assert twin["count"] == expected.reshape(-1).tolist()


# from tables of the chi-square distribution (Abramowitz and Stegun, table 26.8)
@pytest.mark.parametrize(
    ("statistic", "freedom", "chance"),
    [(3.84146, 1, 0.05), (6.63490, 1, 0.01), (5.99146, 2, 0.05), (18.3070, 10, 0.05), (43.7730, 30, 0.05),
     (15.0863, 5, 0.01), (59.7031, 30, 0.001), (0.0, 4, 1.0)],
)  # fmt: skip
def test_survival(statistic, freedom, chance):
    assert survival(statistic, freedom) == pytest.approx(chance, rel=1e-4)


def test_exact_test_by_hand():
    """Two by two: the statistic is n (ad - bc)**2 / (row and column sums)."""
    table = np.array([[12.0, 5.0], [3.0, 10.0]])
    statistic = 30 * (120 - 15) ** 2 / (17 * 13 * 15 * 15)
    assert exact_test(table) == pytest.approx(survival(statistic, 1))
    assert exact_test(np.array([[1.0, 2.0], [0.0, 0.0]])) is None
    assert exact_test(np.zeros((3, 3))) is None


@pytest.mark.parametrize(
    "distribution", [DiscreteLaplace.of(Fraction(1, 5)), DiscreteGaussian.of(Fraction(60))]
)
def test_noisy_p_values_are_valid_under_independence_and_find_dependence(distribution):
    """Of 150 independent tables few have a p-value of at most 10 %; the classical test would reject more.

    Whatever the test with noise rejects it rejects too, and one table in nine besides: among 150 tables there
    is none of those with probability below 1e-7.
    """
    trials, rows = 150, 400
    spread = distribution.deviation
    small = classical = found = 0
    for _ in range(trials):
        first, second = RANDOM.bits(rows), RANDOM.bits(rows) & RANDOM.bits(rows)
        table = np.bincount(2 * first + second, minlength=4).reshape(2, 2).astype(float)
        noise = noise_of(distribution, 4).reshape(2, 2)
        small += noisy_test(table + noise, distribution, RANDOM) <= 0.1
        classical += exact_test(np.maximum(table + noise, 1)) <= 0.1
        linked = np.array([[100.0 + 8 * spread, 100.0], [100.0, 100.0 + 8 * spread]])
        found += noisy_test(linked + noise_of(distribution, 4).reshape(2, 2), distribution, RANDOM) <= 0.1
    assert small <= 35  # P(Binomial(150, 0.1) > 35) < 1e-6
    assert classical > small
    assert found > trials * 0.6


def noise_of(distribution, count):
    """Draws from the distribution's own bits."""
    bits = distribution.bits
    words = RANDOM.words((int(bits.words[-1]) + 1) * count).reshape(count, -1)
    return bits.offset + (words[:, bits.words] < bits.thresholds) @ bits.weights


def test_p_values_stand_in_the_table():
    data = columns(group=[0, 3] * 100, age=[20, 80] * 100)
    outcome, _ = joint(parsed(JOB), data, data)
    assert results(outcome)[NAME]["p_value"] == pytest.approx(1 / (SIMULATED + 1))
    assert any("simulated with the noise" in note for note in outcome.notes)
    assert results(parsed(JOB).reference(data, data, BOTH)[0])[NAME]["p_value"] < exp(-100)


@pytest.mark.parametrize("budget", ['epsilon = "1"', 'noise = "gaussian"\nrho = "1/10"'])
def test_both_recipients_get_the_same_p_value(monkeypatch, budget):
    """Of the table 110, 90, 90, 110, whose p-value is not at an end of its range."""
    silence(monkeypatch)
    data = columns(group=[0] * 100 + [3] * 100, age=[20] * 55 + [80] * 45 + [20] * 45 + [80] * 55)
    first, second = joint(parsed(JOB.replace('epsilon = "1"', budget)), data, data)
    assert 0.001 < results(first)[NAME]["p_value"] < 0.5
    assert (first.tables, first.notes) == (second.tables, second.notes)


def test_without_a_test_no_seed_is_tossed():
    tested, counted = (parsed(text) for text in (JOB, JOB.replace("test = true", "")))
    costs = [estimate_cost(study, SCHEMAS, BOTH, RunSetting((60, 60))) for study in (tested, counted)]
    assert costs[0].alice_bytes - costs[1].alice_bytes == TOSS_COST.alice_bytes
    data = columns(group=[0, 3], age=[20, 80])
    for study, cost in zip((tested, counted), costs, strict=True):
        sent = traffic(study, data, data)
        assert (sent[0].sent, sent[1].sent) == (cost.alice_bytes, cost.bob_bytes)
        assert max(each.rounds for each in sent) == cost.rounds


def test_no_test_of_an_empty_table(monkeypatch):
    silence(monkeypatch)
    nothing = columns(group=[], age=[])
    twin = parsed(JOB).reference(nothing, nothing, BOTH)[0]
    for outcome in (joint(parsed(JOB), nothing, nothing)[0], twin):
        assert results(outcome)[NAME]["p_value"] is None
        assert any("no test" in note for note in outcome.notes)
