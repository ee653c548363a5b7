"""What pseudorandom functions send, exactly, as functions of public parameters."""

from __future__ import annotations

from typing import Final

from smc.oblivious.bitmatrix import SLOTS, words_for
from smc.oblivious.cost import FlightBytes, challenges, matrix_bytes
from smc.oblivious.oprf import BASE_TRANSFERS, ROW_BYTES, SUM_BYTES, pieces

SETUP: Final = (
    FlightBytes(matrix_bytes(BASE_TRANSFERS), 0),
    challenges(0, 1),
    FlightBytes(0, BASE_TRANSFERS * SUM_BYTES),
)
"""The set-up of one direction, at its first use; the sender is the first party."""


def steps(count: int) -> tuple[FlightBytes, ...]:
    """One batch of so many instances; the sender is the first party."""
    return tuple(
        FlightBytes(0, ROW_BYTES * SLOTS * words_for(part.stop - part.start)) for part in pieces(count)
    )
