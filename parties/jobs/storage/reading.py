"""The jobs of a party as they are kept in its home: what can be seen of them."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Final

from parties.clock import CLOCK, Clock, TrustedTime, moment, text
from parties.contracts.contract import digest_of, parse_contract
from parties.contracts.records import Papers, Record, Summary
from parties.contracts.state import State
from parties.errors import JobError
from parties.jobs.storage.ages import Seconds, Times, latest
from parties.jobs.storage.database import Database
from parties.jobs.storage.results import ResultFolder
from smc.forms import Role

FILE: Final = "jobs.sqlite"
_LISTED = ", ".join(entry.name for entry in fields(Summary))

_parsed = lru_cache(32)(parse_contract)
"""A running job is asked for at every step, and its contract is the same each time."""

_COPIES: Final = 2
"""How often a contract's bytes lie on the disk: pages of the database are not all full."""

_JOB_BYTES: Final = 4096
"""What a proposal takes besides: its row, index, signatures, and lines of the audit log."""


class JobReader:
    """All jobs of a party, to be looked at. Thread-safe.

    No listing parses a contract or reads a result, so that neither old ones nor large ones are in its way.

    Args:
        home: the folder of the party, with the database and the results.
        clock: the time.
        only_looks: whether the database is only read, see `parties.jobs.storage.database.Database`.

    Raises:
        StorageError: the database cannot be opened, or a newer release made it.
    """

    def __init__(self, home: Path, clock: Clock = CLOCK, *, only_looks: bool = False) -> None:
        self._clock = clock
        self._begun = clock.elapsed()
        self._wrote: dict[str, Seconds] = {}
        self._changed = threading.Condition(threading.RLock())
        self._results = ResultFolder(home)
        self._database = Database(home / FILE, self._results, only_looks=only_looks)

    @property
    def is_in_place(self) -> bool:
        """Whether the database is still the file that was opened."""
        return self._database.is_in_place

    def check_writing(self) -> None:
        """Check that jobs can be written. Raises `StorageError` if they cannot."""
        self._database.check_writing()

    def close(self) -> None:
        """Close the database."""
        with self._changed:
            self._database.close()

    def summary(self, job_id: str) -> Summary:
        """A job by its name, in short.

        Raises:
            JobError: there is none (code `unknown-job`).
        """
        rows = self._rows(f"select {_LISTED} from jobs where job_id = ?", (job_id,))  # noqa: S608
        if not rows:
            raise _unknown(job_id)
        return _summary(rows[0])

    def get(self, job_id: str) -> Record:
        """A job by its name, with its contract.

        Raises:
            JobError: there is none (code `unknown-job`), or it is of another release (code `old-release`).
        """
        with self._changed:
            found = self.summary(job_id)
            columns = "contract, own_signature, peer_signature"
            row = self._rows(f"select {columns} from papers where job_id = ?", (job_id,))[0]  # noqa: S608
        if not found.is_readable:
            raise JobError(
                f"Job {job_id} is of another release, whose contracts this one cannot run.",
                "Look at it with `duetto job show`, or submit it again.",
                code="old-release",
            )
        base = {entry.name: getattr(found, entry.name) for entry in fields(Summary)}
        return Record(
            **base,
            contract=_parsed(row["contract"]),
            own_signature=row["own_signature"],
            peer_signature=row["peer_signature"],
        )

    def find(self, beginning: str) -> Summary:
        """A job by its name or the beginning of it, in short.

        Raises:
            JobError: there is none, or several.
        """
        if not beginning or not set(beginning) <= set("0123456789abcdef"):
            raise _unknown(beginning[:32])
        query = f"select {_LISTED} from jobs where job_id between ? and ? || 'g' limit 101"  # noqa: S608
        rows = self._rows(query, (beginning, beginning))
        if len(rows) > 1:
            count = len(rows) if len(rows) <= 100 else "Over 100"
            raise JobError(f"The names of {count} jobs begin with {beginning!r}.", "Write more of the name.")
        if not rows:
            raise _unknown(beginning)
        return _summary(rows[0])

    def papers(self, job_id: str) -> Papers:
        """What is kept of a job besides its summary, as it is stored.

        Raises:
            JobError: there is none (code `unknown-job`).
        """
        rows = self._rows("select contract, facts, certificate from papers where job_id = ?", (job_id,))
        if not rows:
            raise _unknown(job_id)
        contract = bytes(rows[0]["contract"]).decode("utf-8", "replace")
        return Papers(contract=contract, facts=rows[0]["facts"], certificate=rows[0]["certificate"])

    def digest(self, job_id: str) -> bytes:
        """The digest of a job's contract as it stands, complete or not, 32 bytes: what a person decides on.

        Raises:
            JobError: there is no such job (code `unknown-job`).
        """
        return digest_of(self.papers(job_id).contract.encode())

    def outcome(self, job_id: str) -> str:
        """The result of a finished job, JSON.

        Raises:
            JobError: it has none (code `no-result`), or it was deleted (code `deleted`).
            StorageError: it cannot be read.
        """
        found = self.summary(job_id)
        if found.deleted:
            raise JobError(
                f"The result of job {job_id} was deleted on {found.deleted[:10]}.",
                "Its contract and certificate are still here; see `duetto job show`.",
                code="deleted",
            )
        if not found.kept or found.state is not State.FINISHED:
            raise JobError(f"Job {job_id} is {found.state.value} and has no result here.", code="no-result")
        return self._results.read(job_id)

    def all(self, *states: State, limit: int | None = None, before: str = "") -> list[Summary]:
        """The jobs in some states, or in any, in short; the newest first.

        Args:
            states: which; none means all.
            limit: at most so many.
            before: only those that came before the job of this name.

        Raises:
            JobError: there is no job `before` (code `unknown-job`).
        """
        conditions, values = [], []
        if states:
            conditions.append(f"state in ({', '.join('?' * len(states))})")
            values += [state.value for state in states]
        if before:
            conditions.append("number < (select number from jobs where job_id = ?)")
            values.append(self.summary(before).job_id)
        where = f"where {' and '.join(conditions)}" if conditions else ""
        query = f"select {_LISTED} from jobs {where} order by number desc limit ?"  # noqa: S608
        return [_summary(row) for row in self._rows(query, (*values, -1 if limit is None else limit))]

    def stale(self, now: TrustedTime, age: timedelta, *states: State) -> list[Summary]:
        """The jobs in some states whose state changed longer ago than `age`, see `ages`."""
        looks_old = [job for job in self.all(*states) if job.updated < text(now.moment - age)]
        old = self._older(now, age, [job.job_id for job in looks_old])
        return [job for job in looks_old if job.job_id in old]

    def begun(self) -> list[tuple[str, str, str]]:
        """Digest (or name), data set and peer of all jobs whose run began; the oldest first."""
        query = (
            "select coalesce(nullif(digest, ''), job_id), dataset, peer from jobs "
            "where started != '' order by number"
        )
        return [(job, dataset, peer) for job, dataset, peer in self._rows(query)]

    def elapsed(self, job: Summary) -> float:
        """Seconds since the run of a job began; 0 before."""
        if not job.started:
            return 0.0
        return max(0.0, (self._clock.now() - moment(job.started)).total_seconds())

    def counts(self) -> dict[State, int]:
        """How many jobs there are by state."""
        rows = self._rows("select state, count(*) from jobs group by state")
        return {State(state): count for state, count in rows}

    def names_by_digest(self) -> dict[str, str]:
        """The names of all jobs by the digests of their complete contracts, hexadecimal."""
        return dict(map(tuple, self._rows("select digest, job_id from jobs where digest != ''")))

    def covert_contracts(self, job_id: str, limit: int) -> list[tuple[str, bytes]]:
        """Name and contract, canonical JSON, of the covert jobs with the peer of a job before it.

        Args:
            job_id: the job.
            limit: at most so many, the newest first.
        """
        query = (
            "select earlier.job_id, contract from jobs job join jobs earlier using (peer) "
            "join papers on papers.job_id = earlier.job_id where job.job_id = ? and "
            "earlier.number < job.number and earlier.format = job.format and "
            "instr(contract, cast('\"commitments\":' as blob)) order by earlier.number desc limit ?"
        )
        return [(name, bytes(contract)) for name, contract in self._rows(query, (job_id, limit))]

    def last_certificate(self) -> str:
        """The certificate, JSON, of the finished job that was proposed last; empty if there is none."""
        query = (
            "select certificate from papers join jobs using (job_id) where certificate != '' "
            "order by number desc limit 1"
        )
        return "".join(row[0] for row in self._rows(query))

    def count_open(self, peer: str) -> int:
        """Jobs that a peer has proposed here and that have not ended."""
        open_states = [state.value for state in State if not state.is_final]
        marks = ", ".join("?" * len(open_states))
        query = f"select count(*) from jobs where peer = ? and not outgoing and state in ({marks})"  # noqa: S608
        return int(self._rows(query, (peer, *open_states))[0][0])

    def proposed_bytes(self, peer: str, age: timedelta) -> int:
        """About what a peer's proposals of this time take on the disk, those that have ended included."""
        query = (
            "select job_id, ? + ? * length(contract) from jobs join papers using (job_id) "
            "where peer = ? and not outgoing"
        )
        now = self._clock.earliest()
        with self._changed:
            times = self._latest(now)
            sizes = self._rows(query, (_JOB_BYTES, _COPIES, peer))
        since = text(now - age)
        return sum(int(size) for job_id, size in sizes if times[job_id].created >= since)

    def _older(self, now: TrustedTime, age: timedelta, names: Sequence[str]) -> set[str]:
        """Which of these jobs changed longer ago than `age`, at the latest time that this can have been."""
        if not names:
            return set()
        times, before = self._latest(now.moment), text(now.moment - age)
        return {name for name in names if name in times and times[name].updated < before}

    def _latest(self, now: datetime) -> dict[str, Times]:
        with self._changed:
            found = self._rows("select job_id, created, updated from jobs order by number")
            rows = [(name, Times(created, updated)) for name, created, updated in found]
            return latest(rows, self._wrote, now, self._clock.elapsed(), self._begun)

    def _rows(self, query: str, values: tuple[object, ...] = ()) -> list[sqlite3.Row]:
        with self._changed:
            return self._database.rows(query, values)


def _summary(row: sqlite3.Row) -> Summary:
    converted = {
        "state": State(row["state"]),
        "role": Role(row["role"]),
        "outgoing": bool(row["outgoing"]),
        "kept": bool(row["kept"]),
    }
    return Summary(**{**dict(row), **converted})


def _unknown(name: str) -> JobError:
    return JobError(f"There is no job {name!r}.", "List the jobs with `duetto job list`.", code="unknown-job")
