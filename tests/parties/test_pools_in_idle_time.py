"""Two real daemons fill pools in idle time, use them in jobs, and lose nothing but what was in the making."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import tomli_w

from parties.client import Party
from parties.contracts.state import State
from parties.session.pools import PoolStore
from scripts.processes import NAMES, duetto, ended, paired, started
from tests.parties.jobs.institutions import ALLOWED, job
from tests.support.waiting import until

READY = 4
POOLS = """
[[pools]]
peer = "{peer}"
x_at = "north"
bits = 10
comparisons = {comparisons}
ready = {ready}
"""
CATALOG = """
[datasets.numbers]
source = "numbers.csv"
[datasets.numbers.columns.value]
type = "integer"
lower = 0
upper = 1000
"""
COMPARE = job(
    "comparison",
    {"type": "PN-NP-PP", "bits": 10, "engine": "oblivious", "pool": True},
    {"alice": {"x": "value"}, "bob": {"y": "value"}},
    dataset="numbers",
)


@pytest.fixture(scope="module")
def homes(tmp_path_factory) -> dict[str, Path]:
    """Two paired parties with a number each."""
    homes = paired(tmp_path_factory.mktemp("i"))
    for home in homes.values():
        (home / "numbers.csv").write_text("value\n7\n")
        (home / "catalog.toml").write_text(CATALOG)
        (home / "policy.toml").write_text(tomli_w.dumps({"rules": [ALLOWED]}))
    return homes


@pytest.fixture
def state(homes) -> Iterator[Callable[..., None]]:
    """Writes what the parties want into their configurations, which end as they were."""
    before = {name: (home / "duetto.toml").read_text() for name, home in homes.items()}

    def write(comparisons: int = 64, *, names: tuple[str, ...] = NAMES, ready: int = READY) -> None:
        for name in names:
            peer = NAMES[1 - NAMES.index(name)]
            section = POOLS.format(peer=peer, comparisons=comparisons, ready=ready)
            (homes[name] / "duetto.toml").write_text(before[name] + section)

    yield write
    for name, home in homes.items():
        (home / "duetto.toml").write_text(before[name])
        PoolStore(home).clear()


def names(home: Path) -> set[bytes]:
    return {file.stored.name for file in PoolStore(home).list()}


def compared(home: Path) -> str:
    """Run the comparison, and return the last note of its result."""
    with Party(home) as party:
        job = party.submit(COMPARE)
        assert job.wait(timeout=60).state is State.FINISHED
        return job.result().notes[-1]


def test_they_fill_up_to_what_is_wanted_and_again_after_a_job(homes, state):
    state()
    daemons = [started(home) for home in homes.values()]
    try:
        north, south = homes.values()
        until(lambda: len(names(north)) == READY and names(north) == names(south))
        before = names(north)
        assert compared(south).startswith("A pool was used: 64 prepared comparisons")
        until(lambda: len(names(north)) == READY and names(north) == names(south) != before)
        assert len(before & names(north)) == READY - 1
        told = json.loads(duetto("pool", "status", "--config", north, "--json"))
        assert told["kept"] == [
            {"peer": "south", "x_at": "north", "bits": 10, "comparisons": 64, "ready": READY, "there": READY}
        ]
        checks = json.loads(duetto("doctor", "--config", south, "--json"))["checks"]
        (found,) = [check["what"] for check in checks if check["check"] == "pools"]
        assert found == f"{READY} of {READY} with north for 10 bits with x at north"
        with Party(north) as party:
            assert [job.analysis for job in party.jobs()].count("preparation") == 0
        log = json.loads(duetto("log", "show", "--event", "filled", "--config", north, "--json"))
        assert len(log["lines"]) == 1
        assert log["lines"][0]["peer"] == "south"

        # A daemon that wants them no more is not filled with, and one that is told of it anew begins.
        south_config = (south / "duetto.toml").read_text()
        (south / "duetto.toml").write_text(south_config.partition("[[pools]]")[0])
        assert reloaded(south) == ["pools"]
        assert compared(north).startswith("A pool was used")
        time.sleep(8)
        assert len(names(north)) == READY - 1
        (south / "duetto.toml").write_text(south_config)
        assert reloaded(south) == ["pools"]
        duetto("party", "reload", "--config", north)
        until(lambda: len(names(north)) == READY and names(north) == names(south))
    finally:
        for daemon in daemons:
            ended(daemon)


def test_one_that_is_killed_in_the_middle_leaves_nothing_that_stays(homes, state):
    """South is killed while large pools are made; started again, both come to the same stock."""
    state(1 << 17, ready=12)
    north, south = homes.values()
    first, second = started(north), started(south)
    try:
        until(lambda: len(names(south)) >= 2)
        second.send_signal(signal.SIGKILL)
        second.wait(10)
        second.stdout.close()
        state(64)  # smaller ones now; what is left of the others is kept if both have it
        second = started(south)
        duetto("party", "reload", "--config", north)
        until(lambda: names(north) == names(south) and len(small(north)) == READY)
    finally:
        ended(first)
        ended(second)


def small(home: Path) -> list[bytes]:
    return [file.stored.name for file in PoolStore(home).list() if file.stored.comparisons == 64]


def test_a_job_that_comes_while_large_pools_are_made_runs_at_once(homes, state):
    """With one place, and pools of which each takes as long as jobs that do not wait."""
    state(1 << 17, ready=16)
    for home in homes.values():
        path = home / "duetto.toml"
        path.write_text(path.read_text() + "\n[limits]\nsessions = 1\n")
    daemons = [started(home) for home in homes.values()]
    try:
        north, south = homes.values()
        until(lambda: len(names(north)) >= 1)
        for _ in range(3):
            compared(south)
            assert len(names(north)) < 16
        assert not [line for line in refused(north) + refused(south) if line["event"] == "refused"]
    finally:
        for daemon in daemons:
            ended(daemon)


def reloaded(home: Path) -> list[str]:
    return json.loads(duetto("party", "reload", "--config", home, "--json"))["files"]


def refused(home: Path) -> list[dict[str, str]]:
    return json.loads(duetto("log", "show", "--config", home, "--json"))["lines"]
