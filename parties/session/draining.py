"""How a daemon comes to rest: it begins no session any more, and those that run may end within a time.

All else goes on: proposals and approvals are taken and stored, and peers are told what they are owed. Nothing
of it is written down, so a daemon that is started again, for whatever reason the one before has ended, runs
what waited.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Draining:
    """How far a daemon has come to rest.

    Attributes:
        sessions: that run yet.
        seconds_left: after which they are ended.
    """

    sessions: int
    seconds_left: float


class Drain:
    """Lets a daemon come to rest. Thread-safe.

    Args:
        begin: makes that no session begins any more; called once.
        running: says how many sessions run.
        seconds: that they may take, unless somebody says otherwise.
        clock: says what time it is, in seconds from any moment.
    """

    def __init__(
        self,
        begin: Callable[[], object],
        running: Callable[[], int],
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._begin = begin
        self._running = running
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._end: float | None = None

    def start(self, seconds: float = 0) -> Draining:
        """Begin no session from now on; whoever asks again sets another end.

        Args:
            seconds: after which running sessions are ended; 0 for as long as is configured.
        """
        with self._lock:
            is_first = self._end is None
            self._end = self._clock() + (seconds or self._seconds)
            if is_first:
                self._begin()
        found = Draining(self._running(), seconds or self._seconds)
        log.info(
            "draining: no session begins any more, %d run and may take %g seconds",
            found.sessions,
            found.seconds_left,
        )
        return found

    @property
    def state(self) -> Draining | None:
        """How far it has come; None if nobody has asked for it."""
        end = self._end
        return None if end is None else Draining(self._running(), max(0.0, end - self._clock()))

    @property
    def is_over(self) -> bool:
        """Whether the daemon is to end: no session runs any more, or their time is up."""
        found = self.state
        return found is not None and (not found.sessions or not found.seconds_left)
