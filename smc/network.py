"""The link between two parties, by which plans are made and costs are turned into seconds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
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
"""What routes are planned for where nobody says more."""

_PRICED: ContextVar[Network | None] = ContextVar("network", default=None)


@contextmanager
def priced_over(network: Network | None) -> Iterator[None]:
    """Within it costs are those of runs over that network, which may take other protocols; None is none.

    A run follows `Session.network`; whoever prices it names the same one here.
    """
    before = _PRICED.set(network)
    try:
        yield
    finally:
        _PRICED.reset(before)


def network_priced() -> Network | None:
    """The network over which costs are counted now; None where the link costs nothing, as on loopback."""
    return _PRICED.get()
