"""The record of one party's run: a chain of digests of the frames of each way, and the frames that came."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Lock
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol

from smc.channel.message import ABORT, Frame
from smc.channel.transport import Transport

_FRAME_DOMAIN: Final = b"duetto/evidence/frame/1"
_HEAD_DOMAIN: Final = b"duetto/evidence/head/1"
_EMPTY: Final[Mapping[int, Sequence[Said]]] = MappingProxyType({})


class Said(NamedTuple):
    """A frame as a chain has it.

    Attributes:
        kind: of its message.
        digest: of its number, message and data, 32 bytes.
    """

    kind: str
    digest: bytes


def to_said(frame: Frame) -> Said:
    """A frame as a chain has it; of where it stands in the order of rounds nothing follows."""
    kind = frame.kind.encode()
    head = (
        _FRAME_DOMAIN,
        frame.lane.to_bytes(2, "big"),
        frame.sequence.to_bytes(8, "big"),
        len(kind).to_bytes(2, "big"),
        kind,
        frame.total.to_bytes(8, "big"),
    )
    hashed = hashlib.sha256(b"".join(head))
    hashed.update(frame.data)
    return Said(frame.kind, hashed.digest())


class Chain:
    """The frames of one direction, lane by lane, as lanes go on side by side. Thread-safe.

    Args:
        lanes: what they have so far.
    """

    def __init__(self, lanes: Mapping[int, Sequence[Said]] = _EMPTY) -> None:
        self._lanes = defaultdict(list, {lane: list(frames) for lane, frames in lanes.items()})
        self._lock = Lock()

    def add(self, frame: Frame) -> None:
        """Take in the next frame of its lane. One that breaks a session off does not count."""
        if frame.kind != ABORT:
            entry = to_said(frame)
            with self._lock:
                self._lanes[frame.lane].append(entry)

    def lanes(self) -> dict[int, Sequence[Said]]:
        """The frames of each lane that has some, in their order."""
        with self._lock:
            return {lane: tuple(self._lanes[lane]) for lane in sorted(self._lanes) if self._lanes[lane]}

    def counts(self) -> dict[int, int]:
        """How many frames each lane has that has some."""
        return {lane: len(frames) for lane, frames in self.lanes().items()}

    def first(self, counts: Mapping[int, int]) -> Chain:
        """The first so many frames of each lane."""
        return Chain({lane: self.lanes().get(lane, ())[:count] for lane, count in counts.items()})

    @property
    def head(self) -> bytes:
        """What stands for the whole direction, 32 bytes: nothing is changed, left out or added under it."""
        whole = hashlib.sha256(_HEAD_DOMAIN)
        for lane, frames in self.lanes().items():
            whole.update(lane.to_bytes(2, "big") + len(frames).to_bytes(8, "big"))
            for frame in frames:
                whole.update(frame.digest)
        return whole.digest()


class Keeper(Protocol):
    """Where frames that came in are kept until nobody needs them."""

    def keep(self, frame: Frame) -> None:
        """Keep a frame."""
        ...


class InMemory(list[Frame]):
    """Keeps frames in memory, for tests and small runs."""

    def keep(self, frame: Frame) -> None:
        """Keep a frame, and its data where they are a view of something that goes."""
        self.append(replace(frame, data=bytes(frame.data)))


class Recorder:
    """A transport whose frames are recorded.

    Args:
        transport: that moves them.
        keeper: takes those that come in.

    Attributes:
        sent: the chain of what went out.
        received: that of what came in.
    """

    def __init__(self, transport: Transport, keeper: Keeper) -> None:
        self._transport = transport
        self._keeper = keeper
        self.sent = Chain()
        self.received = Chain()

    def send(self, frame: Frame) -> None:
        """Record a frame, and hand it over."""
        self.sent.add(frame)
        self._transport.send(frame)

    def receive(self) -> Frame:
        """The next frame, once it is kept."""
        frame = self._transport.receive()
        self._keeper.keep(frame)
        self.received.add(frame)
        return frame

    def close(self) -> None:
        """End both directions and wake whoever waits."""
        self._transport.close()
