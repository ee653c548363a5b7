"""Agreeing on lanes, and what a lane is asked to do.

    Alice                                   Bob
      lanes         -- count -->              lanes            (both at once; the session ends if they differ)
                    <-- count --
      every lane: base transfers and a reserve of silent ones, as in `smc.oblivious.setup`, side by side

A lane is an oblivious engine with transfers and frames of its own. It takes a part of each large batch, the
same one on both sides (`smc.oblivious.cost.lane_parts`), and works on it at the same time as the others.

Inputs: the number of lanes that each party was told.
Outputs: as many oblivious engines with the peer.
Learns: nothing but that number.
Assumes: as `smc.oblivious.silent_ot`; the lanes share no randomness.
Cost: one round for the number; then `smc.oblivious.cost.SETUP` and a reserve for each lane, all at once.
Reference: none: each lane is a session of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from smc.channel.channel import Channel, Clock, Traffic
from smc.channel.message import Message
from smc.channel.transport import Transport
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.errors import DuettoError, ProtocolViolation
from smc.forms import Role
from smc.oblivious.cost import FlightBytes

_COUNT_BYTES: Final = 2


class LaneLost(DuettoError):  # noqa: N818
    """A lane of this party has ended before its work was done; nothing was opened."""

    code = "lane-lost"
    advice = "Submit the job again; if it happens again, give it fewer lanes, or look for memory running out."


@dataclass(frozen=True, slots=True)
class LaneCount(Message, kind="lane-count", hidden=True):
    """Into how many lanes the sender cuts large batches."""

    count: ByteRows


@dataclass(frozen=True, slots=True)
class LaneCall:
    """A method of the engine for a part of a batch.

    Attributes:
        method: its name.
        arrays: the local part of what it works on.
        options: the rest of its arguments: numbers, truth values or None.
    """

    method: str
    arrays: tuple[NDArray[Any], ...] = field(default=(), repr=False)
    options: Mapping[str, int | bool | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LaneAnswer:
    """What came of a call.

    Attributes:
        arrays: the local results.
        traffic: what it sent and received.
        clock: where the lane's conversation has come to.
    """

    arrays: tuple[NDArray[Any], ...] = field(repr=False)
    traffic: Traffic
    clock: Clock


class LaneEnd(Protocol):
    """One party's end of a lane. Calls come one after the other, closing at any time."""

    def run(self, call: LaneCall, clock: Clock) -> LaneAnswer:
        """Do a part of a batch.

        Args:
            call: what to do; the peer's end is asked for the other side of it.
            clock: where the session's conversation stands.

        Raises:
            LaneLost: this end is gone.
            DuettoError: what the engine raised.
        """
        ...

    def close(self) -> None:
        """End it, also while it works; may be called twice and from any thread."""
        ...


LaneOpener = Callable[[Role, int, Transport, bytes | None], LaneEnd]
"""Makes this party's end of a lane: its role, the lane's number, its transport, and its seed."""


def agreement() -> FlightBytes:
    """Agreeing on the number of lanes."""
    return FlightBytes(_COUNT_BYTES, _COUNT_BYTES)


def agree_on(channel: Channel, count: int) -> None:
    """Compare the number of lanes with the peer's.

    Raises:
        ProtocolViolation: the peer has another one.
    """
    own = np.frombuffer(count.to_bytes(_COUNT_BYTES, "big"), dtype=np.uint8).reshape(1, -1)
    channel.send(LaneCount(ByteRows(own)))
    other = int.from_bytes(channel.recv(LaneCount, ExpectedByteRows(1, _COUNT_BYTES)).tobytes(), "big")
    if other != count:
        raise ProtocolViolation(
            f"The peer cuts batches into {other} lanes; both parties agreed on {count}.",
            "Check that both institutions run the same release, and submit the job again.",
        )
