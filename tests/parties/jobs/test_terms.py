"""What a job comes to for this party: its figures, its people, its budget, all in one notation."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from parties.client import job_text
from parties.jobs.reports import check_report, decision_report
from tests.parties.jobs.institutions import Institutions, job

AGE = {"age": {"type": "integer", "lower": 0, "upper": 100, "unit": "years"}}


@pytest.fixture
def made():
    with tempfile.TemporaryDirectory(prefix="duetto-") as folder:
        found = Institutions(Path(folder))
        for name in ("north", "south"):
            found.hold(name, {"age": range(100)}, AGE)
        yield found
        found.close()


def asked(epsilon, *kinds):
    queries = [{"kind": kind, "column": "age"} for kind in kinds]
    return job_text(job("statistics", {"queries": queries, "epsilon": epsilon}, ["age"]))


def test_terms_name_figures_people_and_budget(made):
    text = asked("1/2", "mean")
    report = decision_report(made.north._admission, text)
    terms = report.pop("terms")
    assert report == check_report(made.north._admission, text)
    assert terms["figures"][0]["name"] == "mean of age"
    assert terms["figures"][0]["half_width"] == report["preview"]["details"]["precision"][0]["half_width"]
    assert terms["figures"][0]["unit"] == "years"
    assert terms["persons"] == 100
    assert terms["loss"].startswith("epsilon 0.5")
    budget = terms["budget"]
    assert (budget["before"], budget["after"]) == ("0", "0.5")
    assert float(budget["left"]) == float(budget["total"]) - 0.5
    assert all(terms["learns"].values())


def test_the_document_of_a_check_keeps_its_form(made):
    """How far a figure can vary is for the words alone."""
    (row,) = check_report(made.north._admission, asked("1/2", "mean"))["preview"]["details"]["precision"]
    assert {*row} == {"query", "kind", "group", "term", "half_width", "unit", "epsilon"}


def test_figures_that_say_almost_nothing_are_marked_and_advice_is_given(made):
    terms = decision_report(made.north._admission, asked("1/50", "mean", "median"))["terms"]
    assert [figure["vague"] for figure in terms["figures"]] == [True, True]
    assert decision_report(made.north._admission, asked("9", "mean"))["terms"]["advice"] == []
