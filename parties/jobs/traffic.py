"""What runs have sent and received since the daemon started, by analysis."""

from __future__ import annotations

import threading

from smc.channel.channel import Traffic


class Carried:
    """Sums over runs. Thread-safe.

    A run counts when it is over, also where it failed; which job and which peer it had is not kept.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sums: dict[str, tuple[int, Traffic]] = {}

    def add(self, analysis: str, traffic: Traffic) -> None:
        """Count a run of an analysis."""
        with self._lock:
            runs, before = self._sums.get(analysis, (0, Traffic()))
            self._sums[analysis] = (runs + 1, before.and_then(traffic))

    def sums(self) -> dict[str, tuple[int, Traffic]]:
        """By analysis the number of runs, and what they have sent and received together."""
        with self._lock:
            return dict(sorted(self._sums.items()))
