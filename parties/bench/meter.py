"""Counts what a transport hands to gRPC, and how long a run works without asking whether it is wanted."""

from __future__ import annotations

import sys
import threading
import time

from parties.rpc.codec import packet_bytes
from smc.channel.message import Frame
from smc.channel.transport import Transport


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
        self._lock = threading.Lock()  # lanes send at the same time
        self.sent = 0
        self.stretches = Stretches()

    def send(self, frame: Frame) -> None:
        """Count a frame and send it. Raises as the inner transport does."""
        with self._lock:
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
