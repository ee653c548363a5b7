"""A clock that a test moves: time that passes, and a wall clock that is wrong."""

from __future__ import annotations

from datetime import datetime, timedelta

from parties.clock import Clock, moment


class Moved:
    """Time as a test says it is.

    Attributes:
        now: what the wall clock says.
        seconds: that have passed.
        clock: the clock to give to what is tested.
    """

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.seconds = 1000.0
        self.clock = Clock(lambda: self.now, lambda: self.seconds)

    def passes(self, by: timedelta) -> None:
        """Let time pass, on both clocks."""
        self.now += by
        self.seconds += by.total_seconds()

    def steps(self, by: timedelta) -> None:
        """Set the wall clock."""
        self.now += by

    def starts_again(self) -> Clock:
        """The clock of a process that begins now."""
        self.clock = Clock(lambda: self.now, lambda: self.seconds)
        return self.clock


def standing(time: str) -> Clock:
    """A clock that always says the same time."""
    return Moved(moment(time)).clock
