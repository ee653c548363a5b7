"""Waiting for what other threads and processes bring about."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Answer = TypeVar("Answer")


def until(question: Callable[[], Answer], seconds: float = 120) -> Answer:
    """Ask until the answer is true, and return it; fail if that takes longer than so many seconds.

    What is waited for happens in another process or thread that tells nobody, so that it has to be asked.
    """
    end = time.monotonic() + seconds
    while not (answer := question()):
        assert time.monotonic() < end, "it did not become so in time"
        time.sleep(0.05)
    return answer


def freeze(pid: int) -> None:
    """Stop a process, and return when all its threads have stopped: until then it may still answer."""
    os.kill(pid, signal.SIGSTOP)
    until(lambda: all(_state(stat) in "tTZ" for stat in Path(f"/proc/{pid}/task").glob("*/stat")))


def _state(stat: Path) -> str:
    """The letter behind the name, which may have brackets of its own."""
    return stat.read_text().rpartition(")")[2].split()[0]
