"""A channel: typed messages over a transport, numbered, bounded and metered.

`Channel` knows messages; a `Transport` knows how to move frames. After any error a channel is of no
further use: nothing is repeated, because a repeated step with the same randomness can leak.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from smc.channel.message import ABORT, END, FRAME_BYTES, MESSAGE_BYTES, Expected, Frame, Message
from smc.channel.transport import Transport, abort_data, abort_error
from smc.errors import ProtocolViolation, UsageError
from smc.pieces import check_cancelled

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")


def nothing() -> None:
    """Hear nothing before the end."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What went over a channel, seen from one side.

    Attributes:
        sent: bytes of message bodies sent.
        received: bytes of message bodies received.
        messages: messages in both directions.
        rounds: the longest chain of messages of which each could only be sent after the one before
            had arrived; messages that cross count once.
    """

    sent: int = 0
    received: int = 0
    messages: int = 0
    rounds: int = 0

    def since(self, earlier: Traffic) -> Traffic:
        """What came on top of `earlier`."""
        return Traffic(
            self.sent - earlier.sent,
            self.received - earlier.received,
            self.messages - earlier.messages,
            self.rounds - earlier.rounds,
        )

    def and_then(self, later: Traffic) -> Traffic:
        """What went with what came after it."""
        return Traffic(
            self.sent + later.sent,
            self.received + later.received,
            self.messages + later.messages,
            self.rounds + later.rounds,
        )


@dataclass(frozen=True, slots=True)
class Clock:
    """Where a party stands in the order of messages, which are numbered by the chains that they end.

    Attributes:
        heard: the longest chain that has come.
        said: that of the newest message sent.
        last: that of the newest frame that has come.
    """

    heard: int = 0
    said: int = 0
    last: int = 0

    def latest(self, other: Clock) -> Clock:
        """What comes after both."""
        return Clock(max(self.heard, other.heard), max(self.said, other.said), max(self.last, other.last))


class Channel:
    """One end of a two-party conversation.

    Args:
        transport: moves its frames.
        lane: that its frames belong to, see `smc.channel.lanes`; 0 for the session itself.
    """

    def __init__(self, transport: Transport, lane: int = 0) -> None:
        self._transport = transport
        self._lane = lane
        self._sent_frames = 0
        self._received_frames = 0
        self._sent = self._received = self._messages = 0
        self._clock = 0
        self._sent_depth = 0
        self._last_depth = 0
        self._unchecked = False

    @property
    def traffic(self) -> Traffic:
        """The traffic so far."""
        return Traffic(self._sent, self._received, self._messages, max(self._clock, self._sent_depth))

    def set_unchecked(self, unchecked: bool) -> None:
        """Say whether transfers were made that nobody has checked: only hidden messages may leave then."""
        self._unchecked = unchecked

    @property
    def clock(self) -> Clock:
        """Where this party stands."""
        return Clock(self._clock, self._sent_depth, self._last_depth)

    def set_clock(self, clock: Clock) -> None:
        """Stand where another conversation with this peer has come to."""
        self._clock, self._sent_depth, self._last_depth = clock.heard, clock.said, clock.last

    def share_transport(self, share: Callable[[Transport], Transport]) -> None:
        """Let others have the transport together with this channel; the peer does the same.

        Args:
            share: gives the part of it that is left to this channel.
        """
        self._transport = share(self._transport)

    def take_in(self, traffic: Traffic, clock: Clock) -> None:
        """Count what went over a lane since this channel lent it the clock, which counts the rounds.

        Args:
            traffic: of the lane.
            clock: where the lane has come to.
        """
        self._sent += traffic.sent
        self._received += traffic.received
        self._messages += traffic.messages
        self.set_clock(self.clock.latest(clock))

    def send(self, message: Message) -> None:
        """Send a message, in frames of at most `FRAME_BYTES`.

        Raises:
            PeerLost: the peer is gone.
            FreshnessError: a ciphertext in it is not fresh.
        """
        check_cancelled()
        self._sent_depth = self._clock + 1
        if self._unchecked and not message.is_hidden():
            raise UsageError(
                f"{message.kind()} may tell what unchecked transfers hide.",
                "This is a defect of the program: call the engine's verify first, on both sides.",
            )
        data = message.encode()
        if len(data) > MESSAGE_BYTES:
            raise ProtocolViolation(
                f"{message.kind()} has {len(data)} bytes, more than the limit of {MESSAGE_BYTES}.",
                "Run the batch in smaller chunks.",
            )
        view = memoryview(data)
        for start in range(0, max(1, len(data)), FRAME_BYTES):
            self._put(message.kind(), view[start : start + FRAME_BYTES], len(data))
        self._sent += len(data)
        self._messages += 1

    @overload
    def recv(self, kind: type[Message], first: Expected[A], /) -> A: ...
    @overload
    def recv(self, kind: type[Message], first: Expected[A], second: Expected[B], /) -> tuple[A, B]: ...
    @overload
    def recv(
        self, kind: type[Message], first: Expected[A], second: Expected[B], third: Expected[C], /
    ) -> tuple[A, B, C]: ...
    def recv(self, kind: type[Message], /, *expected: Expected[Any]) -> Any:
        """Receive a message of `kind` whose fields are as `expected`, in their order.

        Returns:
            The decoded field, or a tuple of them if there are several.

        Raises:
            ProtocolViolation: another message came, or one of another size or with invalid content.
            PeerAborted: the peer ended the session.
            PeerLost: the peer is gone or silent past the deadline.
        """
        data = self._message(kind.kind(), sum(field.size for field in expected))
        values: list[Any] = []
        start = 0
        for field in expected:
            values.append(field.decode(data[start : start + field.size]))
            start += field.size
        self._received += len(data)
        self._messages += 1
        return values[0] if len(values) == 1 else tuple(values)

    def finish(self, hear: Callable[[], None] = nothing) -> None:
        """Say that nothing more follows and wait until the peer has said so too.

        Args:
            hear: receives what the peer says before that.

        Raises:
            UsageError: transfers are unchecked, so that nothing that rests on them may be kept.
        """
        if self._unchecked:
            raise UsageError(
                "The session would end with transfers that nobody has checked.",
                "This is a defect of the program: call `Session.verify` before its end, on both sides.",
            )
        self._put(END, b"", 0)
        hear()
        self._next(END, 0, 0)

    def abort(self, code: str) -> None:
        """Tell the peer a code, and no more than that, and close."""
        try:
            data = abort_data(code)
            self._put(ABORT, data, len(data))
        finally:
            self._transport.close()

    def _put(self, kind: str, data: bytes | memoryview, total: int) -> None:
        frame = Frame(self._sent_frames, kind, self._sent_depth, total, data, self._lane)
        self._transport.send(frame)
        self._sent_frames += 1

    def _message(self, kind: str, size: int) -> bytes:
        if size > MESSAGE_BYTES:
            raise ProtocolViolation(
                f"{kind} would have {size} bytes, more than the limit of {MESSAGE_BYTES}.",
                "Run the batch in smaller chunks.",
            )
        pieces = []
        for start in range(0, max(1, size), FRAME_BYTES):
            frame = self._next(kind, size, min(size - start, FRAME_BYTES))
            self._clock = max(self._clock, frame.depth)
            pieces.append(frame.data)
        return b"".join(pieces)

    def _next(self, kind: str, size: int, due: int) -> Frame:
        """The next frame, of a message of `size` bytes; it must carry exactly the `due` bytes.

        Frames are full but for a message's last one, so a message costs no more memory than its bytes.
        """
        frame = self._frame(kind)
        self._check(frame, kind, size, due)
        return frame

    def _frame(self, kind: str) -> Frame:
        """The next frame, of whatever message."""
        check_cancelled()
        frame = self._transport.receive()
        if frame.lane != self._lane:
            raise ProtocolViolation(
                f"{kind}: a frame for lane {frame.lane} came where one for lane {self._lane} was expected."
            )
        if frame.sequence != self._received_frames:
            raise ProtocolViolation(
                f"{kind}: frame {self._received_frames} was expected, but frame {frame.sequence} came."
            )
        self._received_frames += 1
        if frame.kind == ABORT:
            raise abort_error(frame)
        return frame

    def _check(self, frame: Frame, kind: str, size: int, due: int) -> None:
        """Check a frame of a message of `size` bytes, which must carry exactly `due` of them."""
        if frame.kind != kind:
            raise ProtocolViolation(f"{kind} was expected, but another kind of message came.")
        if frame.total != size:
            raise ProtocolViolation(
                f"{kind}: {size} bytes were expected, but the peer announced {frame.total}."
            )
        if len(frame.data) != due:
            raise ProtocolViolation(
                f"{kind}: a frame of {due} bytes was expected, but one of {len(frame.data)} came."
            )
        if kind != END and not self._last_depth <= frame.depth <= self._sent_depth + 1:
            raise ProtocolViolation(
                f"{kind}: the peer claims an impossible place for it in the order of messages."
            )
        self._last_depth = max(self._last_depth, frame.depth)
