"""What a daemon looks after by itself: ends that the disk did not take, jobs and results that are too old."""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from datetime import timedelta

from parties.config import Config
from parties.contracts.state import WAITING
from parties.errors import JobError
from parties.jobs.store import JobStore

_STOP_SECONDS = 10.0
_LOG = logging.getLogger("duetto.jobs")


class Housekeeper:
    """Looks after the jobs of a party, at once and then every so often, in a thread of its own.

    Args:
        store: the jobs.
        config: for how long jobs may wait and results are kept.
        pause_seconds: between two rounds.
    """

    def __init__(self, store: JobStore, config: Config, pause_seconds: float) -> None:
        self._store = store
        self.set_days(config)
        self._pause = pause_seconds
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

    def prune(self) -> None:
        """Delete the results that are older than the configuration keeps them.

        Raises:
            StorageError: a deletion cannot be written.
        """
        if self.keep_days and (deleted := self._store.prune(timedelta(days=self.keep_days))):
            _LOG.info("deleted %d results older than %d days", deleted, self.keep_days)

    def drop(self) -> None:
        """Delete what peers have proposed and nobody has approved, as long after its end as jobs may wait.

        Raises:
            StorageError: the deletion cannot be written.
        """
        if deleted := self._store.drop_unapproved(timedelta(days=self.wait_days)):
            _LOG.info("deleted %d proposals that were never approved", deleted)

    def expire(self) -> None:
        """End jobs that have waited too long, so that nothing waits for ever on either side."""
        late = JobError(
            f"The job waited for more than {self.wait_days} days.",
            "Submit it again, or raise `wait_days` in [limits].",
            code="expired",
        )
        for job in self._store.stale(timedelta(days=self.wait_days), *WAITING):
            with suppress(JobError):
                self._store.fail(job.job_id, late)

    def _go(self) -> None:
        while not self._stopping.wait(self._pause):
            try:
                self._store.settle()
                self.prune()
                self.drop()
                self.expire()
            except Exception as problem:  # a full disk, say; the next round looks again
                _LOG.error("the jobs cannot be looked after: %s: %s", type(problem).__name__, problem)
