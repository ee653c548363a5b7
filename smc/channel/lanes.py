"""Lanes: several conversations over one transport, each with frames numbered on their own.

The frames of lane 0 are those of the session itself; the others belong to engines that work on parts of a
batch at the same time. Nobody reads ahead: whoever waits for a frame of its lane reads for all, and keeps
what belongs to others, of which an honest peer sends no more than a span for each lane.
"""

from __future__ import annotations

from collections import deque
from threading import Condition
from typing import Final, Protocol, runtime_checkable

from smc.channel.channel import Channel
from smc.channel.message import ABORT, END, MAX_LANES, Frame
from smc.channel.transport import Transport, abort_error
from smc.errors import DuettoError, ProtocolViolation, UsageError

WAITING_BYTES: Final = 64 << 20
"""Bytes of a lane's frames that may wait for it: several times what is sent before something is read."""


@runtime_checkable
class RecordedTransport(Transport, Protocol):
    """Gives what has come already, see `smc.evidence.replay`: nobody waits for it."""

    def receive_of(self, lane: int) -> Frame:
        """The next frame of a lane.

        Raises:
            PeerLost: there is none.
        """
        ...


class Lanes:
    """The lanes of a transport. Thread-safe: each lane belongs to one thread.

    Args:
        transport: of the session, from here on read by nobody else.
        count: lanes besides that of the session.

    Attributes:
        is_record: whether the transport gives what has come already, see `smc.evidence.replay`: then a lane
            takes its frames from there, whether another one has failed before or not.
    """

    def __init__(self, transport: Transport, count: int) -> None:
        if not 1 <= count <= MAX_LANES:
            raise UsageError(f"A session cannot have {count} lanes.", f"Ask for 1 to {MAX_LANES}.")
        self._transport = transport
        self._record = transport if isinstance(transport, RecordedTransport) else None
        self.is_record = self._record is not None
        self._changed = Condition()
        self._waiting: list[deque[Frame]] = [deque() for _ in range(count + 1)]
        self._bytes = [0] * (count + 1)
        self._reading = False
        self._ended: DuettoError | None = None

    @classmethod
    def of(cls, channel: Channel, count: int) -> Lanes:
        """So many lanes that have the transport together with a channel; the peer makes as many."""
        made: list[Lanes] = []

        def share(transport: Transport) -> Transport:
            made.append(cls(transport, count))
            return made[0].transport(0)

        channel.share_transport(share)
        return made[0]

    def __len__(self) -> int:
        """Lanes besides that of the session."""
        return len(self._waiting) - 1

    def transport(self, lane: int) -> Lane:
        """The transport of a lane; 0 is that of the session."""
        return Lane(self, lane)

    def fail(self, error: DuettoError) -> None:
        """Let whoever waits or will wait for a frame that has not come raise `error`."""
        with self._changed:
            self._ended = self._ended or error
            self._changed.notify_all()

    def send(self, frame: Frame) -> None:
        """See `Transport.send`."""
        self._transport.send(frame)

    def receive(self, lane: int) -> Frame:
        """The next frame of a lane.

        Raises:
            PeerAborted: the peer has ended the session.
            PeerLost: the peer is gone or silent past the deadline.
            ProtocolViolation: a frame came for a lane that there is not, or too many for one.
            DuettoError: what `fail` was called with.
        """
        if self._record is not None:
            return self._record.receive_of(lane)
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._is_served(lane) or not self._reading)
                if self._waiting[lane]:
                    frame = self._waiting[lane].popleft()
                    self._bytes[lane] -= len(frame.data)
                    return frame
                if self._ended is not None:
                    raise self._ended
                self._reading = True
            try:
                self._keep(self._transport.receive())
            except DuettoError as error:
                self.fail(error)
                raise
            finally:
                with self._changed:
                    self._reading = False
                    self._changed.notify_all()

    def close(self) -> None:
        """End both directions and wake whoever waits."""
        self._transport.close()

    def _is_served(self, lane: int) -> bool:
        return bool(self._waiting[lane]) or self._ended is not None

    def _keep(self, frame: Frame) -> None:
        """Put a frame where its lane finds it."""
        if not 0 <= frame.lane < len(self._waiting):
            raise ProtocolViolation(
                f"A frame for lane {frame.lane} came; the parties agreed on {len(self)} lanes."
            )
        if frame.lane and frame.kind in (END, ABORT):
            raise ProtocolViolation("A lane ended the session, which only the session itself can.")
        with self._changed:
            if self._bytes[frame.lane] + len(frame.data) > WAITING_BYTES:
                raise ProtocolViolation(
                    f"{frame.kind}: the peer sent far more than lane {frame.lane} waits for."
                )
            self._waiting[frame.lane].append(frame)
            self._bytes[frame.lane] += len(frame.data)
            self._changed.notify_all()
        if frame.kind == ABORT:
            self.fail(abort_error(frame))


class Lane:
    """One lane as a `smc.channel.transport.Transport`."""

    def __init__(self, lanes: Lanes, number: int) -> None:
        self._lanes = lanes
        self._number = number

    def send(self, frame: Frame) -> None:
        """Hand a frame over."""
        self._lanes.send(frame)

    def receive(self) -> Frame:
        """The lane's next frame."""
        return self._lanes.receive(self._number)

    def close(self) -> None:
        """End the whole session: a lane does not end alone."""
        self._lanes.close()
