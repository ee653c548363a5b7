"""Two real daemons, of which south cannot dial north: jobs of both run, and people are told how."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import tomli_w

from parties.client import Party
from parties.contracts.state import State
from scripts.processes import ended, free_port, paired, started
from tests.parties.jobs.institutions import ALLOWED, job
from tests.support.commands import tried
from tests.support.waiting import until

SAID = "north cannot be dialled; it keeps a connection open, over which jobs run"
JOB = job("preparation", {"count": 100, "bits": 8}, {})


@pytest.fixture(scope="module")
def homes(tmp_path_factory) -> dict[str, Path]:
    """Paired, with an address of north at south where nothing listens, and rules that ask a person."""
    found = paired(tmp_path_factory.mktemp("w"))
    for home in found.values():
        (home / "policy.toml").write_text(tomli_w.dumps({"rules": [ALLOWED]}))
    config = found["south"] / "duetto.toml"
    head, peers = config.read_text().split("[[peers]]")
    dead = re.sub(r'address = "[^"]*"', f'address = "127.0.0.1:{free_port()}"', peers)
    config.write_text(f"{head}[[peers]]{dead}")
    return found


@pytest.fixture
def daemons(homes):
    processes = {name: started(home) for name, home in homes.items()}
    yield processes
    for process in processes.values():
        ended(process)


def run(home: Path, *words: object) -> dict[str, object]:
    done = tried(*words, "--config", home, "--json")
    return json.loads(done.stdout)


def finished(home: Path) -> State:
    with Party(home) as party:
        return party.submit(JOB).wait(timeout=60).state


def test_jobs_of_both_run_and_nothing_is_called_broken(homes, daemons):
    north, south = homes["north"], homes["south"]
    assert until(lambda: run(south, "party", "status")["reversed"] == ["north"])
    assert run(north, "party", "status")["reversed"] == []
    assert f"\n{SAID}.\n" in tried("party", "status", "--config", south).stdout
    assert finished(south) is finished(north) is State.FINISHED

    done = tried("doctor", "--config", south, "--peer", "north")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count(SAID) == 1
    assert f"    {SAID}. From here: Nothing answers at 127.0.0.1:" in done.stdout
    assert "Ready to run jobs with north." in done.stdout
    assert tried("doctor", "--config", north, "--peer", "south").returncode == 0
    assert tried("party", "health", "--config", south).stdout == f"{SAID}.\nwell\n"

    ended(daemons["north"])
    assert until(lambda: run(south, "party", "status")["reversed"] == [])
    found = tried("doctor", "--config", south, "--peer", "north")
    assert found.returncode == 69
    assert "One of both daemons has to be able to dial the other." in found.stdout
