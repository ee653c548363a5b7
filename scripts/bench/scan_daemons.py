"""Two daemons for the figures of `scripts/bench/scan`, and what they take of the machine."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from scripts.processes import started

_TICKS = os.sysconf("SC_CLK_TCK")


@contextmanager
def running(homes: Mapping[str, Path]) -> Iterator[dict[str, subprocess.Popen[str]]]:
    """The daemons of homes, by their names, which are stopped afterwards."""
    daemons: dict[str, subprocess.Popen[str]] = {}
    try:
        for name, home in homes.items():
            daemons[name] = started(home)
        yield daemons
    finally:
        for daemon in daemons.values():
            daemon.send_signal(signal.SIGTERM)
        for daemon in daemons.values():
            daemon.wait(120)


def mebibytes(process: int, field: str) -> int:
    """Resident memory of a process: `VmRSS` now, `VmHWM` at its peak."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) >> 10
    return 0


def processor_seconds(process: int) -> float:
    """What a process and its children, those that have ended too, have taken so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS + sum(map(processor_seconds, _children(process)))


def reader_mebibytes(process: int) -> int:
    """The peak of the largest worker of a daemon that is still there, which has read its sources; else 0."""
    return max((mebibytes(child, "VmHWM") for child in _children(process)), default=0)


def _children(process: int) -> set[int]:
    tasks = Path(f"/proc/{process}/task").iterdir()
    return {int(child) for task in tasks for child in (task / "children").read_text().split()}
