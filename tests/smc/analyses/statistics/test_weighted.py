"""Weighted means: exact under limits, with noise, and over matched rows."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from smc.analyses.disclosure.kish import kish
from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.statistics.plans.plan import plan
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.errors import DisclosureRefused, UsageError
from smc.numeric.random import Randomness
from tests.smc.analyses.records.test_noisy_means import draws
from tests.smc.analyses.statistics_runs import BOTH, joint, silence
from tests.smc.analyses.test_estimates import check

COST = Schema("decimal", scale=1, lower=-500, upper=20_000, unit="EUR")
WEIGHT = Schema("decimal", scale=2, lower=0, upper=1000)
SEX = Schema("category", categories=("f", "m"))
SCHEMAS = {"cost": COST, "weight": WEIGHT, "sex": SEX}
QUERY = '[[queries]]\nkind = "weighted-mean"\ncolumn = "cost"\nweight = "weight"\nby = "sex"\n'
HEADS = {"exact": 'noise = "none"\n', "noisy": 'epsilon = "2"\n'}


def job(head, query=QUERY):
    return STATISTICS.parse(tomllib.loads(HEADS.get(head, head) + query))


def side(rows, seed, **given):
    drawn = np.random.default_rng(seed)
    columns = {
        "cost": drawn.integers(0, 9000, rows),
        "weight": drawn.integers(50, 400, rows),
        "sex": drawn.integers(0, 2, rows),
    } | given
    return {name: Column(values, SCHEMAS[name]) for name, values in columns.items()}


def by_sex(outcome):
    table = outcome.tables[0].columns
    return dict(zip(table["group"], table["value"], strict=True))


def expected(*sides):
    every = {name: np.concatenate([data[name].array for data in sides]) for name in SCHEMAS}
    return {
        label: np.average(
            every["cost"][every["sex"] == place], weights=every["weight"][every["sex"] == place]
        )
        / 10
        for place, label in enumerate(SEX.categories)
    }


@pytest.mark.parametrize("head", HEADS)
def test_it_is_the_mean_by_weights(monkeypatch, head):
    silence(monkeypatch)
    sides = side(120, 1), side(90, 2)
    study = job(head)
    study.check(SCHEMAS, SCHEMAS)
    outcome, other = joint(study, *sides)
    assert outcome == other
    found = by_sex(outcome)
    assert {label: found[label] for label in SEX.categories} == pytest.approx(expected(*sides))
    assert outcome.tables[0].columns["unit"][0] == "EUR"
    assert by_sex(study.reference(*sides, BOTH)[0]) == pytest.approx(found)
    if head == "exact":
        assert set(found) == {*SEX.categories, "(all)"}


def test_a_row_with_weight_0_adds_nothing(monkeypatch):
    silence(monkeypatch)
    sides = side(50, 3), side(40, 4)
    heavy = side(60, 5, weight=np.zeros(60, dtype=np.int64), cost=np.full(60, 9999))
    with_them = {
        name: Column(np.concatenate([sides[0][name].array, heavy[name].array]), SCHEMAS[name])
        for name in SCHEMAS
    }
    found = by_sex(joint(job("noisy"), with_them, sides[1])[0])
    assert found == pytest.approx(expected(*sides))
    nobody = by_sex(joint(job("exact"), heavy, heavy)[0])
    assert set(nobody.values()) == {None}


def test_intervals_cover():
    statistic = plan(job("noisy").parameters, SCHEMAS)[0].statistic
    assert [part.sensitivity for part in statistic.parts] == [10250 * 1000, 1000]
    runs, drawn, unused = 500, np.random.default_rng(3), Randomness.from_seed(b"", "")
    exact = [1_000_000_000, 400_000]
    noise = np.stack([draws(law, runs, drawn) for law in statistic.distributions], axis=1)
    found = [statistic.result((exact + off).tolist(), statistic.distributions, unused) for off in noise]
    truth = statistic.result(exact, (), unused).value
    hits = sum(each.lower <= truth <= each.upper for each in found)
    assert hits >= runs * 0.95 - 4.9 * sqrt(runs * 0.05 * 0.95)
    errors = [abs(each.value - truth) for each in found]
    assert np.median([each.upper - each.lower for each in found]) / 2 <= 1.2 * np.quantile(errors, 0.95)


def test_one_heavy_weight_makes_a_mean_one_persons():
    """Forty persons, one of whom has nearly all weight: the mean is about that one."""
    weight = np.full(40, 5)
    weight[0] = 1000
    group = {"sex": np.zeros(40, dtype=np.int64), "cost": np.arange(40) * 100 + 50}
    alice, bob = side(40, 1, weight=weight, **group), side(40, 2, **group)
    for limits in (Limits(minimum_group=10), Limits(dominance=Fraction(4, 5))):
        try:
            shown = by_sex(joint(job("exact"), alice, bob, limits=limits)[0])["f"]
        except DisclosureRefused:
            shown = None
        assert shown is None
    # nine weigh as much as one another, so that four fifths are no person's; but they are fewer than ten
    weight = np.where(np.arange(40) < 9, 1000, 1)
    few = side(40, 1, weight=weight, **group)
    assert by_sex(joint(job("exact"), few, bob, limits=Limits(dominance=Fraction(4, 5)))[0])["f"] is not None
    try:
        shown = by_sex(joint(job("exact"), few, bob, limits=Limits(minimum_group=10))[0])["f"]
    except DisclosureRefused:
        shown = None
    assert shown is None


def test_kishs_number_is_of_persons():
    cells = np.array([0, 0, 0, 1, 1, 2])
    persons = np.array([0, 1, 1, 0, 1, 0])
    weights = np.array([2, 1, 1, 3, 1, 0])
    assert kish(cells, persons, weights, 4).tolist() == [2, 1, 0, 0]
    assert kish(np.zeros(7, dtype=np.int64), np.arange(7), np.full(7, 123), 1).tolist() == [7]


@pytest.mark.parametrize("limits", [NO_LIMITS, Limits(minimum_group=5)])
@pytest.mark.parametrize("head", HEADS)
def test_estimates_are_what_runs_cost(head, limits):
    check(job(head), side(80, 8), side(80, 9), limits)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('weight = "weight"\n', ""), "weight is missing"),
        (('weight = "weight"', 'weight = "cost"'), "names a column twice"),
        (('weight = "weight"', 'weight = "loss"'), "may be below 0"),
        (('by = "sex"', "by = []\nlower = 3"), "which column it is about"),
    ],
)
def test_what_is_wrong_is_named(change, words):
    schemas = SCHEMAS | {"loss": Schema("integer", lower=-3, upper=5)}
    with pytest.raises(UsageError, match=words) as caught:
        job("noisy", QUERY.replace(*change)).check(schemas, schemas)
    assert caught.value.hint


def test_persons_with_several_rows_weigh_together():
    weight, persons = np.full(40, 10), np.concatenate([np.zeros(30, dtype=np.int64), np.arange(1, 11)])
    group = {"sex": np.zeros(40, dtype=np.int64), "cost": np.arange(40) * 100 + 50}
    alice, bob = side(40, 1, weight=weight, **group), side(40, 2, **group)
    alice[PERSONS] = Column(persons, Schema("integer"))
    try:
        shown = by_sex(joint(job("exact"), alice, bob, limits=Limits(minimum_group=5))[0])["f"]
    except DisclosureRefused:
        shown = None
    assert shown is None
