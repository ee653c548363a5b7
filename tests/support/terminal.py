"""What a person sees: a command of the program in a terminal of its own, drawn by a terminal emulator."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
from dataclasses import dataclass

import pyte

from scripts.processes import COMMAND

LINES = 400
"""High enough that nothing scrolls away."""

_SECONDS = 60


@dataclass(frozen=True)
class Shown:
    """What a command has shown.

    Attributes:
        lines: the lines of the screen, without blanks at their ends; empty ones at the end left out.
        raw: the bytes that it wrote.
        status: its exit status.
    """

    lines: list[str]
    raw: bytes
    status: int

    @property
    def text(self) -> str:
        """All lines."""
        return "\n".join(self.lines)


def drawn(raw: bytes, columns: int) -> list[str]:
    """The lines of a screen after it got these bytes."""
    screen = pyte.Screen(columns, LINES)
    pyte.ByteStream(screen).feed(raw)
    lines = [line.rstrip() for line in screen.display]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def run(*words: str, columns: int = 80) -> Shown:
    """Run `duetto` in a terminal, stdout and stderr both."""
    here, there = pty.openpty()
    fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color"}
    for name in ("COLUMNS", "LINES", "NO_COLOR"):
        environment.pop(name, None)
    process = subprocess.Popen(
        [*COMMAND, *words],
        stdin=subprocess.DEVNULL,
        stdout=there,
        stderr=there,
        env=environment,
    )
    os.close(there)
    pieces = []
    try:
        while piece := os.read(here, 1 << 16):
            pieces.append(piece)
    except OSError:  # the other end was closed
        pass
    finally:
        os.close(here)
    raw = b"".join(pieces)
    return Shown(drawn(raw, columns), raw, process.wait(_SECONDS))
