"""The store: every pair of states, atomic changes, restarts."""

from __future__ import annotations

import json
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

from parties.contracts.state import WAYS, State
from parties.errors import JobError
from parties.jobs.agreement.outbox import Outbox
from parties.jobs.storage.store import JobStore, Progress
from parties.ledger.accounting import Account
from parties.ledger.book import Ledger
from smc.analyses.studies.loss import Loss
from smc.errors import DuettoError
from smc.forms import Role
from tests.parties.contracts.test_spec import contract
from tests.support.clocks import Moved

PATHS = {
    State.WAITING_OWN: [],
    State.PROPOSED: [State.PROPOSED],
    State.WAITING_PEER: [State.PROPOSED, State.WAITING_PEER],
    State.APPROVED: [State.APPROVED],
    State.RUNNING: [State.APPROVED, State.RUNNING],
    State.KEPT: [State.APPROVED, State.RUNNING, State.KEPT],
    State.FINISHED: [State.APPROVED, State.RUNNING, State.KEPT, State.FINISHED],
    State.FAILED: [State.FAILED],
    State.DENIED: [State.DENIED],
    State.CANCELLED: [State.CANCELLED],
}
FINAL = [state for state in State if state.is_final]


@pytest.fixture
def store(tmp_path):
    opened = JobStore(tmp_path)
    yield opened
    opened.close()


def insert(store, nonce=0, state=State.WAITING_OWN, *, outgoing=True):
    made = replace(contract(), nonce=f"{nonce:064x}")
    job_id = store.insert(made, Role.ALICE, "south", State.WAITING_OWN, outgoing=outgoing).job_id
    for step in PATHS[state]:
        store.move(job_id, step)
    return job_id


def test_the_table_of_ways_is_the_intended_one():
    assert {(a.value, b.value) for a, following in WAYS.items() for b in following} == {
        *(("waiting-own-approval", b) for b in ("proposed", "approved", "denied", "failed", "cancelled")),
        *(("proposed", b) for b in ("waiting-peer", "approved", "denied", "failed", "cancelled")),
        *(("waiting-peer", b) for b in ("approved", "denied", "failed", "cancelled")),
        *(("approved", b) for b in ("running", "denied", "failed", "cancelled")),
        *(("running", b) for b in ("kept", "denied", "failed", "cancelled")),
        *(("kept", b) for b in ("finished", "failed")),
        *(("failed", b) for b in ("denied", "cancelled")),
        ("cancelled", "denied"),
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
                store.fail(job_id, DuettoError("x"), after)
            assert caught.value.stable_code == "state"
            assert store.get(job_id).state is before
            assert store.get(job_id).error_code == ""


def test_a_job_is_kept_whole_across_restarts(tmp_path, store):
    job_id = insert(store, 1, State.RUNNING)
    store.keep(job_id, {"tables": [1]}, {"seconds": 0.5}, {"salt": "00"})
    store.finish(job_id)
    again = JobStore(tmp_path)
    assert again.get(job_id) == store.get(job_id)
    assert again.outcome(job_id) == '{"tables": [1]}'
    assert again.papers(job_id) == store.papers(job_id)
    assert again.get(job_id).started
    again.close()
    for path in (*tmp_path.iterdir(), *(tmp_path / "results").iterdir()):
        assert path.stat().st_mode & 0o077 == 0


def test_a_failed_write_changes_nothing(store):
    job_id = insert(store, 1, State.RUNNING)
    with pytest.raises(ValueError):
        store.keep(job_id, {"x": float("nan")}, {}, {})
    found = store.get(job_id)
    assert (found.state, found.kept) == (State.RUNNING, False)
    assert store.papers(job_id).facts == ""
    assert store._results.names() == set()


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
    store.recover()
    for state, job_id in jobs.items():
        found = store.get(job_id)
        assert found.state is (State.FAILED if state is State.RUNNING else state)
    assert store.get(jobs[State.RUNNING]).error_code == "interrupted"
    assert "stays spent" in store.get(jobs[State.RUNNING]).error_hint


def test_open_jobs_are_counted(store):
    for number, state in enumerate(State):
        insert(store, number, state)
        insert(store, 100 + number, state, outgoing=False)
    assert store.count_open("south") == 6
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
from parties.contracts.state import State
from parties.jobs.storage.store import JobStore
from parties.ledger.accounting import Account, Budget
from parties.ledger.book import Ledger
from smc.analyses.studies.loss import Loss
home = Path(sys.argv[1])
store, ledger = JobStore(home), Ledger(home / "ledger.jsonl")
record = store.get(store.all()[0].job_id)
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
    started_again = JobStore(tmp_path)
    started_again.recover()
    assert (started_again.get(job_id).state, started_again.get(job_id).kept) == (State.FAILED, False)
    started_again.close()
    ledger = Ledger(tmp_path / "ledger.jsonl")
    assert ledger.spent(Account.of("numbers"), "south").loss == Loss(Fraction(1, 2))
    assert os.path.exists(tmp_path / "jobs.sqlite")


def test_an_error_is_kept_with_code_and_hint(store):
    job_id = insert(store)
    found = store.fail(job_id, DuettoError("What.", "Do so.", code="odd"))
    assert (found.error_code, found.error_what, found.error_hint) == ("odd", "What.", "Do so.")


def finish(store, nonce, rows=1):
    job_id = insert(store, nonce, State.RUNNING)
    store.keep(job_id, {"tables": [nonce] * rows}, {"seconds": 0.5}, {"salt": "00"})
    store.finish(job_id)
    return job_id


def test_a_result_kept_before_a_crash_is_not_lost(tmp_path, store):
    kept, lost = insert(store, 1, State.RUNNING), insert(store, 2, State.RUNNING)
    store.keep(kept, {"tables": [1]}, {"seconds": 0.5}, {"salt": "00"})
    store._results.write(lost, "{}")  # the crash came before the database knew of it
    again = JobStore(tmp_path)
    again.recover()
    assert again.get(kept).state is State.KEPT  # the peer knows whether it has its own
    again.finish(kept)
    assert again.outcome(kept) == '{"tables": [1]}'
    assert (again.get(lost).state, again.get(lost).error_code) == (State.FAILED, "interrupted")
    assert again._results.names() == {kept}
    again.close()


def test_what_fails_after_its_result_was_kept_has_none(store):
    job_id = insert(store, 1, State.RUNNING)
    store.keep(job_id, {"tables": [1]}, {"seconds": 0.5}, {"salt": "00"})
    store.fail(job_id, DuettoError("The peer is gone.", code="peer-lost"))
    assert (store.get(job_id).kept, store._results.names()) == (False, set())
    assert store.papers(job_id).certificate == store.papers(job_id).facts == ""
    with pytest.raises(JobError) as caught:
        store.outcome(job_id)
    assert caught.value.stable_code == "no-result"


@pytest.mark.parametrize("state", [state for state in State if state is not State.RUNNING])
def test_a_result_is_kept_of_a_running_job_only(store, state):
    job_id = insert(store, 1, state)
    with pytest.raises(JobError) as caught:
        store.keep(job_id, {}, {}, {})
    assert caught.value.stable_code == "state"
    assert store._results.names() == set()


def test_pages_of_jobs(store):
    names = [insert(store, number, [*State][number % len(State)]) for number in range(25)][::-1]
    assert [job.job_id for job in store.all()] == names
    assert [job.job_id for job in store.all(limit=10)] == names[:10]
    assert [job.job_id for job in store.all(limit=10, before=names[9])] == names[10:20]
    assert store.all(before=names[-1]) == []
    denied = [job.job_id for job in store.all(State.DENIED, State.RUNNING)]
    assert denied == [name for name in names if store.get(name).state in (State.DENIED, State.RUNNING)]
    assert [job.job_id for job in store.all(State.DENIED, State.RUNNING, limit=2)] == denied[:2]
    assert store.counts() == {state: sum(j.state is state for j in store.all()) for state in State}
    with pytest.raises(JobError) as caught:
        store.all(before="0" * 16)
    assert caught.value.stable_code == "unknown-job"


def test_no_listing_opens_contracts_or_results(store):
    names = [finish(store, number) for number in range(3)]
    store._database.execute("update papers set contract = x'00', facts = '{', certificate = '{'")
    for name in names:
        (store._results._path / f"{name}.sealed").write_bytes(b"\xff")
    assert [job.job_id for job in store.all()] == names[::-1]
    assert store.find(names[0]).state is State.FINISHED
    assert len(store.names_by_digest()) == 3
    store.recover()
    assert store.counts() == {State.FINISHED: 3}


def test_old_results_are_deleted_and_nothing_else(tmp_path):
    time = Moved(datetime(2024, 1, 1, tzinfo=UTC))
    store = JobStore(tmp_path, time.clock)
    old = finish(store, 1)
    time.passes(timedelta(days=60))
    new, running = finish(store, 2), insert(store, 3, State.RUNNING)
    store.keep(running, {"tables": [3]}, {}, {})
    time.passes(timedelta(days=31))
    before = (store.get(old), store.papers(old))
    assert store.prune(time.clock.trusted(), timedelta(days=90)) == 1
    assert store.prune(time.clock.trusted(), timedelta(days=90)) == 0
    found = store.get(old)
    assert (found.state, found.kept, found.deleted) == (State.FINISHED, False, "2024-04-01T00:00:00Z")
    assert (found.contract, found.digest) == (before[0].contract, before[0].digest)
    assert store.papers(old) == before[1]
    assert (tmp_path / "results" / "trash" / f"{old}.sealed").exists()
    store.empty_trash(time.clock.trusted())
    assert store._results.discarded().keys() == {old}
    time.passes(timedelta(days=1))
    store.empty_trash(time.clock.trusted())
    assert store._results.discarded() == {}
    assert replace(store.papers(old), certificate="") == replace(before[1], certificate="")
    assert json.loads(store.papers(old).certificate)["salt"] == ""
    found = store.get(old)
    with pytest.raises(JobError, match=r"deleted on 2024-04-02") as caught:
        store.outcome(old)
    assert caught.value.stable_code == "deleted"
    assert store.outcome(new)
    assert store._results.names() == {new, running}
    store.close()


def test_a_deleted_result_is_in_no_file_of_the_home(tmp_path, store):
    job_id = insert(store, 1, State.RUNNING)
    salt = "ab12" * 8
    store.keep(job_id, {"tables": ["4711-0815-canary"]}, {}, {"certificate": {"n": 1}, "salt": salt})
    store.finish(job_id)
    assert "4711-0815-canary" in store.outcome(job_id)
    assert (tmp_path / "results" / f"{job_id}.sealed").exists()
    assert _mentions(tmp_path, b"4711-0815-canary") == []  # it is sealed from the first
    assert _mentions(tmp_path, salt.encode())
    store.forget(job_id)
    assert not (tmp_path / "results" / f"{job_id}.sealed").exists()
    # With the salt, whoever has the certificate could try all possible results.
    assert _mentions(tmp_path, salt.encode()) == []
    assert json.loads(store.papers(job_id).certificate) == {"certificate": {"n": 1}, "salt": ""}
    for wrong in (job_id, insert(store, 2, State.RUNNING), insert(store, 3, State.FAILED)):
        with pytest.raises(JobError) as caught:
            store.forget(wrong)
        assert caught.value.stable_code == "no-result"


def _mentions(folder, text):
    return [path.name for path in folder.rglob("*") if path.is_file() and text in path.read_bytes()]


def test_a_result_whose_deletion_was_cut_short_goes_at_the_next_start(tmp_path, store):
    job_id = finish(store, 1)
    kept = (tmp_path / "results" / f"{job_id}.sealed").read_bytes()
    store.forget(job_id)
    (tmp_path / "results" / f"{job_id}.sealed").write_bytes(kept)
    store.recover()
    assert store._results.names() == set()


def test_progress_is_forgotten_with_the_end(store):
    job_id = insert(store, 1, State.RUNNING)
    store.set_progress(job_id, Progress("adding", 1, 2))
    store.fail(job_id, DuettoError("x"))
    assert store._progress == {}


def test_the_runs_that_began(store):
    begun = [insert(store, number, state) for number, state in enumerate((State.RUNNING, State.FINISHED))]
    insert(store, 2, State.APPROVED)
    assert store.begun() == [(store.get(name).digest, "numbers", "south") for name in begun]


def test_results_of_jobs_that_a_lost_database_does_not_know_are_put_aside(tmp_path, store):
    """They were paid for; only what was deleted on purpose is deleted."""
    stranger = tmp_path / "results" / ("ab" * 8 + ".sealed")
    stranger.parent.mkdir(exist_ok=True)
    stranger.write_text("{}")
    store.recover()
    assert not stranger.exists()
    assert stranger.with_suffix(".unknown").read_text() == "{}"


def test_a_database_that_is_older_than_a_result_does_not_delete_it(tmp_path, store):
    """The attack: a database copied while the job ran, results and ledger copied after it had finished."""
    jobs = {state: insert(store, number, state) for number, state in enumerate(State)}
    unfinished = [state for state in State if state not in (State.KEPT, State.FINISHED)]
    for state in unfinished:
        store._results.write(jobs[state], json.dumps({"tables": [state.value]}))
    digests = {store.get(job_id).digest: job_id for job_id in jobs.values()}
    paid = {jobs[state] for state in (State.WAITING_PEER, State.APPROVED, State.RUNNING)}
    open_still = {jobs[state] for state in unfinished if not state.is_final}
    store.recover(lambda digest: digests[digest] in paid)
    assert store._results.aside().keys() == open_still
    for job_id in open_still:
        assert "tables" in store._results.read_aside(job_id)
    assert store._results.names() == set()
    store.recover()
    assert store._results.aside().keys() == open_still


@pytest.mark.parametrize("state", [State.WAITING_OWN, State.APPROVED, State.RUNNING, State.FAILED])
def test_database_and_ledger_that_are_older_than_a_result_do_not_delete_it(tmp_path, store, state):
    """The attack: a ledger of the same old copy knows of no release; the result was deleted for good."""
    job_id = insert(store, 1, state)
    store._results.write(job_id, json.dumps({"tables": []}))
    store.recover(lambda digest: False)
    assert (job_id in store._results.aside()) is not state.is_final
    assert not store._results.names()


def test_a_result_that_was_put_aside_is_taken_up_when_its_database_is_back(tmp_path, store):
    job_id = finish(store, 1)
    outcome = store.outcome(job_id)
    store._database.execute("update jobs set kept = 0, state = 'waiting-peer'")
    store.recover(lambda digest: True)
    assert store._results.aside().keys() == {job_id}
    store._database.execute("update jobs set kept = 1, state = 'finished'")
    store.recover(lambda digest: True)
    assert (store.outcome(job_id), store._results.aside()) == (outcome, {})


def test_results_that_lie_aside_are_deleted_for_their_age_too(tmp_path):
    time = Moved(datetime.now(UTC))
    store = JobStore(tmp_path, time.clock)
    store._results.write("ab" * 8, "{}")
    store.recover()
    assert store.prune(time.clock.trusted(), timedelta(days=90)) == 0
    time.passes(timedelta(days=91))
    assert store.prune(time.clock.trusted(), timedelta(days=90)) == 1
    time.passes(timedelta(days=1))
    store.empty_trash(time.clock.trusted())
    assert [path.name for path in (tmp_path / "results").rglob("*")] == ["trash"]
    store.close()


def test_what_peers_proposed_and_nobody_approved_is_deleted_as_long_after_its_end_as_jobs_may_wait(tmp_path):
    time = Moved(datetime(2030, 1, 1, tzinfo=UTC))
    store, outbox = JobStore(tmp_path, time.clock), Outbox(tmp_path)
    ended = [insert(store, number, state, outgoing=False) for number, state in enumerate(FINAL)]
    signed = insert(store, 10, State.APPROVED, outgoing=False)
    store.move(signed, State.CANCELLED, own_signature=b"signed")
    own = insert(store, 11, State.CANCELLED)
    waiting = insert(store, 12, outgoing=False)
    time.passes(timedelta(days=14))
    late = insert(store, 13, State.CANCELLED, outgoing=False)
    assert store.drop_unapproved(time.clock.trusted(), timedelta(days=14)) == 0
    time.passes(timedelta(seconds=1))
    assert outbox.owed("south")
    assert store.drop_unapproved(time.clock.trusted(), timedelta(days=14)) == 3
    ran = ended[FINAL.index(State.FINISHED)]
    assert {job.job_id for job in store.all()} == {ran, signed, own, waiting, late}
    assert not {*ended} - {ran} & {*outbox.owed("south")}
    store.close()
    outbox.close()


@pytest.mark.attack
def test_what_proposals_take_on_the_disk_is_counted_in_full(tmp_path):
    """A proposal of 55 kB that was withdrawn took 108 kB, and was said to take 1."""
    store = JobStore(tmp_path)
    before = used(tmp_path)
    made = contract()
    long = replace(made.spec, parameters={**made.spec.parameters, "filler": ["x" * 50] * 1000})
    for number in range(40):
        proposed = replace(made, spec=long, nonce=f"{number:064x}")
        job_id = store.insert(proposed, Role.ALICE, "south", State.WAITING_OWN, outgoing=False).job_id
        store.move(job_id, State.CANCELLED)
    store._database.checkpoint()
    taken, counted = used(tmp_path) - before, store.proposed_bytes("south", timedelta(days=1))
    assert taken <= counted <= 3 * taken
    assert store.proposed_bytes("west", timedelta(days=1)) == 0
    store.close()


def used(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
