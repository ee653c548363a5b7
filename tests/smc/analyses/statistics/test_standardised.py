"""Standardised ratios: of two noisy sums, or of exact cells under limits."""

from __future__ import annotations

import tomllib
from math import sqrt

import numpy as np
import pytest
import scipy.stats

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.statistics.kinds.standardised import RATIO
from smc.analyses.statistics.plans.plan import plan
from smc.analyses.studies.columns import Column, Schema
from smc.errors import UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from tests.smc.analyses.records.test_noisy_means import draws
from tests.smc.analyses.statistics_runs import BOTH, joint, silence
from tests.smc.analyses.test_estimates import check

AGE = Schema("category", categories=("young", "middle", "old"))
STATE = Schema("category", categories=("well", "ill", "dead"))
SEX = Schema("category", categories=("f", "m"))
SCHEMAS = {"age": AGE, "state": STATE, "sex": SEX}
QUERY = """
[[queries]]
kind = "standardised-ratio"
column = "state"
event = "dead"
strata = "age"
rates = { young = "0.01", middle = "0.05", old = "0.125" }
"""
HEADS = {"exact": 'noise = "none"\n', "noisy": 'epsilon = "2"\n'}
RATES = np.array([0.01, 0.05, 0.125])


def job(head, query=QUERY):
    return STATISTICS.parse(tomllib.loads(HEADS.get(head, head) + query))


def side(rows, seed):
    drawn = np.random.default_rng(seed)
    return {
        "age": Column(drawn.integers(0, 3, rows), AGE),
        "state": Column(drawn.choice(3, rows, p=[0.6, 0.25, 0.15]), STATE),
        "sex": Column(drawn.integers(0, 2, rows), SEX),
    }


def picked(data, *names):
    return {name: data[name] for name in names}


SIDES = tuple(picked(side(rows, rows), "age", "state") for rows in (300, 200))


def numbers(*sides, chosen=slice(None)):
    every = {name: np.concatenate([data[name].array for data in sides])[chosen] for name in sides[0]}
    return int((every["state"] == 2).sum()), RATES[every["age"]].sum()


def shown(outcome, place=0):
    main, table = outcome.tables[0].columns, outcome.tables[1 + place].columns
    rows = zip(*(table[name] for name in list(table)[1:]), strict=True)
    return {name: values[place] for name, values in main.items()}, dict(zip(table["term"], rows, strict=True))


@pytest.mark.parametrize("head", HEADS)
def test_it_is_observed_over_expected(monkeypatch, head):
    silence(monkeypatch)
    study = job(head)
    study.check(SCHEMAS, SCHEMAS)
    outcome, other = joint(study, *SIDES)
    assert outcome == other
    observed, expected = numbers(*SIDES)
    main, terms = shown(outcome)
    assert terms["observed"][0] == observed
    assert terms["expected"][0] == pytest.approx(expected)
    assert main["value"] == terms[RATIO][0] == pytest.approx(observed / expected)
    # the exact limits of a Poisson count, to which Byar's are near
    low, high = (
        scipy.stats.chi2.ppf(part, 2 * (observed + more)) / 2 / expected
        for part, more in ((0.025, 0), (0.975, 1))
    )
    if head == "exact":
        assert terms[RATIO][3:] == (pytest.approx(low, rel=2e-3), pytest.approx(high, rel=2e-3))
        assert joint(study, *SIDES) == study.reference(*SIDES, BOTH)
    else:
        value, less, more, least, most = terms[RATIO]
        assert least < less < value < more < most
        assert least < low < high < most


def test_by_group(monkeypatch):
    silence(monkeypatch)
    sides = side(300, 1), side(250, 2)
    outcome, _ = joint(job("noisy", QUERY + 'by = "sex"\n'), *sides)
    sex = np.concatenate([data["sex"].array for data in sides])
    for place in (0, 1):
        observed, expected = numbers(*sides, chosen=sex == place)
        assert shown(outcome, place)[0]["value"] == pytest.approx(observed / expected)


def noisy_results(head, exact, runs):
    """Results of sums with so many draws of the noise."""
    statistic = plan(job(head).parameters, SCHEMAS)[0].statistic
    drawn, unused = np.random.default_rng(3), Randomness.from_seed(b"", "")
    noise = np.stack([draws(law, runs, drawn) for law in statistic.distributions], axis=1)
    return [statistic.result((exact + off).tolist(), statistic.distributions, unused) for off in noise]


def test_intervals_of_the_noise_cover_the_exact_ratio():
    runs, truth = 600, 90 / 61
    found = noisy_results('epsilon = "1/2"\n', [90, 61_000], runs)
    hits = sum(each.lower <= truth <= each.upper for each in found)
    assert hits >= runs * 0.95 - 4.9 * sqrt(runs * 0.05 * 0.95)
    errors = [abs(each.value - truth) for each in found]
    assert np.median([each.upper - each.lower for each in found]) / 2 <= 1.2 * np.quantile(errors, 0.95)
    assert all(each.sampled[0] < each.lower and each.upper < each.sampled[1] for each in found)


def test_hopeless_noise_excludes_nothing():
    """But in one of twenty draws, as that is how often an interval may be wrong."""
    runs = 300
    found = noisy_results('epsilon = "1/10000"\n', [90, 61_000], runs)
    bounded = sum(each.upper is not None and each.upper < np.inf for each in found)
    assert bounded <= runs * 0.05 + 4.9 * sqrt(runs * 0.05 * 0.95)
    assert all(each.lower in (0, None) for each in found if each.upper is None)


def test_exact_rates_cannot_tell_of_a_stratum_that_is_withheld():
    """Rates like 1, 1/1000 and 1/1000000 write the counts of all strata into one sum of theirs."""
    chosen = 'rates = { young = "0.001", middle = "1", old = "0.000001" }'
    study = job("exact", QUERY.replace('rates = { young = "0.01", middle = "0.05", old = "0.125" }', chosen))
    alice, bob = (picked(side(400, seed), "age", "state") for seed in (5, 6))
    age, state = alice["age"].array.copy(), alice["state"].array.copy()
    few = np.flatnonzero((age == 1) & (state == 2))
    state[few[3:]] = 0
    alice["state"] = Column(state, STATE)
    outcome, _ = joint(study, alice, bob, limits=Limits(minimum_group=10))
    main, terms = shown(outcome)
    assert main["value"] is None
    assert terms["middle: dead"] == (None,) * 5
    assert set(terms) == {f"{label}: {event}" for label in AGE.categories for event in ("dead", "not dead")}


@pytest.mark.parametrize("limits", [NO_LIMITS, Limits(minimum_group=5)])
@pytest.mark.parametrize("head", HEADS)
def test_estimates_are_what_runs_cost(head, limits):
    sides = (picked(side(300, seed), "age", "state") for seed in (8, 9))
    check(job(head), *sides, limits)


def test_one_row_moves_the_sums_by_no_more_than_stated():
    statistic = plan(job("noisy").parameters, SCHEMAS)[0].statistic
    assert [part.sensitivity for part in statistic.parts] == [1, 125]
    assert sum(part.weight for part in statistic.parts) == 1
    assert statistic.rates.held == (10, 50, 125)
    assert statistic.rates.of(np.array([2, 0, -1, 7])).tolist() == [125, 10, 0, 0]


def test_facts():
    assert job("exact").facts(BOTH).sorts_by == {"age", "state"}
    assert job("noisy").columns == dict.fromkeys(Role, ("age", "state"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('strata = "age"', ""), "strata is missing"),
        (('event = "dead"', ""), "event is missing"),
        (('rates = { young = "0.01", middle = "0.05", old = "0.125" }', ""), "not a table of the rates"),
        (('young = "0.01"', 'young = "1.5"'), "from 0 to 1"),
        (('young = "0.01"', 'young = "0.0000000001"'), "more than 9 decimals"),
        (('young = "0.01", ', ""), "not those of the labels"),
        (('strata = "age"', 'strata = "state"'), "names a column twice"),
    ],
)
def test_what_is_wrong_is_named(change, words):
    with pytest.raises(UsageError, match=words) as caught:
        job("noisy", QUERY.replace(*change)).check(SCHEMAS, SCHEMAS)
    assert caught.value.hint
