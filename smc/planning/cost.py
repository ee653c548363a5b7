"""Seconds from costs: a network and the measured speed of this code's group operations.

The figures steer the choice of a route and the estimates shown to people; nothing is correct or secret by
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from smc.protocols.spec import Cost, Parameters

OPERATION_SECONDS: Mapping[str, float] = {
    "power": 8.7e-3,
    "small_power": 0.6e-3,
    "mask": 1.0e-3,
    "decrypt": 2.5e-3,
    "zero_test": 1.2e-3,
    "inverse": 0.03e-3,
    "square": 4e-6,
    "ot": 0.035e-6,
    "ot_silent": 0.05e-6,
    "ot_expand": 5e-6,
    "ec_mask": 0.05e-3,
    "ec_power": 0.08e-3,
    "ec_zero_test": 0.04e-3,
    "dgk_mask": 0.1e-3,
    "dgk_power": 0.02e-3,
    "dgk_inverse": 0.01e-3,
    "dgk_zero_test": 0.1e-3,
    "dgk_key": 0.1,
}
"""Seconds of one operation with a 2048-bit key on one core of an ordinary server."""

WITHOUT_PAILLIER = frozenset(
    name for name in OPERATION_SECONDS if name.partition("_")[0] in ("ot", "ec", "dgk")
)
"""Operations that use no Paillier key and take the same time whatever its size."""

_KEY_EXPONENT = 2.8
"""How the time of a modular power grows with the size of the key."""


@dataclass(frozen=True, slots=True)
class Network:
    """A link between two parties.

    Attributes:
        rtt_ms: round-trip time in milliseconds.
        mbit: bandwidth of each direction in Mbit/s.
    """

    rtt_ms: float = 1.0
    mbit: float = 1000.0


LAN = Network()


def estimate_seconds(cost: Cost, parameters: Parameters, network: Network = LAN) -> float:
    """The wall time of a cost: waiting, sending and computing, the two parties one after the other."""
    waiting = cost.rounds * network.rtt_ms / 2000
    sending = 8 * (cost.alice_bytes + cost.bob_bytes) / (network.mbit * 1e6)
    growth = (max(parameters.alice_key_bits, parameters.bob_key_bits) / 2048) ** _KEY_EXPONENT
    computing = 0.0
    for operations in (cost.alice_operations, cost.bob_operations):
        for name, count in operations.items():
            computing += count * OPERATION_SECONDS[name] * (1.0 if name in WITHOUT_PAILLIER else growth)
    return waiting + sending + computing
