"""Bounds the connections of the port for peers: those of strangers, and those of each peer.

gRPC owns the listening socket, takes every connection, and tells nobody before a call comes. But its sockets
are descriptors of this process, which can be looked at and shut. So each handshake wakes a thread that counts
the connections over which no peer has called yet, and shuts the oldest where there are too many, of one
address or in all. The oldest go, and not the newest, since a peer shakes hands and calls in a moment: who
holds connections keeps nobody out. No descriptor is copied: gRPC polls its own, and a copy may outlive them.
"""

from __future__ import annotations

import errno
import ipaddress
import logging
import os
import resource
import socket
import stat
import struct
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

STRANGERS: Final = 256
"""Connections without a call that the port has at once."""

OF_ONE_ADDRESS: Final = 32
"""Those of one IPv4 address, or of one IPv6 network of 64 bits, which one host can have whole."""

OF_ONE_PEER: Final = 16
"""Connections over which one peer has called and that are open at once."""

SILENT_SECONDS: Final = 15.0
"""How long a connection may be without a call; the handshake is over long before."""

SILENT_BYTES: Final = 9 << 20
"""What may come over a connection without a call: the window of its first call, and some more.

Headers without end are no call, are not bound by the window, and gRPC holds all of them in memory.
"""

_BETWEEN_LOOKS = 0.05
_QUIET_SECONDS = 60.0
"""The log has one line about connections that were shut in this time."""

_RECEIVED: Final = struct.Struct("=Q")
_RECEIVED_AT: Final = 128
"""Where `tcpi_bytes_received` is in Linux's `struct tcp_info`, behind 8 bytes, 24 words and 3 longs."""

_TOLD_BYTES: Final = _RECEIVED_AT + _RECEIVED.size
_DESCRIPTORS: Final = "/proc/self/fd"
_MOST_DESCRIPTORS: Final = 1 << 16
"""So many are tried where they cannot be listed: the system gives the lowest that are free."""

log = logging.getLogger(__name__)

End = tuple[str, int]
"""The far end of a connection: address and port."""

_Key = tuple[int, int]
"""Descriptor and inode: the number of a descriptor alone may be another connection's a moment later."""


@dataclass(slots=True)
class _Connection:
    """A socket of this process; `end` is None if it is not a connection of the port."""

    end: End | None
    since: float
    shut: bool = False


class Connections:
    """The connections of one port of this process. Thread-safe.

    Args:
        strangers: connections without a call that are open at once.
        of_one_address: those of one address.
        of_one_peer: connections over which one peer has called.
        silent_seconds: how long a connection may be without a call.
        silent_bytes: what may come over it until then.
        clock: says what time it is, in seconds from any moment.
    """

    def __init__(
        self,
        *,
        strangers: int = STRANGERS,
        of_one_address: int = OF_ONE_ADDRESS,
        of_one_peer: int = OF_ONE_PEER,
        silent_seconds: float = SILENT_SECONDS,
        silent_bytes: int = SILENT_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._strangers, self._of_one_address, self._of_one_peer = strangers, of_one_address, of_one_peer
        self._silent_seconds, self._silent_bytes = silent_seconds, silent_bytes
        self._clock = clock
        self._port = 0
        self._lock = threading.Lock()
        self._looking = threading.Lock()
        self._woken, self._stopped = threading.Event(), threading.Event()
        self._callers: dict[End, str] = {}
        self._seen: dict[_Key, _Connection] = {}
        self._shut: Counter[str] = Counter()
        self._said = -_QUIET_SECONDS

    def start(self, port: int) -> None:
        """Watch the connections of this port from now on."""
        self._port = port
        threading.Thread(target=self._watch, name="connections", daemon=True).start()

    def stop(self) -> None:
        """Watch no more."""
        self._stopped.set()
        self._woken.set()

    def wake(self) -> None:
        """Take note that a connection comes; never blocks."""
        self._woken.set()

    def admit(self, peer: str, caller: str) -> bool:
        """Whether a peer may call over a connection; from its first call on a connection is the peer's.

        Args:
            peer: the name of the caller, whose certificate is pinned.
            caller: the far end as gRPC names it.
        """
        end = _named_end(caller)
        if end is None:
            return True
        if self._is_admitted(peer, end):
            return True
        self.look()  # connections that are closed count no more
        if self._is_admitted(peer, end):
            return True
        log.warning(
            "a call of %(peer)s was refused: it has %(most)d connections already",
            {"peer": peer, "most": self._of_one_peer},
        )
        return False

    def look(self) -> int:
        """Count the connections now, shut those that are too many, and return how many strangers are left."""
        with self._looking:
            now = self._clock()
            with self._lock:
                before = set(self._callers)
            self._seen = {key: self._seen.get(key) or self._first_look(key, now) for key in _sockets()}
            present = {one.end for one in self._seen.values() if one.end}
            with self._lock:
                for end in before - present:
                    del self._callers[end]
                callers = set(self._callers)
            strangers = {
                key: one
                for key, one in self._seen.items()
                if one.end and not one.shut and one.end not in callers
            }
            for key, reason in self._too_many(strangers, now).items():
                self._seen[key].shut = True
                if _shut(key):
                    self._shut[reason] += 1
            self._say(now)
            return sum(not one.shut for one in strangers.values())

    def _is_admitted(self, peer: str, end: End) -> bool:
        with self._lock:
            if end not in self._callers:
                if sum(one == peer for one in self._callers.values()) >= self._of_one_peer:
                    return False
                self._callers[end] = peer
            return True

    def _watch(self) -> None:
        strangers = 1
        while not self._stopped.is_set():
            if not strangers:  # else what comes over their connections is counted
                self._woken.wait(1.0 if self._shut else None)
            self._woken.clear()
            try:
                strangers = self.look()
            except Exception as problem:  # without this thread nobody counts strangers any more
                log.error("connections cannot be counted: %s: %s", type(problem).__name__, problem)
                strangers = 1
            self._stopped.wait(_BETWEEN_LOOKS)

    def _first_look(self, key: _Key, now: float) -> _Connection:
        return _Connection(_far_end(key[0], self._port), now)

    def _too_many(self, strangers: dict[_Key, _Connection], now: float) -> dict[_Key, str]:
        """What to shut, with the reason for the log."""
        going: dict[_Key, str] = {}
        networks: defaultdict[str, list[_Key]] = defaultdict(list)
        oldest_first = sorted(strangers, key=lambda key: strangers[key].since)
        for key in oldest_first:
            if now - strangers[key].since > self._silent_seconds:
                going[key] = f"no call in {self._silent_seconds:g} seconds"
            elif _received(key[0]) > self._silent_bytes:
                going[key] = f"no call in {self._silent_bytes >> 20} MiB"
            else:
                networks[_network(strangers[key].end)].append(key)
        for network, keys in networks.items():
            going |= dict.fromkeys(_beyond(keys, self._of_one_address), f"too many of {network}")
        left = [key for key in oldest_first if key not in going]
        return going | dict.fromkeys(_beyond(left, self._strangers), "too many in all")

    def _say(self, now: float) -> None:
        if not self._shut or now - self._said < _QUIET_SECONDS:
            return
        reason, _ = self._shut.most_common(1)[0]
        log.warning(
            "%d connections without a peer's call were closed; most for this reason: %s",
            self._shut.total(),
            reason,
        )
        self._said = now
        self._shut.clear()


def _beyond(oldest_first: list[_Key], most: int) -> Iterable[_Key]:
    return oldest_first[: max(len(oldest_first) - most, 0)]


def _sockets() -> list[_Key]:
    found = []
    for descriptor in _descriptors():
        with suppress(OSError):
            status = os.fstat(descriptor)
            if stat.S_ISSOCK(status.st_mode):
                found.append((descriptor, status.st_ino))
    return found


def _descriptors() -> Iterable[int]:
    """Those that this process may have open. To list them takes one itself, and there may be none left."""
    try:
        return [int(name) for name in os.listdir(_DESCRIPTORS)]
    except OSError as problem:
        if problem.errno not in (errno.EMFILE, errno.ENFILE):
            raise
        return range(min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], _MOST_DESCRIPTORS))


def _far_end(descriptor: int, port: int) -> End | None:
    try:
        plain = socket.socket(fileno=descriptor)
    except OSError:
        return None
    try:
        if plain.family not in (socket.AF_INET, socket.AF_INET6) or plain.getsockname()[1] != port:
            return None
        host, far_port = plain.getpeername()[:2]
        return _end(host, far_port)
    except OSError:
        return None
    finally:
        plain.detach()  # it is gRPC's to close


def _received(descriptor: int) -> int:
    """Bytes that have come over a connection; 0 where the system does not say."""
    try:
        plain = socket.socket(fileno=descriptor)
    except OSError:
        return 0
    try:
        told = plain.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TOLD_BYTES)
    except OSError:
        return 0
    finally:
        plain.detach()
    return int(_RECEIVED.unpack_from(told, _RECEIVED_AT)[0]) if len(told) == _TOLD_BYTES else 0


def _shut(key: _Key) -> bool:
    descriptor, inode = key
    with suppress(OSError):
        if os.fstat(descriptor).st_ino != inode:
            return False
        plain = socket.socket(fileno=descriptor)
        try:
            plain.shutdown(socket.SHUT_RDWR)
            return True
        finally:
            plain.detach()
    return False


def _named_end(caller: str) -> End | None:
    """The far end of gRPC's name for it, such as `ipv6:%5B::1%5D:7443`; None for what is not of the net."""
    kind, _, where = unquote(caller).partition(":")
    host, _, port = where.rpartition(":")
    if kind not in ("ipv4", "ipv6") or not port.isdecimal():
        return None
    return _end(host.strip("[]"), int(port))


def _end(host: str, port: int) -> End:
    address = ipaddress.ip_address(host.partition("%")[0])
    return str(getattr(address, "ipv4_mapped", None) or address), port


def _network(end: End | None) -> str:
    address = ipaddress.ip_address(end[0]) if end else None
    if address is None or address.version == 4:
        return str(address)
    return str(ipaddress.ip_network((address, 64), strict=False))
