"""A slower network than the real one, for benchmarks: delays what is sent."""

from __future__ import annotations

import threading
import time
from collections import deque

from smc.channel.message import Frame
from smc.channel.transport import Transport
from smc.errors import DuettoError, UsageError

_OVERHEAD_BYTES = 64
_CLOSE_SECONDS = 60.0


class EmulatedTransport:
    """Sends over another transport as if the link had a given latency and rate; wrap both ends.

    Args:
        inner: the transport that really sends.
        rtt_ms: round-trip time, of which each end adds half to what it sends.
        mbit: rate of each direction in 10**6 bits per second; 0 means unlimited.

    Raises:
        UsageError: a number is negative.
    """

    def __init__(self, inner: Transport, rtt_ms: float, mbit: float) -> None:
        if rtt_ms < 0 or mbit < 0:
            raise UsageError("Latency and rate of a link cannot be negative.", "Give 0 or more.")
        self._inner = inner
        self._delay = rtt_ms / 2000
        self._seconds_per_byte = 8 / (mbit * 1e6) if mbit else 0.0
        self._free_at = 0.0
        self._queue: deque[tuple[float, Frame]] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._failure: DuettoError | None = None
        self._thread = threading.Thread(target=self._deliver, name="emulated-link", daemon=True)
        self._thread.start()

    def send(self, frame: Frame) -> None:
        """Put a frame on the link.

        Raises:
            DuettoError: what an earlier frame met at the other end of the link.
        """
        with self._changed:
            if self._failure is not None:
                raise self._failure
            start = max(time.monotonic(), self._free_at)
            self._free_at = start + (len(frame.data) + _OVERHEAD_BYTES) * self._seconds_per_byte
            self._queue.append((self._free_at + self._delay, frame))
            self._changed.notify_all()

    def receive(self) -> Frame:
        """The next frame of the inner transport, on which the peer's end has put the delay."""
        return self._inner.receive()

    def close(self) -> None:
        """Let the link deliver what is on it, then close the inner transport."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join(_CLOSE_SECONDS)
        self._inner.close()

    def _deliver(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._closed)
                if not self._queue:
                    return
                due, frame = self._queue.popleft()
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                self._inner.send(frame)
            except DuettoError as error:
                with self._changed:
                    self._failure = error
                    self._queue.clear()
                return
