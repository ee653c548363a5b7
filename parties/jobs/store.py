"""The jobs of a party, kept in SQLite so that a restarted daemon knows them all."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from parties.errors import JobError
from parties.jobs.contract import Contract, parse_contract
from parties.jobs.state import State, check_way
from parties.policy.conditions import Runs
from smc.errors import DuettoError
from smc.forms import Role

_SCHEMA = """
create table if not exists jobs (
    job_id text primary key,
    contract blob not null,
    role text not null,
    peer text not null,
    dataset text not null,
    outgoing integer not null,
    state text not null,
    created text not null,
    updated text not null,
    started text not null default '',
    own_signature blob not null default x'',
    peer_signature blob not null default x'',
    error_code text not null default '',
    error_what text not null default '',
    error_mend text not null default '',
    outcome text not null default '',
    facts text not null default '',
    certificate text not null default ''
)
"""
_LATER = {"certificate": "text not null default ''"}
"""Columns that databases of earlier releases lack."""

Clock = Callable[[], datetime]


def utc_clock() -> datetime:
    """The time now."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Record:
    """A job as the store keeps it.

    Attributes:
        job_id: its name.
        contract: the contract, complete or still a draft.
        role: the own role.
        peer: the other party.
        dataset: the own data set.
        outgoing: whether this party proposed it, and so dials.
        state: where it stands.
        created: when it came, RFC 3339 in UTC.
        updated: when its state changed last.
        started: when its run began; empty before.
        own_signature: own signature under the contract; empty before.
        peer_signature: the peer's.
        error_code: stable code of what ended it; empty if nothing did.
        error_what: what happened.
        error_mend: what to do.
        outcome: the own result as JSON; empty before the end.
        facts: what the run cost as JSON; empty before the end.
        certificate: the signed certificate with the salt of its result, as JSON; empty before the end.
    """

    job_id: str
    contract: Contract
    role: Role
    peer: str
    dataset: str
    outgoing: bool
    state: State
    created: str
    updated: str
    started: str = ""
    own_signature: bytes = field(default=b"", repr=False)
    peer_signature: bytes = field(default=b"", repr=False)
    error_code: str = ""
    error_what: str = ""
    error_mend: str = ""
    outcome: str = field(default="", repr=False)
    facts: str = ""
    certificate: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a running job is: `done` of `of` in a stage. Not kept across restarts."""

    stage: str = ""
    done: int = 0
    of: int = 0


class JobStore:
    """All jobs of a party. Thread-safe; one process.

    Args:
        path: the database file, made with mode 0600.
        clock: the time.
    """

    def __init__(self, path: Path, clock: Clock = utc_clock) -> None:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        path.chmod(0o600)
        self._clock = clock
        self._changed = threading.Condition(threading.RLock())
        self._version = 0
        self._progress: dict[str, Progress] = {}
        self._database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._database.row_factory = sqlite3.Row
        for statement in ("pragma journal_mode=wal", "pragma synchronous=full", _SCHEMA):
            self._database.execute(statement)
        present = {row["name"] for row in self._database.execute("pragma table_info(jobs)")}
        for column, kind in _LATER.items():
            if column not in present:
                self._database.execute(f"alter table jobs add column {column} {kind}")

    def close(self) -> None:
        """Close the database."""
        with self._changed:
            self._database.close()

    def insert(self, contract: Contract, role: Role, peer: str, state: State, *, outgoing: bool) -> Record:
        """Keep a new job.

        Raises:
            JobError: there is a job of that name already (code `exists`).
        """
        now = self._now()
        values = (
            contract.job_id,
            contract.encode(),
            role.value,
            peer,
            contract.spec.side(role).dataset,
            outgoing,
            state.value,
            now,
            now,
        )
        names = "job_id, contract, role, peer, dataset, outgoing, state, created, updated"
        with self._transaction() as database:
            try:
                database.execute(f"insert into jobs ({names}) values (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)  # noqa: S608
            except sqlite3.IntegrityError:
                raise JobError(f"Job {contract.job_id} exists already.", code="exists") from None
        return self.get(contract.job_id)

    def move(self, job_id: str, state: State, **changes: Any) -> Record:
        """Change the state of a job, and what comes with it, in one transaction.

        Args:
            job_id: the job.
            state: the new state.
            changes: other attributes of `Record` to change.

        Raises:
            JobError: there is no such job, or the state cannot follow (code `state`).
        """
        with self._transaction():
            check_way(job_id, self.get(job_id).state, state)
            changes["started"] = self._now() if state is State.RUNNING else None
            self._update(job_id, {"state": state, "updated": self._now(), **changes})
        return self.get(job_id)

    def fail(self, job_id: str, error: DuettoError, state: State = State.FAILED) -> Record:
        """End a job with an error. Raises as `move` does."""
        return self.move(
            job_id, state, error_code=error.stable_code, error_what=error.what, error_mend=error.mend
        )

    def countersign(self, job_id: str, signature: bytes) -> Record:
        """Keep the peer's signature under an approved contract.

        Raises:
            JobError: the job is not approved (code `state`).
        """
        with self._transaction():
            record = self.get(job_id)
            if record.state is not State.APPROVED:
                raise JobError(f"Job {job_id} is {record.state.value}, not approved.", code="state")
            self._update(job_id, {"peer_signature": signature})
        return self.get(job_id)

    def get(self, job_id: str) -> Record:
        """A job by its name.

        Raises:
            JobError: there is none (code `unknown-job`).
        """
        with self._changed:
            row = self._database.execute("select * from jobs where job_id = ?", (job_id,)).fetchone()
        if row is None:
            raise _unknown(job_id)
        return _record(row)

    def find(self, beginning: str) -> Record:
        """A job by its name or the beginning of it.

        Raises:
            JobError: there is none, or several.
        """
        if not beginning or not set(beginning) <= set("0123456789abcdef"):
            raise _unknown(beginning[:32])
        with self._changed:
            rows = self._database.execute(
                "select * from jobs where job_id between ? and ? || 'g'", (beginning, beginning)
            ).fetchall()
        if len(rows) != 1:
            if rows:
                raise JobError(f"{len(rows)} jobs begin with {beginning!r}.", "Write more of the name.")
            raise _unknown(beginning)
        return _record(rows[0])

    def all(self, *states: State) -> list[Record]:
        """The jobs in some states, or all; the newest first."""
        with self._changed:
            rows = self._database.execute("select * from jobs order by created desc, rowid desc").fetchall()
        return [r for r in map(_record, rows) if not states or r.state in states]

    def count_open(self, peer: str) -> int:
        """Jobs with a peer that have not ended."""
        ended = [state.value for state in State if state.is_final]
        marks = ", ".join("?" * len(ended))
        query = f"select count(*) from jobs where peer = ? and state not in ({marks})"  # noqa: S608
        with self._changed:
            return int(self._database.execute(query, (peer, *ended)).fetchone()[0])

    def runs(self, dataset: str, peer: str) -> Runs:
        """Runs of a data set with a peer that began in the last 24 hours, and ever."""
        since = _text(self._clock() - timedelta(days=1))
        query = (
            "select count(*) filter (where started >= ?), count(*) from jobs "
            "where dataset = ? and peer = ? and started != ''"
        )
        with self._changed:
            day, ever = self._database.execute(query, (since, dataset, peer)).fetchone()
        return Runs(day, ever)

    def interrupt(self) -> None:
        """After a restart: what was running has failed; the rest stays as it was."""
        error = DuettoError(
            "The run was interrupted by a restart of the daemon.",
            "Submit the job again; budget that was spent stays spent.",
            code="interrupted",
        )
        for record in self.all(State.RUNNING):
            self.fail(record.job_id, error)

    def set_progress(self, job_id: str, progress: Progress) -> None:
        """Note how far a running job is, for those who watch."""
        with self._changed:
            self._progress[job_id] = progress
            self._version += 1
            self._changed.notify_all()

    def progress(self, job_id: str) -> Progress:
        """How far a job is."""
        with self._changed:
            return self._progress.get(job_id, Progress())

    @property
    def version(self) -> int:
        """A number that grows with every change."""
        with self._changed:
            return self._version

    def wait(self, version: int, seconds: float) -> int:
        """Wait until something has changed since `version`, or for `seconds`; the version then."""
        with self._changed:
            self._changed.wait_for(lambda: self._version != version, seconds)
            return self._version

    def wait_for(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait until a condition holds, looked at after every change; whether it does."""
        with self._changed:
            return self._changed.wait_for(condition, seconds)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._changed:
            self._database.execute("begin immediate")
            try:
                yield self._database
            except BaseException:
                self._database.execute("rollback")
                raise
            self._database.execute("commit")
            self._version += 1
            self._changed.notify_all()

    def _update(self, job_id: str, changes: dict[str, Any]) -> None:
        known = {entry.name for entry in fields(Record)}
        wanted = {name: _stored(value) for name, value in changes.items() if value is not None}
        if not set(wanted) <= known:
            raise JobError("The store does not know such an attribute of a job.")
        assignments = ", ".join(f"{name} = ?" for name in wanted)
        self._database.execute(
            f"update jobs set {assignments} where job_id = ?",  # noqa: S608 - names of the record's own fields
            (*wanted.values(), job_id),
        )

    def _now(self) -> str:
        return _text(self._clock())


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _stored(value: Any) -> Any:
    if isinstance(value, State):
        return value.value
    if isinstance(value, Contract):
        return value.encode()
    return json.dumps(value, allow_nan=False) if isinstance(value, dict) else value


def _record(row: sqlite3.Row) -> Record:
    values = dict(row)
    return Record(
        **values
        | {
            "contract": parse_contract(values["contract"]),
            "role": Role(values["role"]),
            "outgoing": bool(values["outgoing"]),
            "state": State(values["state"]),
        }
    )


def _unknown(name: str) -> JobError:
    return JobError(f"There is no job {name!r}.", "List the jobs with `duetto job list`.", code="unknown-job")
