"""Two channels in one process, joined by queues."""

from __future__ import annotations

from queue import Empty, Queue

from smc.channel.message import Frame
from smc.errors import PeerLost


class MemoryTransport:
    """One end of a pair of queues.

    The queues are not bounded: a batch is, and its whole traffic may be under way at once.

    Args:
        outgoing: frames to the peer.
        incoming: frames from the peer.
        timeout: seconds that a receive may wait.
    """

    def __init__(self, outgoing: Queue[Frame | None], incoming: Queue[Frame | None], timeout: float) -> None:
        self._outgoing = outgoing
        self._incoming = incoming
        self._timeout = timeout

    def send(self, frame: Frame) -> None:
        """Put a frame into the peer's queue."""
        self._outgoing.put(frame)

    def receive(self) -> Frame:
        """Take the next frame from the local queue."""
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
        self._incoming.put(None)
        self._outgoing.put(None)


def memory_pair(timeout: float = 60.0) -> tuple[MemoryTransport, MemoryTransport]:
    """Two transports whose frames go to each other.

    Args:
        timeout: seconds that either end waits for the other.
    """
    there: Queue[Frame | None] = Queue()
    back: Queue[Frame | None] = Queue()
    return MemoryTransport(there, back, timeout), MemoryTransport(back, there, timeout)
