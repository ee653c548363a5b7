"""Waiting for what other threads and processes bring about."""

from __future__ import annotations

import time
from collections.abc import Callable
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
