"""What workloads are stated to take is what their runs take, and finding it out takes no memory of rows."""

from __future__ import annotations

import sys
import threading
import tracemalloc
from dataclasses import astuple, replace

import pytest

from parties.bench.workloads import WORKLOADS
from smc.analyses.disclosure.fits import MAX_FIT_OPENINGS
from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.forms import Role
from smc.network import Network
from smc.pair import run_pair
from smc.testing.case import schemas_of
from smc.tracing.session import TracedSession

ROWS = 40
LINKS = {"loopback": (None, 1), "link": (Network(20, 100), 1), "lanes": (None, 2)}
DATA_DECIDE = ("model-cox", "model-logistic")
"""How many steps a run takes: two are usual, and so few rows need more."""
DEAR = (
    "survival",
    "model-logistic-matched",
    "median-fine",
    "histogram-gaussian",
    "clusters",
    "clusters-many",
    "clusters-plus-plus",
    "tolerant",
)
"""Not run on each link but with `--slow`."""
DEAREST = ("model-cox-matched",)
"""Not run: forty rows take minutes. It took what is stated at 10,000 rows, by `scripts/bench/analyses`."""
MOST_CALLS = {
    "tolerant": 250_000,
    "tolerant-pairs": 80_000,
    "tolerant-ranks": 230_000,
    "tolerant-registry": 290_000,
    "clusters": 240_000,
    "clusters-matched": 330_000,
    "model-cox": 145_000,
}
"""Of functions, for the estimates that take longest: a fifth more than when 300,000 took about 0.3 s."""


def parts(name):
    """The study, its recipients and the data of a workload."""
    workload = WORKLOADS[name]
    study = ANALYSES[workload.analysis].parse(workload.parameters)
    return study, frozenset(Role(role) for role in workload.recipients), workload.data(ROWS)


def stated(name, rows, network=None, lanes=1, study=None):
    own, recipients, data = parts(name)
    schemas = {column: schema for side in data.values() for column, schema in schemas_of(side).items()}
    setting = RunSetting((rows, rows), network=network, lanes=lanes)
    return estimate_cost(study or own, schemas, recipients, setting)


@pytest.mark.parametrize(
    ("name", "link"),
    [
        pytest.param(name, link, marks=[pytest.mark.slow] if name in DEAR else [])
        for name in WORKLOADS
        if name not in (*DATA_DECIDE, *DEAREST)
        for link in LINKS
    ],
)
def test_a_run_takes_what_is_stated(name, link):
    found = stated(name, ROWS, *LINKS[link])
    assert measured(name, *LINKS[link]) == (found.rounds, found.alice_bytes, found.bob_bytes)
    assert found.most is None or found.most.rounds > found.rounds


def measured(name, network=None, lanes=1):
    """The rounds of a run, and the bytes that either side sends."""
    study, recipients, data = parts(name)

    def run(session):
        run_study(study, session, data[session.role], recipients, NO_LIMITS.of_both)
        return session.channel.traffic

    alice, bob = run_pair(run, network=network, lanes=lanes)
    return max(alice.rounds, bob.rounds), alice.sent, bob.sent


@pytest.mark.parametrize("name", DATA_DECIDE)
def test_a_run_whose_length_data_decide_takes_no_more_than_the_most_that_is_stated(name):
    found = stated(name, ROWS)
    taken = measured(name)
    steps = [
        stated(name, ROWS, study=replace(parts(name)[0], traced_openings=openings))
        for openings in range(3, MAX_FIT_OPENINGS + 1)
    ]
    every = [(one.rounds, one.alice_bytes, one.bob_bytes) for one in steps]
    assert (found.rounds, found.alice_bytes, found.bob_bytes) < taken <= every[-1]
    assert astuple(found.most) == every[-1]
    assert taken in every  # a step takes as much as is stated of it, and data decide how many there are


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


@pytest.mark.parametrize("link", ["loopback", "link"])
@pytest.mark.parametrize("name", MOST_CALLS)
def test_what_runs_do_again_and_again_is_estimated_once(name, link, monkeypatch):
    monkeypatch.setattr("smc.analyses.studies.traced._TRACES", [])
    calls = 0

    def count(frame, event, _):
        nonlocal calls
        code = frame.f_code
        calls += event == "call" and code.co_name[0] != "<" and "smc" in code.co_filename

    study, recipients, data = parts(name)
    schemas = {column: schema for side in data.values() for column, schema in schemas_of(side).items()}
    setting = RunSetting((1_000_000, 1_000_000), network=LINKS[link][0])
    threading.setprofile(count)
    sys.setprofile(count)
    try:
        estimate_cost(study, schemas, recipients, setting)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert MOST_CALLS[name] / 5 < calls < MOST_CALLS[name]


class Forgetful(dict):
    """Never has what was put into it."""

    def get(self, key, default=None):
        return default


@pytest.mark.parametrize(
    "name",
    [
        "tolerant",
        "tolerant-pairs",
        "tolerant-registry",
        "clusters-narrow",
        "clusters-matched",
        "model-linear",
    ],
)
def test_what_is_not_gone_through_again_costs_as_much(name, monkeypatch):
    """The rows are as many as make stretches and passes that are alike."""
    rows, link = 60_000, LINKS["link"][0]
    monkeypatch.setattr("smc.analyses.studies.traced._TRACES", [])
    repeated = stated(name, rows, link)
    monkeypatch.setattr("smc.analyses.studies.traced._TRACES", [])
    of = TracedSession.of

    def made(*given):
        session = of(*given)
        session.repeats = Forgetful()
        return session

    monkeypatch.setattr(TracedSession, "of", made)
    assert stated(name, rows, link) == repeated
