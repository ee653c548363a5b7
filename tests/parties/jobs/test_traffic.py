"""What runs send and receive is summed by analysis, and the metrics show these sums and nothing of a job."""

from __future__ import annotations

import json

import pytest

from parties.contracts.state import State
from parties.daemon.metrics import Figures
from tests.parties.jobs.joined import Pair, job_file, wait_state
from tests.parties.served import drain_of


@pytest.fixture
def pair(tmp_path):
    made = Pair(tmp_path)
    yield made
    made.close()


def sums(pair, name):
    return pair.network.managers[name].carried.sums()


def samples(pair, name):
    manager = pair.network.managers[name]
    return {
        (sample.name, sample.labels["analysis"]): sample.value
        for family in Figures(lambda: pair.config(name), manager, drain_of(manager))._traffic()
        for sample in family.samples
    }


def test_sums_are_those_of_the_jobs_on_both_sides(pair):
    pytest.importorskip("prometheus_client")
    assert samples(pair, "north") == {}
    facts = []
    for _ in range(2):
        job_id = pair.north.submit(job_file("1/2")).job_id
        wait_state(pair.north, job_id, State.FINISHED)
        wait_state(pair.south, job_id, State.FINISHED)
        facts.append(json.loads(pair.north.store.papers(job_id).facts))
    ((name, (runs, north)),) = sums(pair, "north").items()
    ((other, (_, south)),) = sums(pair, "south").items()
    assert (name, runs) == (other, 2) == ("addition", 2)
    assert (north.sent, north.received) == (south.received, south.sent)
    assert north.sent == sum(one["sent"] for one in facts) > 0
    assert north.rounds == sum(one["rounds"] for one in facts) > 0
    shown = samples(pair, "north")
    assert shown["duetto_runs_total", "addition"] == 2
    assert shown["duetto_sent_bytes_total", "addition"] == north.sent
    assert shown["duetto_received_bytes_total", "addition"] == north.received
    assert shown["duetto_messages_total", "addition"] == north.messages
    assert shown["duetto_rounds_total", "addition"] == north.rounds


def test_a_run_that_fails_counts_too(pair):
    pair.analysis["south"].failure = ZeroDivisionError("in the test")
    job_id = pair.north.submit(job_file("1/2")).job_id
    wait_state(pair.north, job_id, State.FAILED)
    wait_state(pair.south, job_id, State.FAILED)
    assert sums(pair, "north")["addition"][0] == sums(pair, "south")["addition"][0] == 1
