"""Scoring as jobs: under policies of both sides, with the model that the contract is committed to."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from parties.errors import DuettoError, PolicyError
from smc.analyses.predictors.plain import chances
from smc.analyses.predictors.text import pieces, text_of
from tests.parties.jobs.institutions import job
from tests.support.scored_models import DECLARED, FEATURES, UNITS, held_rows_of, of_linear, scoring_job

from smc.analyses.predictors.form import Link  # isort: skip

MODEL = of_linear([[0.04, 0.1, -0.02]], [-6.0], ("no", "yes"), Link.LOGISTIC)
OTHER = of_linear([[0.05, 0.1, -0.02]], [-6.0], ("no", "yes"), Link.LOGISTIC)
ROWS = held_rows_of(np.random.default_rng(7), 40)


@pytest.fixture
def clinics(institutions):
    hold_model(institutions, MODEL)
    real = ROWS / UNITS
    cells = {name: [*map(str, real[:, place])] for place, name in enumerate(FEATURES)}
    cells["age"] = [*map(str, ROWS[:, 0])]
    declared = {
        each["name"]: {"type": "decimal", "scale": each["digits"]}
        | {end: each[end] for end in ("lower", "upper")}
        for each in DECLARED
    }
    declared["age"] = {"type": "integer", "lower": 0, "upper": 120}
    institutions.hold("south", cells, declared)
    allow(institutions)
    return institutions


def hold_model(institutions, model):
    institutions.hold("north", {"model": pieces(text_of(model))}, {"model": {"type": "text"}})


def allow(clinics, **rule):
    clinics.allow("north", types=None, row_results=True, runs_total=3, **{"answers_total": 300} | rule)
    clinics.allow("south", types=None, row_results=True, runs_total=3)


def scoring(**changes):
    parameters = scoring_job(MODEL, **{"maximum_rows": 100} | changes)
    return job("scoring", parameters, {"alice": ["model"], "bob": [*FEATURES]}, recipients=["bob"])


def test_the_side_with_rows_gets_what_the_model_says_of_each(clinics):
    done = clinics.run(scoring())
    rows = dict(zip(FEATURES, (ROWS / UNITS).T, strict=True))
    wanted = np.array(MODEL.classes)[chances(MODEL, rows).argmax(axis=1)].tolist()
    assert done.tables("south")["rows"] == {"row": [*range(1, 41)], "label": wanted}
    assert sum(done.tables("south")["by label"]["rows"]) == 40
    assert done.tables("north") == {}


def test_without_a_bound_of_answers_no_model_is_asked(clinics):
    allow(clinics, answers_total=None)
    with pytest.raises(PolicyError, match=r"does not bound them.*answers_total = 300"):
        clinics.submit(scoring())
    allow(clinics, answers_total=299)
    with pytest.raises(PolicyError, match="300 answers"):
        clinics.submit(scoring())


def test_runs_are_counted_until_no_more_are_allowed(clinics):
    for _ in range(3):
        ended = clinics.ended(clinics.submit(scoring()))
        assert {each.state.value for each in ended.values()} == {"finished"}
    with pytest.raises(PolicyError, match="runs_total"):
        clinics.submit(scoring())


def test_a_model_that_was_changed_after_the_commitment_ends_the_job(clinics):
    hold_model(clinics, OTHER)
    with pytest.raises(DuettoError, match="not the one that the job is committed to"):
        clinics.submit(scoring())


def test_a_data_set_of_a_model_reads_as_it_was_written(clinics):
    with (clinics.folder / "north" / "people.csv").open(newline="") as file:
        assert "".join(row["model"] for row in csv.DictReader(file)) == text_of(MODEL)
