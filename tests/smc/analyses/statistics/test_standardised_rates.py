"""Directly standardised rates: exact under limits, with noise, and over matched rows."""

from __future__ import annotations

import tomllib
from math import exp, log, sqrt

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.statistics.kinds.standardised_rates import DIFFERENCE, RATIO
from smc.analyses.statistics.plans.plan import plan
from smc.analyses.studies.columns import Column, Schema
from smc.errors import UsageError
from smc.numeric.random import Randomness
from tests.smc.analyses.records.test_noisy_means import draws
from tests.smc.analyses.statistics_runs import BOTH, joint, silence
from tests.smc.analyses.test_estimates import check

ARM = Schema("category", categories=("new", "usual", "other"))
STATE = Schema("category", categories=("well", "ill", "dead"))
AGE = Schema("category", categories=("young", "middle", "old"))
SCHEMAS = {"arm": ARM, "state": STATE, "age": AGE}
QUERY = """
[[queries]]
kind = "standardised-rates"
column = "state"
event = "dead"
by = "arm"
labels = ["new", "usual"]
strata = "age"
weights = { young = "0.3", middle = "0.2", old = "0.1" }
"""
HEADS = {"exact": 'noise = "none"\n', "noisy": 'epsilon = "2"\n'}
WEIGHTS = np.array([3, 2, 1]) / 6


def job(head, query=QUERY):
    return STATISTICS.parse(tomllib.loads(HEADS.get(head, head) + query))


def side(rows, seed):
    drawn = np.random.default_rng(seed)
    arm, age = drawn.integers(0, 3, rows), drawn.integers(0, 3, rows)
    dead = drawn.random(rows) < 0.1 + 0.1 * age + 0.1 * (arm == 0)
    return {
        "arm": Column(arm, ARM),
        "state": Column(np.where(dead, 2, drawn.integers(0, 2, rows)), STATE),
        "age": Column(age, AGE),
    }


def counts(*sides):
    """Rows by group, event or not, and age."""
    every = {name: np.concatenate([data[name].array for data in sides]) for name in SCHEMAS}
    cells = (2 * every["arm"] + (every["state"] != 2)) * 3 + every["age"]
    return np.bincount(cells, minlength=18)[:12].reshape(2, 2, 3)


def shown(outcome):
    main, table = (each.columns for each in outcome.tables)
    rows = zip(*(table[name] for name in list(table)[1:]), strict=True)
    return {name: values[0] for name, values in main.items()}, dict(zip(table["term"], rows, strict=True))


@pytest.mark.parametrize("head", HEADS)
def test_rates_are_averaged_by_the_weights(monkeypatch, head):
    silence(monkeypatch)
    sides = side(600, 1), side(500, 2)
    study = job(head)
    study.check(SCHEMAS, SCHEMAS)
    outcome, other = joint(study, *sides)
    assert outcome == other
    main, terms = shown(outcome)
    table = counts(*sides)
    n = table.sum(axis=1)
    p = table[:, 0] / n
    first, second = p @ WEIGHTS
    variances = (p * (1 - p) / n) @ WEIGHTS**2
    assert terms["standardised rate of new"][0] == pytest.approx(first)
    assert terms["standardised rate of usual"][0] == pytest.approx(second)
    assert terms[DIFFERENCE][0] == pytest.approx(first - second)
    assert terms[RATIO][0] == main["value"] == pytest.approx(first / second)
    assert terms["usual, old: dead"][0] == table[1, 0, 2]
    if head == "exact":
        width = 1.959964 * sqrt(variances.sum())
        assert terms[DIFFERENCE][3:] == pytest.approx((first - second - width, first - second + width))
        error = 1.959964 * sqrt(variances[0] / first**2 + variances[1] / second**2)
        ends = tuple(exp(log(first / second) + sign * error) for sign in (-1, 1))
        assert terms[RATIO][3:] == pytest.approx(ends)
        assert joint(study, *sides) == study.reference(*sides, BOTH)
    else:
        value, low, high, less, more = terms[RATIO]
        assert less < low < value < high < more


def test_an_empty_stratum_has_no_rate_unless_its_weight_is_0():
    young = {
        name: Column(column.array[side(900, 3)["age"].array < 2], column.schema)
        for name, column in side(900, 3).items()
    }
    _, terms = shown(joint(job("exact"), young, young)[0])
    assert terms[RATIO][0] is None
    unused = QUERY.replace('old = "0.1"', "old = 0")
    assert shown(joint(job("exact", unused), young, young)[0])[0]["value"] is not None


def test_a_withheld_count_gives_no_rates():
    data = side(900, 4)
    state = data["state"].array.copy()
    few = np.flatnonzero((data["arm"].array == 1) & (data["age"].array == 0) & (state == 2))
    state[few[3:]] = 0
    outcome, _ = joint(
        job("exact"), data | {"state": Column(state, STATE)}, side(900, 5), limits=Limits(minimum_group=10)
    )
    main, terms = shown(outcome)
    assert main["value"] is None
    assert terms["usual, young: dead"] == (None,) * 5
    assert len(terms) == 12


def test_intervals_of_the_noise_cover_the_exact_rates():
    statistic = plan(job('epsilon = "1/2"\n').parameters, SCHEMAS)[0].statistic
    exact = [60, 80, 50, 440, 420, 350, 50, 60, 45, 450, 440, 355]
    runs, drawn, seed = 250, np.random.default_rng(9), Randomness.from_seed(b"seed", "rates")
    noise = np.stack([draws(law, runs, drawn) for law in statistic.distributions], axis=1)
    found = [statistic.result((exact + off).tolist(), statistic.distributions, seed).table for off in noise]
    truth = statistic.result(exact, (), seed).table
    for place in range(12, 16):
        value = truth["value"][place]
        hits = sum(table["lower_95"][place] <= value <= table["upper_95"][place] for table in found)
        assert hits >= runs * 0.95 - 4.9 * sqrt(runs * 0.05 * 0.95)
        widths = [table["upper_95"][place] - table["lower_95"][place] for table in found]
        errors = [abs(table["value"][place] - value) for table in found]
        assert np.median(widths) / 2 <= 1.25 * np.quantile(errors, 0.95)


@pytest.mark.parametrize("limits", [NO_LIMITS, Limits(minimum_group=3)])
@pytest.mark.parametrize("head", HEADS)
def test_estimates_are_what_runs_cost(head, limits):
    check(job(head), side(700, 8), side(700, 9), limits)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('strata = "age"', ""), "strata is missing"),
        (('weights = { young = "0.3", middle = "0.2", old = "0.1" }', ""), "not a table of the weights"),
        (('young = "0.3", ', ""), "not those of the labels"),
        (('young = "0.3"', 'young = "-1"'), "from 0 to 1"),
        (('by = "arm"', ""), "by is missing"),
    ],
)
def test_what_is_wrong_is_named(change, words):
    with pytest.raises(UsageError, match=words) as caught:
        job("noisy", QUERY.replace(*change)).check(SCHEMAS, SCHEMAS)
    assert caught.value.hint
