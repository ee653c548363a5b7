"""Waiting for what other threads and processes bring about."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")


def until(question: Callable[[], Answer], seconds: float = 120) -> Answer:
    """The first answer that is true; an error if there is none in so many seconds."""
    end = time.monotonic() + seconds
    while not (answer := question()):
        assert time.monotonic() < end, "it did not become so in time"
        time.sleep(0.05)
    return answer
