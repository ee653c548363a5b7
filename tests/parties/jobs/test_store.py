"""The store: every pair of states, atomic changes, restarts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import product

import pytest

from parties.errors import JobError
from parties.jobs.state import WAYS, State
from parties.jobs.store import JobStore, Progress
from parties.ledger.accounting import Account
from parties.ledger.book import Ledger
from parties.policy.conditions import Runs
from smc.analyses.loss import Loss
from smc.errors import DuettoError
from smc.forms import Role
from tests.parties.jobs.test_spec import contract

PATHS = {
    State.WAITING_OWN: [],
    State.PROPOSED: [State.PROPOSED],
    State.WAITING_PEER: [State.PROPOSED, State.WAITING_PEER],
    State.APPROVED: [State.APPROVED],
    State.RUNNING: [State.APPROVED, State.RUNNING],
    State.FINISHED: [State.APPROVED, State.RUNNING, State.FINISHED],
    State.FAILED: [State.FAILED],
    State.DENIED: [State.DENIED],
    State.CANCELLED: [State.CANCELLED],
}


@pytest.fixture
def store(tmp_path):
    opened = JobStore(tmp_path / "jobs.sqlite")
    yield opened
    opened.close()


def insert(store, nonce=0, state=State.WAITING_OWN):
    made = replace(contract(), nonce=f"{nonce:064x}")
    job_id = store.insert(made, Role.ALICE, "south", State.WAITING_OWN, outgoing=True).job_id
    for step in PATHS[state]:
        store.move(job_id, step)
    return job_id


def test_the_table_of_ways_is_the_intended_one():
    assert {(a.value, b.value) for a, following in WAYS.items() for b in following} == {
        *(("waiting-own-approval", b) for b in ("proposed", "approved", "denied", "failed", "cancelled")),
        *(("proposed", b) for b in ("waiting-peer", "approved", "denied", "failed", "cancelled")),
        *(("waiting-peer", b) for b in ("approved", "denied", "failed", "cancelled")),
        *(("approved", b) for b in ("running", "failed", "cancelled")),
        *(("running", b) for b in ("finished", "failed", "cancelled")),
    }
    assert {state for state in State if state.is_final} == {
        State.FINISHED, State.FAILED, State.DENIED, State.CANCELLED
    }  # fmt: skip


def test_every_pair_of_states(store):
    for number, (before, after) in enumerate(product(State, repeat=2)):
        job_id = insert(store, number, before)
        if after in WAYS[before]:
            assert store.move(job_id, after).state is after
        else:
            with pytest.raises(JobError) as caught:
                store.move(job_id, after, error_code="x")
            assert caught.value.stable_code == "state"
            assert store.get(job_id).state is before
            assert store.get(job_id).error_code == ""


def test_a_job_is_kept_whole_across_restarts(tmp_path, store):
    job_id = insert(store, 1, State.RUNNING)
    store.move(job_id, State.FINISHED, outcome={"tables": [1]}, facts={"seconds": 0.5})
    again = JobStore(tmp_path / "jobs.sqlite")
    assert again.get(job_id) == store.get(job_id)
    assert again.get(job_id).outcome == '{"tables": [1]}'
    assert again.get(job_id).started
    again.close()
    for path in tmp_path.iterdir():
        assert path.stat().st_mode & 0o077 == 0


def test_a_failed_write_changes_nothing(store):
    job_id = insert(store, 1, State.RUNNING)
    with pytest.raises(ValueError):
        store.move(job_id, State.FINISHED, outcome={"x": float("nan")})
    with pytest.raises(JobError):
        store.move(job_id, State.FINISHED, nonsense=1)
    assert store.get(job_id).state is State.RUNNING


def test_names_by_their_beginning(store):
    names = [insert(store, number) for number in range(20)]
    assert store.find(names[0]).job_id == names[0]
    assert store.find(names[3][:12]).job_id == names[3]
    for wrong in ("", "zz", "%", "0" * 16, "' or 1=1 --"):
        with pytest.raises(JobError):
            store.find(wrong)
    first = [name[0] for name in names]
    twice = next(c for c in first if first.count(c) > 1)
    with pytest.raises(JobError, match="begin with"):
        store.find(twice)


def test_a_name_is_used_once(store):
    insert(store, 1)
    with pytest.raises(JobError) as caught:
        insert(store, 1)
    assert caught.value.stable_code == "exists"


def test_a_restart_fails_what_ran_and_nothing_else(store):
    jobs = {state: insert(store, number, state) for number, state in enumerate(State)}
    store.interrupt()
    for state, job_id in jobs.items():
        found = store.get(job_id)
        assert found.state is (State.FAILED if state is State.RUNNING else state)
    assert store.get(jobs[State.RUNNING]).error_code == "interrupted"
    assert "stays spent" in store.get(jobs[State.RUNNING]).error_mend


def test_runs_of_a_day(tmp_path):
    now = [datetime(2024, 1, 1, tzinfo=UTC)]
    store = JobStore(tmp_path / "jobs.sqlite", lambda: now[0])
    insert(store, 1, State.RUNNING)
    assert store.runs("numbers", "south") == Runs(1, 1)
    assert store.runs("numbers", "west") == store.runs("other", "south") == Runs()
    now[0] += timedelta(hours=23)
    insert(store, 2, State.RUNNING)
    insert(store, 3, State.APPROVED)
    assert store.runs("numbers", "south") == Runs(2, 2)
    now[0] += timedelta(hours=2)
    assert store.runs("numbers", "south") == Runs(1, 2)
    store.close()


def test_open_jobs_are_counted(store):
    for number, state in enumerate(State):
        insert(store, number, state)
    assert store.count_open("south") == 5
    assert store.count_open("west") == 0


def test_signatures_only_for_approved_jobs(store):
    for number, state in enumerate(State):
        job_id = insert(store, number, state)
        if state is State.APPROVED:
            assert store.countersign(job_id, b"x").peer_signature == b"x"
        else:
            with pytest.raises(JobError):
                store.countersign(job_id, b"x")
            assert store.get(job_id).peer_signature == b""


def test_changes_wake_those_who_wait(store):
    job_id = insert(store)
    version = store.version
    threading.Timer(0.05, store.set_progress, (job_id, Progress("adding", 1, 2))).start()
    assert store.wait(version, 10) != version
    assert store.progress(job_id) == Progress("adding", 1, 2)
    assert store.progress("none") == Progress()
    assert store.wait(store.version, 0.01) == store.version


def test_one_of_two_racing_changes_wins(store):
    job_id = insert(store, 1, State.APPROVED)
    won = []

    def race():
        try:
            store.move(job_id, State.RUNNING)
            won.append(1)
        except JobError:
            pass

    threads = [threading.Thread(target=race) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1


KILLED = """
import os, signal, sys
from fractions import Fraction
from pathlib import Path
from parties.jobs.state import State
from parties.jobs.store import JobStore
from parties.ledger.accounting import Account, Budget
from parties.ledger.book import Ledger
from smc.analyses.loss import Loss
home = Path(sys.argv[1])
store, ledger = JobStore(home / "jobs.sqlite"), Ledger(home / "ledger.jsonl")
record = store.all()[0]
store.move(record.job_id, State.RUNNING)
account, loss = Account.of(record.dataset), Loss(Fraction(1, 2))
ledger.spend(record.contract.digest.hex(), account, record.dataset, record.peer, loss, Budget(Fraction(1)))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_killed_between_the_loss_and_the_result(tmp_path, store):
    job_id = insert(store, 1, State.APPROVED)
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    assert store.get(job_id).state is State.RUNNING
    store.interrupt()
    assert (store.get(job_id).state, store.get(job_id).outcome) == (State.FAILED, "")
    ledger = Ledger(tmp_path / "ledger.jsonl")
    assert ledger.spent(Account.of("numbers"), "south").loss == Loss(Fraction(1, 2))
    assert os.path.exists(tmp_path / "jobs.sqlite")


def test_an_error_is_kept_with_code_and_mend(store):
    job_id = insert(store)
    found = store.fail(job_id, DuettoError("What.", "Mend.", code="odd"))
    assert (found.error_code, found.error_what, found.error_mend) == ("odd", "What.", "Mend.")
