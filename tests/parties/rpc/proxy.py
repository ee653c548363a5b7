"""A TCP proxy on loopback that cuts, stalls, delays and spoils what two parties say to each other."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from parties.config import Address

_NOW = struct.pack("ii", 1, 0)
"""A socket that is closed with this lingers for no time: its peer gets a reset."""

Spoil = Callable[[bytes, bool], bytes]
"""What becomes of bytes on their way; the flag says whether they go from the dialler to the listener."""


class Proxy:
    """Stands between a dialler and a listener. Thread-safe.

    Args:
        target: where the listener is.
    """

    def __init__(self, target: Address) -> None:
        self._target = (target.host, target.port)
        self._door = socket.create_server(("127.0.0.1", 0))
        self.address = Address("127.0.0.1", self._door.getsockname()[1])
        self.spoil: Spoil = lambda data, forward: data
        self.delay = 0.0
        self.connections = 0
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._open = threading.Event()
        self._flows = threading.Event()
        self._open.set()
        self._flows.set()
        self._closed = False
        threading.Thread(target=self._accept, name="proxy", daemon=True).start()

    def cut(self, seconds: float = 0.0) -> None:
        """Reset all connections, and new ones at once for so many seconds; returns at once."""
        if seconds:
            self._open.clear()
            timer = threading.Timer(seconds, self._open.set)
            timer.daemon = True
            timer.start()
        self._reset()

    def stall(self, seconds: float) -> None:
        """Let nothing through for so many seconds, and break no connection; returns at once."""
        self._flows.clear()
        timer = threading.Timer(seconds, self._flows.set)
        timer.daemon = True
        timer.start()

    def close(self) -> None:
        """End everything."""
        self._closed = True
        self._flows.set()
        with suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        self._reset()

    def _reset(self) -> None:
        with self._lock:
            sockets, self._sockets = self._sockets, []
        for each in sockets:
            with suppress(OSError):
                each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NOW)
                each.shutdown(socket.SHUT_RDWR)
            with suppress(OSError):
                each.close()

    def _accept(self) -> None:
        while not self._closed:
            try:
                near, _ = self._door.accept()
            except OSError:
                return
            try:
                if not self._open.is_set():
                    raise ConnectionAbortedError
                far = socket.create_connection(self._target, 5)
            except OSError:
                near.close()
                continue
            self.connections += 1
            with self._lock:
                self._sockets += [near, far]
            for source, sink, forward in ((near, far, True), (far, near, False)):
                threading.Thread(target=self._carry, args=(source, sink, forward), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket, forward: bool) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                self._flows.wait()
                if self.delay:
                    time.sleep(self.delay)
                sink.sendall(self.spoil(data, forward))
        for each in (source, sink):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxied(target: Address) -> Iterator[Proxy]:
    """A proxy before a listener."""
    proxy = Proxy(target)
    try:
        yield proxy
    finally:
        proxy.close()
