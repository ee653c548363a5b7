"""Homes restored from backups that were made while jobs waited, ran and finished."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading

import pytest

from parties.audit.files import read_log
from parties.audit.verification import missing_decisions, missing_entries
from parties.contracts.state import State
from parties.errors import ConfigError, StorageError
from parties.jobs.storage import backup
from parties.jobs.storage.backup import back_up
from parties.ledger.entries import COUNTERSIGNED, SPENT, LedgerError
from parties.ledger.heads import open_heads
from parties.pki.lock import MOVED, only_one
from parties.pki.moving import pack, unpack
from smc.forms import Role
from tests.parties.jobs.joined import ROLES, approve, job_file, wait_final, wait_state


@pytest.fixture
def pair(pair):
    for name in ROLES:
        (pair.folder / name / "duetto.toml").write_text("")
    return pair


def taken(pair, number=0):
    archive = pair.folder / f"{number}.tar"
    back_up(pair.config("north"), archive)
    return archive


def restored(pair, archive):
    """North as it is after its home was lost and a backup came back."""
    pair.stop("north")
    shutil.rmtree(pair.folder / "north")
    with unpack(archive, pair.folder / "north", backup=True):
        pass
    return pair.start("north")


def ended(pair, job_id):
    return [wait_final(manager, job_id) for manager in (pair.north, pair.south)]


def test_a_job_that_waited_goes_on(pair):
    pair.allow("south", approval="person")
    job_id = pair.north.submit(job_file("1/2")).job_id
    archive = taken(pair)
    assert not (pair.folder / "north" / MOVED).exists()
    restored(pair, archive)
    approve(pair.south, job_id)
    assert [job.state for job in ended(pair, job_id)] == [State.FINISHED] * 2
    assert pair.north.result(job_id)


def test_a_job_that_finished_after_the_backup_ends_with_the_reason_and_spends_nothing_twice(pair):
    """The attack: the peer said `finished` for 14 days, and here the job waited for it."""
    pair.allow("south", approval="person")
    job_id = pair.north.submit(job_file("1/2")).job_id
    archive = taken(pair)
    approve(pair.south, job_id)
    ended(pair, job_id)
    north = restored(pair, archive)
    own, other = ended(pair, job_id)
    assert (own.state, own.error_code, other.state) == (State.FAILED, "older-database", State.FINISHED)
    assert "older than what south knows" in own.error_what
    assert pair.south.result(job_id)
    assert SPENT not in {entry.event for entry in north.ledger.entries()}


def test_a_job_that_ran_during_the_backup_fails_here(pair):
    stop = pair.analysis["north"].stops[Role.ALICE] = threading.Event()
    job_id = pair.north.submit(job_file("1/2")).job_id
    assert pair.analysis["north"].reached[Role.ALICE].wait(20)
    archive = taken(pair)
    stop.set()
    ended(pair, job_id)
    restored(pair, archive)
    own, other = ended(pair, job_id)
    assert (own.state, own.error_code, other.state) == (State.FAILED, "interrupted", State.FINISHED)
    assert pair.south.result(job_id)


def test_a_job_that_had_finished_is_as_it_was(pair):
    job_id = pair.north.submit(job_file("1/2")).job_id
    ended(pair, job_id)
    before = pair.north.result(job_id), pair.north.certificate(job_id)
    north = restored(pair, taken(pair))
    assert (north.result(job_id), north.certificate(job_id)) == before


def older_jobs(pair, job_id):
    """North with its newest ledger and results, and the database as it was before the job ran."""
    pair.allow("south", approval="person")
    copy = pair.folder / "older.sqlite"
    backup._copy_database(pair.folder / "north" / "jobs.sqlite", copy)
    approve(pair.south, job_id)
    ended(pair, job_id)
    outcome = pair.north.store.outcome(job_id)
    pair.stop("north")
    for file in (pair.folder / "north").glob("jobs.sqlite*"):
        file.unlink()
    shutil.copy(copy, pair.folder / "north" / "jobs.sqlite")
    return outcome


def test_a_result_that_a_restored_database_does_not_know_lies_aside(pair):
    """The attack: the paid result was deleted at the first start."""
    pair.allow("south", approval="person")
    job_id = pair.north.submit(job_file("1/2")).job_id
    outcome = older_jobs(pair, job_id)
    north = pair.start("north")
    own, other = ended(pair, job_id)
    assert (own.error_code, other.state) == ("older-database", State.FINISHED)
    assert north.store._results.aside().keys() == {job_id}
    assert north.store._results.read_aside(job_id) == outcome


def test_the_result_of_a_peer_whose_database_was_restored_lies_aside_here(pair, monkeypatch):
    """North has kept its result and waits for a word of south, which does not know the job any more."""
    archive = pair.folder / "south.tar"
    back_up(pair.config("south"), archive)
    store = pair.north.store
    monkeypatch.setattr(store, "finish", lambda job_id: None)  # a word that south sent before it went is lost
    job_id = pair.north.submit(job_file("1/2")).job_id
    wait_state(pair.north, job_id, State.KEPT)
    outcome = store._results.read(job_id)
    pair.network.down = True
    pair.stop("south")
    shutil.rmtree(pair.folder / "south")
    with unpack(archive, pair.folder / "south", backup=True):
        pass
    pair.start("south")
    pair.network.down = False
    pair.north._couriers["south"].wake(job_id)
    job = wait_final(pair.north, job_id)
    assert (job.state, job.error_code) == (State.FAILED, "peer-unknown")
    assert store._results.read_aside(job_id) == outcome


def test_backups_during_a_hundred_changes_are_whole(pair):
    """Made one after the other while jobs come, run and finish; each can be restored and lacks no result."""
    done = threading.Event()
    archives = []

    def copy():
        while not done.is_set() or len(archives) < 3:
            archives.append(taken(pair, len(archives)))

    copier = threading.Thread(target=copy)
    copier.start()
    try:
        for _ in range(6):
            job_id = pair.north.submit(job_file("1/100")).job_id
            ended(pair, job_id)
    finally:
        done.set()
        copier.join()
    pair.stop("north")
    for number, archive in enumerate(archives[:: max(1, len(archives) // 5)]):
        home = pair.folder / f"north-{number}"
        with unpack(archive, home, backup=True) as (arriving, _):
            assert not [*arriving.glob("jobs.sqlite-*")]
        home.rename(pair.folder / "north.new")
        shutil.rmtree(pair.folder / "north")
        (pair.folder / "north.new").rename(pair.folder / "north")
        north = pair.start("north", resume=False)
        released = {entry.job for entry in north.ledger.entries() if entry.event == COUNTERSIGNED}
        log, entries = read_log(pair.folder / "north"), north.ledger.entries()
        assert missing_entries(log, entries) == missing_decisions(log, entries) == []
        for job in north.store.all(State.FINISHED):
            assert north.store.outcome(job.job_id)
            assert job.digest in released
        pair.network.down = True
        pair.stop("north")


def heads(pair, name):
    identity, ledger = pair._identities[name], pair.network.managers[name].ledger
    return open_heads(pair.folder / name, name, identity.signing, ledger), identity.signing.public_key()


def meet(pair):
    (mine, my_key), (theirs, their_key) = heads(pair, "north"), heads(pair, "south")
    said, answer = mine.statement("south"), theirs.statement("north")
    theirs.check_own("north", my_key, said)
    theirs.check_peer("north", said, answer)
    mine.check_own("south", their_key, answer)
    mine.check_peer("south", answer, said)


@pytest.mark.attack
def test_a_restored_home_spends_nothing_that_the_peer_has_seen_spent(pair):
    ended(pair, pair.north.submit(job_file("1/2")).job_id)
    meet(pair)
    archive = taken(pair)
    newest = taken(pair, 1)
    meet(pair)
    ended(pair, pair.north.submit(job_file("1/2")).job_id)
    meet(pair)
    latest = taken(pair, 2)
    for old in (archive, newest):
        restored(pair, old)
        with pytest.raises(LedgerError):
            meet(pair)
    restored(pair, latest)
    meet(pair)


def test_what_must_not_exist_twice_is_not_in_a_backup(pair, tmp_path):
    home = pair.folder / "north"
    for name in ("pools/x", "run/x", ".heads.json.abcdefgh.new", "results/.x.sealed.abcdefgh.new"):
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text("x")
    archive = taken(pair)
    assert archive.stat().st_mode & 0o777 == 0o600
    with unpack(archive, tmp_path / "new", backup=True) as (arriving, when):
        names = {str(path.relative_to(arriving)) for path in arriving.rglob("*") if path.is_file()}
    assert names.isdisjoint({"pools/x", "run/x", ".heads.json.abcdefgh.new", MOVED})
    assert not [name for name in names if name.endswith((".new", ".lock", "-wal"))]
    assert when.endswith("Z")
    assert not [*(home / "run").glob(".backup*")]


def test_a_backup_is_not_taken_for_a_home_that_moved_nor_the_other_way_round(pair, tmp_path):
    archive = taken(pair)
    with pytest.raises(ConfigError, match="is a backup") as caught, unpack(archive, tmp_path / "new"):
        pass
    assert "party restore" in caught.value.hint
    pair.stop("north")
    (pair.folder / "north" / "run").chmod(0o700)
    moved = pair.folder / "moved.tar"
    pack(pair.config("north"), moved)
    with pytest.raises(ConfigError, match="home that moved"), unpack(moved, tmp_path / "new", backup=True):
        pass
    with pytest.raises(ConfigError, match="has moved away"):
        back_up(pair.config("north"), pair.folder / "late.tar")


@pytest.mark.attack
def test_a_backup_that_was_killed_leaves_no_keys_and_no_results_for_long(pair):
    code = (
        "import os, sys, tests.parties.jobs.storage.test_backup as t\n"
        "from pathlib import Path\n"
        "from dataclasses import replace\n"
        "t.backup.write_archive = lambda *_, **__: os._exit(9)\n"
        "from tests.parties.daemon.test_service import config_in\n"
        "t.back_up(config_in(Path(sys.argv[1])), Path(sys.argv[2]))\n"
    )
    home = pair.folder / "north"
    words = [sys.executable, "-c", code, str(home), str(pair.folder / "killed.tar")]
    assert subprocess.run(words, check=False).returncode == 9
    assert [*(home / "run").glob(".backup*")]
    (home / "run").chmod(0o700)
    pair.stop("north")
    with only_one(pair.config("north")):
        assert not [*(home / "run").glob(".backup*")]


def test_what_cannot_be_copied_is_an_error_and_leaves_nothing(pair, monkeypatch):
    home = pair.folder / "north"
    os.mkfifo(home / "pipe")
    with pytest.raises(Exception, match=r"cannot be copied|neither a file") as caught:
        taken(pair)
    assert caught.value.hint
    (home / "pipe").unlink()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backup.shutil, "copyfile", full)
    with pytest.raises(StorageError, match="its disk is full") as caught:
        taken(pair)
    assert caught.value.stable_code == "storage"
    monkeypatch.undo()
    assert not [*(home / "run").glob(".backup*")]
    assert [path.name for path in pair.folder.iterdir() if "tar" in path.name] == []
    json.dumps(back_up(pair.config("north"), pair.folder / "whole.tar"))
