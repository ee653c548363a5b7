"""Whether limits hold tells of chosen rows whether they match, one bit a run, and policies bound the runs."""

from __future__ import annotations

import pytest

from parties.contracts.state import State
from parties.errors import PeerRefused, PolicyError
from tests.parties.jobs.institutions import Institutions, job
from tests.parties.jobs.joined import approve

NUMBER = {"type": "integer", "lower": 0, "upper": 100}
DECLARED = {"id": {"type": "text"}, "x": NUMBER, "y": NUMBER}
CROWD = [f"patient {number}" for number in range(8)]

KEYED = {"method": "exact", "keys": ["id"]}
VALUE = {"values": [{"side": "bob", "column": "y"}]}
SPLIT = {"layout": "vertical", "alice_columns": ["x"], "match": {"keys": ["id"]}}
COLUMNS = {"alice": ["id", "x"], "bob": ["id", "y"]}
SHARES = job("matching", KEYED | {"output": "shares"}, ["id"])
JOBS = {
    "shares": SHARES,
    "values in shares": job("matching", {**KEYED, **VALUE, "output": "shares"}, COLUMNS | {"alice": ["id"]}),
    "size": job("matching", KEYED | {"output": "size"}, ["id"]),
    "noisy size": job("matching", KEYED | {"output": "size", "epsilon": "1"}, ["id"]),
    "statistics": job(
        "statistics",
        {**SPLIT, "bob_columns": [], "epsilon": "1", "queries": [{"kind": "mean", "column": "x"}]},
        COLUMNS | {"bob": ["id"]},
    ),
    "clustering": job(
        "clustering", {**SPLIT, "bob_columns": ["y"], "clusters": 2, "epsilon": "9", "iterations": 1}, COLUMNS
    ),
}
"""All that match rows and tell nobody of single ones."""

CARELESS = {"row_results": None, "types": None, "runs_total": None}
"""A steward who allows all but results about single rows, and bounds nothing."""


def hold(institutions: Institutions, name: str, ids: list[str]) -> None:
    numbers = [len(one) for one in ids]
    cells = {"id": ids, "x": numbers, "y": numbers}
    institutions.hold(name, cells, DECLARED, person="id", maximum_rows_per_person=1)


@pytest.fixture
def people(institutions: Institutions) -> Institutions:
    """South has its patients; north, which knows half of them, asks whether Ann is among them."""
    hold(institutions, "south", [*CROWD, "Ann"])
    hold(institutions, "north", [*CROWD[:4], "Ann", *(f"nobody {number}" for number in range(4))])
    for name in ("north", "south"):
        institutions.allow(name, **CARELESS)
    return institutions


def ask(people: Institutions) -> bool:
    """North's question, by a least intersection of its own that only holds with Ann."""
    people.allow("north", minimum_intersection=5)
    ended = {(one.state, one.error_code) for one in people.ended(people.submit(SHARES)).values()}
    assert ended in ({(State.FINISHED, "")}, {(State.FAILED, "disclosure")})
    return (State.FINISHED, "") in ended


def test_what_the_bit_tells_and_that_it_is_bounded(people: Institutions) -> None:
    """The attack: of results that stay in shares, north has found out who is there; each question counts."""
    people.allow("south", **CARELESS | {"runs_total": 2})
    assert ask(people)
    hold(people, "south", CROWD)
    assert not ask(people)
    with pytest.raises(PeerRefused) as caught:
        people.submit(SHARES)
    assert caught.value.stable_code == "policy"


@pytest.mark.parametrize("name", JOBS)
def test_no_policy_lets_it_be_asked_without_a_bound(people: Institutions, name: str) -> None:
    for side, refusal in (("south", PeerRefused), ("north", PolicyError)):
        people.allow("north", **CARELESS | {"runs_total": 5})
        people.allow("south", **CARELESS | {"runs_total": 5})
        people.allow(side, **CARELESS)
        with pytest.raises(refusal) as caught:
            people.submit(JOBS[name])
        assert caught.value.stable_code == "policy"
        people.allow(side, **CARELESS | {"runs_total": 5})
    ended = people.ended(people.submit(JOBS[name]))
    assert {record.state for record in ended.values()} == {State.FINISHED}


def test_a_bound_that_is_taken_back_ends_a_waiting_job(people: Institutions) -> None:
    people.allow("north", **CARELESS | {"runs_total": 5})
    people.allow("south", **CARELESS | {"runs_total": 5}, approval="person")
    job_id = people.submit(SHARES)
    people.allow("south", **CARELESS, approval="person")
    with pytest.raises(PolicyError, match="does not bound the runs"):
        approve(people.south, job_id)


def test_jobs_that_match_nothing_need_no_bound(people: Institutions) -> None:
    mean = {"epsilon": "1", "queries": [{"kind": "mean", "column": "x"}]}
    ended = people.ended(people.submit(job("statistics", mean, ["x"])))
    assert {record.state for record in ended.values()} == {State.FINISHED}


@pytest.mark.parametrize("name", JOBS)
def test_the_facts_say_that_rows_are_matched(people: Institutions, name: str) -> None:
    facts = people.task("north", JOBS[name]).facts
    assert facts.matches
    assert not facts.row_results
