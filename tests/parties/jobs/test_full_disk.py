"""What a full disk does to jobs: typed errors with a fix, ends written later, nothing paid and lost."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import namedtuple
from contextlib import contextmanager

import pytest

from parties.audit.files import read_log
from parties.audit.lines import FORGOTTEN
from parties.contracts.records import Progress
from parties.contracts.state import State
from parties.disk import SPACE
from parties.errors import JobError, StorageError
from parties.jobs.storage.store import JobStore
from parties.ledger.entries import SPENT
from smc.errors import DuettoError
from smc.forms import Role
from tests.parties.contracts.test_spec import contract
from tests.parties.jobs.joined import job_file, wait_final
from tests.parties.jobs.storage.test_store import insert

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def store(tmp_path):
    opened = JobStore(tmp_path)
    yield opened
    opened.close()


@contextmanager
def full(store, monkeypatch):
    """As if the disk took no more of the database."""

    @contextmanager
    def refused():
        raise StorageError("The disk is full.", "Free space on it.")
        yield

    with monkeypatch.context() as changed:
        changed.setattr(store._database, "transaction", refused)
        yield


def insert_many(store):
    for number in range(1000):
        insert(store, number)


def test_sqlites_own_word_for_it_is_translated(store):
    pages = store._database.rows("pragma page_count")[0][0]
    store._database.rows(f"pragma max_page_count = {pages}")
    with pytest.raises(StorageError, match="the disk is full") as caught:
        insert_many(store)
    assert "Free space" in caught.value.hint
    known = len(store.all())
    store._database.rows("pragma max_page_count = 100000")
    insert(store, 2000)
    assert len(store.all()) == known + 1


@pytest.mark.parametrize("state", [State.APPROVED, State.RUNNING])
def test_a_failure_is_written_when_there_is_room_again(store, monkeypatch, state):
    job_id = insert(store, 1, state)
    with full(store, monkeypatch):
        store.fail(job_id, DuettoError("The peer is gone.", code="peer-lost"))
        store.settle()
        assert store.get(job_id).state is state
    store.settle()
    assert (store.get(job_id).state, store.get(job_id).error_code) == (State.FAILED, "peer-lost")


def test_the_end_of_a_paid_job_is_written_when_there_is_room_again(store, monkeypatch):
    job_id = insert(store, 1, State.RUNNING)
    store.set_progress(job_id, Progress("adding", 1, 2))
    store.keep(job_id, {"tables": [1]}, {}, {})
    with full(store, monkeypatch):
        store.finish(job_id)
        assert store.get(job_id).state is State.KEPT
    store.settle()
    assert store.get(job_id).state is State.FINISHED
    assert store.outcome(job_id)


def test_what_something_else_has_ended_is_not_ended_twice(store, monkeypatch):
    job_id = insert(store, 1, State.APPROVED)
    with full(store, monkeypatch):
        store.fail(job_id, DuettoError("x", code="first"))
    store.fail(job_id, DuettoError("x", code="second"), State.CANCELLED)
    store.settle()
    assert (store.get(job_id).state, store.get(job_id).error_code) == (State.CANCELLED, "second")
    assert store._owed == {}


def test_what_is_asked_of_people_is_refused_and_not_put_off(store, monkeypatch):
    job_id = insert(store, 1, State.APPROVED)
    with full(store, monkeypatch):
        for change in (
            lambda: store.move(job_id, State.RUNNING),
            lambda: store.countersign(job_id, b"x"),
            lambda: store.insert(contract(), Role.ALICE, "south", State.PROPOSED, outgoing=True),
        ):
            with pytest.raises(StorageError):
                change()
    assert store.get(job_id).state is State.APPROVED


def test_a_result_that_finds_no_room_leaves_nothing(store, monkeypatch):
    store.require_room()
    job_id = insert(store, 1, State.RUNNING)
    with monkeypatch.context() as changed:
        changed.setattr(
            "os.fsync", lambda number: (_ for _ in ()).throw(OSError(28, "No space left on device"))
        )
        with pytest.raises(StorageError, match="No space left on device") as caught:
            store.keep(job_id, {"tables": [1]}, {}, {})
    assert "Free space" in caught.value.hint
    assert [*store._results._path.iterdir()] == []
    assert not store.get(job_id).kept


def test_no_run_begins_without_room_for_what_it_pays(pair, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda path: Usage(1 << 40, 0, SPACE - 1))
    job_id = pair.north.submit(job_file("1/2")).job_id
    ended = [wait_final(manager, job_id) for manager in (pair.north, pair.south)]
    assert {found.state for found in ended} == {State.FAILED}
    assert "disk-full" in {found.error_code for found in ended}
    for manager in (pair.north, pair.south):
        assert [entry for entry in manager.ledger.entries() if entry.event == SPENT] == []
    monkeypatch.undo()
    job_id = pair.north.submit(job_file("1/2")).job_id
    assert wait_final(pair.north, job_id).state is State.FINISHED


@pytest.mark.parametrize("name", ["north", "south"])
def test_a_kill_between_the_last_message_and_the_end_loses_nothing(pair, monkeypatch, name):
    manager = pair.network.managers[name]
    with monkeypatch.context() as changed:
        changed.setattr(manager.store, "finish", lambda job_id: None)
        job_id = pair.north.submit(job_file("1/2")).job_id
        other = pair.south if name == "north" else pair.north
        assert wait_final(other, job_id).state is State.FINISHED
        assert manager.store.wait_for(lambda: manager.store.get(job_id).kept, 20)
        assert manager.store.get(job_id).state is State.KEPT
    manager.store.recover()
    assert wait_final(manager, job_id).state is State.FINISHED
    assert json.loads(manager.result(job_id))["outcome"]["tables"][0]["columns"] == {"total": [62]}
    assert manager.certificate(job_id)["signature"]


def test_a_full_disk_ends_jobs_at_both_parties(pair, monkeypatch):
    """Neither stays approved or running for ever, and the thread that works on jobs goes on."""
    store = pair.north.store
    true = store._database.transaction
    refusing = True

    @contextmanager
    def refused():
        if refusing and store.all(State.APPROVED):
            raise StorageError("The disk is full.", "Free space on it.")
        with true():
            yield

    monkeypatch.setattr(store._database, "transaction", refused)
    job_id = pair.north.submit(job_file("1/2")).job_id
    assert wait_final(pair.south, job_id).state in (State.FAILED, State.CANCELLED)
    assert store.wait_for(lambda: job_id in store._owed, 20)
    assert store.get(job_id).state is State.APPROVED
    refusing = False
    store.settle()
    assert (store.get(job_id).state, store.get(job_id).error_code) == (State.FAILED, "storage")
    again = pair.north.submit(job_file("1/2")).job_id
    assert wait_final(pair.north, again).state is State.FINISHED


def test_a_proposal_waits_until_the_peer_has_room_again(pair, monkeypatch):
    with full(pair.south.store, monkeypatch):
        job_id = pair.north.submit(job_file("1/2")).job_id
        assert pair.north.store.get(job_id).state is State.PROPOSED
    assert {wait_final(manager, job_id).state for manager in (pair.north, pair.south)} == {State.FINISHED}


def test_deleted_results_are_named_as_such(pair):
    job_id = pair.north.submit(job_file("1/2")).job_id
    wait_final(pair.north, job_id)
    before = pair.north.certificate(job_id)
    pair.north.store.forget(job_id)
    with pytest.raises(JobError, match="deleted"):
        pair.north.result(job_id)
    assert pair.north.certificate(job_id) == before


def finished(store, number):
    job_id = insert(store, number, State.RUNNING)
    store.keep(job_id, {"tables": [1]}, {}, {"salt": "x"})
    store.finish(job_id)
    return job_id


def test_a_result_is_deleted_where_the_disk_is_full(store, tmp_path, monkeypatch):
    """The result goes first; that it is gone is noted when there is room, also by the next daemon."""
    first, second = finished(store, 1), finished(store, 2)
    with full(store, monkeypatch), monkeypatch.context() as changed:
        with pytest.raises(StorageError):  # something else is wrong, and nothing is deleted
            store.forget(first)
        assert store.outcome(first)
        changed.setattr("shutil.disk_usage", lambda path: Usage(1 << 40, 1 << 40, 0))
        for job_id in (first, second):
            store.forget(job_id)
            assert sum(path.stat().st_size for path in (tmp_path / "results").glob(f"{job_id}*")) == 0
            assert store.summary(job_id).kept
    again = JobStore(tmp_path)
    again.recover()
    for job_id in (first, second):
        assert not again.summary(job_id).kept
        assert json.loads(again.papers(job_id).certificate)["salt"] == ""
    assert [*(tmp_path / "results").iterdir()] == []
    events = [line.about["job"] for line in read_log(tmp_path).lines if line.event == FORGOTTEN]
    assert sorted(events) == sorted([first, second])
    again.close()


def test_what_is_deleted_on_a_full_disk_is_noted_by_the_same_daemon(store, tmp_path, monkeypatch):
    job_id = finished(store, 1)
    with full(store, monkeypatch), monkeypatch.context() as changed:
        changed.setattr("shutil.disk_usage", lambda path: Usage(1 << 40, 1 << 40, 0))
        store.forget(job_id)
    store.settle()
    assert not store.summary(job_id).kept
    assert [*(tmp_path / "results").iterdir()] == []
    with pytest.raises(JobError, match="no result here"):
        store.forget(job_id)


ON_A_SMALL_DISK = """
import os, sys
from pathlib import Path
from parties.contracts.state import State
from parties.errors import StorageError
from parties.jobs.storage import backup
from parties.jobs.storage.store import JobStore
from tests.parties.jobs.storage.test_store import insert

home = Path(sys.argv[1])
store = JobStore(home)
jobs = [insert(store, number, State.RUNNING) for number in range(4)]
for job in jobs:
    store.keep(job, {"tables": ["x" * 100_000]}, {}, {"salt": "x"})
    store.finish(job)
file = os.open(home / "filler", os.O_WRONLY | os.O_CREAT)
try:
    while True:
        os.write(file, bytes(4096))
except OSError:
    os.close(file)
try:
    backup._copy_database(home / "jobs.sqlite", home / "copy.sqlite")
except StorageError as error:
    print("backup:", error.what)
(home / "copy.sqlite").unlink(missing_ok=True)
for job in jobs:
    store.forget(job)
    print("kept:", store.summary(job).kept, [*(home / "results").glob(f"{job}*")])
"""


def test_on_a_disk_that_is_really_full(tmp_path):
    """A file system of 2 MB in memory; the first result makes room to note that it is gone."""
    steps = 'mount -t tmpfs -o size=2m none "$1" && shift && exec "$@"'
    inside = ["sh", "-c", steps, "sh", str(tmp_path), sys.executable, "-c", ON_A_SMALL_DISK, str(tmp_path)]
    words = ["unshare", "--mount", "--map-root-user", *inside]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no mounts of one's own here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cannot be copied: its disk is full" in done.stdout
    assert done.stdout.count("kept: False []") == 4, done.stdout
