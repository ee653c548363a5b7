"""A side whose oblivious transfers are not as the protocol says, for tests of what finds it out."""

from __future__ import annotations

from typing import Any

from smc.channel.channel import Channel
from smc.oblivious.lpn import PRODUCTION
from smc.oblivious.silent_ot import ROW_BYTES
from smc.oblivious.silent_transfers import Refill


def bend_refill(message: Any) -> None:
    """Let the sums of the last level of each silent tree be others, if it is a refill."""
    if isinstance(message, Refill):
        sums = message.sums.values.reshape(-1, PRODUCTION.depth, PRODUCTION.group, ROW_BYTES).copy()
        sums[:, -1, :, 5] ^= 4
        object.__setattr__(message.sums, "values", sums.reshape(1, -1))


def bend_refills(channel: Channel) -> None:
    """Bend all refills that leave by a channel."""
    honest = channel.send

    def send(message: Any) -> None:
        bend_refill(message)
        honest(message)

    channel.send = send  # type: ignore[method-assign]
