"""Seconds from costs: a network and the measured speed of this code's operations.

The figures steer the choice of a route and the estimates shown to people; nothing is correct or secret by
them. Both parties have to choose the same route, so `agreed_seconds` takes the prices of the compiled kernels
of oblivious transfer whichever run here; `estimate_seconds` takes those of the ones that run. How the prices
are measured says `docs/benchmarks.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from smc.errors import UsageError
from smc.network import LAN, Network
from smc.oblivious.kernels import run_compiled
from smc.protocols.spec import Cost, Parameters


@dataclass(frozen=True, slots=True)
class Operation:
    """What one operation takes.

    Attributes:
        seconds: on one core of an ordinary server, with a 2048-bit key where it needs one.
        paillier: whether it grows with the size of the Paillier keys.
        together: whether the parties do theirs at the same time, and not one after the other.
        numpy: seconds where the loops of oblivious transfer are numpy's; None for as long.
    """

    seconds: float
    paillier: bool = True
    together: bool = False
    numpy: float | None = None

    @property
    def on_words(self) -> bool:
        """Whether it is work on long vectors of machine words, and not on large numbers."""
        return self.numpy is not None

    def seconds_taken(self, *, compiled: bool) -> float:
        """Seconds with the compiled kernels of oblivious transfer or with numpy's."""
        return self.seconds if compiled or self.numpy is None else self.numpy


@dataclass(frozen=True, slots=True)
class Slowdown:
    """How many times as long as its price an operation takes on a machine.

    Attributes:
        words: of those on vectors of machine words.
        numbers: of those on large numbers.
    """

    words: float = 1.0
    numbers: float = 1.0


def _fixed_operation(seconds: float) -> Operation:
    return Operation(seconds, paillier=False)


def _transfer(seconds: float, numpy: float) -> Operation:
    return Operation(seconds, paillier=False, together=True, numpy=numpy)


OPERATIONS: Final[Mapping[str, Operation]] = {
    "power": Operation(8.7e-3),
    "small_power": Operation(0.6e-3),
    "mask": Operation(1.0e-3),
    "decrypt": Operation(2.5e-3),
    "zero_test": Operation(1.2e-3),
    "inverse": Operation(0.03e-3),
    "square": Operation(4e-6),
    "ot": _transfer(22e-9, numpy=65e-9),
    "ot_silent": _transfer(16e-9, numpy=75e-9),
    "ot_expand": _fixed_operation(5e-6),
    "ec_mask": _fixed_operation(0.05e-3),
    "ec_power": _fixed_operation(0.08e-3),
    "ec_zero_test": _fixed_operation(0.04e-3),
    "dgk_mask": _fixed_operation(0.1e-3),
    "dgk_power": _fixed_operation(0.02e-3),
    "dgk_inverse": _fixed_operation(0.01e-3),
    "dgk_zero_test": _fixed_operation(0.1e-3),
    "dgk_key": _fixed_operation(0.1),
}
"""All operations by the names under which ciphers and costs count them; a test finds one that is missing."""

_KEY_EXPONENT = 2.8
"""How the time of a modular power grows with the size of the key."""


AS_PRICED: Final = Slowdown()
"""The machine on which the prices were measured."""

_SECONDS_PER_COMPARISON: Final = 0.35e-6
"""For checking and packing a pair of numbers, and what else does not grow with their bits."""

_EACH_RUN: Final = _transfer(3e-3, numpy=7e-3)
"""What a run of any size takes."""


def agreed_seconds(cost: Cost, parameters: Parameters, network: Network) -> float:
    """What a route is chosen by: the same at both parties, whichever kernels run.

    Each direction counts as if it carried half of all bytes, so that steps that send in opposite directions
    add up to their route.
    """
    half = (cost.alice_bytes + cost.bob_bytes) // 2
    computing = _computing_seconds(cost, parameters, AS_PRICED, compiled=True)
    return network.seconds(cost.rounds, half, half) + computing


def estimate_seconds(
    cost: Cost, parameters: Parameters, network: Network = LAN, slowdown: Slowdown = AS_PRICED
) -> float:
    """The wall time of so many comparisons of a cost, as it is shown to people, with the kernels that run.

    Args:
        cost: of all comparisons.
        parameters: their number, and the sizes of keys.
        network: between the parties.
        slowdown: of the machine.
    """
    sending = network.seconds(cost.rounds, cost.alice_bytes, cost.bob_bytes)
    compiled = run_compiled()
    computing = _computing_seconds(cost, parameters, slowdown, compiled=compiled)
    each = _EACH_RUN.seconds_taken(compiled=compiled) + _SECONDS_PER_COMPARISON * parameters.count
    return sending + computing + slowdown.words * each


def _computing_seconds(cost: Cost, parameters: Parameters, slowdown: Slowdown, *, compiled: bool) -> float:
    growth = (max(parameters.alice_key_bits, parameters.bob_key_bits) / 2048) ** _KEY_EXPONENT
    computing = 0.0
    for name in sorted({*cost.alice_operations, *cost.bob_operations}):
        each = operation_named(name)
        counts = cost.alice_operations.get(name, 0), cost.bob_operations.get(name, 0)
        count = max(counts) if each.together else sum(counts)
        factor = slowdown.words if each.on_words else slowdown.numbers
        computing += (
            factor * count * each.seconds_taken(compiled=compiled) * (growth if each.paillier else 1.0)
        )
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
