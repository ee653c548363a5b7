"""The small jobs of all analyses, which `scripts/wire_runs.py` keeps for the wire's baseline."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from types import ModuleType

SCRIPTS = Path(__file__).parents[2] / "scripts"


@cache
def wire_runs() -> ModuleType:
    """The script as a module."""
    sys.path.insert(0, str(SCRIPTS))
    try:
        import wire_runs as found
    finally:
        sys.path.pop(0)
    return found


SMALL_JOBS = wire_runs().small_jobs()
