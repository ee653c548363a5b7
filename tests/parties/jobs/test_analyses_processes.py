"""Every analysis between two real daemons over mutually authenticated gRPC, by job files and commands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import tomli_w
from click.testing import CliRunner

from parties.cli.jobs import COMMANDS
from parties.client import Party, job_text
from parties.config import load
from parties.contracts.spec import parse_spec
from parties.contracts.state import State
from parties.errors import PeerRefused
from parties.jobs.checks.opening import local_admission
from parties.jobs.run import outcome_document
from scripts.processes import ended, paired, started
from smc.errors import UsageError
from tests.parties.jobs.institutions import ALLOWED, job, write_table

COLUMNS = {
    "id": {"type": "text"},
    "name": {"type": "text"},
    "age": {"type": "integer", "lower": 0, "upper": 100},
    "group": {"type": "category", "values": ["a", "b"]},
}
CELLS = {
    "north": {
        "id": [f"k{number}" for number in range(30)],
        "name": [f"person {'abcdefghijklmnopqrstuvwxyzäöüß'[number] * 3}" for number in range(30)],
        "age": [(number * 37) % 101 for number in range(30)],
        "group": ["a", "b"] * 15,
    },
    "south": {
        "id": [f"k{number}" for number in range(20, 45)],
        "name": [f"person {'abcdefghijklmnopqrstuvwxyzäöüß'[number % 30] * 3}" for number in range(20, 45)],
        "age": [(number * 37) % 101 for number in range(20, 45)],
        "group": ["a", "b", "b", "b", "a"] * 5,
    },
}
JOBS = {
    "exact keys": job("matching", {"method": "exact", "keys": ["id"]}, ["id"]),
    "exact sums": job(
        "matching",
        {
            "method": "exact",
            "keys": ["id"],
            "output": "statistics",
            "values": [{"side": "alice", "column": "age"}],
        },
        {"alice": ["id", "age"], "bob": ["id"]},
    ),
    "tolerant": job(
        "matching",
        {
            "method": "tolerant",
            "fields": [{"column": "name"}],
            "threshold": "0.9",
            "blocking": [["name:value"]],
        },
        ["name"],
    ),
    "vectors": job("matching", {"method": "vectors", "columns": ["age"], "threshold": "0"}, ["age"]),
    "clustering": job(
        "clustering",
        {"clusters": 2, "columns": ["age"], "centres": [["10"], ["90"]], "iterations": 3},
        ["age"],
    ),
    "exact statistics": job(
        "statistics",
        {"noise": "none", "queries": [{"kind": "mean", "column": "age", "by": "group"}]},
        ["age", "group"],
    ),
    "noisy statistics": job(
        "statistics",
        {
            "epsilon": "8",
            "maximum_rows": 100,
            "queries": [{"kind": "count", "by": "group"}, {"kind": "median", "column": "age", "step": "10"}],
        },
        ["age", "group"],
    ),
    "noisy statistics of matched rows": job(
        "statistics",
        {
            "layout": "vertical",
            "alice_columns": ["age"],
            "bob_columns": ["group"],
            "match": {"keys": ["id"]},
            "epsilon": "8",
            "maximum_rows": 100,
            "queries": [{"kind": "count", "by": "group"}, {"kind": "mean", "column": "age"}],
        },
        {"alice": ["id", "age"], "bob": ["id", "group"]},
    ),
}


@pytest.fixture(scope="module")
def homes(tmp_path_factory) -> Iterator[dict[str, Path]]:
    """Two paired parties with data, whose daemons run; south's people approve each matching themselves."""
    homes = paired(tmp_path_factory.mktemp("d"))
    for name, home in homes.items():
        write_table(home / "people.csv", CELLS[name])
        declared = {"datasets": {"people": {"source": "people.csv", "maximum_rows": 100, "columns": COLUMNS}}}
        (home / "catalog.toml").write_text(tomli_w.dumps(declared))
        approval = {"north": "auto", "south": "person"}[name]
        rule = {**ALLOWED, "approval": approval}
        named = {**rule, "name": "vectors", "parameters": {"method": ["vectors"]}}
        (home / "policy.toml").write_text(tomli_w.dumps({"rules": [rule, named]}))
    daemons = [started(home) for home in homes.values()]
    yield homes
    for daemon in daemons:
        ended(daemon)


def called(home: Path, *words: object) -> str:
    """What a command of jobs prints, given the configuration of a party."""
    return printed_by(*words, "--config", home / "duetto.toml")


def printed_by(*words: object) -> str:
    group = next(command for command in COMMANDS if command.name == "job")
    done = CliRunner().invoke(group, [*map(str, words)])
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


def plain(homes: dict[str, Path], document: object) -> list[dict[str, object]]:
    """What the plain twin makes of both parties' data."""
    admissions = [local_admission(load(home)) for home in homes.values()]
    tasks = [admission.understand(parse_spec(job_text(document))) for admission in admissions]
    sides = [admission.data(task) for admission, task in zip(admissions, tasks, strict=True)]
    outcomes = tasks[0].study.reference(*sides, tasks[0].spec.recipients)
    return [
        {table["name"]: table["columns"] for table in outcome_document(outcome)["tables"]}
        for outcome in outcomes
    ]


@pytest.mark.parametrize("name", JOBS)
def test_between_two_daemons(homes, tmp_path, name):
    path = tmp_path / "job.toml"
    path.write_text(job_text(JOBS[name]))
    stated = {home: json.loads(called(home, "check", path, "--json"))["leakage"] for home in homes.values()}
    printed = called(homes["north"], "check", path)
    with Party(homes["north"]) as north, Party(homes["south"]) as south:
        mine = north.submit(path)
        theirs = south.job(mine.id)
        assert theirs.state is State.WAITING_OWN
        shown = called(homes["south"], "show", mine.id)
        for sentences in theirs.leakage.values():
            for sentence in sentences:
                assert sentence in printed
                assert sentence in shown
        theirs.approve()
        results = [found.wait(timeout=60).result() for found in (mine, theirs)]
    for result, expected in zip(results, plain(homes, JOBS[name]), strict=True):
        assert all(leakage == result.leakage for leakage in stated.values())
        assert result.traffic["rounds"] > 0
        if name in ("tolerant", "vectors"):
            assert sorted(result.tables["pairs"]["row"]) == sorted(expected["pairs"]["row"])
        elif name.startswith("noisy"):
            near(result.tables["results"]["value"], expected["results"]["value"])
        elif name == "clustering":
            assert result.tables["labels"] == expected["labels"]
            assert result.tables["centres"]["size"] == expected["centres"]["size"]
        else:
            assert result.tables == expected
    for party, home in homes.items():
        certificate, result = tmp_path / f"{party}.json", tmp_path / f"{party}-result.json"
        called(home, "certificate", results[0].job_id, "-o", certificate)
        result.write_text(called(home, "result", results[0].job_id, "--json"))
        pairing = home / f"{party}.pair"
        assert "is valid." in printed_by("verify", certificate, "--pair", pairing, "--result", result)


def test_what_the_peer_refuses_and_what_does_not_fit(homes):
    policy = homes["south"] / "policy.toml"
    before = policy.read_text()
    document = JOBS["exact statistics"]
    with Party(homes["north"]) as north:
        policy.write_text(before.replace("exact_aggregates = true", "exact_aggregates = false"))
        with pytest.raises(PeerRefused, match="'policy': its policy does not allow that") as caught:
            north.submit(document)
        assert caught.value.stable_code == "policy"
        policy.write_text(before)
        queries = [{"kind": "mean", "column": "group"}]
        unfit = job("statistics", {"noise": "none", "queries": queries}, ["group"])
        with pytest.raises(UsageError, match="'group' is declared category"):
            north.submit(unfit)
        kept = {one.id: one for one in north.jobs()}
    with Party(homes["south"]) as south:
        known = {one.id for one in south.jobs()}
    assert [one.state for name, one in kept.items() if name not in known] == [State.DENIED]


def near(values: list[float], expected: list[float]) -> None:
    """Noise of epsilon 4 on two counts is above 6 with a probability below 1e-10."""
    assert all(abs(one - other) <= 6 for one, other in zip(values[:2], expected[:2], strict=True))
    assert 0 <= values[2] <= 100
