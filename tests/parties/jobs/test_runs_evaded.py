"""Attacks on `runs_total`: a job that is called, written or sent otherwise is one more run all the same."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from parties.contracts.state import State
from parties.errors import PeerRefused, PolicyError
from parties.ledger.accounting import Account, RunLimits
from parties.ledger.entries import RUN
from smc.errors import DuettoError
from smc.forms import Role
from tests.parties.jobs.institutions import Institutions, job
from tests.parties.jobs.joined import ANN, POLICY, Pair, approve, job_file, wait_final
from tests.support.grids import crossed

NUMBER = {"type": "integer", "lower": 0, "upper": 10}
DECLARED = {"id": {"type": "text"}, "v": NUMBER, "w": NUMBER}
SIDES = ("north", "south")
SIZE = {"method": "exact", "keys": ["id"], "output": "size"}
Change = Callable[[dict[str, Any]], dict[str, Any]]


def people_of(name: str) -> dict[str, list[object]]:
    numbers = [n % 10 for n in range(12)]
    return {"id": [f"person {n}" for n in range(12)], "v": [*numbers], "w": [*numbers]}


@pytest.fixture
def spent(institutions: Institutions) -> Institutions:
    """South allows one run about its people, and that has been."""
    for name in SIDES:
        institutions.hold(name, people_of(name), DECLARED, key="id", population="everybody")
        institutions.hold(name, people_of(name), DECLARED, key="id", population="everybody", dataset="People")
        institutions.allow(name)
    institutions.allow("south", runs_total=1)
    ended = institutions.ended(institutions.submit(COUNT))
    assert {record.state for record in ended.values()} == {State.FINISHED}
    return institutions


COUNT = job("matching", SIZE, ["id"])


def titled(title: str) -> dict[str, Any]:
    return {**COUNT, "job": {**COUNT["job"], "title": title}}


def swapped(document: Mapping[str, Any]) -> dict[str, Any]:
    """South is Alice."""
    return {
        **document,
        "job": {**document["job"], "alice": "south", "bob": "north"},
        "alice": document["bob"],
        "bob": document["alice"],
    }


def renamed(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Columns have other names in the job."""
    parameters = {**document["parameters"], "keys": [name]}
    sides = {side: {**document[side], "columns": {name: "id"}} for side in ("alice", "bob")}
    return {**document, **sides, "parameters": parameters}


MEAN = {"epsilon": "1", "queries": [{"kind": "mean", "column": "v"}]}
EVASIONS = {
    "the same": COUNT,
    "another title": titled("something else"),
    "other seconds": {**COUNT, "limits": {"seconds": 61}},
    "parameters in another order": {**COUNT, "parameters": dict(reversed(SIZE.items()))},
    "a default that is written": {**COUNT, "parameters": SIZE | {"duplicates": "error"}},
    "another normalization": {**COUNT, "parameters": SIZE | {"normalization": {"id": ["lower"]}}},
    "another output": {**COUNT, "parameters": SIZE | {"output": "keys"}},
    "noise": {**COUNT, "parameters": SIZE | {"epsilon": "1"}},
    "one recipient": job("matching", SIZE, ["id"], recipients=["alice"]),
    "another name of the column": renamed(COUNT, "ID"),
    "another name of the data set": job("matching", SIZE, ["id"], dataset="People"),
    "swapped roles": swapped(COUNT),
    "another analysis": job("statistics", MEAN, ["v"]),
    "another column": job("statistics", {**MEAN, "queries": [{"kind": "mean", "column": "w"}]}, ["w"]),
    "a comparison": {
        **job("comparison", {"type": "PN-NP-SS", "bits": 4, "engine": "oblivious"}, ["v"]),
        **{
            side: {"dataset": "people", "columns": {name: "v"}}
            for side, name in (("alice", "x"), ("bob", "y"))
        },
    },
    "clusters": job("clustering", {"clusters": 2, "columns": ["v"], "iterations": 1}, ["v"]),
}


@pytest.mark.parametrize(("name", "sender"), crossed(EVASIONS, SIDES))
def test_no_other_way_of_writing_it_is_another_run(spent: Institutions, name: str, sender: str) -> None:
    with pytest.raises(PolicyError if sender == "south" else PeerRefused) as caught:
        spent.submit(EVASIONS[name], sender)
    assert caught.value.stable_code == "policy"
    assert len(runs(spent, "south")) == 1
    spent.allow("south", runs_total=2)
    ended = spent.ended(spent.submit(EVASIONS[name], sender))
    assert {record.state for record in ended.values()} == {State.FINISHED}
    assert len(runs(spent, "south")) == 2


def runs(pair: Pair, name: str) -> list[str]:
    """The jobs that a party's ledger says have begun."""
    return [entry.job for entry in pair.network.managers[name].ledger.entries() if entry.event == RUN]


# What ends a run does not take it back. The analysis is a sum that stops where a test says.


def limited(pair: Pair, most: int, *, approval: str = "auto", name: str = "south") -> None:
    text = POLICY.format(total=1000, approval=approval) + f"runs_total = {most}\n"
    (pair.folder / name / "policy.toml").write_text(text)


def refused(pair: Pair) -> None:
    with pytest.raises(PeerRefused) as caught:
        pair.north.submit(job_file("1/100"))
    assert caught.value.stable_code == "policy"


def finished(pair: Pair) -> str:
    job_id = str(pair.north.submit(job_file("1/100")).job_id)
    for manager in (pair.north, pair.south):
        assert wait_final(manager, job_id).state is State.FINISHED
    return job_id


@pytest.mark.parametrize("who", SIDES)
def test_a_run_that_is_cancelled_in_the_middle_has_been_one(pair: Pair, who: str) -> None:
    limited(pair, 1)
    stop = threading.Event()
    pair.analysis["south"].stops = {Role.BOB: stop}
    job_id = pair.north.submit(job_file("1/100")).job_id
    assert pair.analysis["south"].reached[Role.BOB].wait(20)
    pair.network.managers[who].cancel(job_id, ANN)
    stop.set()
    for manager in (pair.north, pair.south):
        wait_final(manager, job_id)
    refused(pair)


def test_a_run_that_fails_on_either_side_has_been_one(pair: Pair) -> None:
    for name in SIDES:
        have = len(runs(pair, "south"))
        limited(pair, have + 1)
        pair.analysis[name].failure = DuettoError("It broke.", code="broken")
        job_id = pair.north.submit(job_file("1/100")).job_id
        for manager in (pair.north, pair.south):
            assert wait_final(manager, job_id).state is State.FAILED
        pair.analysis[name].failure = None
        refused(pair)


@pytest.mark.parametrize("name", SIDES)
def test_a_restart_in_the_middle_does_not_give_it_back(pair: Pair, name: str) -> None:
    limited(pair, 1)
    stop = threading.Event()
    pair.analysis["south"].stops = {Role.BOB: stop}
    job_id = pair.north.submit(job_file("1/100")).job_id
    assert pair.analysis["south"].reached[Role.BOB].wait(20)
    pair.network.cancel(job_id)
    stop.set()
    pair.stop(name)
    pair.start(name)
    pair.analysis["south"].stops = {}
    for manager in (pair.north, pair.south):
        wait_final(manager, job_id)
    refused(pair)
    assert len(runs(pair, "south")) == 1


def test_deleting_results_and_the_records_of_jobs_does_not_give_it_back(pair: Pair) -> None:
    limited(pair, 1)
    job_id = finished(pair)
    pair.south.store.forget(job_id)
    refused(pair)
    pair.stop("south")
    for path in (pair.folder / "south").glob("jobs.sqlite*"):
        path.unlink()
    pair.start("south")
    assert pair.south.store.all() == []
    refused(pair)


def test_jobs_that_were_approved_before_the_limit_was_reached_do_not_run_beyond_it(pair: Pair) -> None:
    """Six wait for a person, who approves all; two may run, whatever their order."""
    limited(pair, 2, approval="person")
    jobs = [pair.north.submit(job_file("1/100")).job_id for _ in range(6)]
    for job_id in jobs:
        try:
            approve(pair.south, job_id)
        except PolicyError:
            pair.south.deny(job_id, ANN, "too many")
    for job_id in jobs:
        for manager in (pair.north, pair.south):
            wait_final(manager, job_id)
    states = [pair.south.store.get(job_id).state for job_id in jobs]
    assert states.count(State.FINISHED) == 2
    assert len(runs(pair, "south")) == 2


@pytest.mark.parametrize("senders", [("north",) * 8, ("south",) * 8, SIDES * 4])
def test_jobs_that_race_for_the_last_run(pair: Pair, senders: tuple[str, ...]) -> None:
    limited(pair, 3)
    limited(pair, 100, name="north")

    def submitted(sender: str) -> str:
        try:
            return str(pair.network.managers[sender].submit(job_file("1/100")).job_id)
        except (PolicyError, PeerRefused):
            return ""

    with ThreadPoolExecutor(8) as pool:
        jobs = [job_id for job_id in pool.map(submitted, senders) if job_id]
    for job_id in jobs:
        for manager in (pair.north, pair.south):
            wait_final(manager, job_id)
    finished = [job_id for job_id in jobs if pair.south.store.get(job_id).state is State.FINISHED]
    assert len(runs(pair, "south")) == len(finished) == 3
    refused(pair)


def test_an_approval_that_is_replayed_is_no_second_run(pair: Pair) -> None:
    limited(pair, 5)
    job_id = finished(pair)
    record = pair.south.store.get(job_id)
    with pytest.raises(DuettoError):
        pair.south.ledger.begin(
            record.contract.digest.hex(), Account.of("numbers"), "numbers", "north", RunLimits("additions")
        )
    assert len(runs(pair, "south")) == 1
