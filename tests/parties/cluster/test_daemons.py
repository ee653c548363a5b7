"""Whole jobs between two real daemons of which one has a cluster, whose workers die meanwhile."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import tomli_w

from parties.client import Party
from parties.contracts.state import State
from parties.errors import ClusterUnavailable
from scripts.processes import ended, paired, started
from smc.errors import PeerAborted
from tests.parties.cluster.local import LocalCluster
from tests.parties.cluster.test_searching import settings
from tests.parties.jobs.institutions import ALLOWED, job, write_table

pytestmark = pytest.mark.slow

COLUMN = {"north": "x", "south": "y"}
ROWS = 120
AGES = {"north": [n * 37 % 101 for n in range(ROWS)], "south": [n * 41 % 101 for n in range(ROWS)]}
JOB = job(
    "comparison",
    {"type": "PN-NP-PP", "bits": 7, "engine": "paillier"},
    {"alice": ["x"], "bob": ["y"]},
)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[LocalCluster]:
    with LocalCluster(tmp_path_factory.mktemp("dask"), workers=3) as running:
        yield running


@pytest.fixture(scope="module")
def homes(tmp_path_factory, cluster) -> Iterator[dict[str, Path]]:
    """Two paired parties whose daemons run; south has a cluster."""
    homes = paired(tmp_path_factory.mktemp("d"))
    for name, home in homes.items():
        write_table(home / "people.csv", {COLUMN[name]: AGES[name]})
        column = {"type": "integer", "lower": 0, "upper": 100}
        declared = {"datasets": {"people": {"source": "people.csv", "columns": {COLUMN[name]: column}}}}
        (home / "catalog.toml").write_text(tomli_w.dumps(declared))
        (home / "policy.toml").write_text(tomli_w.dumps({"rules": [dict(ALLOWED)]}))
    with (homes["south"] / "duetto.toml").open("a") as file:
        file.write(settings(cluster, seconds=2))
    daemons = [started(home) for home in homes.values()]
    yield homes
    for daemon in daemons:
        ended(daemon)


def begun(north: Party, south: Party):
    mine = north.submit(JOB)
    theirs = south.job(mine.id)
    while theirs.state is not State.RUNNING or not theirs.progress[1]:
        assert not theirs.state.is_final, "it was too quick to be killed"
        time.sleep(0.01)
        theirs = south.job(mine.id)
    return mine, theirs


def test_jobs_whose_workers_die(homes, cluster):
    expected = [x >= y for x, y in zip(*AGES.values(), strict=True)]
    with Party(homes["north"]) as north, Party(homes["south"]) as south:
        mine, _ = begun(north, south)
        cluster.workers[0].kill()
        found = mine.wait(timeout=60).result()
        assert list(found.tables["comparison"].values())[-1] == expected

        mine, theirs = begun(north, south)
        for worker in cluster.workers[1:]:
            worker.kill()
        started_at = time.monotonic()
        with pytest.raises(PeerAborted, match="cluster-unavailable"):
            mine.wait(timeout=60).result()
        with pytest.raises(ClusterUnavailable, match="no worker") as raised:
            theirs.wait(timeout=60).result()
        assert "duetto doctor" in raised.value.hint
        assert time.monotonic() - started_at < 30
        assert {one.job(mine.id).state for one in (north, south)} == {State.FAILED}
