"""Where a dashboard answers: a name, the loopback addresses or a Unix socket, and who may come in."""

from __future__ import annotations

import errno
import os
import socket
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from parties.dashboard.entrance.access import Access
from parties.dashboard.entrance.connection import BrowserConnection
from parties.dashboard.entrance.guard import ENTRY
from parties.errors import ConfigError

LOOPBACK: Final = ("127.0.0.1", "::1")
"""Where browsers look for a name below `localhost`. The dashboard takes the same port of both: what another
account listens at one of them with would get the link."""

_PORTS_TRIED: Final = 32
_STOP_SECONDS: Final = 3


@dataclass(frozen=True, slots=True)
class Entrance:
    """The way into a dashboard.

    Attributes:
        host: the name under which it answers.
        access: links and sessions.
        listeners: where it listens.
        path: of the Unix socket in place of a port; None for a port.
    """

    host: str
    access: Access
    listeners: tuple[socket.socket, ...]
    path: Path | None = None

    def link(self) -> str:
        """A new link, for one browser. Behind a Unix socket the port is that of whatever forwards to it."""
        port = "" if self.path else f":{self.listeners[0].getsockname()[1]}"
        return f"http://{self.host}{port}{ENTRY}?token={self.access.invite()}"

    def close(self) -> None:
        """Listen no more."""
        for listener in self.listeners:
            listener.close()
        if self.path is not None:
            with suppress(OSError):
                self.path.unlink()


def open_entrance(host: str, access: Access, port: int = 0, path: Path | None = None) -> Entrance:
    """Listen.

    Args:
        host: the name.
        access: links and sessions.
        port: on the loopback addresses; 0 takes a free one.
        path: a Unix socket in place of the port, or None.

    Raises:
        ConfigError: port or socket are not free.
    """
    return Entrance(host, access, tuple([_unix(path)] if path else _loopback(port)), path)


def settings_of(app: ASGIApp) -> uvicorn.Config:
    """How an application is served."""
    return uvicorn.Config(
        app,
        access_log=False,
        http=BrowserConnection,
        lifespan="off",
        log_level="warning",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_STOP_SECONDS,
        ws="none",
    )


def _loopback(port: int) -> list[socket.socket]:
    """The same port of every loopback address that this machine has; 0 takes one that is free on all."""
    for _ in range(_PORTS_TRIED if port == 0 else 1):
        listeners = [_at(LOOPBACK[0], port)]
        try:
            listeners.append(_at(LOOPBACK[1], listeners[0].getsockname()[1]))
        except ConfigError:
            listeners.pop().close()
            if port:
                raise
            continue
        except OSError:  # no IPv6 here, and so nobody can listen there
            pass
        return listeners
    raise ConfigError(
        f"The dashboard finds no port that is free on {' and '.join(LOOPBACK)}.", "Name one with --port."
    )


def _at(address: str, port: int) -> socket.socket:
    """A listener at one address.

    Raises:
        ConfigError: the port is not free.
        OSError: this machine has no such address.
    """
    listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if listener.family == socket.AF_INET6:
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    return _bind(listener, lambda: listener.bind((address, port)), f"port {port} of {address}")


def _unix(path: Path) -> socket.socket:
    """A socket that only this account can use; one that a dashboard left behind is taken away first."""
    if path.exists() and stat.S_ISSOCK(path.stat().st_mode) and not _is_answered(path):
        path.unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)

    def bind() -> None:
        before = os.umask(0o177)
        try:
            listener.bind(str(path))
        finally:
            os.umask(before)

    return _bind(listener, bind, str(path))


def _is_answered(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(str(path)) == 0


def _bind(listener: socket.socket, bind: Callable[[], None], what: str) -> socket.socket:
    try:
        bind()
    except OSError as problem:
        listener.close()
        if problem.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            raise
        raise ConfigError(
            f"The dashboard cannot listen at {what}: {os.strerror(problem.errno or 0)}.",
            "Name another one with --port or --socket.",
        ) from None
    listener.listen()
    return listener
