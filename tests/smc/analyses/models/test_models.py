"""Models of both sides' rows beside statsmodels and lifelines, their openings and their price."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.models import run as models_run
from smc.analyses.models.design import Design, ModelRows
from smc.analyses.models.discrimination import Discrimination, shown_bits
from smc.analyses.models.likelihoods import derivatives, own_estimate
from smc.analyses.models.outcome import SINGLE_ROWS
from smc.analyses.models.parameters import parse
from smc.analyses.models.reference import estimate
from smc.analyses.models.study import MODELS as ANALYSIS
from smc.analyses.studies.columns import Schema
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.errors import UsageError
from smc.forms import Role
from smc.secret.sharing.opening import OpenedShares
from smc.testing.case import BOTH, Case, run_case
from tests.smc.analyses.models.cohort import EXPECTED, MODELS, SCHEMAS, data


def study_of(*names):
    return ANALYSIS.parse({"models": [{"name": name, **MODELS[name]} for name in names]})


def fitted(name, limits=NO_LIMITS, rows=None, **changed):
    """What Alice gets of a model; Bob gets the same."""
    study = ANALYSIS.parse({"models": [{"name": name, **MODELS[name], **changed}]})
    sides = [data(role, name, rows) for role in Role]
    (alice, bob), traffic = run_case(study, Case({}, *sides), limits)
    assert alice.tables == bob.tables
    return alice, traffic


@pytest.mark.parametrize("name", MODELS)
def test_coefficients_are_those_of_one_table_to_a_32nd_of_their_standard_errors(name):
    outcome, _ = fitted(name)
    table = outcome.tables[0].columns
    values, errors = map(np.array, EXPECTED[name])
    assert np.abs((np.array(table["coefficient"]) - values) / errors).max() < 1 / 32
    assert np.abs(np.array(table["standard_error"]) / errors - 1).max() < 0.005
    assert outcome.tables[-1].columns["openings"] == [2]
    ends = np.array(table["lower_95"]), np.array(table["upper_95"])
    assert np.allclose(ends, [values - 1.96 * errors, values + 1.96 * errors], atol=0.05 * errors.max())


@pytest.mark.parametrize("name", MODELS)
def test_before_they_are_rounded_they_are_nearer_than_half_a_thousandth(name, monkeypatch):
    """Where sides have some hundred rows each; what is left is that of one Newton step, and of 22 bits."""
    monkeypatch.setattr(models_run.Sizes, "coefficient_bits", 22)
    table = fitted(name)[0].tables[0].columns
    values, errors = map(np.array, EXPECTED[name])
    assert np.abs((np.array(table["coefficient"]) - values) / errors).max() < 5e-4


def test_ratios_and_p_values_follow():
    logistic = fitted("logistic")[0].tables[0].columns
    assert logistic["odds_ratio"][0] is None
    assert np.allclose(np.exp(logistic["coefficient"][1:]), logistic["odds_ratio"][1:])
    assert np.allclose(np.exp(logistic["upper_95"][1:]), logistic["odds_ratio_upper_95"][1:])
    assert logistic["term"] == [
        *("(intercept)", "age", "smoker = yes", "stage = II", "stage = III", "age x smoker = yes"),
    ]
    assert 0 < logistic["p_value"][1] < 1e-10
    assert 0.2 < logistic["p_value"][5] < 0.5
    assert "hazard_ratio" in fitted("cox")[0].tables[0].columns
    assert "rate_ratio" in fitted("poisson")[0].tables[0].columns


@pytest.mark.parametrize("rows", [None, 60])
def test_the_area_under_the_curve_is_that_of_all_pairs(rows):
    outcome, _ = fitted("logistic", rows=rows, on=["age", "smoker"], report=["auc"])
    summary = outcome.tables[-1].columns
    design = Design.of(
        parse({"models": [{**MODELS["logistic"], "on": ["age", "smoker"]}]}).models[0], SCHEMAS
    )
    sides = [design.rows(data(role, "logistic", rows)) for role in Role]
    coefficients, _ = estimate(design, sides)
    score = np.concatenate([each.covariates @ coefficients for each in sides])
    died = np.concatenate([each.outcome for each in sides]) > 0
    pairs = score[died][:, None] - score[~died]
    wins = (pairs > 0) + (pairs == 0) / 2
    assert summary["with_outcome"] == [int(died.sum())]
    assert summary["auc"][0] == pytest.approx(wins.mean(), abs=1e-3)
    area, first, second = wins.mean(), int(died.sum()), int((~died).sum())
    pairs = (first - 1) * (area / (2 - area) - area**2), (second - 1) * (2 * area**2 / (1 + area) - area**2)
    error = np.sqrt((area * (1 - area) + sum(pairs)) / (first * second))
    of_sample = wins.mean(axis=1).var(ddof=1) / first + wins.mean(axis=0).var(ddof=1) / second  # DeLong
    assert error == pytest.approx(np.sqrt(of_sample), rel=0.1)
    for end, sign in ((summary["auc_lower_95"][0], -1), (summary["auc_upper_95"][0], 1)):
        assert end == pytest.approx(area + sign * 1.959964 * error, abs=2e-3)


@pytest.mark.parametrize(
    ("rows", "persons", "bits"),
    [
        (400, 10, 4),
        (100_000, 10, 12),
        (100_000, 1, 16),
        (400, 0, 16),
        (8, 10, 0),
        (1, 2, 0),
        (1 << 30, 5, 16),
    ],
)
def test_an_area_is_rounded_to_what_so_many_rows_of_the_smaller_side_change(rows, persons, bits):
    assert shown_bits(rows, persons) == bits
    assert bits == 16 or not persons or 2.0**-bits >= min(1, persons / rows)


@pytest.mark.parametrize(("rows", "unit"), [(100, 2.0**-4), (400, 2.0**-6), (400, 0.0)])
def test_the_interval_of_an_area_holds_the_area_of_the_population(rows, unit):
    """Nineteen of twenty at least, whatever unit it is rounded to: at a false-alarm rate of 1e-6 of 400."""
    draws, population, held = np.random.default_rng(1), 0.745, 0
    shift = 0.932  # of two normal distributions of deviation 1, for this area
    for _ in range(400):
        cases, others = draws.normal(shift, 1, rows // 2), np.sort(draws.normal(0, 1, rows // 2))
        area = np.searchsorted(others, cases).mean() / (rows // 2) / 4
        rounded = round(area / unit) * unit if unit else area
        low, high = Discrimination(rows // 2, rows, rounded, unit).interval
        held += low <= population <= high
    assert held >= 400 * 0.95 - 4.75 * np.sqrt(400 * 0.95 * 0.05)


def test_an_area_that_rounding_leaves_nothing_of_is_told_by_its_interval_alone():
    assert Discrimination(50, 100, 0.25, 2.0**-2).auc is None
    assert Discrimination(50, 100, 0.25, 2.0**-2).interval == (pytest.approx(0.39, abs=0.02), 1.0)
    assert Discrimination(500, 1000, 0.2, 2.0**-7).auc == pytest.approx(0.8)


def test_models_count_as_results_about_single_rows():
    """Rows and covariates of a peer's choice are equations for what few rows have; an area says what more."""
    for model, has_area in ((MODELS["logistic"], False), ({**MODELS["logistic"], "report": ["auc"]}, True)):
        study = ANALYSIS.parse({"models": [model]})
        assert study.facts(BOTH).row_results
        said = " ".join(study.leakage(BOTH).bob)
        assert SINGLE_ROWS in said
        assert ("by chosen rows of its own" in said) is has_area


def test_an_estimate_with_an_area_is_the_run():
    study = ANALYSIS.parse({"models": [{**MODELS["logistic"], "report": ["auc"]}]})
    sides = [data(role, "logistic", 200) for role in Role]
    schemas = {column: held.schema for column, held in sides[0].items()}
    estimated = estimate_cost(study, schemas, BOTH, RunSetting((200, 200)))
    _, (alice, bob) = run_case(study, Case({}, *sides), NO_LIMITS)
    assert (estimated.alice_bytes, estimated.bob_bytes) == (alice.sent, bob.sent)
    assert estimated.rounds == max(alice.rounds, bob.rounds)


def test_several_models_in_a_job():
    study = study_of("linear", "cox")
    sides = [data(role, "linear") | data(role, "cox") for role in Role]
    (alice, _), _ = run_case(study, Case({}, *sides), NO_LIMITS)
    assert [table.name for table in alice.tables] == ["linear", "cox", "models"]
    assert alice.tables[-1].columns["rows"] == [1200, 1200]


def test_nothing_opens_but_what_is_stated():
    """Of a model with three coefficients: the start with its bit, then the step, the variances and a bit."""
    seen = []
    sides = [data(role, "cox") for role in Role]
    opened = lambda message: seen.append(message) if isinstance(message, OpenedShares) else None  # noqa: E731
    run_case(study_of("cox"), Case({}, *sides), NO_LIMITS, seen=opened)
    assert Counter(len(message.shares.values) for message in seen) == {3 + 1: 2, 2 * 3 + 1: 2}


@pytest.mark.parametrize("name", MODELS)
def test_an_estimate_is_the_run(name):
    study, sides = study_of(name), [data(role, name, 400) for role in Role]
    schemas = {column: held.schema for column, held in sides[0].items()}
    estimate = estimate_cost(study, schemas, BOTH, RunSetting((400, 400)))
    outcome, (alice, bob) = fitted(name, rows=400)
    assert outcome.tables[-1].columns["openings"] == [2]
    assert (estimate.alice_bytes, estimate.bob_bytes) == (alice.sent, bob.sent)
    assert estimate.rounds == max(alice.rounds, bob.rounds)


def test_ten_covariates_take_little_more_than_five_megabytes():
    names = [f"x{place}" for place in range(10)]
    study = ANALYSIS.parse({"models": [{"kind": "logistic", "outcome": "died", "on": names}]})
    schemas = {name: Schema("integer", lower=0, upper=120) for name in names} | {"died": SCHEMAS["died"]}
    estimate = estimate_cost(study, schemas, BOTH, RunSetting((50_000, 50_000)))
    assert estimate.alice_bytes + estimate.bob_bytes < 5_200_000


def test_a_side_whose_own_estimate_does_not_exist_helps_the_other_one():
    """All of Bob's few rows have the event: alone he has no estimate."""
    held = data(Role.BOB, "logistic", 40)
    held["died"] = replace(held["died"], values=np.ones(40, dtype=np.int64))
    sides = [data(Role.ALICE, "logistic"), held]
    study = study_of("logistic")
    (alice, _), _ = run_case(study, Case({}, *sides), NO_LIMITS)
    reference, _ = study.reference(*sides, BOTH)
    table, wanted = alice.tables[0].columns, reference.tables[0].columns
    off = (np.array(table["coefficient"]) - wanted["coefficient"]) / np.array(wanted["standard_error"])
    assert np.abs(off).max() < 1 / 16
    assert alice.tables[-1].columns["openings"][0] <= 4


def test_derived_columns_are_covariates():
    study = ANALYSIS.parse(
        {
            "models": [{"kind": "logistic", "outcome": "died", "on": ["old"]}],
            "derived": {"old": {"column": "age", "cuts": [65], "labels": ["below 65", "65 and over"]}},
        }
    )
    sides = [{name: data(role, "logistic")[name] for name in ("died", "age")} for role in Role]
    (alice, _), _ = run_case(study, Case({}, *sides), NO_LIMITS)
    assert alice.tables[0].columns["term"] == ["(intercept)", "old = 65 and over"]


def brute_force(rows: ModelRows, coefficients):
    """Efron's gradient and information, risk set by risk set."""
    x, size = rows.covariates, rows.covariates.shape[1]
    gradient, information = np.zeros(size), np.zeros((size, size))
    risk = np.exp(x @ coefficients)
    for time in np.unique(rows.outcome[rows.event]):
        tied, at_risk = np.flatnonzero(rows.event & (rows.outcome == time)), rows.outcome >= time
        for place in range(len(tied)):
            left = place / len(tied)
            weights = risk * at_risk
            weights[tied] *= 1 - left
            mean = weights @ x / weights.sum()
            gradient += x[tied[place]] - mean
            information += (x * weights[:, None]).T @ x / weights.sum() - np.outer(mean, mean)
    return gradient, information


def test_risk_sets_are_those_of_efron():
    design = Design.of(parse({"models": [MODELS["cox"]]}).models[0], SCHEMAS)
    rows = design.rows(data(Role.ALICE, "cox", 120))
    for coefficients in (np.zeros(3), np.array([0.7, -0.4, 1.1])):
        found = derivatives(design, rows, coefficients)
        gradient, information = brute_force(rows, coefficients)
        assert np.allclose(found.gradient, gradient)
        assert np.allclose(found.information, information)


@pytest.mark.parametrize("name", MODELS)
def test_gradients_are_those_of_the_information(name):
    """The information is minus the derivative of the gradient."""
    design = Design.of(parse({"models": [MODELS[name]]}).models[0], SCHEMAS)
    rows = design.rows(data(Role.BOB, name, 200))
    at = own_estimate(design, rows)
    information = derivatives(design, rows, at).information
    for place in range(design.size):
        step = np.zeros(design.size)
        step[place] = 1e-5
        ends = [derivatives(design, rows, at + side * step).gradient for side in (1, -1)]
        assert np.allclose((ends[1] - ends[0]) / 2e-5, information[place], rtol=1e-4, atol=1e-3)


WRONG = {
    "no models": {"models": []},
    "unknown kind": {"models": [{"kind": "probit", "outcome": "died", "on": ["age"]}]},
    "unknown key": {"models": [{"kind": "linear", "outcome": "cost", "on": ["age"], "label": "x"}]},
    "no covariate": {"models": [{"kind": "linear", "outcome": "cost", "on": []}]},
    "a covariate twice": {
        "models": [
            {"kind": "linear", "outcome": "cost", "on": [{"product": ["a", "b"]}, {"product": ["b", "a"]}]}
        ]
    },
    "a product of one": {"models": [{"kind": "linear", "outcome": "cost", "on": [{"product": ["age"]}]}]},
    "outcome on itself": {"models": [{"kind": "linear", "outcome": "cost", "on": ["cost"]}]},
    "an empty range": {
        "models": [{"kind": "linear", "outcome": "cost", "on": ["age"], "range": {"age": [9, 9]}}]
    },
    "a range of nothing": {
        "models": [{"kind": "linear", "outcome": "cost", "on": ["age"], "range": {"b": [0, 9]}}]
    },
    "a float": {"models": [{"kind": "linear", "outcome": "cost", "on": ["age"], "range": {"age": [0.5, 9]}}]},
    "a name twice": {"models": [{"kind": "linear", "outcome": "cost", "on": ["age"]}] * 2},
    "no table": {"models": ["linear"]},
    "an unknown report": {"models": [{**MODELS["logistic"], "report": ["roc"]}]},
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_parameters_are_refused(name):
    with pytest.raises(UsageError):
        ANALYSIS.parse(WRONG[name])


UNFIT = {
    "an outcome of three labels without a label": (
        {"kind": "logistic", "outcome": "stage", "on": ["age"]},
        {},
    ),
    "an outcome of numbers": ({"kind": "logistic", "outcome": "cost", "on": ["age"]}, {}),
    "no bounds": (
        {"kind": "linear", "outcome": "cost", "on": ["age"]},
        {"age": Schema("integer")},
    ),
    "negative counts": (
        {"kind": "poisson", "outcome": "visits", "on": ["age"]},
        {"visits": Schema("integer", lower=-1, upper=9)},
    ),
    "all labels are the event": (
        {"kind": "cox", "time": "days", "event": "event", "events": ["alive", "dead"], "on": ["age"]},
        {},
    ),
    "strata of numbers": (
        {
            "kind": "cox",
            "time": "days",
            "event": "event",
            "events": ["dead"],
            "on": ["age"],
            "strata": ["cost"],
        },
        {},
    ),
}


@pytest.mark.parametrize("name", UNFIT)
def test_columns_that_do_not_fit_are_refused(name):
    model, changed = UNFIT[name]
    study = ANALYSIS.parse({"models": [model]})
    schemas = {column: (SCHEMAS | changed)[column] for column in study.columns[Role.ALICE]}
    with pytest.raises(UsageError):
        study.check(schemas, schemas)


def test_declarations_of_both_sides_have_to_be_alike_but_for_stated_ranges():
    other = SCHEMAS | {"age": Schema("integer", lower=0, upper=110, unit="years")}
    for given, fits in ((MODELS["logistic"], True), ({**MODELS["logistic"], "range": {}}, False)):
        study = ANALYSIS.parse({"models": [given]})
        first, second = (
            {name: schemas[name] for name in study.columns[Role.ALICE]} for schemas in (SCHEMAS, other)
        )
        if fits:
            study.check(first, second)
        else:
            with pytest.raises(UsageError, match="upper of 'age' differently"):
                study.check(first, second)


@pytest.mark.parametrize("recipients", [{Role.ALICE}, {Role.BOB}, set()])
def test_both_receive(recipients):
    with pytest.raises(UsageError, match="Both sides receive"):
        study_of("linear").check_recipients(frozenset(recipients))


def test_values_beyond_a_range_count_as_its_end():
    outcome, _ = fitted("logistic", range={"age": ["40", "60"]})
    assert any("beyond a stated range" in note for note in outcome.notes)
    design = Design.of(
        parse({"models": [{**MODELS["logistic"], "range": {"age": ["40", "60"]}}]}).models[0], SCHEMAS
    )
    rows = design.rows(data(Role.ALICE, "logistic"))
    assert rows.covariates[:, 1].min() == -1
    assert rows.covariates[:, 1].max() == 1
