"""`runs_total` counts the runs that its own rule allowed, on the same people, also those that failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import tomli_w

from parties.contracts.state import State
from parties.errors import PeerRefused, PolicyError
from tests.parties.jobs.institutions import ALLOWED, Institutions, job

DECLARED = {"id": {"type": "text"}, "v": {"type": "integer", "lower": 0, "upper": 10}}
NOISY = {
    "name": "noisy statistics",
    "analyses": ["statistics"],
    "epsilon_per_job": "1",
    "epsilon_total": "100",
    "runs_total": 3,
}
COMMON = {"name": "common people", "analyses": ["matching"], "exact_aggregates": True, "runs_total": 2}

MEAN = job("statistics", {"epsilon": "1", "queries": [{"kind": "mean", "column": "v"}]}, ["v"])
SIZE = {"method": "exact", "keys": ["id"], "output": "size"}
COUNT = job("matching", SIZE, ["id"])
SIDES = ("north", "south")


@pytest.fixture
def people(institutions: Institutions) -> Institutions:
    for name in SIDES:
        for dataset in ("people", "copy"):
            cells = {"id": [f"person {n}" for n in range(8)], "v": [n % 10 for n in range(8)]}
            institutions.hold(name, cells, DECLARED, dataset=dataset, population="people", key="id")
        institutions.allow(name)
    return institutions


def rules(institutions: Institutions, name: str, *changes: Mapping[str, Any]) -> None:
    """A policy of rules that allow everything but for these entries."""
    entries = [{**ALLOWED, "exact_aggregates": False, "row_results": False, **change} for change in changes]
    (institutions.folder / name / "policy.toml").write_text(tomli_w.dumps({"rules": entries}))


def finished(institutions: Institutions, document: Mapping[str, Any]) -> None:
    records = institutions.ended(institutions.submit(document))
    assert {record.state for record in records.values()} == {State.FINISHED}


def refused(institutions: Institutions, document: Mapping[str, Any]) -> None:
    with pytest.raises((PolicyError, PeerRefused)) as caught:
        institutions.submit(document)
    assert caught.value.stable_code == "policy"


@pytest.mark.parametrize("side", SIDES)
def test_runs_of_one_rule_leave_the_other_alone(people: Institutions, side: str) -> None:
    rules(people, side, NOISY, COMMON)
    for _ in range(3):
        finished(people, MEAN)
    refused(people, MEAN)
    for _ in range(2):
        finished(people, COUNT)
    refused(people, COUNT)


@pytest.mark.parametrize("side", SIDES)
def test_two_names_of_the_same_people_share_the_runs(people: Institutions, side: str) -> None:
    rules(people, side, COMMON)
    finished(people, COUNT)
    finished(people, job("matching", SIZE, ["id"], dataset="copy"))
    refused(people, job("matching", SIZE, ["id"], dataset="copy"))
    refused(people, COUNT)


def test_a_run_that_failed_has_been_one(people: Institutions) -> None:
    rules(people, "north", COMMON | {"runs_total": 1})
    cells = {"id": [f"person {n}" for n in range(4, 12)], "v": [0] * 8}
    people.hold("south", cells, DECLARED, population="people", key="id")
    people.allow("south", minimum_intersection=5)
    assert set(people.failed(COUNT).values()) == {(State.FAILED, "disclosure")}
    refused(people, COUNT)
