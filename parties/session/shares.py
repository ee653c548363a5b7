"""Room for sessions, shared so that no peer takes the last place of another.

A party runs so many sessions at once. Of the free places one is kept for every other peer that has none, so
a peer that opens all it can leaves each of the others at least one. Only an approved job takes a place.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from parties.errors import PeerBusy


class Shares:
    """The places for sessions. Thread-safe.

    Args:
        places: sessions at once.
        peers: the names of all peers.
    """

    def __init__(self, places: int, peers: Collection[str]) -> None:
        self._places = places
        self._taken = dict.fromkeys(peers, 0)
        self._changed = threading.Condition()
        self._closed = False

    def set_peers(self, peers: Collection[str]) -> None:
        """Share the places among these peers from now on; a place that is taken stays so until it is left."""
        with self._changed:
            held = {name: taken for name, taken in self._taken.items() if taken}
            self._taken = {**dict.fromkeys(peers, 0), **held}

    @contextmanager
    def place(self, peer: str) -> Iterator[None]:
        """A place for one session with a peer.

        Raises:
            PeerBusy: there is none that this peer may take, or the daemon is being stopped.
        """
        with self._changed:
            if self._closed:
                raise PeerBusy("This daemon is being stopped.", "Start it again.")
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
                self._changed.notify_all()

    def close(self) -> None:
        """Give no more places."""
        with self._changed:
            self._closed = True

    @property
    def is_closed(self) -> bool:
        """Whether no more places are given."""
        return self._closed

    def drain(self, seconds: float) -> bool:
        """Wait until no place is taken; whether that was so in time."""
        with self._changed:
            return self._changed.wait_for(lambda: not any(self._taken.values()), seconds)

    def _is_free(self, peer: str) -> bool:
        free = self._places - sum(self._taken.values())
        if not self._taken[peer]:
            return free > 0
        kept = sum(1 for name, taken in self._taken.items() if name != peer and not taken)
        return free > kept
