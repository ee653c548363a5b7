"""A lane's engine: does parts of batches by name, in whatever thread or process the lane lives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from numpy.typing import NDArray

from smc.channel.channel import Channel, Clock
from smc.channel.transport import Transport
from smc.errors import UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious.lanes import LaneAnswer, LaneCall
from smc.oblivious.silent_engine import SilentEngine

Arrays = tuple[NDArray[Any], ...]


def _none(method: Callable[[SilentEngine], None]) -> Callable[[SilentEngine], Arrays]:
    def call(engine: SilentEngine) -> Arrays:
        method(engine)
        return ()

    return call


def _one(method: Callable[..., NDArray[Any]]) -> Callable[..., Arrays]:
    return lambda engine, *arrays, **options: (method(engine, *arrays, **options),)


METHODS: Final[dict[str, Callable[..., Arrays]]] = {
    "setup_silent": _none(SilentEngine.setup_silent),
    "verify": _none(SilentEngine.verify),
    **{
        method.__name__: _one(method)
        for method in (
            SilentEngine.greater_equal_x,
            SilentEngine.greater_equal_y,
            SilentEngine.equal,
            SilentEngine.below,
            SilentEngine.and_bits,
            SilentEngine.bits_to_arithmetic,
            SilentEngine.correlate,
            SilentEngine.receive,
        )
    },
    "exchange": SilentEngine.exchange,
}
"""What a lane can be asked for."""


class LaneEngine:
    """The engine of one end of a lane, in the thread that calls it; a `smc.oblivious.lanes.LaneEnd`.

    Args:
        role: this side's role.
        number: the lane's number, from 1.
        transport: of the lane.
        seed: of its randomness in a run that replays; None for the operating system's.
    """

    def __init__(self, role: Role, number: int, transport: Transport, seed: bytes | None = None) -> None:
        self._channel = Channel(transport, number)
        random = Randomness() if seed is None else Randomness.of_run(seed)
        self._engine = SilentEngine(role, self._channel, random)

    def run(self, call: LaneCall, clock: Clock) -> LaneAnswer:
        """Do a part of a batch.

        Raises:
            UsageError: the call names something that is not in `METHODS`.
            DuettoError: what the engine raised.
        """
        if call.method not in METHODS:
            raise UsageError("A lane was asked for what it cannot do.", "This is a defect of the program.")
        self._channel.set_clock(clock)
        before = self._channel.traffic
        arrays = METHODS[call.method](self._engine, *call.arrays, **call.options)
        return LaneAnswer(arrays, self._channel.traffic.since(before), self._channel.clock)

    def close(self) -> None:
        """Nothing is left to do: the thread ends with its transport."""
