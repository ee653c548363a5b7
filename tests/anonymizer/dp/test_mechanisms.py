"""Mechanisms by OpenDP, smooth sensitivity and dummy data: by definition, by brute force and by audit."""

from __future__ import annotations

import re
import runpy
from itertools import combinations_with_replacement, product
from math import exp, log, sqrt
from pathlib import Path
from statistics import median, variance

import numpy as np
import pytest
from scipy.stats import chisquare, kstest, laplace, norm

from anonymizer.dp.audit import loss_at_least
from anonymizer.dp.mechanisms import (
    chosen_exponentially,
    randomized_response,
    with_discrete_laplace,
    with_gaussian,
    with_laplace,
)
from anonymizer.dp.smooth import Smooth, median_local, median_smooth, variance_local
from anonymizer.errors import SpecError
from anonymizer.releases.composition import amplify_by_sampling, parallel, sequential
from scripts.reproduce.dummies import WithDummies, distance
from scripts.reproduce.private_ttest import SmoothTTest

ALARM = 1e-6


def test_noise_has_the_stated_distribution():
    zeros = np.zeros(5000)
    assert kstest(with_laplace(zeros, 2.0, 0.5) / 4, laplace.cdf).pvalue > ALARM
    noise = with_gaussian(zeros, 1.0, 1.0, 1e-5)
    assert kstest(noise / noise.std(), norm.cdf).pvalue > ALARM
    assert 3 < noise.std() < sqrt(2 * log(1.25e5))
    counts = with_discrete_laplace(np.full(5000, 7), 1, 1.0)
    assert counts.dtype == np.int64
    inner = np.arange(-4, 5)
    chances = (1 - exp(-1)) / (1 + exp(-1)) * np.exp(-np.abs(inner))
    seen = np.array([(counts == 7 + place).sum() for place in inner])
    expected = np.append(chances, 1 - chances.sum()) * 5000
    assert chisquare(np.append(seen, 5000 - seen.sum()), expected).pvalue > ALARM


def test_choices_have_the_stated_odds():
    scores, epsilon = [0.0, 1.0, 3.0], 1.0
    for monotone, factor in ((False, 2), (True, 1)):
        drawn = [chosen_exponentially(scores, 1.0, epsilon, monotone=monotone) for _ in range(2000)]
        weights = np.exp(epsilon * np.array(scores) / factor)
        expected = weights / weights.sum() * len(drawn)
        assert chisquare(np.bincount(drawn, minlength=3), expected).pvalue > ALARM
    answers = [randomized_response("b", ["a", "b", "c"], 1.0) for _ in range(2000)]
    chances = np.array([1, exp(1), 1]) / (exp(1) + 2)
    assert chisquare([answers.count(one) for one in "abc"], chances * 2000).pvalue > ALARM


def test_an_audit_finds_no_more_than_the_claim_and_most_of_it():
    # of 4,000 draws one audit in about 50,000 picks an event that shows too little; of these none of 12,000
    # shows less than 0.62
    first, second = (with_laplace(np.full(10_000, value), 1.0, 1.0) for value in (0.0, 1.0))
    assert 0.4 < loss_at_least(first, second, wrong=ALARM) <= 1
    categories = ["yes", "no"]
    told = [
        [float(randomized_response(one, categories, 1.0) == "yes") for _ in range(2000)] for one in categories
    ]
    assert 0.3 < loss_at_least(*told, wrong=ALARM) <= 1


@pytest.mark.parametrize(
    "call",
    [
        lambda: with_laplace([float("nan")], 1.0, 1.0),
        lambda: with_laplace([1.0], 0.0, 1.0),
        lambda: with_laplace([1.0], 1.0, 0.0),
        lambda: with_gaussian([1.0], 1.0, 1.0, 0.0),
        lambda: with_discrete_laplace([0.5], 1, 1.0),
        lambda: chosen_exponentially([], 1.0, 1.0),
        lambda: randomized_response("d", ["a", "b"], 1.0),
        lambda: randomized_response("a", ["a"], 1.0),
        lambda: randomized_response("a", ["a", "b"], 100.0),
        lambda: Smooth(0.0, 0.1),
        lambda: Smooth(10.1, 0.1),
        lambda: Smooth(float("nan"), 0.1),
        lambda: SmoothTTest(20.0, 0.1, 4.0, (0.0, 4.0)).release([1.0, 2.0], [3.0, 1.0]),
        lambda: Smooth(1.0, 1.0),
        lambda: Smooth(1.0, 0.1).release([1.0, 2.0], 1.0),
        lambda: Smooth(1.0, 0.1).release([1.0], -1.0),
        lambda: median_local([], 0, 4),
        lambda: median_local([5.0], 0, 4),
        lambda: median_smooth([1.0], 0, 4, 0.0),
        lambda: variance_local([1.0], 0, 4),
        lambda: variance_local([1.0, 2.0], 4, 0),
        lambda: WithDummies(sum, (), (1.0,)),
        lambda: WithDummies(sum, (), (0.0, 1.0)).overall(0),
        lambda: WithDummies(sum, (), tuple(map(float, range(50)))).overall(50),
        lambda: sequential([]),
        lambda: parallel([(1.0, 2.0)]),
        lambda: amplify_by_sampling(1.0, 0.0, 0.0),
    ],
)
def test_impossible_arguments(call):
    with pytest.raises(SpecError) as caught:
        call()
    assert caught.value.hint


GRID = (0.0, 1.0, 2.0, 3.0, 4.0)


def test_the_sensitivities_of_the_median_are_exact():
    """Of odd and even numbers of values; the grid is fine enough for the halves of two middle values."""
    brute = WithDummies(median, (), GRID)
    for size in (1, 2, 3, 4):
        for data in combinations_with_replacement(GRID, size):
            assert median_local(data, 0, 4) == brute.local(data)
            for beta in (0.1, 0.7):
                assert median_smooth(data, 0, 4, beta) == pytest.approx(brute.smooth(data, beta))


def test_the_local_sensitivity_of_the_variance_is_exact():
    fine = WithDummies(variance, (), tuple(np.linspace(0, 4, 401).tolist()))
    for data in [(0.0, 1.0, 2.0), (4.0, 4.0, 4.0), (0.0, 4.0), (1.0, 2.0, 2.0, 4.0), (0.0, 0.0, 3.0, 4.0)]:
        assert variance_local(data, 0, 4) == pytest.approx(fine.local(data), rel=1e-3)
        assert variance_local(data, 0, 4) >= fine.local(data) * (1 - 1e-9)


def test_noise_by_smooth_sensitivity():
    smooth = Smooth(2.0, 1e-3, 2)
    assert smooth.alpha == pytest.approx(2 / (5 * sqrt(2 * log(2000))))
    assert smooth.beta == pytest.approx(2 / (4 * (2 + log(2000))))
    drawn = np.array([smooth.release([1.0, 5.0], 0.5) for _ in range(1000)])
    assert kstest((drawn[:, 1] - 5) * smooth.alpha / 0.5, norm.cdf).pvalue > ALARM
    assert smooth.release([1.0, 2.0], 0.0).tolist() == [1.0, 2.0]


def test_dummies_make_a_query_defined_and_its_sensitivity_finite():
    """One over the variance: without dummies no sensitivity, with them that of the definitions."""

    def precision(records):
        return 1 / variance(records)

    with pytest.raises(ZeroDivisionError):
        WithDummies(precision, (), GRID).overall(3)
    query = WithDummies(precision, (0.0, 4.0), GRID)
    tables = list(product(GRID, repeat=2))
    values = {data: query.value(data) for data in tables}
    neighbours = [(a, b) for a in tables for b in tables if distance(a, b) == 1]
    assert query.overall(2) == pytest.approx(max(abs(values[a] - values[b]) for a, b in neighbours))
    beta = 0.3
    smooth = {data: query.smooth(data, beta) for data in tables}
    assert all(smooth[a] <= exp(beta) * smooth[b] * (1 + 1e-9) for a, b in neighbours)
    assert all(smooth[data] >= query.local(data) for data in tables)
    drawn = np.array([query.release((0.0, 1.0), 1.0) for _ in range(50)])
    assert abs(np.median(drawn) - values[0.0, 1.0]) < 20 * query.overall(2)


def test_composition():
    assert sequential([(1.0, 1e-6), (0.5, 0.0)]) == (1.5, 1e-6)
    assert parallel([(1.0, 1e-6), (0.5, 1e-5)]) == (1.0, 1e-5)
    epsilon, delta = amplify_by_sampling(1.0, 1e-5, 0.1)
    assert (epsilon, delta) == (pytest.approx(log(1 + 0.1 * (exp(1) - 1))), pytest.approx(1e-6))
    assert amplify_by_sampling(1.0, 0.0, 1.0) == (pytest.approx(1.0), 0.0)


def test_the_sampling_theorem_is_met_exactly_by_randomized_response():
    """One record or none: it is drawn with the rate and then asked, else the answer is that of nobody."""
    rate, epsilon = 0.3, 2.0
    there, absent = exp(epsilon) / (1 + exp(epsilon)), 1 / (1 + exp(epsilon))
    with_record = rate * there + (1 - rate) * absent
    assert log(with_record / absent) == pytest.approx(amplify_by_sampling(epsilon, 0.0, rate)[0])


def test_the_example_of_the_documentation_runs(tmp_path):
    text = (Path(__file__).parents[3] / "docs" / "anonymizer.md").read_text(encoding="utf-8")
    (code,) = [one for one in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "median_smooth" in one]
    (tmp_path / "example.py").write_text(code)
    found = runpy.run_path(str(tmp_path / "example.py"))
    assert found["answer"] in ("yes", "no")
    assert found["spent"] == (3.0, 1e-6)
    assert found["less"][0] < 3
    assert np.isfinite(found["middle"])
