"""How far a job is, in words, and how long it may still take."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol


class Running(Protocol):
    """What is looked at; `parties.client.Job` is one."""

    @property
    def progress(self) -> tuple[str, int, int]:
        """Stage, and how much of how much is done."""
        ...

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        ...

    @property
    def estimated(self) -> float:
        """Seconds that the whole run is estimated to take; 0 if that is not known."""
        ...


class Pace:
    """Watches one job as it goes through its stages.

    Args:
        clock: seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._stage = ("", 0)
        self._first = (0, 0.0)
        self._last = (0, 0.0)
        self._began = 0.0
        self._estimated = 0.0

    def see(self, job: Running) -> None:
        """Take note of how far a job is."""
        now = self._clock()
        stage, done, of = job.progress
        if (stage, of) != self._stage or done < self._last[0]:
            self._stage, self._first = (stage, of), (done, now)
        self._last = (done, now)
        self._began, self._estimated = now - job.elapsed, job.estimated

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return self._clock() - self._began

    @property
    def left(self) -> float | None:
        """Seconds that the run may still take; None if nothing is known of it.

        It is what the estimate leaves, or what the present stage takes at its speed so far, whichever is
        more.
        """
        found = []
        if self._estimated > self.elapsed:
            found.append(self._estimated - self.elapsed)
        (first, began), (done, seen) = self._first, self._last
        if done > first and seen > began:
            rest = (self._stage[1] - done) * (seen - began) / (done - first)
            found.append(max(0.0, rest - (self._clock() - seen)))
        return max(found, default=None)

    def words(self) -> str:
        """Such as `clustering 40 %, 12 s, about 18 s left`."""
        stage, of = self._stage
        share = f"{stage} {100 * self._last[0] // of} %" if of else stage
        left = self.left
        rest = "" if left is None else f"about {duration(left)} left"
        return ", ".join(part for part in (share, duration(self.elapsed), rest) if part)


def duration(seconds: float) -> str:
    """A time for people: `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`, `4 d 3 h`."""
    if seconds < 10:
        return f"{max(seconds, 0.001):.1g} s" if seconds < 1 else f"{seconds:.1f} s"
    parts: list[str] = []
    rest = round(seconds)
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        count, rest = divmod(rest, size)
        if count or parts:
            parts.append(f"{count} {unit}")
    return " ".join(part for part in parts[:2] if not part.startswith("0 "))
