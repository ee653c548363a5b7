"""The commands `duetto peer`: with whom this party is paired, and who is closed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Final

import click

from parties.cli.hints import with_config
from parties.cli.options import Listing, config_option
from parties.cli.output import Screen, emit, json_option, table
from parties.cli.signing import Signing, signing_options
from parties.client import Party
from parties.closed_peers import read_closed
from parties.config import load


@click.group(cls=Listing)
def peer() -> None:
    """The peers of this party, and which of them are closed."""


@peer.command(name="list")
@config_option
@json_option
def list_peers(config_path: Path | None, as_json: bool) -> None:
    """List the peers; with one that is closed no job runs. Asks no daemon."""
    config = load(config_path)
    closed = read_closed(config.home)
    found = [
        {
            "name": one.name,
            "address": str(one.address),
            "closed": asdict(closed[one.name]) if one.name in closed else None,
        }
        for one in config.peers
    ]

    def render(out: Screen) -> None:
        rows = [
            (one.name, str(one.address), "closed" if one.name in closed else "open") for one in config.peers
        ]
        out.print(table("", ("peer", "address", "state"), rows))
        for one in closed.values():
            out.print(f"{one.error.what} {with_config(one.error.hint)}")

    emit({"peers": found}, render, as_json=as_json)


@peer.command(name="open")
@click.argument("name")
@signing_options
@config_option
@json_option
def open_peer(name: str, signing: Signing, config_path: Path | None, as_json: bool) -> None:
    """Open the peer NAME again, whose oblivious transfers have failed a check.

    Find out with that institution first what its program did: each further attempt may succeed.
    """
    with Party(config_path, signing.of(config_path)) as party:
        party.open_peer(name)
    emit({"opened": name}, lambda out: out.print(f"{name} is open: jobs with it run again."), as_json=as_json)


COMMANDS: Final[tuple[click.Command, ...]] = (peer,)
