"""Seconds from costs: a network and the measured speed of this code's group operations.

The figures steer the choice of a route and the estimates shown to people; nothing is correct or secret by
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from smc.errors import UsageError
from smc.network import LAN, Network
from smc.protocols.spec import Cost, Parameters


@dataclass(frozen=True, slots=True)
class Operation:
    """What one group operation takes.

    Attributes:
        seconds: on one core of an ordinary server, with a 2048-bit key where it needs one.
        paillier: whether it grows with the size of the Paillier keys.
    """

    seconds: float
    paillier: bool = True


def _fixed(seconds: float) -> Operation:
    return Operation(seconds, paillier=False)


OPERATIONS: Final[Mapping[str, Operation]] = {
    "power": Operation(8.7e-3),
    "small_power": Operation(0.6e-3),
    "mask": Operation(1.0e-3),
    "decrypt": Operation(2.5e-3),
    "zero_test": Operation(1.2e-3),
    "inverse": Operation(0.03e-3),
    "square": Operation(4e-6),
    "ot": _fixed(0.025e-6),
    "ot_silent": _fixed(0.016e-6),
    "ot_expand": _fixed(5e-6),
    "ec_mask": _fixed(0.05e-3),
    "ec_power": _fixed(0.08e-3),
    "ec_zero_test": _fixed(0.04e-3),
    "dgk_mask": _fixed(0.1e-3),
    "dgk_power": _fixed(0.02e-3),
    "dgk_inverse": _fixed(0.01e-3),
    "dgk_zero_test": _fixed(0.1e-3),
    "dgk_key": _fixed(0.1),
}
"""All operations by the names under which ciphers and costs count them; a test finds one that is missing."""

_KEY_EXPONENT = 2.8
"""How the time of a modular power grows with the size of the key."""


def estimate_seconds(cost: Cost, parameters: Parameters, network: Network = LAN) -> float:
    """The wall time of a cost: waiting, sending and computing, the two parties one after the other."""
    waiting = cost.rounds * network.rtt_ms / 2000
    sending = 8 * (cost.alice_bytes + cost.bob_bytes) / (network.mbit * 1e6)
    return waiting + sending + computing_seconds(cost, parameters)


def computing_seconds(cost: Cost, parameters: Parameters) -> float:
    """What of the wall time is neither waiting nor sending."""
    growth = (max(parameters.alice_key_bits, parameters.bob_key_bits) / 2048) ** _KEY_EXPONENT
    computing = 0.0
    for operations in (cost.alice_operations, cost.bob_operations):
        for name, count in operations.items():
            each = operation_named(name)
            computing += count * each.seconds * (growth if each.paillier else 1.0)
    return computing


def operation_named(name: str) -> Operation:
    """The operation that a cost counts under that name.

    Raises:
        UsageError: nobody has measured it.
    """
    try:
        return OPERATIONS[name]
    except KeyError:
        raise UsageError(
            f"A cost counts the operation {name!r}, whose price is not known.",
            "Add it to OPERATIONS in smc/planning/cost.py.",
        ) from None
