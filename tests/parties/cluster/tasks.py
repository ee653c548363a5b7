"""Tasks for the workers of a test, in a module that is quickly imported."""

from __future__ import annotations

import time
from pathlib import Path


def slow(seconds: float, marker: Path) -> float:
    """Takes its time, and says that it has begun."""
    marker.touch()
    time.sleep(seconds)
    return seconds
