"""What a daemon looks after by itself: ends that the disk did not take, jobs and results that are too old.

Nothing is deleted or ended on one look at a clock: the clock has been watched for an hour and agrees with all
that is known (`parties.clock.Clock.trusted`), and what is deleted lies in the trash for a day.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Final

from parties.clock import Clock, TrustedTime, text
from parties.config import Config
from parties.contracts.state import WAITING
from parties.errors import ClockError, JobError
from parties.evidence.store import EvidenceStore
from parties.jobs.storage.store import JobStore

_CHECKPOINT_SECONDS: Final = 3600.0
_PRUNE_SECONDS: Final = 3600.0
_STOP_SECONDS = 10.0
_LOG = logging.getLogger("duetto.jobs")


class Housekeeper:
    """Looks after the jobs of a party every so often, in a thread of its own.

    Args:
        store: the jobs.
        config: for how long jobs may wait and results are kept.
        clock: watched since the daemon began.
        trusted: the time by which something may be deleted; raises `ClockError`.
        pause_seconds: between two rounds.
        watch_seconds: for how long the clock is watched first.
    """

    def __init__(
        self,
        store: JobStore,
        config: Config,
        clock: Clock,
        trusted: Callable[[], TrustedTime],
        *,
        pause_seconds: float,
        watch_seconds: float,
    ) -> None:
        self._store = store
        self._clock = clock
        self._trusted = trusted
        self.set_days(config)
        self._pause = pause_seconds
        self._watch = timedelta(seconds=watch_seconds)
        self._checked = clock.elapsed()
        self._evidence = EvidenceStore(config.home)
        self._pruned = -_PRUNE_SECONDS
        self._doubted = False
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._go, name="duetto-jobs", daemon=True)

    def set_days(self, config: Config) -> None:
        """Follow these limits from now on."""
        self.wait_days = config.limits.wait_days
        self.keep_days = config.keep_results_days

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread, after the round that it is in."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)

    def prune(self, days: int) -> int:
        """Delete the results that are older, as `JobStore.prune` does; how many.

        Raises:
            ClockError: the clock cannot be trusted.
            StorageError: a deletion cannot be written.
        """
        return self._store.prune(self._trusted(), timedelta(days=days))

    def look(self) -> None:
        """Delete and end what is too old, if the clock can be trusted.

        Raises:
            DuettoError: a deletion cannot be written, or the ledger is broken.
        """
        if self._clock.watched < self._watch:
            return
        try:
            now = self._trusted()
        except ClockError as error:
            if not self._doubted:
                _LOG.warning("%s %s", error.what, error.hint)
            self._doubted = True
            return
        self._doubted = False
        if corrected := self._store.correct_times(now):
            _LOG.warning("corrected the times of %d jobs, which a wrong clock had written", corrected)
        if self.keep_days and (deleted := self._store.prune(now, timedelta(days=self.keep_days))):
            _LOG.info("deleted %d results older than %d days", deleted, self.keep_days)
        self._store.empty_trash(now)
        if (passed := self._clock.elapsed()) - self._pruned >= _PRUNE_SECONDS:
            self._pruned = passed
            if deleted := self._evidence.prune(text(now.moment)):
                _LOG.info("deleted the evidence of %d runs that were not due", deleted)
        if dropped := self._store.drop_unapproved(now, timedelta(days=self.wait_days)):
            _LOG.info("deleted %d proposals that were never approved", dropped)
        self._expire(now)

    def _expire(self, now: TrustedTime) -> None:
        """End jobs that have waited too long, so that nothing waits for ever on either side."""
        late = JobError(
            f"The job waited for more than {self.wait_days} days.",
            "Submit it again, or raise `wait_days` in [limits].",
            code="expired",
        )
        for job in self._store.stale(now, timedelta(days=self.wait_days), *WAITING):
            with suppress(JobError):
                self._store.fail(job.job_id, late)

    def _save(self) -> None:
        """Leave little in the log of the database, once an hour."""
        if (now := self._clock.elapsed()) - self._checked >= _CHECKPOINT_SECONDS:
            self._store.checkpoint()
            self._checked = now

    def _go(self) -> None:
        while not self._stopping.wait(self._pause):
            for task in (self._store.settle, self._save, self.look):
                try:
                    task()
                except Exception as problem:  # a full disk, say; the next round looks again
                    _LOG.error("the jobs cannot be looked after: %s: %s", type(problem).__name__, problem)
