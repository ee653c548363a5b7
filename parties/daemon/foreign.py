"""What libraries write to standard error, gRPC's fatal errors above all, as lines of the daemon's log.

A library writes its last words and ends the process, so whoever is to pass them on has to outlive it: a small
process that reads what comes to descriptor 2, until the daemon and its lanes have closed it. What strangers
can make a library say is bounded: so many lines a minute, the others counted, and of those the last ones kept
for the case that the daemon ends.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import re
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import IO, Final

from parties.daemon import logs

LINES: Final = 20
"""Lines in a minute; and how many of the others are kept for the end."""

_MINUTE = 60.0
_LINE_BYTES = 1024
_COMMAND: Final = (sys.executable, "-P", "-m", "parties.daemon.foreign")
_PREFIX: Final = re.compile(r"([IWEF])\d{4} [\d:.]+ +\d+ (.*)")
"""Of Abseil, which gRPC logs by: level, day, time and thread."""

_LEVELS: Final = {"I": logging.INFO, "W": logging.WARNING, "E": logging.ERROR, "F": logging.CRITICAL}
_NOISE: Final = "WARNING: All log messages before absl::InitializeLog()"

log = logging.getLogger("libraries")


def capture(form: str = "plain") -> None:
    """Pass on what is written to descriptor 2 from now on; `sys.stderr` goes where it went.

    Args:
        form: of the lines, one of `parties.config.LOG_FORMATS`.
    """
    own = os.dup(2)
    sys.stderr = os.fdopen(own, "w", buffering=1, errors="backslashreplace")
    reading, writing = os.pipe()
    subprocess.Popen([*_COMMAND, form], stdin=reading, stdout=subprocess.DEVNULL, stderr=own)  # noqa: S603 - this program
    os.close(reading)
    os.dup2(writing, 2)
    os.close(writing)
    faulthandler.enable(2, all_threads=False)


class Passing:
    """Writes lines of libraries into the log, so many in a minute.

    Args:
        lines: in a minute.
        clock: says what time it is, in seconds from any moment.
    """

    def __init__(self, lines: int = LINES, clock: Callable[[], float] = time.monotonic) -> None:
        self._lines = lines
        self._clock = clock
        self._begun, self._written, self._left_out = clock(), 0, 0
        self._last: deque[str] = deque(maxlen=lines)

    def take(self, line: str) -> None:
        """Write a line, or leave it out if there were too many."""
        if not line or line.startswith(_NOISE):
            return
        if self._clock() - self._begun >= _MINUTE:
            self._count()
            self._begun, self._written = self._clock(), 0
            self._last.clear()
        fatal = line.startswith("F")
        if self._written < self._lines or fatal:
            self._written += 1
            _write(line)
        else:
            self._left_out += 1
            self._last.append(line)

    def end(self) -> None:
        """Write the last lines of those that were left out: the program that wrote them has ended."""
        self._left_out -= len(self._last)
        self._count()
        for line in self._last:
            _write(line)

    def _count(self) -> None:
        if self._left_out > 0:
            log.warning("%d further lines of libraries were left out", self._left_out)
        self._left_out = 0


def pass_on(source: IO[bytes], passing: Passing) -> None:
    """Read lines until the end, of which long ones are cut into pieces."""
    while line := source.readline(_LINE_BYTES):
        passing.take(line.decode(errors="backslashreplace").rstrip())
    passing.end()


def _write(line: str) -> None:
    found = _PREFIX.fullmatch(line)
    level, text = (_LEVELS[found[1]], found[2]) if found else (logging.ERROR, line)
    log.log(level, "%s", text)


def main() -> None:
    """Read standard input until the daemon has ended, however it is ended."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    logs.start(form=sys.argv[1])
    pass_on(sys.stdin.buffer, Passing())


if __name__ == "__main__":
    main()
