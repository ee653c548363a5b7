"""What workloads are stated to take is what their runs take, and finding it out takes no memory of rows."""

from __future__ import annotations

import tracemalloc

import pytest

from parties.bench.workloads import WORKLOADS
from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.forms import Role
from smc.network import Network
from smc.pair import run_pair
from smc.testing.case import schemas_of

ROWS = 40
LINKS = {"loopback": (None, 1), "link": (Network(20, 100), 1), "lanes": (None, 2)}
DATA_DECIDE = ("model-cox",)
"""How many steps a run takes; two are stated, and so few rows need more."""
DEAR = (
    "survival",
    "median-fine",
    "histogram-gaussian",
    "clusters",
    "clusters-many",
    "clusters-plus-plus",
    "tolerant",
)
"""Not run on each link but with `--slow`."""


def parts(name):
    """The study, its recipients and the data of a workload."""
    workload = WORKLOADS[name]
    study = ANALYSES[workload.analysis].parse(workload.parameters)
    return study, frozenset(Role(role) for role in workload.recipients), workload.data(ROWS)


def stated(name, rows, network=None, lanes=1):
    study, recipients, data = parts(name)
    schemas = {column: schema for side in data.values() for column, schema in schemas_of(side).items()}
    return estimate_cost(study, schemas, recipients, RunSetting((rows, rows), network=network, lanes=lanes))


@pytest.mark.parametrize(
    ("name", "link"),
    [
        pytest.param(name, link, marks=[pytest.mark.slow] if name in DEAR else [])
        for name in WORKLOADS
        if name not in DATA_DECIDE
        for link in LINKS
    ],
)
def test_a_run_takes_what_is_stated(name, link):
    study, recipients, data = parts(name)
    network, lanes = LINKS[link]

    def run(session):
        run_study(study, session, data[session.role], recipients, NO_LIMITS.of_both)
        return session.channel.traffic

    alice, bob = run_pair(run, network=network, lanes=lanes)
    found = stated(name, ROWS, network, lanes)
    assert (alice.sent, bob.sent) == (found.alice_bytes, found.bob_bytes)
    assert max(alice.rounds, bob.rounds) == found.rounds


@pytest.mark.parametrize(
    "name", ["exact", "exact-sums", "matched-moments", "tolerant-ranks", "clusters-narrow"]
)
def test_a_million_rows_are_estimated_without_their_memory(name):
    stated(name, ROWS)
    tracemalloc.start()
    try:
        assert stated(name, 1_000_000).alice_bytes > 10 * stated(name, ROWS).alice_bytes
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64 << 20
