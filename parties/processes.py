"""Runs a program that must not hold anything up: in a session of its own, ended when its time is over."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import Final

_LOOK_SECONDS: Final = 0.02
_NAMES: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""What of this process's environment the program gets."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended.

    Attributes:
        status: its exit status, negative for a signal; None if its time was over.
        said: the beginning of what it has written.
    """

    status: int | None
    said: bytes


def run_bounded(command: tuple[str, ...], given: bytes, seconds: float, most: int) -> Ended:
    """Run a program without a shell.

    Args:
        command: its full path, and its arguments.
        given: what it reads; less than a pipe holds.
        seconds: after which it is ended, with all that it has started.
        most: bytes of what it writes that are read, less than a pipe holds; at 0 nobody reads.

    Raises:
        OSError: it does not start.
    """
    environment = {name: os.environ[name] for name in _NAMES if name in os.environ}
    with subprocess.Popen(  # noqa: S603 - no shell; the steward's program, or this one
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE if most else subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env=environment,
        start_new_session=True,
    ) as process:
        try:
            with suppress(BrokenPipeError), process.stdin or nullcontext() as pipe:
                if pipe is not None:
                    pipe.write(given)
            in_time = _has_ended(process.pid, seconds)
        finally:  # not yet waited for, so that the number is nobody else's
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
        if not in_time:
            return Ended(None, b"")
        said = process.stdout.read(most) if process.stdout is not None else b""
    return Ended(process.returncode, said)


def _has_ended(pid: int, seconds: float) -> bool:
    """Whether a process ends in time; it is left to be waited for."""
    until = time.monotonic() + seconds
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if time.monotonic() > until:
            return False
        time.sleep(_LOOK_SECONDS)
    return True
