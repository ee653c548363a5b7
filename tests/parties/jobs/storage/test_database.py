"""The database of the jobs: the way from earlier schemas, and what SQLite's errors become."""

from __future__ import annotations

import json
import sqlite3

import pytest

from commons.exits import DISK
from parties.contracts.contract import Outline, outline
from parties.contracts.state import State
from parties.errors import StorageError
from parties.exits import exit_code
from parties.jobs.storage.database import VERSION
from parties.jobs.storage.store import JobStore
from smc.forms import Role
from tests.parties.contracts.test_spec import contract

VERSION_0 = """
create table jobs (
    job_id text primary key, contract blob not null, role text not null, peer text not null,
    dataset text not null, outgoing integer not null, state text not null, created text not null,
    updated text not null, started text not null default '', own_signature blob not null default x'',
    peer_signature blob not null default x'', error_code text not null default '',
    error_what text not null default '', error_mend text not null default '',
    outcome text not null default '', facts text not null default ''{certificate}
)
"""
CANARY = "4711-0815-canary"


def old_home(home, *, certificate=True):
    """A home whose database has version 0: a finished job, a failed one and two unfinished."""
    extra = ", certificate text not null default ''" if certificate else ""
    made = contract()
    database = sqlite3.connect(home / "jobs.sqlite", isolation_level=None)
    database.execute("pragma journal_mode=wal")
    database.execute(VERSION_0.format(certificate=extra))
    encoded = made.encode()
    older = encoded.replace(b'"format":', b'"format":90')
    rows = [
        ("a" * 16, encoded, "finished", json.dumps({"tables": [CANARY] * 1000}), '{"seconds": 1}'),
        ("b" * 16, older, "failed", "", ""),
        ("c" * 16, older, "approved", "", ""),
        ("d" * 16, b"no JSON", "waiting-peer", "", ""),
    ]
    for number, (name, text, state, outcome, facts) in enumerate(rows):
        database.execute(
            "insert into jobs (job_id, contract, role, peer, dataset, outgoing, state, created, updated, "
            "outcome, facts) values (?, ?, 'alice', 'south', 'numbers', 1, ?, ?, ?, ?, ?)",
            (name, text, state, f"2024-01-0{number + 1}T00:00:00Z", "2024-02-01T00:00:00Z", outcome, facts),
        )
    database.close()
    return made


@pytest.mark.parametrize("certificate", [True, False])
def test_jobs_of_version_0_are_taken_over(tmp_path, certificate):
    made = old_home(tmp_path, certificate=certificate)
    store = JobStore(tmp_path)
    assert [(job.job_id[0], job.state) for job in store.all()] == [
        ("d", State.WAITING_PEER), ("c", State.APPROVED), ("b", State.FAILED), ("a", State.FINISHED)
    ]  # fmt: skip
    done = store.get("a" * 16)
    assert (done.contract, done.role, done.peer, done.outgoing) == (made, Role.ALICE, "south", True)
    assert (done.analysis, done.title) == (made.spec.analysis, made.spec.title)
    assert (done.kept, done.digest) == (True, made.digest.hex() if made.is_complete else "")
    assert json.loads(store.outcome("a" * 16)) == {"tables": [CANARY] * 1000}
    assert store.papers("a" * 16).facts == '{"seconds": 1}'
    assert [job.is_readable for job in store.all()] == [False, False, False, True]
    store.close()
    again = JobStore(tmp_path)
    assert len(again.all()) == 4
    again.close()


def test_unfinished_jobs_of_an_older_release_end_with_a_reason(tmp_path):
    old_home(tmp_path)
    store = JobStore(tmp_path)
    with pytest.raises(Exception, match="another release") as caught:
        store.get("c" * 16)
    assert caught.value.stable_code == "old-release"
    store.recover()
    for name in ("c" * 16, "d" * 16):
        found = store.summary(name)
        assert (found.state, found.error_code) == (State.FAILED, "old-release")
        assert "Submit the job again" in found.error_hint
    assert store.summary("b" * 16).error_code == ""
    store.close()


def test_results_do_not_stay_in_the_old_database(tmp_path):
    old_home(tmp_path)
    assert CANARY.encode() in b"".join(p.read_bytes() for p in tmp_path.glob("jobs.sqlite*"))
    store = JobStore(tmp_path)
    assert CANARY.encode() not in b"".join(p.read_bytes() for p in tmp_path.glob("jobs.sqlite*"))
    store.close()


def test_a_move_that_was_cut_short_is_made_again(tmp_path, monkeypatch):
    old_home(tmp_path)
    monkeypatch.setattr("parties.jobs.storage.database.outline", lambda encoded: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        JobStore(tmp_path)
    monkeypatch.undo()
    store = JobStore(tmp_path)
    assert len(store.all()) == 4
    store.close()


def test_the_hints_of_version_1_are_kept(tmp_path):
    JobStore(tmp_path).close()
    with sqlite3.connect(tmp_path / "jobs.sqlite") as database:
        database.execute("alter table jobs rename column error_hint to error_mend")
        database.execute("pragma user_version=1")
    database.close()
    JobStore(tmp_path).close()
    with sqlite3.connect(tmp_path / "jobs.sqlite") as database:
        assert database.execute("pragma user_version").fetchone() == (VERSION,)
        assert "error_hint" in {row[1] for row in database.execute("pragma table_info(jobs)")}
    database.close()


def test_the_database_of_a_newer_release_is_left_alone(tmp_path):
    JobStore(tmp_path).close()
    with sqlite3.connect(tmp_path / "jobs.sqlite") as database:
        database.execute(f"pragma user_version={VERSION + 1}")
    database.close()
    before = (tmp_path / "jobs.sqlite").read_bytes()
    with pytest.raises(StorageError, match="newer release"):
        JobStore(tmp_path)
    assert (tmp_path / "jobs.sqlite").read_bytes() == before


def test_a_damaged_database_is_named(tmp_path):
    (tmp_path / "jobs.sqlite").write_bytes(b"no database at all, but some text" * 100)
    with pytest.raises(StorageError, match="is not a database") as caught:
        JobStore(tmp_path)
    assert "restore it from a copy" in caught.value.hint
    assert exit_code(caught.value) == DISK


@pytest.mark.parametrize(
    "text", [b"", b"x", b"[]", b"{}", b'{"format":1}', b"[" * 100_000, b'{"format":"x","spec":{"job":{}}}']
)
def test_nothing_stored_is_too_odd_for_an_outline(text):
    assert outline(text) == Outline(0, "", "", "")
