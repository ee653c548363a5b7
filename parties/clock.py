"""The clock of the machine, which may be wrong: steps of the network's time, a dead battery, a snapshot.

What is written bears the time of the wall clock. What deletes or ends something by its age needs a
`TrustedTime`, which only `Clock.trust` gives: the wall clock has to agree with seconds that only grow, and
nothing that was written last may lie ahead of it. What counts the last hours takes `Clock.earliest`, so that
a step ahead opens nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from parties.errors import ClockError

TOLERANCE: Final = timedelta(minutes=5)
"""How far apart the wall clock and the seconds since the start may run; steps of this size are usual."""

STEADY: Final = timedelta(days=1)
"""After a step that is not taken back the clock is believed again when it has run on for so long."""

_FORMAT: Final = "%Y-%m-%dT%H:%M:%SZ"
_HINT: Final = (
    "Set the clock, and let the machine take its time from the network. A clock that has stepped is believed "
    "again after a day, or when the daemon is started again."
)


def wall() -> datetime:
    """The time by the clock of the machine."""
    return datetime.now(UTC)


def seconds_since_start() -> float:
    """Seconds since the machine started, its sleep included; nobody can set them."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def text(moment: datetime) -> str:
    """A time as it is written everywhere, RFC 3339 in UTC to the second."""
    return moment.astimezone(UTC).strftime(_FORMAT)


def moment(written: str) -> datetime:
    """The time that `text` wrote."""
    return datetime.strptime(written, _FORMAT).replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TrustedTime:
    """A time by which something may be deleted or ended. Only `Clock.trust` makes one.

    Attributes:
        moment: the time.
    """

    moment: datetime


class Clock:
    """The wall clock, watched since this object was made. Thread-safe.

    Args:
        wall: the time by the machine's clock.
        elapsed: seconds that only grow.
    """

    def __init__(
        self, wall: Callable[[], datetime] = wall, elapsed: Callable[[], float] = seconds_since_start
    ) -> None:
        self._wall = wall
        self.elapsed: Final = elapsed
        self._lock = threading.Lock()
        self._begun = elapsed()
        self._believed = self._stepped = wall() - timedelta(seconds=self._begun)
        self._since = self._begun

    def now(self) -> datetime:
        """The time by the machine's clock, to be written."""
        return self._wall()

    def stamp(self) -> str:
        """The same as text, see `text`."""
        return text(self._wall())

    @property
    def watched(self) -> timedelta:
        """For how long the clock has been watched."""
        return timedelta(seconds=self.elapsed() - self._begun)

    def earliest(self) -> datetime:
        """The earlier of what the wall clock says and what it said before it stepped, run on."""
        return self._look()[0]

    def trust(self, *written: str) -> TrustedTime:
        """The time, if all that is known speaks for it.

        Args:
            written: the times of what was written last, as `text` writes them; empty ones say nothing.

        Raises:
            ClockError: the clock has stepped, or one of the times lies ahead of it.
        """
        earliest, now, step = self._look()
        if abs(step) > TOLERANCE:
            way = "ahead" if step > timedelta(0) else "back"
            raise ClockError(
                f"The clock of this machine has stepped {way} by {abs(step)} since the daemon started; it "
                f"says {text(now)}, and nothing is deleted or ended by it.",
                _HINT,
            )
        if (last := max(written, default="")) and moment(last) > now + TOLERANCE:
            raise ClockError(
                f"The last entry of the ledger or the audit log is of {last}, and the clock of this machine "
                f"says {text(now)}: nothing is deleted or ended by it.",
                "Set the clock if it is behind. If it is right, the entry was written while it was ahead; "
                "the next entry lets all go on.",
            )
        return TrustedTime(earliest)

    def _look(self) -> tuple[datetime, datetime, timedelta]:
        """The earliest time that it can be, the wall clock's, and how far that has stepped."""
        with self._lock:
            now, seconds = self._wall(), self.elapsed()
            start = now - timedelta(seconds=seconds)
            if abs(start - self._stepped) > TOLERANCE:
                self._stepped, self._since = start, seconds
            elif seconds - self._since >= STEADY.total_seconds():
                self._believed = self._stepped
            return now - max(start - self._believed, timedelta(0)), now, start - self._believed


CLOCK: Final = Clock()
"""The clock of this process, watched since it began."""
