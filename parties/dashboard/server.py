"""The dashboard's own small web server: on the loopback addresses or a Unix socket, and nowhere else."""

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

from parties.client import Party
from parties.dashboard.app import make_app
from parties.dashboard.drawing.desk import Context
from parties.dashboard.entrance.access import IDLE_SECONDS, Access
from parties.dashboard.entrance.connection import BrowserConnection
from parties.dashboard.entrance.guard import ENTRY, lasting_host, new_host
from parties.dashboard.entrance.oidc import SignIn
from parties.errors import ConfigError
from parties.persons.declaration import FILE
from parties.pki.home import load_identity

LOOPBACK: Final = ("127.0.0.1", "::1")
"""Where browsers look for a name below `localhost`. The dashboard takes the same port of both: what another
account listens at one of them with would get the link."""

_PORTS_TRIED: Final = 32
_STOP_SECONDS: Final = 3


@dataclass(frozen=True, slots=True)
class Options:
    """How a dashboard is served.

    Attributes:
        decides: whether people may act, not only look.
        port: on the loopback address; 0 takes a free one.
        socket: a Unix socket in place of the port, or None.
        releases: the folder of the anonymizer's releases, or None.
        folders: where files lie that may be added as data sets.
        idle_seconds: how long a session goes on without use.
    """

    decides: bool = False
    port: int = 0
    socket: Path | None = None
    releases: Path | None = None
    folders: tuple[Path, ...] = ()
    idle_seconds: float = IDLE_SECONDS


class Dashboard:
    """A dashboard of one party, from `open` to `stop`.

    Args:
        config_path: the party's `duetto.toml`, or None for the usual place.
        options: how it is served.

    Raises:
        ConfigError: the configuration is wrong, or port or socket are not free.
    """

    def __init__(self, config_path: Path | None, options: Options) -> None:
        self._party = Party(config_path)
        self._access = Access(options.idle_seconds)
        desk = Context(
            self._party, self._party.config_path, options.decides, options.releases, options.folders
        )
        load_identity(desk.config)
        self._path = options.socket
        home, oidc = desk.config.home, desk.config.oidc
        lasts = oidc is not None or (home / FILE).exists()
        self._host = lasting_host(home) if lasts else new_host()
        port, accounts = options.port, None
        if oidc is not None:
            # The provider knows one address.
            port = oidc.port
            accounts = SignIn(oidc, f"http://{self._host}:{port}")
        self._listeners = [_unix(options.socket)] if options.socket else _loopback(port)
        settings = uvicorn.Config(
            make_app(desk, self._access, self._host, accounts),
            access_log=False,
            http=BrowserConnection,
            lifespan="off",
            log_level="warning",
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=_STOP_SECONDS,
            ws="none",
        )
        self._server = uvicorn.Server(settings)

    @property
    def name(self) -> str:
        """The party's name."""
        return self._party.name

    def link(self) -> str:
        """A new link, for one browser. Behind a Unix socket the port is that of whatever forwards to it."""
        port = "" if self._path else f":{self._listeners[0].getsockname()[1]}"
        return f"http://{self._host}{port}{ENTRY}?token={self._access.invite()}"

    def serve(self) -> None:
        """Answer until `stop` is called or the process gets SIGINT or SIGTERM."""
        try:
            self._server.run(sockets=self._listeners)
        finally:
            self._party.close()
            if self._path is not None:
                with suppress(OSError):
                    self._path.unlink()

    def stop(self) -> None:
        """Make `serve` return."""
        self._server.should_exit = True


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
    return _bound(listener, lambda: listener.bind((address, port)), f"port {port} of {address}")


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

    return _bound(listener, bind, str(path))


def _is_answered(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(str(path)) == 0


def _bound(listener: socket.socket, bind: Callable[[], None], what: str) -> socket.socket:
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
