"""Room for sessions, shared so that no peer takes the last place of another.

A party runs so many sessions at once. Of the free places one is kept for every other peer that has none, so
a peer that opens all it can leaves each of the others at least one. Only an approved job takes a place.

Beside the places there is one seat for work in idle time: taken only after some seconds in which no job had a
place or came, and left as soon as one comes. It is nobody's place, so no job is refused for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from parties.errors import PeerBusy

QUIET_SECONDS = 3.0
"""After so many seconds without a job a daemon counts as idle."""


class Shares:
    """The places for sessions. Thread-safe.

    Args:
        places: sessions at once.
        peers: the names of all peers.
        quiet_seconds: after so many seconds without a job it is idle.
    """

    def __init__(self, places: int, peers: Collection[str], quiet_seconds: float = QUIET_SECONDS) -> None:
        self._places = places
        self._quiet_seconds = quiet_seconds
        self._job_at = time.monotonic()
        self._leave_seat: Callable[[], None] | None = None
        self._taken = dict.fromkeys(peers, 0)
        self._changed = threading.Condition()
        self._refusing = self._closed = False

    def set_peers(self, peers: Collection[str]) -> None:
        """Share the places among these peers from now on; a place that is taken stays so until it is left."""
        with self._changed:
            held = {name: taken for name, taken in self._taken.items() if taken}
            self._taken = {**dict.fromkeys(peers, 0), **held}

    @contextmanager
    def place(self, peer: str) -> Iterator[None]:
        """A place for one session with a peer.

        Raises:
            PeerBusy: there is none that this peer may take, or the daemon begins no more sessions.
        """
        self.give_way()
        with self._changed:
            if self._refusing:
                raise _stopping_error()
            if not self._is_free(peer):
                raise PeerBusy(
                    f"This daemon runs {sum(self._taken.values())} of at most {self._places} sessions, "
                    f"{self._taken[peer]} of them with {peer}, and keeps a place for each other peer.",
                    "Try again later, or raise `sessions` in [limits].",
                )
            self._taken[peer] += 1
        try:
            yield
        finally:
            with self._changed:
                self._taken[peer] -= 1
                self._job_at = time.monotonic()
                self._changed.notify_all()

    @contextmanager
    def seat(self, leave: Callable[[], None]) -> Iterator[None]:
        """The seat for work in idle time.

        Args:
            leave: ends that work at once; called from another thread when a job comes, perhaps twice.

        Raises:
            PeerBusy: the daemon is not idle, somebody has the seat, or the daemon is being stopped.
        """
        with self._changed:
            if self._refusing:
                raise _stopping_error()
            if self._leave_seat is not None or not self.is_quiet:
                raise PeerBusy("This daemon is not idle.", "It is tried again later.")
            self._leave_seat = leave
        try:
            yield
        finally:
            with self._changed:
                self._leave_seat = None
                self._changed.notify_all()

    @property
    def is_quiet(self) -> bool:
        """Whether no job has had a place or come for some seconds."""
        waited = time.monotonic() - self._job_at
        return not any(self._taken.values()) and waited >= self._quiet_seconds

    def give_way(self) -> None:
        """Take note that a job comes, and end what is done in idle time."""
        with self._changed:
            self._job_at, leave = time.monotonic(), self._leave_seat
        if leave is not None:
            leave()

    def refuse_new(self) -> None:
        """Give no more places, and end what is done in idle time; whoever has a place goes on."""
        with self._changed:
            self._refusing = True
        self.give_way()

    def close(self) -> None:
        """The same, and whoever has a place is to leave it."""
        with self._changed:
            self._closed = True
        self.refuse_new()

    @property
    def is_closed(self) -> bool:
        """Whether whoever has a place is to leave it."""
        return self._closed

    @property
    def taken(self) -> int:
        """Places that are taken."""
        with self._changed:
            return sum(self._taken.values())

    def drain(self, seconds: float) -> bool:
        """Wait until neither a place nor the seat is taken; whether that was so in time."""
        with self._changed:
            return self._changed.wait_for(
                lambda: not any(self._taken.values()) and self._leave_seat is None, seconds
            )

    def _is_free(self, peer: str) -> bool:
        free = self._places - sum(self._taken.values())
        if not self._taken[peer]:
            return free > 0
        kept = sum(1 for name, taken in self._taken.items() if name != peer and not taken)
        return free > kept


def _stopping_error() -> PeerBusy:
    return PeerBusy("This daemon is being stopped.", "Start it again.")
