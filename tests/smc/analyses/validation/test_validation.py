"""Validation of a model: joint runs count as clear ones do, and figures hold what they say."""

from __future__ import annotations

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.analyses.validation import study as validation
from smc.analyses.validation.figures import ScoreCounts
from smc.analyses.validation.study import VALIDATION
from smc.errors import DomainError, UsageError
from smc.forms import Role
from smc.testing import Case, check_analysis
from smc.testing.case import run_case, schemas_of

RANDOM = np.random.default_rng(31)
FEATURES = [
    {"name": "age", "lower": "0", "upper": "120"},
    {"name": "bmi", "lower": "10", "upper": "60"},
]
PARAMETERS = {"outcome": "died", "epsilon": "1", "features": FEATURES, "largest": 16}
MODEL = {"(intercept)": -50_000, "age": 500, "bmi": 800}


def model(weights=MODEL):
    return {
        "feature": Column([*weights], Schema("text")),
        "weight": Column([*weights.values()], Schema("decimal", 4, -(10**6), 10**6)),
    }


def patients(count):
    age, bmi = RANDOM.integers(20, 95, count), RANDOM.integers(170, 420, count)
    chance = 1 / (1 + np.exp(5 - 0.05 * age - 0.08 * bmi / 10))
    return {
        "age": Column(age, Schema("integer", 0, 0, 120)),
        "bmi": Column(bmi, Schema("decimal", 1, 100, 600)),
        "died": Column((RANDOM.random(count) < chance).astype(np.int64), Schema("integer", 0, 0, 1)),
    }


@pytest.fixture(scope="module")
def rows():
    return patients(300)


def case(rows, **changes):
    return Case({**PARAMETERS, **changes}, model(), rows, compare=False)


def test_what_it_states_is_what_its_runs_do(rows):
    assert check_analysis(VALIDATION, case(rows))


def exact(monkeypatch):
    """No noise, to see the numbers themselves."""
    monkeypatch.setattr(
        validation.noise, "draw", lambda session, distributions: np.zeros(len(distributions), dtype=np.uint64)
    )


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"cuts": ["0.05", "0.5", "0.9"], "threshold": "0.5"},
        {"kind": "linear", "cuts": ["-1", "0.5", "2"]},
        {"cuts": ["1/3"]},
    ],
)
def test_without_noise_the_joint_run_counts_as_the_clear_one(rows, monkeypatch, changes):
    exact(monkeypatch)
    study = VALIDATION.parse({**PARAMETERS, **changes})
    found, _ = run_case(study, case(rows, **changes), NO_LIMITS)
    assert found[0].tables == found[1].tables == study.reference(model(), rows, frozenset(Role))[0].tables
    by_score = next(table for table in found[0].tables if table.name == "by score")
    assert sum(by_score.columns["rows"]) == 300
    assert sum(by_score.columns["with_outcome"]) == rows["died"].array.sum()


@pytest.mark.parametrize("count", [1, 300, 40_000])
def test_the_estimate_is_what_a_run_sends(count):
    study, rows = VALIDATION.parse(PARAMETERS), patients(count)
    _, sent = run_case(study, Case(PARAMETERS, model(), rows), NO_LIMITS)
    schemas = schemas_of({**model(), **rows})
    found = estimate_cost(study, schemas, frozenset(Role), RunSetting((3, count)))
    assert (found.alice_bytes, found.bob_bytes) == tuple(each.sent for each in sent)
    assert found.rounds == sent[0].rounds
    # A side that does not know the other's declarations asks as well.
    for known in (model(), rows):
        alone = estimate_cost(study, schemas_of(known), frozenset(Role), RunSetting((3, count)))
        assert (alone.alice_bytes, alone.bob_bytes) == (found.alice_bytes, found.bob_bytes)


def test_the_side_of_the_model_may_be_bob(rows, monkeypatch):
    exact(monkeypatch)
    study = VALIDATION.parse({**PARAMETERS, "model": "bob"})
    found, _ = run_case(study, Case({**PARAMETERS, "model": "bob"}, rows, model()), NO_LIMITS)
    assert found[0].tables == study.reference(rows, model(), frozenset(Role))[1].tables


def test_a_person_who_brings_another_row_moves_two_numbers_by_one(rows):
    study = VALIDATION.parse(PARAMETERS)
    before = numbers(study, rows)
    for other in range(50):
        changed = {name: Column(column.array.copy(), column.schema) for name, column in rows.items()}
        for column, value in zip(changed.values(), (other * 2, 600 - other, other % 2), strict=True):
            column.values[other] = value
        assert np.abs(numbers(study, changed) - before).sum() <= 2


def numbers(study, rows):
    (found, _) = study.reference(model(), rows, frozenset(Role))
    table = next(table for table in found.tables if table.name == "by score")
    with_outcome = np.array(table.columns["with_outcome"])
    return np.concatenate([np.array(table.columns["rows"]) - with_outcome, with_outcome])


def test_the_area_under_the_curve_is_that_of_all_pairs():
    cells = RANDOM.integers(0, 20, 400)
    outcomes = RANDOM.random(400) < cells / 25
    counts = ScoreCounts(
        *(np.bincount(cells[outcomes == one], minlength=20).astype(float) for one in (0, 1)), 0.0
    )
    above, below = cells[outcomes][:, None], cells[~outcomes][None]
    wins = (above > below) + (above == below) / 2
    area = counts.area()
    assert area.value == pytest.approx(wins.mean(), abs=1e-12)
    # The variance by placements, of all rows one by one.
    over, under = wins.mean(axis=1), wins.mean(axis=0)
    assert area.sampling == pytest.approx(over.var() / len(over) + under.var() / len(under), rel=1e-9)


def test_intervals_hold_the_area_and_rates_as_often_as_they_say():
    """Of 2,000 draws of rows and noise; a level of 0.95 is below 0.92 once in 10**8 runs."""
    chances, held, seen = (np.arange(10) + 0.5) / 10, 0, 2_000
    wide = np.outer(chances, 1 - chances) / (chances.sum() * (1 - chances).sum())
    truth = np.tril(wide, -1).sum() + np.trace(wide) / 2
    for _ in range(seen):
        cells = RANDOM.integers(0, 10, 2_000)
        outcomes = RANDOM.random(2_000) < chances[cells]
        drawn = RANDOM.laplace(scale=4, size=(2, 10))
        noisy = (np.bincount(cells[outcomes == one], minlength=10) + drawn[one] for one in (0, 1))
        _, lower, upper, _ = ScoreCounts(*noisy, 32.0).area().cells()
        held += lower <= truth <= upper
    assert 0.92 * seen < held < 0.98 * seen


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "linear"}, "cuts is missing"),
        ({"cuts": ["0.5", "0.2"]}, "ascending"),
        ({"cuts": ["0", "0.5"]}, "not between 0 and 1"),
        ({"threshold": "0.55"}, "not one of the cuts"),
        ({"features": [*FEATURES, FEATURES[0]]}, "names a column twice"),
        ({"features": [{"name": "age", "lower": "5", "upper": "5"}]}, "not below upper"),
        ({"features": []}, "features"),
        ({"epsilon": "0"}, "not positive"),
        ({"largest": 0}, "out of range"),
        ({"outcome": "age"}, "outcome"),
    ],
)
def test_impossible_parameters_are_named(changes, message):
    with pytest.raises(UsageError, match=message):
        VALIDATION.parse({**PARAMETERS, **changes})


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({**MODEL, "sex": 1}, "'sex' is in one of them only"),
        ({"age": 500}, "'bmi' is in one of them only"),
        ({**MODEL, "age": 900_000}, "could exceed 16"),
    ],
)
def test_a_model_that_does_not_fit_is_refused_at_its_own_side(weights, message):
    study = VALIDATION.parse(PARAMETERS)
    refused = study.preview(model(weights), Role.ALICE, NO_LIMITS).refusal
    assert isinstance(refused, DomainError)
    assert message in str(refused)


def test_several_rows_of_a_person_are_refused(rows):
    twice = {**rows, PERSONS: Column(np.arange(300) // 2, Schema("integer"))}
    refused = VALIDATION.parse(PARAMETERS).preview(twice, Role.BOB, NO_LIMITS).refusal
    assert "one row of each" in str(refused)


def test_an_outcome_is_a_category_with_labels_that_count(rows, monkeypatch):
    exact(monkeypatch)
    labels = Column(rows["died"].array, Schema("category", categories=("no", "yes")))
    study = VALIDATION.parse({**PARAMETERS, "positive": ["yes"]})
    assert (
        numbers(study, {**rows, "died": labels}).tolist()
        == numbers(VALIDATION.parse(PARAMETERS), rows).tolist()
    )
    for positive in ([], ["perhaps"], ["no", "yes"]):
        wrong = VALIDATION.parse({**PARAMETERS, "positive": positive})
        refused = wrong.preview({**rows, "died": labels}, Role.BOB, NO_LIMITS).refusal
        assert "is not an outcome" in str(refused)
