"""Quantiles by secret choice. Statistical tests alarm falsely once in a million."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, exp, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smc.analyses.statistics.plans.plan import plan
from smc.analyses.studies.columns import Schema
from smc.errors import UsageError
from tests.smc.analyses.statistics_runs import BOTH, SCHEMAS, columns, joint, parsed, results, silence

Z = 4.9


def job(query, budget='epsilon = "3"\nmaximum_rows = 1000'):
    return parsed(f"{budget}\n[[queries]]\n{query}")


def quantile_of(values, level):
    """The least value that at least a part `level` of all do not exceed."""
    return sorted(values)[max(0, ceil(len(values) * level) - 1)]


@settings(max_examples=15, deadline=None)
@given(
    values=st.lists(st.integers(0, 150), max_size=15),
    cut=st.integers(0, 15),
    level=st.sampled_from(["1/2", "0.9", "1/3", "0.001", "0.999"]),
    step=st.sampled_from([1, 7, 50]),
)
def test_without_noise_it_is_the_quantile_of_the_rounded_values(values, cut, level, step):
    study = job(f'name = "q"\nkind = "quantile"\ncolumn = "age"\nlevel = "{level}"\nstep = {step}')
    alice, bob = columns(age=values[:cut]), columns(age=values[cut:])
    with pytest.MonkeyPatch.context() as patch:
        silence(patch)
        noiseless = [results(outcome)["q"] for outcome in joint(study, alice, bob)]
    twin = results(study.reference(alice, bob, BOTH)[0])["q"]
    expected = quantile_of([value // step * step for value in values], Fraction(level)) if values else None
    assert twin["value"] == noiseless[0]["value"] == noiseless[1]["value"] == expected
    if values:
        assert noiseless[0]["lower_95"] <= quantile_of(values, Fraction(level)) <= noiseless[0]["upper_95"]
        assert twin["lower_95"] == twin["upper_95"] == expected


def test_a_median_of_decimals(monkeypatch):
    silence(monkeypatch)
    alice, bob = columns(weight=[0, 801, 1007]), columns(weight=[803, 2500])
    study = job('kind = "median"\ncolumn = "weight"\nlower = "40.1"\nupper = "120"\nstep = "0.5"')
    assert results(joint(study, alice, bob)[0])["median of weight"]["value"] == "80.1"


@pytest.mark.parametrize("budget", ['epsilon = "100"', 'noise = "gaussian"\nrho = "1"'])
def test_intervals_cover_and_values_are_near(budget):
    runs = 20
    study = parsed(
        f"{budget}\nmaximum_rows = 1000\n"
        + "".join(
            f'[[queries]]\nname = "{run}"\nkind = "quantile"\nlevel = "0.25"\ncolumn = "age"\n'
            "lower = 0\nupper = 120\nstep = 4\n"
            for run in range(runs)
        )
    )
    ages = np.arange(1000) * 7919 % 101
    alice, bob = columns(age=ages[:700]), columns(age=ages[700:])
    truth = quantile_of(ages.tolist(), Fraction(1, 4))
    rows = list(results(joint(study, alice, bob)[0]).values())
    hits = sum(row["lower_95"] <= truth <= row["upper_95"] for row in rows)
    assert hits >= runs * 0.95 - Z * sqrt(runs * 0.05 * 0.95)
    assert max(row["upper_95"] - row["lower_95"] for row in rows) < 60
    assert max(abs(row["value"] - truth) for row in rows) <= 20


def test_without_rows_there_is_no_interval_to_speak_of():
    study = job('kind = "median"\ncolumn = "age"', 'epsilon = "1/100"\nmaximum_rows = 1000')
    row = results(joint(study, columns(age=[]), columns(age=[7]))[0])["median of age"]
    assert row["upper_95"] - row["lower_95"] >= 0


@pytest.mark.parametrize(
    ("budget", "epsilon"),
    [
        ('epsilon = "1"', 1.0),
        ('epsilon = "1"\nrows_per_person = 3', 1 / 3),
        ('noise = "gaussian"\nrho = "1/50"', None),
    ],
)
def test_choices_cost_what_is_stated(budget, epsilon):
    """The tail falls by e**(part of epsilon) over 2 sensitivity rows per person; rho is epsilon**2 / 2."""
    study = job('kind = "quantile"\nlevel = "0.9"\ncolumn = "age"', budget)
    (planned,) = plan(study.parameters, SCHEMAS)
    found = [float(2 * 9 * distribution.rate) for distribution in planned.statistic.choice_distributions]
    if epsilon is None:
        assert sum(value**2 / 2 for value in found) == pytest.approx(1 / 50)
        assert [value**2 / 2 * 50 for value in found] == pytest.approx([1 / 2, 1 / 4, 1 / 4])
        assert sum(value**2 / 2 for value in found) <= 1 / 50
    else:
        assert found == pytest.approx([epsilon / 2, epsilon / 4, epsilon / 4])


def test_ends_are_shifted_far_enough():
    """The most noise of any candidate stays below the shift but for half of 5 %."""
    (planned,) = plan(job('kind = "median"\ncolumn = "age"\npoints = 40').parameters, SCHEMAS)
    statistic = planned.statistic
    value, low, high = statistic.shifts
    assert (value, low < 0, low == -high) == (0, True, True)
    rate = float(statistic.choice_distributions[1].rate)
    assert statistic.candidates * exp(-rate * high) <= 0.025 < statistic.candidates * exp(-rate * (high - 1))


@pytest.mark.parametrize(
    ("query", "points", "step"),
    [
        ("", 151, 1),
        ("points = 11", 11, 15),
        ("step = 100", 2, 100),
        ("lower = 20\nupper = 30\npoints = 3", 3, 5),
    ],
)
def test_candidates(query, points, step):
    (planned,) = plan(job(f'kind = "median"\ncolumn = "age"\n{query}').parameters, SCHEMAS)
    assert (planned.statistic.points, planned.statistic.step) == (points, step)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ('kind = "quantile"\ncolumn = "age"', "level is missing"),
        ('kind = "quantile"\ncolumn = "age"\nlevel = 1', "between 0 and 1"),
        ('kind = "quantile"\ncolumn = "age"\nlevel = "1/1001"', "thousandths"),
        ('kind = "median"\ncolumn = "age"\nlevel = "0.5"', "unknown key"),
        ('kind = "median"\ncolumn = "age"\nstep = 0', "not positive"),
        ('kind = "median"\ncolumn = "age"\nstep = 1\npoints = 9', "Keep one"),
        ('kind = "median"\ncolumn = "age"\npoints = 1', "points is out of range"),
        ('kind = "median"\ncolumn = "age"\npoints = "9"', "whole number"),
        ('kind = "median"\ncolumn = "age"\nstep = "0.5"', "more decimals"),
        ('kind = "median"\ncolumn = "group"', "needs a number"),
        ('kind = "median"\ncolumn = "x"', "has no column"),
    ],
)
def test_wrong_queries_are_named(query, words):
    with pytest.raises(UsageError, match=words):
        job(query).check(SCHEMAS, SCHEMAS)


def test_too_many_candidates_are_refused():
    wide = {"x": Schema("integer", lower=0, upper=1 << 17)}
    with pytest.raises(UsageError, match="candidates"):
        job('kind = "median"\ncolumn = "x"\nstep = 2').check(wide, wide)
    job('kind = "median"\ncolumn = "x"\nstep = 3', 'epsilon = "1"').check(wide, wide)
