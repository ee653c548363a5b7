"""What processes have in common that ask one server once, and are ended by whoever has started them."""

from __future__ import annotations

import resource
import signal
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Final
from urllib.parse import urlsplit

_MEMORY: Final = 512 << 20
_GRACE_SECONDS: Final = 5


def bound_this_process(seconds: int) -> None:
    """Bound memory and time of this process, also where nobody is left to end it."""
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(seconds + _GRACE_SECONDS)


@contextmanager
def post_body(
    address: str, body: bytes, headers: Mapping[str, str], seconds: float
) -> Iterator[HTTPResponse]:
    """Send a body by POST; the answer's head is read, and redirects and proxies are not followed.

    Args:
        address: http or https; certificates are checked against the authorities of the system.
        body: what is sent.
        headers: besides those that every request has.
        seconds: how long each read or write may wait.

    Raises:
        HTTPException: the server does not speak HTTP.
        OSError: there is no connection, or no TLS.
    """
    url = urlsplit(address)
    kind = HTTPSConnection if url.scheme == "https" else HTTPConnection
    connection = kind(str(url.hostname), url.port, timeout=seconds)
    path = url.path or "/"
    always = {"User-Agent": "duetto", "Connection": "close"}
    try:
        connection.request("POST", f"{path}?{url.query}" if url.query else path, body, {**headers, **always})
        yield connection.getresponse()
    finally:
        connection.close()


def status_words(status: int) -> str:
    """How an answer's status is told, to follow the name of the server."""
    also = "; redirects are not followed" if 300 <= status < 400 else ""
    return f"answered with status {status}{also}."


def connection_words(problem: OSError) -> str:
    """Why there is no connection to a server."""
    if isinstance(problem, ssl.SSLError):
        return f"TLS fails: {problem.reason or type(problem).__name__}."
    return f"No connection: {problem.strerror or problem or type(problem).__name__}."
