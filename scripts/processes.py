"""The command and the daemon of this checkout as processes of their own, for measurements and tests."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

COMMAND = (sys.executable, "-c", "from parties.cli.main import main; main()")
"""Runs `duetto` of the code on the path, installed or not."""


def started(
    home: Path, log: IO[bytes] | int = subprocess.DEVNULL, command: Sequence[str] = COMMAND
) -> subprocess.Popen[bytes]:
    """A daemon that has said that it is ready.

    Args:
        home: the party's folder.
        log: where its standard error goes.
        command: what runs `duetto`.

    Raises:
        SystemExit: it ends, or says something else.
    """
    process = subprocess.Popen(
        [*command, "party", "start", "--config", str(home), "--json"], stdout=subprocess.PIPE, stderr=log
    )
    if process.stdout is None or b'"ready": true' not in process.stdout.readline():
        process.kill()
        process.wait()
        raise SystemExit(f"The daemon of {home} does not start.")
    return process
