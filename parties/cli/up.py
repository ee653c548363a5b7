"""`duetto up`: everything that a steward needs, by one command: the party, its daemon, its dashboard."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from parties.cli.dashboard import open_dashboard
from parties.cli.options import config_option
from parties.cli.output import emit, json_option, talk
from parties.cli.party import address_of, make_party
from parties.config import load
from parties.errors import ConfigError, DaemonUnavailable
from parties.pki.lock import running_pid
from parties.places import find, user_folder
from smc.ciphers.keys import DEFAULT_BITS
from smc.errors import UsageError

_STOP_SECONDS: Final = 30
_DAEMON: Final = ("-c", "from parties.cli.main import main; main()", "party", "start", "--json")


@click.command()
@click.option("--name", help="Name of the party, if there is none yet; else you are asked.")
@click.option(
    "--address", help="HOST:PORT at which peers reach it, if there is none yet; else you are asked."
)
@click.option("--key", default=str(DEFAULT_BITS), show_default=True, help="Bits of a new Paillier key.")
@click.option(
    "--data",
    "folders",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    multiple=True,
    help="Folder whose files the page Data offers to declare; else the current folder.",
)
@click.option("--no-browser", is_flag=True, help="Only print the link.")
@config_option
@json_option
def up(
    *,
    name: str | None,
    address: str | None,
    key: str,
    folders: tuple[Path, ...],
    no_browser: bool,
    config_path: Path | None,
    as_json: bool,
) -> None:
    """Make the party if there is none, start its daemon and its dashboard, and open the browser.

    People can act in this dashboard. Ctrl-C ends both; a daemon that ran before goes on.
    """
    path = _party(config_path, name, address, key, as_json=as_json)
    with _daemon(path) as is_own:
        dashboard = open_dashboard(path, decides=True, folders=folders or (Path(),))
        link = dashboard.link()
        talk("daemon: started" if is_own else "daemon: runs already, and goes on after this command")
        emit(
            {"name": dashboard.name, "link": link, "daemon_started": is_own},
            lambda out: out.print("dashboard, for one browser:", link, "Ctrl-C ends it."),
            as_json=as_json,
        )
        sys.stdout.flush()
        if not (no_browser or as_json) and _has_screen():
            webbrowser.open(link)
        dashboard.serve()


def _party(
    config_path: Path | None, name: str | None, address: str | None, key: str, *, as_json: bool
) -> Path:
    """The configuration of the party, which is made if there is none.

    Raises:
        UsageError: there is none, and nobody can be asked for its name and address.
    """
    try:
        return find(config_path)
    except ConfigError:
        if config_path is not None and config_path.suffix:
            raise
    folder = (config_path or user_folder()).absolute()
    if (name is None or address is None) and (as_json or not sys.stdin.isatty()):
        raise UsageError(
            f"There is no party in {folder} yet.",
            "Name it: duetto up --name NAME --address HOST:PORT, or run the command in a terminal.",
        )
    if name is None:
        name = click.prompt("Name of this institution, as the other one knows it (such as north)", err=True)
    if address is None:
        address = click.prompt("Address at which they reach this machine (HOST:PORT)", err=True)
    own = make_party(name, folder, address_of(address), key)
    talk(f"party: {own.identity.name} is made in {folder}")
    return find(folder)


@contextmanager
def _daemon(path: Path) -> Iterator[bool]:
    """A running daemon; whether it was started here, and so ends at the end.

    Raises:
        DaemonUnavailable: it does not start; it has said why.
    """
    config = load(path)
    if running_pid(config) is not None:
        yield False
        return
    process = subprocess.Popen(  # noqa: S603 - this program's own daemon
        [sys.executable, *_DAEMON, "--config", str(path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for this process, which ends the daemon in order
        text=True,
    )
    try:
        line = process.stdout.readline() if process.stdout else ""
        if not line or not json.loads(line).get("ready"):
            raise DaemonUnavailable(
                f"The daemon of {config.name} does not start.",
                f"See what it has said above, or run `duetto doctor --config {path}`.",
            )
        yield True
    finally:
        process.terminate()
        try:
            process.communicate(timeout=_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def _has_screen() -> bool:
    return sys.platform in ("darwin", "win32") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )


COMMANDS: tuple[click.Command, ...] = (up,)
