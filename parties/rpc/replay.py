"""The packets of one direction that are to be sent, and those that the peer may have to be sent again."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from parties.rpc.packets import PACKET_BYTES
from smc.errors import ProtocolViolation


@dataclass(frozen=True, slots=True)
class _Item:
    """A packet that waits.

    Attributes:
        wire: its bytes.
        size: what it counts in bytes.
        counts: whether it has a number, so that the peer may have to be sent it again.
    """

    wire: bytes
    size: int
    counts: bool


class Replay:
    """A queue from which nothing that counts is gone before the peer has it. Not thread-safe.

    Attributes:
        waiting: bytes that wait to be sent or acknowledged.
        settled: packets that the peer has acknowledged; its number of the next one.
    """

    def __init__(self) -> None:
        self.waiting = self.settled = 0
        self._queue: deque[_Item] = deque()
        self._unsettled: deque[_Item] = deque()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left to be sent on this connection."""
        return not self._queue

    @property
    def is_settled(self) -> bool:
        """Whether the peer has all that was sent on this connection."""
        return not self._unsettled

    @property
    def begins_apart(self) -> bool:
        """Whether the next packet has no number."""
        return bool(self._queue) and not self._queue[0].counts

    def put(self, wire: bytes, *, counts: bool) -> None:
        """Queue the bytes of a packet."""
        self._queue.append(_Item(wire, len(wire) + PACKET_BYTES, counts))
        self.waiting += self._queue[-1].size

    def next(self) -> bytes | None:
        """The bytes of the next packet for the connection, if there is one."""
        if not self._queue:
            return None
        found = self._queue.popleft()
        if found.counts:
            self._unsettled.append(found)
        else:
            self.waiting -= found.size
        return found.wire

    def settle(self, received: int, *, new: int = 1) -> None:
        """Forget what the peer has.

        Args:
            received: packets that it has, by its own word.
            new: how many of them it has to acknowledge by that at least.

        Raises:
            ProtocolViolation: it has acknowledged more before, or less was sent to it.
        """
        if not new <= received - self.settled <= len(self._unsettled):
            raise ProtocolViolation("The peer acknowledged other packets than it was sent.")
        for _ in range(received - self.settled):
            self.waiting -= self._unsettled.popleft().size
        self.settled = received

    def rewind(self, received: int, first: bytes | None) -> None:
        """Begin to send on another connection what the peer lacks.

        Args:
            received: packets that it has, by its own word.
            first: the bytes of a packet without number that goes first.

        Raises:
            ProtocolViolation: as in `settle`; nothing has changed.
        """
        self.settle(received, new=0)
        self._queue.extendleft(reversed(self._unsettled))
        self._unsettled.clear()
        if first is not None:
            self._queue.appendleft(_Item(first, 0, counts=False))
