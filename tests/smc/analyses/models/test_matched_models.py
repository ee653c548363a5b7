"""Models over matched rows beside statsmodels, what opens, what ends without a model, and planted attacks."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.models.outcome import SINGLE_ROWS
from smc.analyses.models.study import MODELS as ANALYSIS
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.errors import DisclosureRefused, UsageError
from smc.forms import Role
from smc.secret.sharing.opening import OpenedBits, OpenedShares
from smc.testing.analyses import check_analysis
from smc.testing.case import BOTH, Case, run_case
from tests.smc.analyses.models.cohort import SCHEMAS, columns
from tests.smc.analyses.models.matched_cohort import EXPECTED, data, design, job, persons
from tests.smc.analyses.models.matched_runs import FEW, changed, matched_rows, near, none_of, ran
from tests.support.held_bounds import unwatched

PAGE = Path(__file__).parents[4] / "docs" / "analyses.md"
GROUPS = Limits(minimum_group=5)
WEIGHS = Limits(minimum_group=5, dominance=Fraction(1, 4))
SMALL = {"kind": "logistic", "outcome": "died", "on": ["age", "stage"], "range": {"age": ["20", "95"]}}


def small(**changed):
    """A logistic model with a covariate of each side."""
    return job("logistic", **{**SMALL, "on": ["age", "weight"], **changed})


def test_a_linear_model_is_that_of_the_joined_table():
    (alice, bob), _ = ran(job("linear"), WEIGHS, rows=1600)
    assert alice.tables == bob.tables
    near(alice.tables[0].columns, *map(np.array, EXPECTED["linear"]))
    assert alice.tables[1].columns["rows"] == [len(design("linear")[0])]


@pytest.mark.slow
def test_a_logistic_model_is_that_of_the_joined_table():
    (alice, bob), _ = ran(job("logistic"), WEIGHS, rows=1600)
    assert alice.tables == bob.tables
    near(alice.tables[0].columns, *map(np.array, EXPECTED["logistic"]))
    assert "odds_ratio" in alice.tables[0].columns


def test_the_job_of_the_documents_gives_one_side_the_model():
    (shown,) = [
        found
        for text in re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
        if (found := tomllib.loads(text))
        .get("job", {})
        .get("title", "")
        .startswith("Smoking by age and weight")
    ]
    recipients = frozenset(map(Role, shown["job"]["recipients"]))
    study = ANALYSIS.parse(shown["parameters"])
    sides = []
    for role in Role:
        people, held = persons(role, FEW), columns(Role.ALICE, FEW)
        side = {
            name: Column(held[name][people], SCHEMAS[name]) for name in study.columns[role] if name != "card"
        }
        sides.append(
            side | {"card": Column([f"A-{number:05}" for number in people.tolist()], Schema("text"))}
        )
    (alice, bob), _ = run_case(study, Case({}, *sides, recipients=recipients), GROUPS)
    assert bob.tables == ()
    wanted, _ = study.reference(*sides, recipients)
    table, right = alice.tables[0].columns, wanted.tables[0].columns
    assert table["term"] == ["(intercept)", "age", "weight"]
    near(table, np.array(right["coefficient"]), np.array(right["standard_error"]))
    assert alice.tables[1].columns["rows"] == wanted.tables[1].columns["rows"]


@pytest.mark.slow
def test_what_is_stated_is_what_runs_do():
    parameters = job("linear")
    sides = [data(role, parameters, 150) for role in Role]
    assert check_analysis(ANALYSIS, Case(parameters, *sides, compare=False))


@pytest.mark.parametrize("name", ["linear", "logistic"])
def test_an_estimate_is_the_run(name):
    parameters = job("linear") if name == "linear" else small()
    sides = [data(role, parameters, 150) for role in Role]
    schemas = {column: held.schema for side in sides for column, held in side.items()}
    study = ANALYSIS.parse(parameters)
    counts = tuple(len(side["number"]) for side in sides)
    _, (alice, bob) = run_case(study, Case({}, *sides), WEIGHS if name == "linear" else NO_LIMITS)
    setting = RunSetting((counts[0], counts[1]))
    if name == "linear":
        setting = replace(setting, limits=WEIGHS)
    estimated = estimate_cost(study, schemas, BOTH, setting)
    assert (estimated.alice_bytes, estimated.bob_bytes) == (alice.sent, bob.sent)
    assert estimated.rounds == max(alice.rounds, bob.rounds)


def test_one_vector_opens_and_one_bit_for_the_limits():
    opened = []

    def seen(message):
        if isinstance(message, OpenedShares | OpenedBits):
            opened.append(type(message))

    ran(job("linear"), GROUPS, seen=seen)
    assert opened.count(OpenedShares) == 2  # a message of each side
    assert opened.count(OpenedBits) == 2


def one_matched(alice, bob, held):
    """Many persons of Bob differ from the rest; of those that match, one."""
    _, places = matched_rows(alice, bob)
    found = np.full_like(held, 700)
    found[np.setdiff1d(np.arange(len(held)), places)] = 900
    found[places[3]] = 900
    return found


def test_a_covariate_that_one_matched_person_has_is_refused_and_nothing_opens():
    opened = []
    seen = lambda message: opened.append(message) if isinstance(message, OpenedShares) else None  # noqa: E731
    with unwatched(), pytest.raises(DisclosureRefused):
        ran(job("linear"), GROUPS, change=changed("weight", one_matched), seen=seen)
    assert opened == []


def dominated(alice, bob, held):
    """Half of the values are a hair above the other half, and one person is far off."""
    found = 700 + np.arange(len(held)) % 2
    found[matched_rows(alice, bob)[1][3]] = 2500
    return found


def test_a_person_that_decides_a_coefficient_is_refused_by_dominance():
    change = changed("weight", dominated)
    for limits in (Limits(dominance=Fraction(1, 4)), GROUPS):
        with pytest.raises(DisclosureRefused):
            ran(job("linear"), limits, change=change)
    ran(job("linear"), change=change)


def test_few_matches_are_refused():
    with pytest.raises(DisclosureRefused):
        ran(job("linear"), Limits(minimum_intersection=FEW), rows=FEW)
    with pytest.raises(DisclosureRefused):
        ran(job("linear"), Limits(minimum_group=60), rows=80)


def test_few_of_an_outcome_are_refused():
    def few(alice, bob, held):
        found = np.zeros_like(held)
        found[matched_rows(alice, bob)[0][:29]] = 1
        return found

    with pytest.raises(DisclosureRefused):
        ran(small(), GROUPS, change=changed("died", few))


def test_collinear_covariates_end_in_one_bit():
    def copied(alice, bob, held):
        first, second = matched_rows(alice, bob)
        held[second] = 200 + 10 * alice["age"].array[first]
        return held

    with unwatched():
        (alice, _), _ = ran(job("linear"), change=changed("weight", copied))
    none_of(alice)


@pytest.mark.parametrize("shift", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_separated_outcomes_end_in_one_bit(shift):
    """By a covariate of the other side, wholly and nearly."""

    def split(alice, bob, held):
        first, second = matched_rows(alice, bob)
        held[first] = bob["weight"].array[second] > 800 + shift
        return held

    with unwatched():
        (alice, bob), _ = ran(small(), rows=160, change=changed("died", split))
    none_of(alice)
    assert bob.tables == alice.tables


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (job("logistic", on=["age", {"product": ["age", "stage"]}]), "columns of both sides"),
        (job("linear") | {"bob_columns": ["cost"]}, "in neither alice_columns nor bob_columns"),
        (job("linear") | {"alice_columns": ["age", "smoker", "died"]}, "no model uses"),
        (job("linear") | {"bob_columns": ["cost", "weight", "age"]}, "name a column twice"),
        (small(report=["auc"]), "area under the curve"),
        (small(report=["auc", "calibration"]), "calibration is a figure of the analysis validation"),
        (small() | {"epsilon": "1"}, 'epsilon: models have no noise.*kind = "regression"'),
        (job("linear") | {"match": {"keys": ["number"], "duplicates": "multiset"}}, "duplicates"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(parameters, message):
    sides = [{name: held.schema for name, held in data(role, parameters, 40).items()} for role in Role]
    with pytest.raises(UsageError, match=message):
        ANALYSIS.parse(parameters).check(*sides)


def test_who_receives_a_model_learns_of_single_rows():
    """The facts say so, so that policies decide, and the leakage statement says how."""
    study = ANALYSIS.parse(small())
    facts = study.facts(BOTH)
    assert facts.row_results
    assert facts.matches
    assert any("chosen values" in line for line in study.leakage(BOTH).alice)
    receives = frozenset({Role.BOB})
    alone = ANALYSIS.parse(job("logistic", on=["age"]) | {"bob_columns": []})
    assert alone.facts(receives).row_results
    assert SINGLE_ROWS in alone.leakage(receives).bob
    assert SINGLE_ROWS not in alone.leakage(receives).alice
    assert Schema("text") == data(Role.ALICE, small(), 40)["number"].schema
