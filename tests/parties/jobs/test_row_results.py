"""Results about single rows: no policy allows them unawares, on either side, and none gives a column away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from parties.client import job_text
from parties.contracts.state import State
from parties.errors import PeerRefused, PolicyError
from tests.parties.jobs.institutions import Institutions, job
from tests.parties.jobs.joined import approve

pytestmark = pytest.mark.attack

AGE = {"type": "integer", "lower": 0, "upper": 120}
DECLARED = {"x": AGE, "y": AGE, "id": {"type": "text"}}
ROWS = 12

TOLERANT = {"fields": [{"column": "id"}], "threshold": "1", "blocking": [["id:value"]]}
SUM = {
    "method": "exact",
    "keys": ["id"],
    "output": "statistics",
    "values": [{"side": "alice", "column": "x"}],
}
SPLIT = {
    "clusters": 2,
    "iterations": 2,
    "layout": "vertical",
    "alice_columns": ["x"],
    "bob_columns": ["y"],
}
JOBS = {
    "comparison": job(
        "comparison", {"type": "PN-NP-PP", "bits": 7, "engine": "oblivious"}, {"alice": ["x"], "bob": ["y"]}
    ),
    "keys": job("matching", {"method": "exact", "keys": ["id"]}, ["id"]),
    "tolerant": job("matching", {"method": "tolerant", **TOLERANT}, ["id"]),
    "own sum over tolerant matches": job(
        "matching",
        {
            "method": "tolerant",
            **TOLERANT,
            "output": "statistics",
            "values": [{"side": "bob", "column": "x"}],
        },
        {"alice": ["id"], "bob": ["id", "x"]},
    ),
    "vectors": job("matching", {"method": "vectors", "columns": ["x"], "threshold": "1"}, ["x"]),
    "own sum": job("matching", SUM, {"alice": ["id", "x"], "bob": ["id"]}, recipients=["alice"]),
    "sum to both": job("matching", SUM, {"alice": ["id", "x"], "bob": ["id"]}),
    "sum to the other side": job("matching", SUM, {"alice": ["id", "x"], "bob": ["id"]}, recipients=["bob"]),
    "matched centres": job(
        "clustering",
        {**SPLIT, "match": {"keys": ["id"]}, "labels": False},
        {"alice": ["id", "x"], "bob": ["id", "y"]},
    ),
    "centres of split rows": job("clustering", SPLIT | {"labels": False}, {"alice": ["x"], "bob": ["y"]}),
    "labels": job("clustering", {"clusters": 2, "columns": ["x"], "iterations": 2}, ["x"]),
}
SHARED = job(
    "comparison", {"type": "PN-NP-SS", "bits": 7, "engine": "oblivious"}, {"alice": ["x"], "bob": ["y"]}
)


@pytest.fixture
def people(institutions: Institutions) -> Institutions:
    for place, name in enumerate(("north", "south")):
        numbers = range(place * 4, place * 4 + ROWS)
        cells = {"x": [n % 121 for n in numbers], "y": [60] * ROWS, "id": [f"person {n}" for n in numbers]}
        institutions.hold(name, cells, DECLARED)
        institutions.allow(name)
    return institutions


@pytest.mark.parametrize("name", JOBS)
def test_both_parties_have_to_allow_them(people: Institutions, name: str) -> None:
    for side, refusal in (("north", PolicyError), ("south", PeerRefused)):
        people.allow(side, row_results=None)
        with pytest.raises(refusal) as caught:
            people.submit(JOBS[name])
        assert caught.value.stable_code == "policy"
        people.allow(side)
    people.run(JOBS[name])


def test_a_comparison_that_stays_shared_needs_no_word(people: Institutions) -> None:
    for side in ("north", "south"):
        people.allow(side, row_results=None, types=None, runs_total=None)
    records = people.ended(people.submit(SHARED))
    assert {record.state for record in records.values()} == {State.FINISHED}


def test_a_size_needs_no_word_and_a_sum_none_with_noise(people: Institutions) -> None:
    for side in ("north", "south"):
        people.allow(side, row_results=None)
    columns = {"alice": ["id", "x"], "bob": ["id"]}
    with pytest.raises(PolicyError, match="single rows") as caught:
        people.submit(JOBS["own sum"])
    assert "Add noise to the job (epsilon)" in caught.value.hint
    assert "of matches for their number alone" in caught.value.hint
    size = {key: value for key, value in SUM.items() if key != "values"} | {"output": "size"}
    people.run(job("matching", size, ["id"], recipients=["bob"]))
    noisy = people.ended(people.submit(job("matching", SUM | {"epsilon": "1"}, columns)))
    assert {record.state for record in noisy.values()} == {State.FINISHED}


def test_a_word_that_is_taken_back_ends_a_waiting_job(people: Institutions) -> None:
    people.allow("south", approval="person")
    job_id = people.submit(JOBS["keys"])
    people.allow("south", approval="person", row_results=None)
    with pytest.raises(PolicyError, match="single rows"):
        approve(people.south, job_id)


@pytest.mark.parametrize(("name", "about_rows"), [*((name, True) for name in JOBS), ("shared", False)])
def test_the_check_says_what_a_job_is_about(people: Institutions, name: str, about_rows: bool) -> None:
    report = people.north.check(job_text(JOBS.get(name, SHARED)))
    assert report["row_results"] is about_rows
    found = [{"column": "x", "jobs": 7}] if name == "comparison" else []
    assert report["bisection"] == found
    assert report["verdict"]["allowed"]


def test_the_check_speaks_of_bisection_only_where_there_is_something_to_find(people: Institutions) -> None:
    def said(parameters: Mapping[str, Any], columns: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
        given = {"bits": 7, "engine": "oblivious", **parameters}
        seen = {"PP": ["alice", "bob"], "NP": ["bob"], "SS": ["alice", "bob"]}[given["type"][-2:]]
        document = job("comparison", given, columns, recipients=seen)
        found: list[dict[str, Any]] = people.north.check(job_text(document))["bisection"]
        return found

    both = {"alice": ["x"], "bob": ["y"]}
    assert said({"type": "PN-NP-NP"}, both) == [{"column": "x", "jobs": 7}]
    assert said({"type": "PN-NP-SS"}, both) == []
    public = {"type": "PN-PP-PP", "y": 65}
    assert said(public, {"alice": ["x"]}) == [{"column": "x", "jobs": 120}]
    people.hold("north", {"x": [5] * ROWS, "y": [5] * ROWS}, {"x": AGE | {"lower": 5, "upper": 5}, "y": AGE})
    assert said({"type": "PN-NP-NP"}, both) == []


TUTORIAL = {
    "analyses": ["statistics", "comparison"],
    "recipients": ["both", "self", "peer"],
    "epsilon_per_job": "1",
    "epsilon_total": "5",
    "exact_aggregates": None,
    "row_results": None,
    "types": None,
    "runs_total": None,
}
"""A rule for noisy statistics that names comparisons as well, decided by nobody."""


def test_a_rule_for_statistics_does_not_give_every_age_away(people: Institutions) -> None:
    """South's thresholds, seven times, would find all of north's values."""
    people.allow("north", **TUTORIAL)
    bisection = job(
        "comparison",
        {"type": "PN-NP-NP", "bits": 7, "engine": "oblivious"},
        {"alice": ["x"], "bob": ["y"]},
        recipients=["bob"],
    )
    with pytest.raises(PeerRefused) as caught:
        people.submit(bisection, "south")
    assert caught.value.stable_code == "policy"
    people.allow("north", **TUTORIAL | {"row_results": True, "runs_total": 3, "types": ["PN-NP-NP"]})
    for _ in range(3):
        records = people.ended(people.submit(bisection, "south"))
        assert {record.state for record in records.values()} == {State.FINISHED}
    with pytest.raises(PeerRefused) as caught:
        people.submit(bisection, "south")
    assert caught.value.stable_code == "policy"
