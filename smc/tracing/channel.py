"""A channel on which messages are sizes: it counts bytes and rounds as a real one does, and moves no data."""

from __future__ import annotations

from dataclasses import dataclass, fields
from queue import Empty, SimpleQueue
from typing import Any, Final, cast

import numpy as np
from typing_extensions import override

from smc.channel.channel import Channel
from smc.channel.memory import MemoryTransport
from smc.channel.message import Expected, Message
from smc.channel.vectors import (
    ExpectedBits,
    ExpectedByteRows,
    ExpectedResidueWords,
    ExpectedWords,
)
from smc.errors import DuettoError, ProtocolViolation
from smc.numeric.shape_arrays import ShapeArray, shape_array
from smc.pieces import check_cancelled
from smc.protocols.flights import Flight
from smc.protocols.spec import Cost

_WAIT_SECONDS: Final = 60.0
_WORD: Final = 8


class TraceEnded(DuettoError):  # noqa: N818
    """The other side of a traced run has failed; its error says why."""

    code = "trace"
    advice = "See the error of the other side."


@dataclass(frozen=True, slots=True)
class _Sent:
    """What stands for a message.

    Attributes:
        kind: of the message; empty where steps of the engine meet.
        size: bytes of its body.
        depth: the chain of messages that it ends; of steps the sender's clock.
        data: the body where it is known, as row counts are; None where it depends on data.
    """

    kind: str
    size: int
    depth: int
    data: bytes | None = None


class TracedChannel(Channel):
    """One end of a conversation in sizes.

    Args:
        outgoing: to the other end.
        incoming: from it.
    """

    def __init__(self, outgoing: SimpleQueue[_Sent | None], incoming: SimpleQueue[_Sent | None]) -> None:
        super().__init__(cast(MemoryTransport, None))
        self._outgoing, self._incoming = outgoing, incoming

    @classmethod
    def pair(cls) -> tuple[TracedChannel, TracedChannel]:
        """Two ends."""
        there: SimpleQueue[_Sent | None] = SimpleQueue()
        back: SimpleQueue[_Sent | None] = SimpleQueue()
        return cls(there, back), cls(back, there)

    def end(self) -> None:
        """Wake the other end, which waits in vain."""
        self._outgoing.put(None)

    @override
    def send(self, message: Message) -> None:
        values = [getattr(message, each.name) for each in fields(cast(Any, message))]
        if any(isinstance(value.values, ShapeArray) for value in values):
            self._tell(message.kind(), sum(_size(value) for value in values), None)
        else:
            data = message.encode()
            self._tell(message.kind(), len(data), data)

    @override
    def recv(self, kind: type[Message], /, *expected: Expected[Any]) -> Any:
        """See `Channel.recv`; what depends on data has a shape alone."""
        size = sum(field.size for field in expected)
        data = self._hear(kind.kind(), size)
        values, start = [], 0
        for field in expected:
            values.append(_blank(field) if data is None else field.decode(data[start : start + field.size]))
            start += field.size
        return values[0] if len(values) == 1 else tuple(values)

    def tell(self, kind: str, size: int) -> None:
        """Send so many bytes, of which none is known."""
        self._tell(kind, size, None)

    def hear(self, kind: str, size: int) -> None:
        """Receive what the other end's `tell` sends."""
        self._hear(kind, size)

    def charge(self, cost: Cost, *, alice: bool) -> None:
        """Take what a step costs that both ends make; both call it.

        Args:
            cost: of the step, in a session that has made what is made once.
            alice: whether this is Alice's end.
        """
        check_cancelled()
        self._outgoing.put(_Sent("", 0, self._clock))
        other = self._wait("").depth
        own_bytes, other_bytes = (cost.alice_bytes, cost.bob_bytes)[:: 1 if alice else -1]
        clocks = (self._clock, other) if alice else (other, self._clock)
        ends = cost.flights.without(Flight.RESERVE).without(Flight.LANES).after(*clocks)
        self._clock = ends[0] if alice else ends[1]
        # What this end sent last the other one has received.
        self._sent_depth = max(self._sent_depth, ends[1] if alice else ends[0])
        self._sent += own_bytes
        self._received += other_bytes

    @override
    def finish(self) -> None:
        """Nothing more follows."""

    def _tell(self, kind: str, size: int, data: bytes | None) -> None:
        check_cancelled()
        self._sent_depth = self._clock + 1
        self._sent += size
        self._messages += 1
        self._outgoing.put(_Sent(kind, size, self._sent_depth, data))

    def _hear(self, kind: str, size: int) -> bytes | None:
        check_cancelled()
        sent = self._wait(kind)
        if sent.size != size:
            raise ProtocolViolation(f"{kind}: {size} bytes were expected, and {sent.size} would come.")
        self._clock = max(self._clock, sent.depth)
        self._received += size
        self._messages += 1
        return sent.data

    def _wait(self, kind: str) -> _Sent:
        try:
            sent = self._incoming.get(timeout=_WAIT_SECONDS)
        except Empty:
            raise TraceEnded("The other side of a traced run does not answer.") from None
        if sent is None:
            raise TraceEnded("The other side of a traced run has ended.")
        if sent.kind != kind:
            what = "A step of the engine"
            raise ProtocolViolation(f"{kind or what} was expected, and {sent.kind or what} came.")
        return sent


def _size(field: Any) -> int:
    """Bytes of a field of a message."""
    values = field.values
    if not isinstance(values, ShapeArray):
        return len(field.encode())
    name = type(field).__name__
    if name == "Bits":
        return -(-values.size // _WORD)
    if name == "Words":
        return _WORD * values.size
    if name == "Residues":
        return ExpectedResidueWords(field.modulus, values.size).size
    return values.size


def _blank(expected: Expected[Any]) -> Any:
    """What a field would be decoded to."""
    match expected:
        case ExpectedWords(count):
            return shape_array(count, np.uint64)
        case ExpectedBits(count):
            return shape_array(count, np.uint8)
        case ExpectedByteRows(rows, width):
            return shape_array((rows, width), np.uint8)
        case ExpectedResidueWords(_, count):
            return shape_array(count, np.uint64)
    return expected.decode(bytes(expected.size))
