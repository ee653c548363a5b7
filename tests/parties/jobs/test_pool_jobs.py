"""Two managers in one process: a job prepares a pool, later jobs compare out of it, each pool once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from parties.contracts.state import State
from parties.errors import PolicyError
from parties.jobs.manager import JobManager, RetryPolicy
from parties.lanes.process import LaneWorkers
from parties.session.pools import PoolStore
from parties.session.runner import SessionRunner
from smc.analyses.registry import ANALYSES
from smc.channel.channel import Channel
from smc.channel.memory import memory_pair
from smc.forms import Role
from tests.parties.jobs.joined import ROLES, Pair, wait_final
from tests.parties.rpc.harness import NORTH, QUICK, SOUTH, public

POLICY = """
[[rules]]
name = "comparisons"
analyses = ["comparison"{more}]
peers = ["*"]
datasets = ["numbers"]
columns = ["value"]
recipients = ["both"]
types = ["PN-NP-PP"]
row_results = true
runs_total = 1000
approval = "auto"
"""

PREPARE = """
[job]
analysis = "preparation"
alice = "north"
bob = "south"
recipients = ["alice", "bob"]
[parameters]
count = 64
bits = 10
[limits]
seconds = 60
"""

COMPARE = """
[job]
analysis = "comparison"
alice = "north"
bob = "south"
recipients = ["alice", "bob"]
[alice]
dataset = "numbers"
columns = { x = "value" }
[bob]
dataset = "numbers"
columns = { y = "value" }
[parameters]
type = "PN-NP-PP"
bits = 10
engine = "oblivious"
pool = true
[limits]
seconds = 60
"""


class PoolPair(Pair):
    """North and south with the real analyses; X is 10 and 20, Y is 11 and 15."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        for name in ROLES:
            self.stop(name)
            (folder / name / "keys").mkdir(mode=0o700)
        (folder / "south" / "numbers.csv").write_text("value\n11\n15\n")
        self.stores = {name: PoolStore(folder / name) for name in ROLES}
        self.network.stores = self.stores
        for name in ROLES:
            self.permit(name)
            self.network.managers[name] = JobManager(
                self.config(name),
                self._identities[name],
                self.network.port(name),
                analyses=ANALYSES,
                patience=RetryPolicy(dial_seconds=(0.05, 0.1), ask_seconds=0.2),
            )
        for manager in self.network.managers.values():
            manager.resume()

    def permit(self, name: str, more: str = ', "preparation"') -> None:
        (self.folder / name / "policy.toml").write_text(POLICY.format(more=more))

    def finished(self, toml: str) -> dict[str, Any]:
        """The result of a job that has to succeed, the same at both sides."""
        job_id = self.north.submit(toml).job_id
        for manager in (self.north, self.south):
            record = wait_final(manager, job_id)
            assert record.state is State.FINISHED, record.error_what
        ours, theirs = (json.loads(manager.result(job_id)) for manager in (self.north, self.south))
        assert ours["outcome"] == theirs["outcome"]
        return ours

    def compared(self) -> str:
        """Run the comparison, check its result, and give its last note."""
        outcome = self.finished(COMPARE)["outcome"]
        assert outcome["tables"][0]["columns"]["delta"] == [0, 1]
        return outcome["notes"][-1]

    def names(self, party: str) -> list[bytes]:
        return [file.stored.name for file in self.stores[party].list()]


@pytest.fixture
def two(tmp_path):
    joined = PoolPair(tmp_path)
    yield joined
    joined.close()


def test_prepare_then_compare(two):
    result = two.finished(PREPARE)
    assert result["outcome"]["details"]["comparisons"] == 64
    assert not result["outcome"]["tables"]
    facts = result["facts"]
    assert (facts["sent"], facts["received"]) == (facts["estimate"]["sent"], facts["estimate"]["received"])
    (name,) = two.names("north")
    assert two.names("south") == [name]
    assert two.compared().startswith("A pool was used: 64")
    assert two.names("north") == two.names("south") == []
    log = (two.folder / "north" / "pools" / "taken.log").read_text()
    assert log == name.hex() + "\n"
    assert two.compared().startswith("No pool was used")


def test_no_pool_is_used_twice(two):
    for _ in range(3):
        two.finished(PREPARE)
    names = set(two.names("north"))
    assert len(names) == 3
    for _ in range(3):
        assert two.compared().startswith("A pool was used")
    assert two.compared().startswith("No pool was used")
    for party in ROLES:
        log = (two.folder / party / "pools" / "taken.log").read_text().split()
        assert sorted(log) == sorted(name.hex() for name in names)


def test_a_restored_pool_is_not_used_again(two):
    two.finished(PREPARE)
    copies = {}
    for party in ROLES:
        (path,) = (two.folder / party / "pools").glob("*/*.pool")
        copies[path] = path.read_bytes()
    two.compared()
    for path, content in copies.items():
        path.write_bytes(content)
        path.chmod(0o600)
    assert two.compared().startswith("No pool was used")


def test_a_pool_lost_at_one_side_does_not_stop_the_job(two):
    two.finished(PREPARE)
    two.stores["south"].clear()
    assert two.compared().startswith("No pool was used")
    assert len(two.names("north")) == 1


def test_a_damaged_pool_ends_the_job_and_only_that_one(two):
    two.finished(PREPARE)
    (path,) = (two.folder / "south" / "pools").glob("*/*.pool")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    job_id = two.north.submit(COMPARE).job_id
    record = wait_final(two.south, job_id)
    assert (record.state, record.error_code) == (State.FAILED, "pool")
    assert path.name in record.error_what
    assert wait_final(two.north, job_id).state is State.FAILED
    assert two.names("north") == two.names("south") == []
    assert two.compared().startswith("No pool was used")


def test_the_policy_decides_about_preparation(two):
    two.permit("north", more="")
    with pytest.raises(PolicyError, match="'preparation' is not among analyses"):
        two.north.submit(PREPARE)
    assert not (two.folder / "north" / "pools").exists()


def test_a_daemons_sessions_have_the_shelf_of_their_peer(tmp_path):
    store = PoolStore(tmp_path)
    with_pools = SessionRunner(NORTH, {"south": public(SOUTH)}, QUICK, pools=store)
    without = SessionRunner(NORTH, {"south": public(SOUTH)}, QUICK)
    ends = memory_pair(1.0)
    task = type(
        "Task",
        (),
        {
            "role": Role.ALICE,
            "report": staticmethod(lambda *said: None),
            "network": None,
            "lanes": 1,
            "evidence": None,
        },
    )()
    try:
        assert with_pools._session(
            Channel(ends[0]), "south", task, LaneWorkers(1)
        ).precomputed == store.with_peer("south")
        assert without._session(Channel(ends[1]), "south", task, LaneWorkers(1)).precomputed is None
    finally:
        with_pools.close()
        without.close()
