"""The command and the daemons of two parties as processes of this checkout, for measurements and tests."""

from __future__ import annotations

import json
import secrets
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

COMMAND: Final = (sys.executable, "-c", "from parties.cli.main import main; main()")
"""Runs `duetto` of the code on the path, installed or not."""
NAMES: Final = ("north", "south")


def free_port() -> int:
    """A port that nobody listens on now, below those that systems take for connections that they begin.

    So no connection has it while the daemon that listens on it is down.
    """
    chance = secrets.SystemRandom()
    while True:
        port = chance.randrange(15_000, 32_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def tried(*words: object) -> subprocess.CompletedProcess[str]:
    """The command after it has ended, well or badly, within two minutes."""
    return subprocess.run(
        [*COMMAND, *map(str, words)], capture_output=True, text=True, timeout=120, check=False
    )


def duetto(*words: object) -> str:
    """What the command prints.

    Raises:
        SystemExit: it fails; with what it says.
    """
    done = tried(*words)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return done.stdout


def introduced(home: Path, *words: object) -> dict[str, Any]:
    """A new party named like its folder, on a free port of this machine: what `duetto init` answers.

    Args:
        home: where it is made.
        words: of the command, where the address is to be another.
    """
    words = words or ("--address", f"127.0.0.1:{free_port()}")
    made: dict[str, Any] = json.loads(
        duetto("init", home.name, *words, "--home", home, "--key", 2048, "--json")
    )
    return made


def pair(made: Mapping[str, Mapping[str, Any]]) -> None:
    """Make two parties that `introduced` has made, by name, know each other."""
    for own, peer in (tuple(made.values()), tuple(made.values())[::-1]):
        words = ("pair", peer["pairing_file"], "--fingerprint", peer["fingerprint"])
        duetto(*words, "--config", own["home"])


def paired(folder: Path) -> dict[str, Path]:
    """The homes of north and south in a folder, two parties that know each other."""
    homes = {name: folder / name for name in NAMES}
    pair({name: introduced(home) for name, home in homes.items()})
    return homes


def started(
    home: Path,
    log: IO[bytes] | int = subprocess.DEVNULL,
    command: Sequence[str] = COMMAND,
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[str]:
    """A daemon that has said that it is ready.

    Args:
        home: the party's folder.
        log: where its standard error goes.
        command: what runs `duetto`.
        environment: its variables, if not those of this process.

    Raises:
        SystemExit: it ends, or says something else.
    """
    process = subprocess.Popen(
        [*command, "party", "start", "--config", str(home), "--json"],
        stdout=subprocess.PIPE,
        stderr=log,
        env=environment,
        text=True,
    )
    if process.stdout is None or '"ready": true' not in process.stdout.readline():
        process.kill()
        _, problem = process.communicate()
        raise SystemExit(f"The daemon of {home} does not start. {problem or ''}".rstrip())
    return process


def ended(process: subprocess.Popen[str]) -> None:
    """Kill a daemon, and wait until it is gone."""
    process.kill()
    process.communicate(timeout=10)
