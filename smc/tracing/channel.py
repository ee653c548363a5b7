"""A channel on which messages are sizes: it counts bytes and rounds as a real one does, and moves no data."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from queue import Empty, SimpleQueue
from typing import Any, Final, cast

import numpy as np
from typing_extensions import override

from smc.channel.channel import Channel, nothing
from smc.channel.memory import MemoryTransport
from smc.channel.message import KINDS, Expected, Message
from smc.channel.vectors import (
    ExpectedBits,
    ExpectedByteRows,
    ExpectedResidueWords,
    ExpectedWords,
)
from smc.errors import DuettoError, ProtocolViolation
from smc.numeric.shape_arrays import ShapeArray, shape_array
from smc.pieces import check_cancelled
from smc.protocols.flights import Flight, Flights
from smc.protocols.spec import Cost

_WAIT_SECONDS: Final = 60.0
_WORD: Final = 8


class TraceEnded(DuettoError):  # noqa: N818
    """The other side of a traced run has failed; its error says why."""

    code = "trace"
    advice = "See the error of the other side."


@dataclass(frozen=True, slots=True)
class TracedStep:
    """What one end did: a message sent, one received, or its part of a step of the engine.

    Attributes:
        kind: of the message; empty of a step of the engine.
        size: bytes of the body of a message.
        sends: whether the message was sent.
        cost: of a step of the engine; the ends may make two of them in different orders.
        data: the body of a message where it is known, as row counts are; None where it depends on data.
    """

    kind: str = ""
    size: int = 0
    sends: bool = False
    cost: Cost | None = None
    data: bytes | None = None


class TracedChannel(Channel):
    """One end of a conversation in sizes.

    An end waits for messages alone: what it did is written down, and `count` goes through what both ends
    did when they have ended.

    Args:
        outgoing: to the other end.
        incoming: from it.
    """

    def __init__(
        self, outgoing: SimpleQueue[TracedStep | None], incoming: SimpleQueue[TracedStep | None]
    ) -> None:
        super().__init__(cast(MemoryTransport, None))
        self._outgoing, self._incoming = outgoing, incoming
        self.steps: list[TracedStep] = []
        """What this end did so far."""

    @property
    def modules(self) -> frozenset[str]:
        """Those whose messages this end has sent."""
        kinds = {step.kind for step in self.steps if step.sends} & KINDS.keys()
        return frozenset(KINDS[kind].rpartition(".")[0] for kind in kinds)

    @classmethod
    def pair(cls) -> tuple[TracedChannel, TracedChannel]:
        """Two ends."""
        there: SimpleQueue[TracedStep | None] = SimpleQueue()
        back: SimpleQueue[TracedStep | None] = SimpleQueue()
        return cls(there, back), cls(back, there)

    def end(self) -> None:
        """Wake the other end, which waits in vain."""
        self._outgoing.put(None)

    @override
    def send(self, message: Message) -> None:
        values = [getattr(message, each.name) for each in fields(cast(Any, message))]
        if any(isinstance(value.values, ShapeArray) for value in values):
            self.tell(message.kind(), sum(_size(value) for value in values))
        else:
            data = message.encode()
            self._tell(TracedStep(message.kind(), len(data), sends=True, data=data))

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
        self._tell(TracedStep(kind, size, sends=True))

    def hear(self, kind: str, size: int) -> None:
        """Receive what the other end's `tell` sends."""
        self._hear(kind, size)

    def charge(self, cost: Cost) -> None:
        """Take what a step costs that both ends make, in a session that has made what is made once."""
        check_cancelled()
        self.steps.append(TracedStep(cost=cost))

    def repeat(self, steps: Sequence[TracedStep]) -> None:
        """Do again what this end did before."""
        for step in steps:
            if step.cost is not None:
                self.charge(step.cost)
            elif step.sends:
                self._tell(step)
            else:
                self._hear(step.kind, step.size)

    @override
    def finish(self, hear: Callable[[], None] = nothing) -> None:
        """Nothing more follows but what is heard before the end."""
        hear()

    def _tell(self, step: TracedStep) -> None:
        check_cancelled()
        self.steps.append(step)
        self._outgoing.put(step)

    def _hear(self, kind: str, size: int) -> bytes | None:
        check_cancelled()
        try:
            sent = self._incoming.get(timeout=_WAIT_SECONDS)
        except Empty:
            raise TraceEnded("The other side of a traced run does not answer.") from None
        if sent is None:
            raise TraceEnded("The other side of a traced run has ended.")
        if sent.kind != kind:
            raise ProtocolViolation(f"{kind} was expected, and {sent.kind} came.")
        if sent.size != size:
            raise ProtocolViolation(f"{kind}: {size} bytes were expected, and {sent.size} would come.")
        self.steps.append(TracedStep(kind, size, data=sent.data))
        return sent.data

    @staticmethod
    def count(alice: TracedChannel, bob: TracedChannel) -> bool:
        """Count what both ends did, until one of them waits for what the other never does.

        Returns:
            Whether both are through with all that they did.

        Raises:
            ProtocolViolation: an end makes a step of the engine where the other one waits for a message.
        """
        ends = (alice, bob)
        steps = [iter(end.steps) for end in ends]
        waits: list[TracedStep | None] = [next(each, None) for each in steps]
        depths: tuple[deque[int], deque[int]] = (deque(), deque())  # of messages under way to each end
        while True:
            moved = False
            for place, end in enumerate(ends):
                ways = depths[place], depths[not place]
                while (step := waits[place]) is not None and end._count(step, *ways):
                    waits[place], moved = next(steps[place], None), True
            first, second = waits
            if moved:
                continue
            if first is None or second is None:
                return first is second
            if first.cost is None or second.cost is None:
                names = (step.kind or "a step of the engine" for step in (first, second))
                raise ProtocolViolation(f"The sides of a traced run differ: {' and '.join(names)}.")
            clocks = alice._clock, bob._clock
            for place, (end, cost) in enumerate(((alice, first.cost), (bob, second.cost))):
                end._take(cost, clocks, place)
            waits = [next(each, None) for each in steps]

    def _count(self, step: TracedStep, incoming: deque[int], outgoing: deque[int]) -> bool:
        """Count a message; False where it has not come yet, and of steps of the engine."""
        if step.cost is not None or not (step.sends or incoming):
            return False
        if step.sends:
            self._sent_depth = self._clock + 1
            self._sent += step.size
            outgoing.append(self._sent_depth)
        else:
            self._clock = max(self._clock, incoming.popleft())
            self._received += step.size
        self._messages += 1
        return True

    def _take(self, cost: Cost, clocks: tuple[int, int], place: int) -> None:
        """Count a step of the engine at one end.

        Args:
            cost: of the step.
            clocks: of Alice and Bob before it.
            place: 0 for Alice's end, 1 for Bob's.
        """
        after = _in_session(cost.flights).after(*clocks)
        sent = cost.alice_bytes, cost.bob_bytes
        self._clock = after[place]
        # What this end sent last the other one has received.
        self._sent_depth = max(self._sent_depth, after[not place])
        self._sent += sent[place]
        self._received += sent[not place]


@lru_cache(1024)
def _in_session(flights: Flights) -> Flights:
    """Flights in a session that has made what is made once."""
    return flights.without(Flight.RESERVE).without(Flight.LANES)


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
