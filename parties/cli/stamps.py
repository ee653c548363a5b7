"""The command that takes a stamp of ledger and audit log, and the options of those that check stamps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import click

from commons.logs.lines import Link
from parties.audit.files import read_log
from parties.cli.options import config_option
from parties.cli.output import Screen, emit, json_option, talk
from parties.clock import text
from parties.config import load
from parties.errors import ConfigError
from parties.ledger.book import open_ledger
from parties.stamps.files import note_failure
from parties.stamps.taking import take_stamp
from parties.stamps.verification import Stamps

P = ParamSpec("P")
R = TypeVar("R")


def stamps_options(function: Callable[P, R]) -> Callable[P, R]:
    """Give a command `--stamps FOLDER` and `--stamps-ca FILE`, passed on as `stamps` and `stamps_ca`."""
    for option in (
        click.option(
            "--stamps-ca",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="PEM file of the authorities by which stamps are checked; else that of duetto.toml.",
        ),
        click.option(
            "--stamps",
            type=click.Path(path_type=Path, exists=True, file_okay=False),
            metavar="FOLDER",
            help="Copies of stamps that were kept elsewhere, besides those of the home.",
        ),
    ):
        function = option(function)
    return function


def print_stamps(out: Screen, stamps: Stamps) -> None:
    """Say how many genuine stamps there are, and of which times."""
    if stamps.times:
        count = len(stamps.times)
        what = "stamp" if count == 1 else "stamps"
        out.print(f"{count} genuine {what}, from {stamps.times[0]} to {stamps.times[-1]}.")


def stamps_document(stamps: Stamps) -> dict[str, Any]:
    """The same as plain JSON values."""
    return {
        "genuine": len(stamps.times),
        "first": stamps.times[0] if stamps.times else "",
        "last": stamps.times[-1] if stamps.times else "",
    }


@click.command()
@config_option
@json_option
def stamp(config_path: Path | None, as_json: bool) -> None:
    """Stamp the heads of ledger and audit log now, as `[stamps]` in duetto.toml says.

    The audit log's head is written into the ledger. If a service is named there, it gets one digest over both
    heads and the party's name, and nothing else. The daemon may run.
    """
    config = load(config_path)
    if config.stamps is None:
        raise ConfigError(
            f"{config.path} has no section [stamps].",
            "Write it as docs/operations.md shows: the address of a service, and its authority.",
        )
    lines = read_log(config.home).lines
    if config.stamps.url:
        talk(f"asking {config.stamps.host}")
    log = lines[-1].link if lines else None
    done = take_stamp(config.home, config.name, config.stamps, open_ledger(config.home), log)
    note_failure(config.home, None)
    heads = {"ledger": _head(done.ledger), "log": _head(done.log)}

    def render(out: Screen) -> None:
        line = f"line {done.log[0]} of the audit log" if done.log is not None else "an empty audit log"
        entry = f"entry {done.ledger[0]} of the ledger" if done.ledger is not None else "an empty ledger"
        if done.path is None or done.time is None:
            out.print(f"{entry[0].upper()}{entry[1:]} has {line}; peers see its head. No service is named.")
            return
        out.print(
            f"Stamped at {text(done.time)}: {entry}, {line}.",
            f"Kept in {done.path}. Who deletes a log can delete it, too: keep a copy on another machine.",
        )

    path, time = (str(done.path), text(done.time)) if done.path and done.time else ("", "")
    emit({"party": config.name, "time": time, "file": path, **heads}, render, as_json=as_json)


def _head(head: Link | None) -> str:
    return "" if head is None else f"{head[0]}:{head[1]}"
