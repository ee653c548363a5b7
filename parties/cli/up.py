"""`duetto up`: everything that a steward needs, by one command: the party, its daemon, its dashboard.

Where there is no party, the browser asks for its name and address, on a page that the dashboard follows.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from parties.cli.dashboard import needed_packages, open_dashboard
from parties.cli.options import config_option, data_option
from parties.cli.output import emit, json_option, talk
from parties.cli.party import DEFAULT_PORT, address_of, listening_address, make_party
from parties.config import Address, check_name, load
from parties.errors import ConfigError, DaemonUnavailable
from parties.exits import why_unreadable
from parties.pki import passphrase
from parties.pki.lock import running_pid
from parties.pki.protection import read_protection, unlock
from parties.pki.token import open_key, read_place
from parties.places import find, new_home
from smc.ciphers.keys import DEFAULT_BITS
from smc.errors import Cancelled

if TYPE_CHECKING:
    from parties.dashboard.serving import Entrance

_STOP_SECONDS: Final = 30
_DAEMON: Final = ("-c", "from parties.cli.main import main; main()", "party", "start", "--json")


@click.command()
@click.option("--name", help="Name of the party, if there is none yet; else the browser asks.")
@click.option(
    "--address", help="HOST:PORT at which peers reach it, if there is none yet; else the browser asks."
)
@click.option("--key", default=str(DEFAULT_BITS), show_default=True, help="Bits of a new Paillier key.")
@data_option
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

    People can act in this dashboard. Where there is no party yet, its first page asks for name and address.
    Ctrl-C ends both; a daemon that ran before goes on.
    """

    def say(link: str, party: str, *, is_started: bool) -> None:
        emit(
            {"name": party, "link": link, "daemon_started": is_started},
            lambda out: out.print("dashboard, for one browser:", link, "Ctrl-C ends it."),
            as_json=as_json,
        )
        sys.stdout.flush()
        if not (no_browser or as_json) and _has_screen():
            webbrowser.open(link)

    entrance = None
    path = _find_config(config_path)
    if path is None:
        folder = new_home(config_path)
        if name is not None and address is not None:
            _make(folder, key, name, address)
        else:
            entrance = _entrance()
            say(entrance.link(), "", is_started=False)
            _ask_in_browser(entrance, folder, partial(_make, folder, key), name or "", address or "")
        path = find(folder)
    with _daemon(path) as is_own:
        talk("daemon: started" if is_own else "daemon: runs already, and goes on after this command")
        dashboard = open_dashboard(path, entrance, decides=True, folders=folders or (Path(),))
        if entrance is None:
            say(dashboard.link(), dashboard.name, is_started=is_own)
        dashboard.serve()


def _find_config(config_path: Path | None) -> Path | None:
    """The configuration of the party; None if there is none yet.

    Raises:
        ConfigError: a file was named, and is not there.
    """
    try:
        return find(config_path)
    except ConfigError:
        if config_path is not None and config_path.suffix:
            raise
        return None


def _make(folder: Path, key: str, name: str, address: str) -> None:
    """Make the party.

    Raises:
        ConfigError: name or address are not possible, or its daemon could not listen there.
    """
    parsed = address_of(address)
    check_name(name)
    _check_free(listening_address(parsed))
    own = make_party(name, folder, parsed, key)
    talk(f"party: {own.identity.name} is made in {folder}")


def _check_free(address: Address) -> None:
    """Check that a daemon could listen at an address, before keys are made for it.

    Raises:
        ConfigError: it could not.
    """
    host = address.host.strip("[]")
    try:
        with socket.create_server((host, address.port), family=_family(host)):
            return
    except OSError as problem:
        raise ConfigError(
            f"Nothing can listen at port {address.port} of this machine: {why_unreadable(problem)}.",
            "Choose another port, or end the program that has it.",
        ) from None


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _entrance() -> Entrance:
    with needed_packages():
        from parties.dashboard.entrance.access import Access
        from parties.dashboard.entrance.guard import new_host
        from parties.dashboard.serving import open_entrance
    return open_entrance(new_host(), Access())


def _ask_in_browser(
    entrance: Entrance, folder: Path, make: Callable[[str, str], None], name: str, address: str
) -> None:
    """Let a person make the party in the browser.

    Raises:
        Cancelled: the command was ended before.
    """
    from parties.dashboard.beginning import Beginning

    host = socket.getfqdn()
    proposed = address or (f"{host}:{DEFAULT_PORT}" if "." in host and "localhost" not in host else "")
    if not Beginning(entrance, make, str(folder), name, proposed).serve():
        entrance.close()
        raise Cancelled("No party was made.", "Run the command again, and fill in the page.")


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
    with passphrase.handing_on(_secrets(config.home / "keys")) as handed:
        process = subprocess.Popen(  # noqa: S603 - this program's own daemon
            [sys.executable, *_DAEMON, "--config", str(path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for this process, which ends the daemon in order
            text=True,
            env={**os.environ, **{variable: str(descriptor) for variable, descriptor in handed.items()}},
            pass_fds=tuple(handed.values()),
        )
    try:
        line = process.stdout.readline() if process.stdout else ""
        said = json.loads(line) if line else {}
        if not said.get("ready"):
            why = said.get("error") or {"what": "It says nothing.", "hint": ""}
            raise DaemonUnavailable(
                f"The daemon of {config.name} does not start. {why['what']}",
                why["hint"] or f"Run `duetto doctor --config {path}`.",
            )
        yield True
    finally:
        process.terminate()
        try:
            process.communicate(timeout=_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def _secrets(keys: Path) -> dict[str, tuple[str, ...]]:
    """What the daemon needs to open the keys of its party, by the variables that name its descriptors.

    It has no terminal, so that this process asks in its place, and opens them for its own pages as well.

    Raises:
        ConfigError: there is no terminal either, or what was told is wrong.
    """
    found: dict[str, tuple[str, ...]] = {}
    protection, place = read_protection(keys), read_place(keys)
    if protection is not None:
        parts = found[passphrase.DESCRIPTOR_VARIABLE] = passphrase.ask(protection.parts)
        unlock(keys, parts)
    if place is not None:
        pin = passphrase.ask_pin(place.token)
        found[passphrase.PIN_VARIABLE] = (pin,)
        open_key(place, pin)
    return found


def _has_screen() -> bool:
    return sys.platform in ("darwin", "win32") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )


COMMANDS: tuple[click.Command, ...] = (up,)
