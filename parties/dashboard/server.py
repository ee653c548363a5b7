"""The dashboard's own small web server: on the loopback addresses or a Unix socket, and nowhere else."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from parties.client import Party
from parties.dashboard.app import make_app
from parties.dashboard.drawing.desk import Context
from parties.dashboard.entrance.access import IDLE_SECONDS, Access
from parties.dashboard.entrance.guard import lasting_host, new_host
from parties.dashboard.entrance.oidc import SignIn
from parties.dashboard.serving import Entrance, open_entrance, settings_of
from parties.persons.declaration import FILE
from parties.pki.home import load_identity


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
        entrance: where it answers, if it follows the page by which the party was made; None to open one.

    Raises:
        ConfigError: the configuration is wrong, or port or socket are not free.
    """

    def __init__(self, config_path: Path | None, options: Options, entrance: Entrance | None = None) -> None:
        self._party = Party(config_path)
        desk = Context(
            self._party, self._party.config_path, options.decides, options.releases, options.folders
        )
        load_identity(desk.config)
        home, oidc = desk.config.home, desk.config.oidc
        accounts = None
        if entrance is None:
            lasts = oidc is not None or (home / FILE).exists()
            host = lasting_host(home) if lasts else new_host()
            # A provider of accounts knows one address.
            port = options.port if oidc is None else oidc.port
            accounts = None if oidc is None else SignIn(oidc, f"http://{host}:{port}")
            entrance = open_entrance(host, Access(options.idle_seconds), port, options.socket)
        self._entrance = entrance
        self._server = uvicorn.Server(settings_of(make_app(desk, entrance.access, entrance.host, accounts)))

    @property
    def name(self) -> str:
        """The party's name."""
        return self._party.name

    def link(self) -> str:
        """A new link, for one browser."""
        return self._entrance.link()

    def serve(self) -> None:
        """Answer until `stop` is called or the process gets SIGINT or SIGTERM."""
        with closing(self._entrance), closing(self._party):
            self._server.run(sockets=[*self._entrance.listeners])

    def stop(self) -> None:
        """Make `serve` return."""
        self._server.should_exit = True
