"""The link between two parties, by which plans are made and costs are turned into seconds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Network:
    """A link between two parties.

    Attributes:
        rtt_ms: round-trip time in milliseconds.
        mbit: bandwidth of each direction in Mbit/s.
    """

    rtt_ms: float = 1.0
    mbit: float = 1000.0

    def seconds(self, rounds: int, alice_bytes: int, bob_bytes: int) -> float:
        """How long messages are on their way: waiting, and sending, both directions at once."""
        return rounds * self.rtt_ms / 2000 + 8e-6 * max(alice_bytes, bob_bytes) / self.mbit


LAN: Final = Network()
"""An ordinary local network, which tables of routes are for."""

LOOPBACK: Final = Network(0.8, math.inf)
"""What routes of comparisons are planned for where nobody names a link: it takes nothing but what a message
costs the two processes; what its bytes cost them is in the prices of operations."""
