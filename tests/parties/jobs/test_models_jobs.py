"""Models as jobs: under policies and limits, from the contract to the result, counted as runs."""

from __future__ import annotations

import pytest

from parties.client import job_text
from parties.errors import DuettoError, PolicyError
from parties.results.plots import plots_of
from parties.results.tables import ResultTable
from tests.parties.jobs.institutions import job

ROWS = 240
DECLARED = {
    "id": {"type": "text"},
    "age": {"type": "integer", "lower": 0, "upper": 120},
    "smoker": {"type": "category", "values": ["no", "yes"]},
    "died": {"type": "category", "values": ["no", "yes"]},
    "rare": {"type": "category", "values": ["no", "yes"]},
    "split": {"type": "category", "values": ["no", "yes"]},
}
NAMES = ("age", "smoker", "died", "rare", "split")


@pytest.fixture
def cohorts(institutions):
    for place, name in enumerate(("north", "south")):
        rows = range(place * ROWS, (place + 1) * ROWS)
        age = [20 + row * 37 % 70 for row in rows]
        cells = {
            "id": [f"person {row}" for row in rows],
            "age": age,
            "smoker": [("no", "yes")[row * 7 % 3 == 0] for row in rows],
            "died": [
                ("no", "yes")[(row * 7919 % 97) / 97 < years / 100]
                for row, years in zip(rows, age, strict=True)
            ],
            "rare": [("no", "yes")[row == rows[11]] for row in rows],
            "split": [("no", "yes")[years > 50] for years in age],
        }
        institutions.hold(name, cells, DECLARED, person="id", maximum_rows_per_person=1)
    return institutions


def allow(cohorts, **rule):
    for name in ("north", "south"):
        cohorts.allow(name, **{"minimum_group": 5, "dominance": "0.5", "types": None} | rule)


def model(kind="logistic", **more):
    given = {"kind": kind, "outcome": "died", "label": "yes", "on": ["age", "smoker"], **more}
    names = [given["outcome"], *given["on"]]
    return job("models", {"models": [given]}, names)


def code(institutions, document):
    """How a job ends for south; the refusal where it does not begin."""
    try:
        record = institutions.ended(institutions.submit(document))["south"]
    except DuettoError as refusal:
        return refusal.stable_code
    return record.error_code or record.state.value


def test_both_get_the_same_coefficients(cohorts):
    allow(cohorts)
    done = cohorts.run(model())
    assert done.tables("north") == done.tables("south")
    table, plain = (
        tables["logistic model of died"] for tables in (done.tables("north"), done.plain_tables("north"))
    )
    assert table["term"] == ["(intercept)", "age", "smoker = yes"]
    for found, exact, error in zip(
        table["coefficient"], plain["coefficient"], plain["standard_error"], strict=True
    ):
        assert abs(found - exact) < error / 32
    drawn = plots_of([ResultTable("deaths", table, {})])
    assert [(plot.axis, plot.has_intervals) for plot in drawn] == [
        ("coefficient", True),
        ("odds_ratio", True),
    ]


def test_an_estimate_says_how_long_a_run_can_become(cohorts):
    allow(cohorts)
    said = cohorts.north.estimate(job_text(cohorts.file(model())), rows=0, rtt_ms=0, mbit=0)
    facts = cohorts.run(model()).results["north"]["facts"]
    for figure in ("rounds", "sent", "received"):
        assert said[figure] <= facts[figure] <= said["most"][figure]
        assert said[figure] < said["most"][figure]


def test_a_rule_has_to_allow_results_about_single_rows(cohorts):
    """Who chooses covariates and rows solves the figures of a model for what few rows have."""
    allow(cohorts, row_results=False)
    with pytest.raises(PolicyError, match="single rows") as caught:
        cohorts.submit(model())
    assert "row_results = true" in caught.value.hint


def test_a_policy_names_the_kinds_that_it_allows(cohorts):
    allow(cohorts, queries=["linear", "cox"])
    assert code(cohorts, model()) == "policy"
    linear = job(
        "models", {"models": [{"kind": "linear", "outcome": "age", "on": ["smoker"]}]}, ["age", "smoker"]
    )
    assert code(cohorts, linear) == "finished"


def test_a_label_of_one_person_is_refused_and_counts_as_a_run(cohorts):
    allow(cohorts, runs_total=2)
    assert code(cohorts, model(on=["age", "rare"])) == "disclosure"
    assert code(cohorts, model()) == "finished"
    assert code(cohorts, model()) == "policy"


def test_that_nothing_can_be_computed_is_a_result_and_a_run(cohorts):
    allow(cohorts, runs_total=1)
    done = cohorts.run(model(outcome="split", on=["age"]))
    for name in ("north", "south"):
        assert set(done.tables(name)["logistic model of split"]["coefficient"]) == {None}
        assert "cannot be computed" in done.notes(name)
    assert code(cohorts, model()) == "policy"


def test_under_limits_a_job_holds_one_model(cohorts):
    allow(cohorts)
    both = [
        {"kind": "logistic", "outcome": "died", "label": "yes", "on": [name]} for name in ("age", "smoker")
    ]
    both = [{"name": str(place), **each} for place, each in enumerate(both)]
    assert code(cohorts, job("models", {"models": both}, ["died", "age", "smoker"])) == "disclosure"
