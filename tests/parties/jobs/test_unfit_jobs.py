"""Jobs whose columns or memory do not fit: the proposer learns why, and the other party keeps nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from parties.contracts.state import State
from parties.errors import JobError
from parties.jobs.agreement.messages import Answer, PeerState, parse_answer
from parties.jobs.checks.opening import open_admission
from parties.jobs.reports import check_report
from parties.ledger.book import Ledger
from smc.errors import OutOfMemory, UsageError
from tests.parties.jobs.addition import Sum
from tests.parties.jobs.joined import job_file, wait_final


def test_the_proposer_finds_for_itself_why_columns_do_not_fit(pair):
    pair.declare("south", unit="months")
    with pytest.raises(UsageError, match="The units of column v differ") as caught:
        pair.north.submit(job_file("1/2"))
    assert caught.value.hint == "Declare the same unit."
    record = pair.north.store.all()[0]
    assert (record.state, record.error_code) == (State.FAILED, "usage")
    assert pair.south.store.all() == []


def test_a_peer_that_calls_fitting_columns_unfit(pair):
    def unfit(answer):
        return Answer(PeerState.UNFIT, parse_answer(answer).contract).encode()

    pair.network.spoil["propose"] = unfit
    with pytest.raises(JobError, match="here they fit") as caught:
        pair.north.submit(job_file())
    assert caught.value.stable_code == "contract"
    assert pair.north.store.all()[0].state is State.FAILED


def too_large_an_array():
    """What numpy raises where no machine has the memory."""
    with pytest.raises(MemoryError) as caught:
        np.empty(1 << 60, dtype=np.uint8)
    return caught.value


@pytest.mark.parametrize("exhausted", [MemoryError, too_large_an_array])
def test_a_run_that_lacks_memory_ends_with_a_code_and_a_hint(pair, exhausted):
    pair.analysis["south"].failure = exhausted()
    job_id = pair.north.submit(job_file()).job_id
    south, north = wait_final(pair.south, job_id), wait_final(pair.north, job_id)
    assert (south.state, north.state) == (State.FAILED, State.FAILED)
    assert south.error_code == "memory"
    assert "duetto job estimate" in pair.south.store.get(job_id).error_hint
    assert "defect" not in pair.south.store.get(job_id).error_what


def test_a_job_above_the_granted_memory_is_refused_before_it_is_proposed(pair):
    """The analysis says 1000 bytes a row."""
    rows = "\n".join(["value", *map(str, range(900)), *map(str, range(900)), ""])
    (pair.folder / "north" / "numbers.csv").write_text(rows)
    config = pair.config("north")
    ledger = Ledger(config.home / "ledger.jsonl")

    analyses = {"addition": pair.analysis["north"]}

    def refused(memory_mib):
        granted = replace(config, limits=replace(config.limits, memory_mib=memory_mib))
        return check_report(open_admission(granted, ledger, analyses), job_file())["preview"]["refusal"]

    assert refused(0) is None
    assert refused(2) is None
    said = refused(1)
    assert said["code"] == "memory"
    assert "memory_mib below [limits]" in said["what"]
    assert said["hint"] == OutOfMemory.advice
    pair.north._admission._maximum_memory = 1 << 20
    with pytest.raises(OutOfMemory, match="1 MiB are granted"):
        pair.north.submit(job_file())
    assert pair.south.store.all() == []


@pytest.mark.parametrize("modelled", [True, False])
def test_lanes_above_the_granted_memory_are_refused_also_where_no_model_says_what_the_rest_takes(
    pair, modelled, monkeypatch
):
    cost = Sum.cost
    if not modelled:
        monkeypatch.setattr(Sum, "cost", lambda *given: replace(cost(*given), memory=None))
    pair.lanes["north"] = 2
    config = pair.config("north")
    granted = replace(config, limits=replace(config.limits, memory_mib=499))
    admission = open_admission(
        granted, Ledger(config.home / "ledger.jsonl"), {"addition": pair.analysis["north"]}
    )
    said = check_report(admission, job_file() + "\n[compute]\nlanes = 2\n")["preview"]["refusal"]
    assert said["code"] == "memory"
    assert said["hint"].startswith("Ask for fewer than 2 lanes")
    assert check_report(admission, job_file())["preview"]["refusal"] is None
