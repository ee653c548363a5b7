"""Counts what a transport hands to gRPC, and how long a run works without asking whether it is wanted."""

from __future__ import annotations

import sys
import time
from dataclasses import replace

from parties.rpc.packets import to_packet
from smc.channel.channel import Transport
from smc.channel.message import Frame


class Stretches:
    """The longest stretch of work between two questions of `smc.pieces`; waiting for the peer is no work.

    Attributes:
        longest: seconds.
        place: file and line of the question that ended it.
    """

    def __init__(self) -> None:
        self.longest = 0.0
        self.place = ""
        self._since = time.perf_counter()

    def ask(self) -> None:
        """End a stretch; the question itself."""
        seconds = time.perf_counter() - self._since
        if seconds > self.longest:
            self.longest, frame = seconds, sys._getframe()
            while frame.f_back is not None and frame.f_globals["__name__"] in (__name__, "smc.pieces"):
                frame = frame.f_back
            self.place = f"{frame.f_globals['__name__']}:{frame.f_lineno}"
        self.begin()

    def begin(self) -> None:
        """Begin a stretch, after waiting."""
        self._since = time.perf_counter()


class MeteredTransport:
    """Passes frames on and counts the bytes of their packets.

    Args:
        inner: what really sends; may be an emulated link.

    Attributes:
        sent: bytes of serialised packets sent so far, without the framing of HTTP/2 and TLS.
        stretches: of work between questions, if they are measured.
    """

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.sent = 0
        self.stretches = Stretches()

    def send(self, frame: Frame) -> None:
        """Count a frame and send it. Raises as the inner transport does."""
        self.sent += packet_bytes(frame)
        self._inner.send(frame)

    def receive(self) -> Frame:
        """The next frame of the inner transport."""
        frame = self._inner.receive()
        self.stretches.begin()
        return frame

    def close(self) -> None:
        """Close the inner transport."""
        self._inner.close()


def packet_bytes(frame: Frame) -> int:
    """Bytes of the packet that carries a frame, without making a copy of its data."""
    body = to_packet(replace(frame, data=b"")).frame.ByteSize()
    if frame.data:
        body += _field_bytes(len(frame.data))
    return _field_bytes(body)


def _field_bytes(length: int) -> int:
    """Bytes of a protobuf field of a given length: tag, length in groups of seven bits, content."""
    return 1 + max(1, -(-length.bit_length() // 7)) + length
