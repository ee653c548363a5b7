"""Variance, deviation, covariance, correlation. Statistical tests alarm falsely once in a million."""

from __future__ import annotations

import statistics
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.smc.analyses.statistics_runs import BOTH, columns, joint, parsed, results, silence, table

QUERIES = """
[[queries]]
kind = "variance"
column = "weight"
lower = "50"
[[queries]]
kind = "deviation"
column = "weight"
upper = "130.5"
[[queries]]
kind = "covariance"
columns = ["weight", "age"]
[[queries]]
kind = "correlation"
columns = ["age", "weight"]
lower = { age = 10 }
upper = { weight = "200" }
"""
PURE = 'epsilon = "4"\nmaximum_rows = 1000' + QUERIES
GAUSSIAN = 'noise = "gaussian"\nrho = "1/10"\nmaximum_rows = 1000' + QUERIES
Z = 4.9


def numbers(outcome):
    return {name: row["value"] for name, row in results(outcome).items()}


def test_twin_against_numpy():
    alice, bob = table(120), table(80)
    got = numbers(parsed(PURE).reference(alice, bob, BOTH)[0])
    ages = np.array([*alice["age"].values, *bob["age"].values])
    weights = np.array([*alice["weight"].values, *bob["weight"].values]) / 10
    assert got == {
        "variance of weight": pytest.approx(np.clip(weights, 50, 250).var(ddof=1), rel=1e-9),
        "deviation of weight": pytest.approx(np.clip(weights, 0, 130.5).std(ddof=1), rel=1e-9),
        "covariance of weight, age": pytest.approx(np.cov(weights, ages)[0, 1], rel=1e-9),
        "correlation of age, weight": pytest.approx(
            np.corrcoef(np.clip(ages, 10, 150), np.clip(weights, 0, 200))[0, 1], rel=1e-9
        ),
    }


@settings(max_examples=15, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 150), st.integers(0, 2500)), max_size=12), cut=st.integers(0, 12)
)
def test_without_noise_the_joint_run_is_its_twin(rows, cut):
    ages, weights = [age for age, _ in rows], [weight for _, weight in rows]
    alice = columns(age=ages[:cut], weight=weights[:cut])
    bob = columns(age=ages[cut:], weight=weights[cut:])
    with pytest.MonkeyPatch.context() as patch:
        silence(patch)
        first, second = joint(parsed(PURE), alice, bob)
    assert first == second
    twin = numbers(parsed(PURE).reference(alice, bob, BOTH)[0])
    assert numbers(first) == twin
    if len(rows) > 1:
        exact = statistics.variance([max(weight / 10, 50) for weight in weights])
        assert twin["variance of weight"] == pytest.approx(exact, abs=1e-9)
        varies = len(set(ages)) > 1 and len({min(weight, 2000) for weight in weights}) > 1
        if max(ages) > 10 and min(ages) >= 10:
            assert (twin["correlation of age, weight"] is not None) == varies
    else:
        assert set(twin.values()) == {None}


@pytest.mark.parametrize("text", [PURE, GAUSSIAN])
def test_intervals_cover(text):
    """Each query many times over one table, with little noise: at least 95 % hold the exact statistic."""
    runs = 50
    budget = 'epsilon = "100"' if text is PURE else 'noise = "gaussian"\nrho = "1/10"'
    kinds = ['kind = "variance"\ncolumn = "age"', 'kind = "deviation"\ncolumn = "age"',
             'kind = "covariance"\ncolumns = ["age", "weight"]',
             'kind = "correlation"\ncolumns = ["age", "weight"]']  # fmt: skip
    if text is GAUSSIAN:
        kinds = kinds[::2]
        runs = 20
    job = f"{budget}\nmaximum_rows = 1000\n" + "".join(
        f'[[queries]]\nname = "{place}-{run}"\n{kind}\n'
        for place, kind in enumerate(kinds)
        for run in range(runs)
    )
    alice, bob = table(600), table(400)
    study = parsed(job)
    exact = results(study.reference(alice, bob, BOTH)[0])
    noisy = results(joint(study, alice, bob)[0])
    for place in range(len(kinds)):
        rows = [noisy[f"{place}-{run}"] for run in range(runs)]
        truth = exact[f"{place}-0"]["value"]
        assert len({row["value"] for row in rows}) > runs // 2
        hits = sum(row["lower_95"] <= truth <= row["upper_95"] for row in rows)
        assert hits >= runs * 0.95 - Z * sqrt(runs * 0.05 * 0.95)
        assert all(row["lower_95"] <= row["value"] <= row["upper_95"] for row in rows)


def test_hopeless_noise_gives_the_widest_intervals():
    outcome = joint(parsed(PURE.replace('"4"', '"1/100000"')), table(3), table(3))[0]
    got = results(outcome)
    assert (got["variance of weight"]["lower_95"], got["variance of weight"]["upper_95"]) == (0, 2 * 100.0**2)
    assert got["correlation of age, weight"]["lower_95"] == -1
    assert got["correlation of age, weight"]["upper_95"] == 1


def test_a_constant_column_has_no_correlation(monkeypatch):
    silence(monkeypatch)
    data = columns(age=[40] * 5, weight=[100, 200, 300, 400, 500])
    for outcome in (
        joint(parsed(PURE), data, data)[0],
        parsed(PURE).reference(data, data, BOTH)[0],
    ):
        assert numbers(outcome)["correlation of age, weight"] is None
        assert any("does not vary" in note for note in outcome.notes)


def test_all_values_clamped(monkeypatch):
    silence(monkeypatch)
    text = 'epsilon = "1"\n[[queries]]\nkind = "mean"\ncolumn = "age"\nlower = 50\nupper = 60'
    low, high = columns(age=[0, 10, 20]), columns(age=[150])
    assert results(joint(parsed(text), low, high)[0])["mean of age"]["value"] == 52.5


def test_units():
    units = {name: row["unit"] for name, row in results(joint(parsed(PURE), table(2), table(2))[0]).items()}
    assert list(units.values()) == ["kg^2", "kg", "kg years", ""]
