"""Validation of trees and forests: counts of chances that are scikit-learn's, with noise."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.predictors.text import commitment
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.analyses.validation import study as validation
from smc.analyses.validation.study import VALIDATION
from smc.errors import UsageError
from smc.forms import Role
from smc.testing import Case, check_analysis
from smc.testing.case import run_case, schemas_of
from tests.support.scored_models import DECLARED, UNITS, held_rows_of, model_data, of_trees, rows_data

RANDOM = np.random.default_rng(5)
BOTH = frozenset(Role)


def outcomes(held):
    real = held / UNITS
    score = (real[:, 0] - 60) / 30 + (real[:, 1] - 35) / 20 + (real[:, 2] - 20) / 10
    return (score + RANDOM.normal(0, 0.8, len(held)) > 0).astype(np.int64)


TRAINED, ROWS = held_rows_of(RANDOM, 1000), held_rows_of(RANDOM, 250)
DIED = outcomes(ROWS)
FITTED = {
    "forest": RandomForestClassifier(5, max_depth=4, random_state=0).fit(TRAINED / UNITS, outcomes(TRAINED)),
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0).fit(TRAINED / UNITS, outcomes(TRAINED)),
}


def predictor(kind):
    fitted = FITTED[kind]
    return of_trees([fitted] if kind == "tree" else fitted.estimators_, ("0", "1"))


def job(kind, /, **changes):
    model = predictor(kind)
    return {
        "outcome": "died",
        "epsilon": "1",
        "kind": "trees",
        "commitment": commitment(model),
        "classes": ["0", "1"],
        "trees": len(model.body.trees),
        "depth": model.body.depth,
        "largest": 1,
        "cuts": ["0.25", "0.45", "0.65", "0.85"],
        "features": DECLARED,
        **changes,
    }


def case(kind, /, **changes):
    rows = {**rows_data(ROWS), "died": Column(DIED, Schema("integer", 0, 0, 1))}
    return Case(job(kind, **changes), model_data(predictor(kind)), rows, compare=False)


@pytest.mark.parametrize("kind", FITTED)
def test_what_it_states_is_what_its_runs_do(kind):
    assert check_analysis(VALIDATION, case(kind))


@pytest.mark.parametrize("kind", FITTED)
def test_without_noise_rows_are_counted_by_the_chances_of_scikit_learn(kind, monkeypatch):
    monkeypatch.setattr(
        validation.noise, "draw", lambda session, distributions: np.zeros(len(distributions), dtype=np.uint64)
    )
    given = case(kind)
    study = VALIDATION.parse(given.parameters)
    found, _ = run_case(study, given, NO_LIMITS)
    assert found[0].tables == study.reference(given.alice, given.bob, BOTH)[0].tables
    chance = FITTED[kind].predict_proba(ROWS / UNITS)[:, 1]
    cells = np.searchsorted([0.25, 0.45, 0.65, 0.85], chance, side="right")
    (figures, by_score, by_prediction) = found[0].tables
    assert by_score.columns["rows"] == np.bincount(cells, minlength=5).tolist()
    assert by_score.columns["with_outcome"] == np.bincount(cells, weights=DIED, minlength=5).tolist()
    # The area of the cells: rows of one cell count half.
    assert figures.columns["value"][0] == pytest.approx(roc_auc_score(DIED, cells), abs=1e-9)
    assert "Brier score" in figures.columns["figure"]
    assert sum(by_prediction.columns["predicted_1"]) == (cells >= 3).sum()


def test_the_estimate_is_what_a_run_sends():
    given = case("forest")
    study = VALIDATION.parse(given.parameters)
    _, sent = run_case(study, given, NO_LIMITS)
    for known in ({**given.alice, **given.bob}, given.alice, given.bob):
        found = estimate_cost(study, schemas_of(known), BOTH, RunSetting((3, 250)))
        assert (found.alice_bytes, found.bob_bytes) == tuple(each.sent for each in sent)
        assert found.rounds == sent[0].rounds


def test_another_model_than_the_one_of_the_contract_is_refused():
    study = VALIDATION.parse(job("tree"))
    refused = study.preview(model_data(predictor("forest")), Role.ALICE, NO_LIMITS).refusal
    assert "not the one that the job is committed to" in str(refused)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"commitment": ""}, "64 hexadecimal"),
        ({"classes": ["a", "b", "c"]}, "not of two classes"),
        ({"trees": 0}, "trees or depth is missing"),
        ({"trees": 1000}, "4096 decisions"),
        ({"kind": "logistic"}, "of kind trees alone"),
        ({"cuts": ["0.5", "1"]}, "not between 0 and 1"),
    ],
)
def test_impossible_parameters_are_named(changes, what):
    with pytest.raises(UsageError, match=what):
        VALIDATION.parse(job("tree", **changes))
