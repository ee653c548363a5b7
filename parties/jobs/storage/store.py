"""The jobs of a party, kept so that a restarted daemon knows them all: what changes them."""

from __future__ import annotations

import json
import logging
import math
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from parties.audit.lines import FORGOTTEN, PROPOSED, STATE
from parties.audit.writer import Audit, Event
from parties.clock import CLOCK, TOLERANCE, Clock, TrustedTime, text
from parties.contracts.contract import FORMAT, Contract
from parties.contracts.records import Progress, Record, Summary
from parties.contracts.state import State, check_way
from parties.errors import JobError, StorageError
from parties.jobs.storage.ages import Seconds, Times, exact, is_off
from parties.jobs.storage.reading import JobReader
from smc.errors import DuettoError
from smc.forms import Role

_PAPERS = ("contract", "own_signature", "peer_signature", "facts", "certificate")
TRASH: Final = timedelta(days=1)
"""For so long a result that was deleted for its age can be brought back."""

_LOG = logging.getLogger("duetto.jobs")


class JobStore(JobReader):
    """All jobs of a party. Thread-safe; one process writes.

    Each change is a line of the audit log before it is one of the database. A change that is then not made
    after all, since the disk is full or the power fails, is made later and stands there twice, or not at all.

    Args:
        home: the folder of the party; the store is `jobs.sqlite` and `results` in it.
        clock: the time.

    Raises:
        StorageError: the database cannot be opened, or a newer release made it.
    """

    def __init__(self, home: Path, clock: Clock = CLOCK) -> None:
        super().__init__(home, clock)
        self.audit = Audit(home, clock.stamp)
        self._events: list[Event] = []
        self._version = 0
        self._progress: dict[str, Progress] = {}
        self._released: set[str] = set()
        self._put_aside: dict[str, float] = {}
        self._starts: tuple[datetime, ...] = ()
        self._owed: dict[str, tuple[State, DuettoError | None]] = {}

    # New jobs and their way

    def insert(self, contract: Contract, role: Role, peer: str, state: State, *, outgoing: bool) -> Record:
        """Keep a new job.

        Raises:
            JobError: there is a job of that name already (code `exists`).
            StorageError: it cannot be written.
        """
        now = self._now()
        spec = contract.spec
        values: dict[str, Any] = {
            "job_id": contract.job_id,
            "state": state.value,
            "role": role.value,
            "peer": peer,
            "dataset": spec.side(role).dataset,
            "outgoing": outgoing,
            "analysis": spec.analysis,
            "title": spec.title,
            "format": FORMAT,
            "digest": _digest(contract),
            "created": now,
            "updated": now,
        }
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        with self._transaction():
            try:
                self._database.execute(
                    f"insert into jobs ({names}) values ({marks})",  # noqa: S608 - the names above
                    (*values.values(),),
                )
            except sqlite3.IntegrityError:
                raise JobError(f"Job {contract.job_id} exists already.", code="exists") from None
            self._database.execute(
                "insert into papers (job_id, contract) values (?, ?)", (contract.job_id, contract.encode())
            )
            self._note_write(contract.job_id, self._clock.elapsed())
            kept = ("peer", "analysis", "dataset", "state", "digest")
            about = {name: values[name] for name in kept}
            direction = "outgoing" if outgoing else "incoming"
            self._events.append((PROPOSED, {**about, "job": contract.job_id, "direction": direction}))
        return self.get(contract.job_id)

    def move(
        self,
        job_id: str,
        state: State,
        *,
        contract: Contract | None = None,
        own_signature: bytes | None = None,
        peer_signature: bytes | None = None,
    ) -> Record:
        """Change the state of a job, and what comes with it, in one transaction.

        Raises:
            JobError: there is no such job, or the state cannot follow (code `state`).
            StorageError: it cannot be written.
        """
        papers = {"contract": contract, "own_signature": own_signature, "peer_signature": peer_signature}
        with self._transaction():
            self._write_papers(job_id, {name: value for name, value in papers.items() if value is not None})
            self._move(job_id, state)
        return self.get(job_id)

    def countersign(self, job_id: str, signature: bytes) -> Record:
        """Keep the peer's signature under an approved contract.

        Raises:
            JobError: the job is not approved (code `state`).
            StorageError: it cannot be written.
        """
        with self._transaction():
            found = self.summary(job_id)
            if found.state is not State.APPROVED:
                raise JobError(f"Job {job_id} is {found.state.value}, not approved.", code="state")
            self._write_papers(job_id, {"peer_signature": signature})
        return self.get(job_id)

    def keep(
        self,
        job_id: str,
        outcome: Mapping[str, Any],
        facts: Mapping[str, Any],
        certificate: Mapping[str, Any],
    ) -> None:
        """Keep the result of a running job, before the peer hears that this side got to the end.

        From then on the job is `kept`: whether it finishes depends on the peer, see
        `parties.jobs.agreement.standing`.

        Raises:
            JobError: the job does not run (code `state`).
            StorageError: it cannot be written.
            ValueError: something in it has no JSON form.
        """
        result = json.dumps(outcome, allow_nan=False)
        papers = {"facts": json.dumps(facts, allow_nan=False), "certificate": json.dumps(certificate)}
        self._results.write(job_id, result)
        with self._transaction():
            found = self.summary(job_id)
            if found.state is not State.RUNNING:
                if not found.kept:
                    self._results.delete(job_id)
                raise JobError(f"Job {job_id} is {found.state.value}, not running.", code="state")
            self._database.execute("update jobs set kept = 1 where job_id = ?", (job_id,))
            self._move(job_id, State.KEPT)
            self._write_papers(job_id, papers)

    def finish(self, job_id: str) -> None:
        """End a job whose result is kept on both sides.

        What the disk does not take is written later, see `settle`.

        Raises:
            JobError: its result is not kept (code `state`).
        """
        self._end(job_id, State.FINISHED, None)

    def fail(self, job_id: str, error: DuettoError, state: State = State.FAILED) -> Summary:
        """End a job with an error; a result that was kept before is deleted.

        What the disk does not take is written later, see `settle`.

        Raises:
            JobError: there is no such job, or it has ended already (code `state`).
        """
        self._end(job_id, state, error)
        return self.summary(job_id)

    def settle(self) -> None:
        """Write what the disk has not taken so far, as far as it takes it now: ends and deleted results."""
        with self._changed:
            for job_id in sorted(self._released):
                try:
                    self._erase(job_id)
                except StorageError as problem:
                    _LOG.error(
                        "job %(job)s: that its result is deleted is not written yet: %(problem)s",
                        {"job": job_id, "problem": problem},
                    )
                    return
                except JobError:  # of a database that does not know it
                    self._results.delete(job_id)
                self._released.discard(job_id)
            for job_id, (state, error) in [*self._owed.items()]:
                try:
                    self._write_end(job_id, state, error)
                except StorageError:
                    return
                except JobError:  # something else has ended it by now
                    self._owed.pop(job_id)

    def recover(self, is_paid: Callable[[str], bool] = bool) -> None:
        """After a restart: what ran has failed, unless its result is kept.

        Unfinished jobs of an older release have failed, too; all others stay as they were. A result of a job
        that has not kept it is put aside where it may have been paid for, as when the database was restored
        from an older copy, with its ledger or without. It is deleted where the job has ended otherwise and
        the ledger knows of no release of it.

        Args:
            is_paid: whether the ledger knows that the job with a contract of that digest came to a result.

        Raises:
            StorageError: it cannot be written.
        """
        self._released |= self._results.released()
        self.settle()
        self._sort_results(is_paid)
        interrupted = DuettoError(
            "The run was interrupted by a restart of the daemon.",
            "Submit the job again; budget that was spent stays spent.",
            code="interrupted",
        )
        older = JobError(
            "The job is of an older release, whose contracts are not run any more.",
            "Submit the job again.",
            code="old-release",
        )
        for job in self.all(State.RUNNING):
            self.fail(job.job_id, interrupted)
        for job in self.all(*(state for state in State if not state.is_final)):
            if job.state is State.KEPT and not job.is_readable:
                self.finish(job.job_id)  # it was paid for, and nobody can be asked after it any more
            elif not job.is_readable:
                self.fail(job.job_id, older)

    def _sort_results(self, is_paid: Callable[[str], bool]) -> None:
        rows = {
            row["job_id"]: row for row in self._rows("select job_id, state, kept, deleted, digest from jobs")
        }
        here, aside = self._results.names(), self._results.aside()
        for job_id in here - {name for name, row in rows.items() if row["kept"]}:
            row = rows.get(job_id)
            # A job that has not ended cannot have left a result over: database and ledger are older than it.
            is_left = row is not None and State(row["state"]).is_final
            if row is not None and (
                row["deleted"] or (is_left and row["digest"] and not is_paid(row["digest"]))
            ):
                self._results.delete(job_id)
                _LOG.info("job %(job)s: a result that it had left over is deleted", {"job": job_id})
            else:
                self.put_aside(job_id)
        for job_id in aside.keys() - here:
            if job_id in rows and rows[job_id]["kept"]:
                self._results.take_up(job_id)
                _LOG.info("job %(job)s: its result is taken up again", {"job": job_id})

    def put_aside(self, job_id: str) -> None:
        """Put a result aside that was paid for and cannot be that of a finished job here.

        Raises:
            StorageError: it cannot be renamed.
        """
        place = self._results.set_aside(job_id, self._clock.now())
        self._put_aside[job_id] = elapsed = self._clock.elapsed()
        self._note_start(elapsed)
        _LOG.warning(
            "job %(job)s: its result is not that of a finished job here and was put aside as %(file)s; "
            "see `duetto job aside`",
            {"job": job_id, "file": place.name},
        )

    def require_room(self) -> None:
        """Check that a run may begin. Raises `StorageError` if its result could not be kept."""
        self._results.require_room()

    # Deleting results

    def prune(self, now: TrustedTime, older: timedelta) -> int:
        """Delete the results of jobs that finished longer ago; all else of the jobs stays.

        They lie in the trash for a day, see `empty_trash`. So do those that were put aside so long ago.
        Ages are those of `parties.jobs.storage.ages`.

        Returns:
            How many were deleted.

        Raises:
            StorageError: the deletion cannot be written.
        """
        before = now.moment - older
        query = "select job_id from jobs where kept and state = ? and updated < ?"
        listed = [row["job_id"] for row in self._rows(query, (State.FINISHED.value, text(before)))]
        names = sorted(self._older(now, older, listed))
        for job_id in names:
            self._results.discard(job_id, now.moment)
            with self._transaction():
                self._database.execute(
                    "update jobs set kept = 0, deleted = ? where job_id = ?", (text(now.moment), job_id)
                )
        old = [
            job_id
            for job_id, since in self._results.aside().items()
            if since < before
            and self._clock.elapsed() - self._put_aside.get(job_id, -math.inf) > older.total_seconds()
        ]
        for job_id in old:
            self._results.discard(job_id, now.moment)
        return len(names) + len(old)

    def empty_trash(self, now: TrustedTime) -> None:
        """Delete for good what is in the trash for a day; what came there ahead of the time comes back.

        Raises:
            StorageError: that cannot be written.
        """
        for job_id, since in self._results.discarded().items():
            rows = self._rows("select kept, deleted from jobs where job_id = ?", (job_id,))
            if since > now.moment + TOLERANCE or (rows and rows[0]["kept"]):
                self._results.take_back(job_id)
                with self._transaction():
                    self._database.execute(
                        "update jobs set kept = 1, deleted = '' where job_id = ? and deleted != ''", (job_id,)
                    )
                _LOG.warning(
                    "job %(job)s: its result was deleted by a wrong clock, and is back", {"job": job_id}
                )
            elif since <= now.moment - TRASH:
                if rows and rows[0]["deleted"]:
                    self._erase(job_id)
                self._results.delete(job_id)

    def forget(self, job_id: str) -> Summary:
        """Delete the result of a finished job for good, at once; contract, costs and certificate stay.

        The salt of the certificate's commitment goes, too: with it a result of few possible values could be
        found by trying them all. Whoever has saved the result has the salt with it.

        Where the disk is full the result goes first, and so makes room to note that; if even that is too
        little, it is noted by `settle`, or by `recover` after a restart.

        Raises:
            JobError: it has not finished, or its result was deleted before.
            StorageError: the deletion cannot be written.
        """
        found = self.summary(job_id)
        if found.state is not State.FINISHED or not (found.kept or job_id in self._results.discarded()):
            raise JobError(f"Job {job_id} is {found.state.value} and has no result here.", code="no-result")
        try:
            self._erase(job_id)
        except StorageError:
            if self._results.has_room() or not self._results.release(job_id):
                raise
            self._released.add(job_id)
            self.settle()
        return self.summary(job_id)

    def _erase(self, job_id: str) -> None:
        with self._transaction():
            found = self.summary(job_id)
            self._database.execute(
                "update jobs set kept = 0, deleted = ? where job_id = ?", (self._now(), job_id)
            )
            self._events.append((FORGOTTEN, {"job": job_id, "peer": found.peer, "digest": found.digest}))
            if certificate := self.papers(job_id).certificate:
                without = json.dumps({**json.loads(certificate), "salt": ""})
                self._write_papers(job_id, {"certificate": without})
        self._results.delete(job_id)
        self.checkpoint()

    def checkpoint(self) -> None:
        """Take what is written into the database file itself, so that a copy of it lacks little.

        Raises:
            StorageError: it cannot be written.
        """
        with self._changed:
            self._database.checkpoint()

    def drop_unapproved(self, now: TrustedTime, older: timedelta) -> int:
        """Delete the jobs of peers that ended longer ago and that nobody here has ever approved.

        What was decided about them stays in the audit log and in the ledger.

        Returns:
            How many were deleted.

        Raises:
            StorageError: the deletion cannot be written.
        """
        final = [state.value for state in State if state.is_final]
        ended = f"updated < ? and state in ({', '.join('?' * len(final))})"
        unapproved = "not outgoing and started = '' and own_signature = x''"
        query = f"select job_id from jobs join papers using (job_id) where {unapproved} and {ended}"  # noqa: S608
        with self._transaction():
            listed = self._rows(query, (text(now.moment - older), *final))
            names = self._older(now, older, [row["job_id"] for row in listed])
            for table in ("papers", "jobs"):
                for name in names:
                    self._database.execute(f"delete from {table} where job_id = ?", (name,))  # noqa: S608
        for name in names:
            self._wrote.pop(name, None)
        return len(names)

    def correct_times(self, now: TrustedTime) -> int:
        """Give what this process wrote under a wrong clock the times that it was written at.

        Later processes know no more than these times.

        Returns:
            How many jobs had other times.

        Raises:
            StorageError: that cannot be written.
        """
        with self._changed:
            elapsed, corrected = self._clock.elapsed(), 0
            start = now.moment - timedelta(seconds=elapsed)
            if all(abs(start - one) <= TOLERANCE for one in self._starts):
                return 0
            for name, created, updated in self._rows("select job_id, created, updated from jobs"):
                if (wrote := self._wrote.get(name)) is None:
                    continue
                true = exact(Times(created, updated), wrote, now.moment, elapsed)
                if is_off(true.created, created) or is_off(true.updated, updated):
                    with self._transaction():
                        self._database.execute(
                            "update jobs set created = ?, updated = ? where job_id = ?",
                            (true.created, true.updated, name),
                        )
                    corrected += 1
            for name, seconds in self._put_aside.items():
                self._results.touch_aside(name, now.moment - timedelta(seconds=elapsed - seconds))
            self._starts = (start, start)
        return corrected

    # For those who watch

    def set_progress(self, job_id: str, progress: Progress) -> None:
        """Note how far a running job is, for those who watch."""
        _LOG.debug(
            "job %(job)s: %(stage)s, %(done)d of %(of)d",
            {"job": job_id, "stage": progress.stage, "done": progress.done, "of": progress.of},
        )
        with self._changed:
            self._progress[job_id] = progress
            self._version += 1
            self._changed.notify_all()

    def progress(self, job_id: str) -> Progress:
        """How far a running job is."""
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

    # How it is done

    def _end(self, job_id: str, state: State, error: DuettoError | None) -> None:
        with self._changed:
            try:
                self._write_end(job_id, state, error)
            except StorageError as problem:
                _LOG.error(
                    "job %(job)s: its end is not written yet: %(problem)s",
                    {"job": job_id, "problem": problem},
                )
                # the first end is the cause; later ones follow from it
                self._owed.setdefault(job_id, (state, error))

    def _write_end(self, job_id: str, state: State, error: DuettoError | None) -> None:
        with self._transaction():
            self._move(job_id, state, error.stable_code if error is not None else "")
            if error is not None:
                self._database.execute(
                    "update jobs set kept = 0, error_code = ?, error_what = ?, error_hint = ? "
                    "where job_id = ?",
                    (error.stable_code, error.what, error.hint, job_id),
                )
                self._write_papers(job_id, {"facts": "", "certificate": ""})
        self._owed.pop(job_id, None)
        self._progress.pop(job_id, None)
        if error is not None:
            self._results.delete(job_id)

    def _move(self, job_id: str, state: State, code: str = "") -> None:
        found = self.summary(job_id)
        check_way(job_id, found.state, state)
        wrote = self._wrote.get(job_id)
        self._note_write(job_id, wrote.created if wrote else None)
        about = {"job": job_id, "peer": found.peer, "digest": found.digest, "code": code}
        self._events.append((STATE, {**about, "state": state.value}))
        now = self._now()
        self._database.execute(
            "update jobs set state = ?, updated = ?, started = ? where job_id = ?",
            (state.value, now, now if state is State.RUNNING else found.started, job_id),
        )

    def _write_papers(self, job_id: str, papers: Mapping[str, Contract | bytes | str]) -> None:
        for name in _PAPERS:
            value = papers.get(name)
            if isinstance(value, Contract):
                self._database.execute(
                    "update jobs set digest = ? where job_id = ?", (_digest(value), job_id)
                )
                value = value.encode()
            if value is not None:
                self._database.execute(
                    f"update papers set {name} = ? where job_id = ?",  # noqa: S608 - a name of the above
                    (value, job_id),
                )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._changed:
            self._events.clear()
            with self._database.transaction():
                yield
                self.audit.extend(self._events)
            self._version += 1
            self._changed.notify_all()

    def _note_write(self, job_id: str, created: float | None) -> None:
        """Remember when this is written, and by how much the wall clocks differ by which things were."""
        elapsed = self._clock.elapsed()
        self._wrote[job_id] = Seconds(created, elapsed)
        self._note_start(elapsed)

    def _note_start(self, elapsed: float) -> None:
        starts = (*self._starts, self._clock.now() - timedelta(seconds=elapsed))
        self._starts = (min(starts), max(starts))

    def _now(self) -> str:
        return self._clock.stamp()


def _digest(contract: Contract) -> str:
    return contract.digest.hex() if contract.is_complete else ""
