"""One courier for each peer: does what is owed to it, as soon as it can be reached, until it has answered."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from parties.contracts.records import Summary
from parties.contracts.state import State
from parties.errors import PeerBusy, PeerUnreachable
from parties.jobs.agreement.outbox import Outbox
from parties.jobs.storage.store import JobStore
from smc.errors import DuettoError, PeerLost
from smc.numeric.random import Randomness

UNREACHABLE: Final = (PeerUnreachable, PeerLost)
"""What shows that a peer cannot be reached now, so that all that it is owed has to wait."""

_TICK_SECONDS = 1.0
_NEW_SECONDS = 1.0
"""How long a new debt rests: most are settled by the next word of the peer."""

_ROOM_SECONDS = 0.1
"""How long the courier rests while there is more to do than room to do it."""

_BUSY_SECONDS = (0.05, 1.0)
"""Least and longest pause after either side had no room for a session."""

_STOP_SECONDS = 10.0
_LOG = logging.getLogger("duetto.jobs")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How the daemon waits for its peer.

    Attributes:
        dial_seconds: pauses between attempts to reach a peer that cannot be reached; the last one repeats.
        ask_seconds: pause between questions about a job that the peer knows and has not decided or begun.
        watch_seconds: for how long the clock is watched before something is deleted or ended by it.
    """

    dial_seconds: tuple[float, ...] = (1, 3, 10, 30, 60)
    ask_seconds: float = 60
    watch_seconds: float = 3600.0


@dataclass(frozen=True, slots=True)
class PeerCalls:
    """What a courier does for a job; each raises `PeerError` if it has to be done again.

    Attributes:
        propose: sends a proposal.
        tell: says where a job stands.
        dial: confirms an approved job and runs its session.
    """

    propose: Callable[[str], object]
    tell: Callable[[str], object]
    dial: Callable[[str], object]


class PeerWorker:
    """Does the errands to one peer. Thread-safe.

    Words are said one after the other; proposals and sessions, which take long, in threads of their own, so
    many at once as the party runs sessions. While the peer cannot be reached everything waits, with growing
    pauses; its first call wakes the courier.

    Args:
        peer: the peer.
        outbox: what is owed.
        store: the jobs.
        errands: how it is done.
        patience: the pauses.
        sessions: errands in threads of their own at once.
    """

    def __init__(
        self,
        peer: str,
        outbox: Outbox,
        store: JobStore,
        errands: PeerCalls,
        patience: RetryPolicy,
        sessions: int,
    ) -> None:
        self._peer = peer
        self._outbox = outbox
        self._store = store
        self._errands = errands
        self._patience = patience
        self._sessions = sessions
        self._changed = threading.Condition()
        self._due: dict[str, float] = {}
        self._refusals = 0
        self._busy_until = 0.0
        self._under_way: dict[str, Callable[[str], object]] = {}
        self._failures = 0
        self._away_until = 0.0
        self._trouble = ""
        self._stopping = self._begins_none = False
        self._random = Randomness()
        self._pool = ThreadPoolExecutor(sessions, thread_name_prefix=f"duetto-{peer}")
        self._thread = threading.Thread(target=self._go, name=f"courier-{peer}", daemon=True)

    @property
    def trouble(self) -> str:
        """Why the peer could not be reached when it was tried last; empty if it could."""
        return self._trouble

    def start(self) -> None:
        """Begin, with what an earlier daemon still owed."""
        for job_id in self._outbox.debts(self._peer):
            self._due[job_id] = 0.0
        self._thread.start()

    def hold_back(self) -> None:
        """Dial no more; proposals and words still go to the peer."""
        with self._changed:
            self._begins_none = True

    def stop(self) -> None:
        """Begin no more errands and wait for those under way, for a while."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)
        with self._changed:
            self._changed.wait_for(lambda: not self._under_way, _STOP_SECONDS)

    def wake(self, job_id: str) -> None:
        """Do what is owed for a job at once, if the peer can be reached."""
        with self._changed:
            self._due[job_id] = 0.0
            self._changed.notify_all()

    def here(self) -> None:
        """The peer has shown that it is there: what waited for it is done at once."""
        with self._changed:
            if self._failures:
                self._failures, self._away_until, self._trouble = 0, 0.0, ""
                self._changed.notify_all()

    def away(self, error: DuettoError) -> None:
        """The peer could not be reached: everything waits for a while."""
        pauses = self._patience.dial_seconds
        with self._changed:
            pause = pauses[min(self._failures, len(pauses) - 1)]
            self._failures += 1
            self._away_until = time.monotonic() + pause
            self._trouble = error.what

    @contextmanager
    def holding(self, job_id: str) -> Iterator[None]:
        """Keep the courier from doing an errand that the caller does."""
        with self._changed:
            self._changed.wait_for(lambda: job_id not in self._under_way)
            self._under_way[job_id] = self._errands.propose
        try:
            yield
        finally:
            self._finish(job_id)

    # How it is done

    def _go(self) -> None:
        while True:
            try:
                pause = self._round()
            except Exception as problem:  # a full disk, say; the debts are still there
                _LOG.error(
                    "the courier to %(peer)s goes on after %(kind)s: %(problem)s",
                    {"peer": self._peer, "kind": type(problem).__name__, "problem": problem},
                )
                pause = _TICK_SECONDS
            with self._changed:
                if not self._stopping:
                    self._changed.wait(pause)
                if self._stopping:
                    return

    def _round(self) -> float:
        """Do all that is due; returns the seconds until something may be due again."""
        owed = self._outbox.debts(self._peer)
        now = time.monotonic()
        with self._changed:
            known = self._due
            self._due = {job_id: known.get(job_id, now + _NEW_SECONDS) for job_id in owed}
        for job_id in owed:
            job = self._store.summary(job_id)
            if self._is_due(job):
                self._attend(job)
        with self._changed:
            now = time.monotonic()
            waiting = [due for job_id, due in self._due.items() if job_id not in self._under_way]
            # What is due and was not done now waits for room or for the peer; the end of an errand wakes.
            nearest = min((due if due > now else now + _ROOM_SECONDS for due in waiting), default=now + 60)
            return min(_TICK_SECONDS, max(0.01, nearest - now, self._away_until - now))

    def _is_due(self, job: Summary) -> bool:
        now = time.monotonic()
        with self._changed:
            errand = self._under_way.get(job.job_id)
            # The peer hears of the end of a job that runs before its session is over.
            waits = errand is not None and not (errand is self._errands.dial and job.state.is_final)
            waits = waits or self._stopping or now < self._away_until
            return not waits and self._due.get(job.job_id, 0.0) <= now

    def _attend(self, job: Summary) -> None:
        if job.outgoing and job.state in (State.PROPOSED, State.APPROVED):
            errand = self._errands.propose if job.state is State.PROPOSED else self._errands.dial
            with self._changed:
                if self._begins_none and errand is self._errands.dial:
                    self._due[job.job_id] = time.monotonic() + self._patience.ask_seconds
                    return
                if len(self._under_way) >= self._sessions or time.monotonic() < self._busy_until:
                    return
                self._under_way[job.job_id] = errand
            with suppress(RuntimeError):  # the daemon is stopping; the next start goes on
                self._pool.submit(self._run_apart, job.job_id, errand)
                return
            self._finish(job.job_id)
        else:
            self._do(job.job_id, self._errands.tell)

    def _run_apart(self, job_id: str, errand: Callable[[str], object]) -> None:
        try:
            self._do(job_id, errand)
        finally:
            self._finish(job_id)

    def _finish(self, job_id: str) -> None:
        with self._changed:
            self._under_way.pop(job_id, None)
            self._changed.notify_all()

    def _do(self, job_id: str, errand: Callable[[str], object]) -> None:
        # Set before, so that a change of the job during the errand, which wakes, is not put off.
        self._put_off(job_id, self._patience.ask_seconds)
        try:
            errand(job_id)
            self.here()
            self._refusals = 0 if errand is not self._errands.tell else self._refusals
        except UNREACHABLE as error:
            self.away(error)
            self._put_off(job_id, 0.0)
        except PeerBusy:
            self._rest()
            self._put_off(job_id, 0.0)
        except DuettoError as error:
            _LOG.info(
                "job %(job)s: %(peer)s hears of it again later: %(error)s",
                {"job": job_id, "peer": self._peer, "error": error},
            )
        except Exception as problem:
            _LOG.exception(
                "job %(job)s: a defect of the program: %(kind)s",
                {"job": job_id, "peer": self._peer, "kind": type(problem).__name__},
            )

    def _put_off(self, job_id: str, seconds: float) -> None:
        with self._changed:
            self._due[job_id] = time.monotonic() + seconds

    def _rest(self) -> None:
        """Propose and dial no more for a while that grows, and that chance makes different on both sides.

        Else two parties that dial each other with all their places would go on to do so.
        """
        first, longest = _BUSY_SECONDS
        with self._changed:
            pause = min(longest, first * 2 ** min(self._refusals, 10)) * (
                0.5 + self._random.bytes(1)[0] / 255
            )
            self._refusals += 1
            self._busy_until = time.monotonic() + pause
