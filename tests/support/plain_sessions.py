"""Runs in sessions that have nothing but what the core has: extended transfers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from smc.pair import run_pair
from smc.protocols.session import Session


def run_plain(program: Callable[[Session], Any]) -> tuple[Any, Any]:
    """Run a program at both sides as `run_pair` does, each in a plain session."""
    return run_pair(lambda given: program(Session(given.role, given.channel, given.executor, given.random)))
