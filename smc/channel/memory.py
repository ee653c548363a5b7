"""Two channels in one process, joined by queues."""

from __future__ import annotations

from queue import Empty, Full, Queue

from smc.channel.message import Frame
from smc.errors import PeerLost

_WINDOW = 64


class MemoryTransport:
    """One end of a pair of bounded queues.

    Args:
        outgoing: frames to the peer.
        incoming: frames from the peer.
        timeout: seconds that a send or receive may wait.
    """

    def __init__(
        self, outgoing: Queue[Frame | None], incoming: Queue[Frame | None], timeout: float
    ) -> None:
        self._outgoing = outgoing
        self._incoming = incoming
        self._timeout = timeout

    def send(self, frame: Frame) -> None:
        """Put a frame into the peer's queue."""
        try:
            self._outgoing.put(frame, timeout=self._timeout)
        except Full:
            raise PeerLost(f"The peer read nothing for {self._timeout:g} seconds.") from None

    def receive(self) -> Frame:
        """Take the next frame from the own queue."""
        try:
            frame = self._incoming.get(timeout=self._timeout)
        except Empty:
            raise PeerLost(f"Nothing came from the peer for {self._timeout:g} seconds.") from None
        if frame is None:
            self._incoming.put(None)
            raise PeerLost("The peer closed the channel.")
        return frame

    def close(self) -> None:
        """Wake both ends."""
        for queue in (self._incoming, self._outgoing):
            try:
                queue.put_nowait(None)
            except Full:
                continue


def memory_pair(timeout: float = 60.0) -> tuple[MemoryTransport, MemoryTransport]:
    """Two transports whose frames go to each other.

    Args:
        timeout: seconds that either end waits for the other.
    """
    there: Queue[Frame | None] = Queue(_WINDOW)
    back: Queue[Frame | None] = Queue(_WINDOW)
    return MemoryTransport(there, back, timeout), MemoryTransport(back, there, timeout)
