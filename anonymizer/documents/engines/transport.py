"""One exchange over HTTP that ends in time, whatever the server does."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote, urlsplit

import urllib3
from typing_extensions import override
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import NewConnectionError, TimeoutError  # noqa: A004

_CHUNK: Final = 64 * 1024


class TimeOutError(Exception):
    """The whole answer was not there in time."""


class TooLargeError(Exception):
    """The answer is larger than allowed."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said.

    Attributes:
        status: of HTTP.
        headers: by their names, in lower case.
        body: as it was sent, without a compression.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


class _Watch:
    """Of one exchange: ends its connection when the time is over, also one that drips."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._over = False
        self._connection: HTTPConnection | None = None

    def on_connect(self, connection: HTTPConnection) -> None:
        """A connection stands; no request goes out by one that comes too late."""
        with self._lock:
            self._connection = connection
            if self._over:
                raise TimeOutError

    def end(self) -> None:
        """The time is over."""
        with self._lock:
            self._over = True
            opened = self._connection.sock if self._connection else None
            if opened is not None:
                with contextlib.suppress(OSError):
                    opened.shutdown(socket.SHUT_RDWR)


_watched = threading.local()


class _Plain(HTTPConnection):
    @override
    def connect(self) -> None:
        super().connect()
        _watched.watch.on_connect(self)


class _Secure(_Plain, HTTPSConnection):
    pass


class _PlainPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _Plain


class _SecurePool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _Secure


def _timed_out(problem: BaseException) -> bool:
    """Whether a time-out ended a request; urllib3 counts refused connections among them."""
    return isinstance(problem, TimeoutError) and not isinstance(problem, NewConnectionError)


class Transport:
    """Sends requests to one host.

    Args:
        scheme: "http" or "https".
        host: its name or address.
        loopback: whether it is this machine, which no proxy stands before.
        authorities: a file of certificates to trust instead of the system's; None for these.
    """

    def __init__(self, scheme: str, host: str, *, loopback: bool, authorities: str | None) -> None:
        context = ssl.create_default_context(cafile=authorities)
        proxy = (
            None if loopback or urllib.request.proxy_bypass(host) else urllib.request.getproxies().get(scheme)
        )
        self.proxy = urlsplit(proxy if "//" in proxy else f"http://{proxy}") if proxy else None
        self._manager: urllib3.PoolManager
        if self.proxy is None:
            self._manager = urllib3.PoolManager(ssl_context=context)
        else:
            user, password = self.proxy.username, self.proxy.password
            signed = f"{unquote(user)}:{unquote(password or '')}" if user else None
            at = f"{self.proxy.scheme}://{self.proxy.netloc.rpartition('@')[2]}"
            headers = urllib3.make_headers(proxy_basic_auth=signed)
            self._manager = urllib3.ProxyManager(at, proxy_headers=headers, ssl_context=context)
        self._manager.pool_classes_by_scheme = {"http": _PlainPool, "https": _SecurePool}

    def post(self, url: str, body: bytes, headers: Mapping[str, str], seconds: float, size: int) -> Answer:
        """Send a request by a connection of its own, and read the answer.

        Args:
            url: where to.
            body: what is sent.
            headers: beside those that belong to every request.
            seconds: from the look-up of the name to the last byte of the answer.
            size: bytes that the answer may have.

        Raises:
            TimeOutError: the answer was not whole in time; nothing of it is used.
            TooLargeError: it is larger than `size`.
            urllib3.exceptions.HTTPError: it could not be had. Its text may hold what was asked.
        """
        watch, found, failed = _Watch(), list[Answer](), list[BaseException]()

        def work() -> None:
            _watched.watch = watch
            try:
                found.append(self._exchange(url, body, headers, seconds, size))
            except BaseException as problem:  # raised again by the one who waits
                failed.append(problem)

        worker = threading.Thread(target=work, name="search", daemon=True)
        worker.start()
        try:
            worker.join(seconds)
            late = worker.is_alive()
        finally:
            watch.end()
        if late or (failed and _timed_out(failed[0])):
            raise TimeOutError
        if failed:
            raise failed[0]
        return found[0]

    def _exchange(
        self, url: str, body: bytes, headers: Mapping[str, str], seconds: float, size: int
    ) -> Answer:
        answer = self._manager.request(
            "POST",
            url,
            body=body,
            headers={
                **headers,
                "Accept": "application/json",
                "Accept-Encoding": "identity",
                "Connection": "close",
            },
            timeout=urllib3.Timeout(connect=seconds, read=seconds),
            retries=False,
            redirect=False,
            preload_content=False,
            decode_content=False,
        )
        try:
            parts, length = [], 0
            while part := answer.read(_CHUNK, decode_content=False):
                parts.append(part)
                length += len(part)
                if length > size:
                    raise TooLargeError
        finally:
            answer.close()
        return Answer(
            answer.status, {name.lower(): value for name, value in answer.headers.items()}, b"".join(parts)
        )
