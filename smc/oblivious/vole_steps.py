"""What vector OLE sends, exactly, as functions of public parameters; the sender is the first party."""

from __future__ import annotations

from typing import Final

from smc.oblivious.cost import FlightBytes, extended_blocks
from smc.oblivious.lpn import LpnSet
from smc.oblivious.silent_ot import ROW_BYTES, message_bytes
from smc.oblivious.vole import CHALLENGE_WORDS, HASH_BYTES
from smc.oblivious.vole_plan import PRODUCTION, VoleSizes

CHALLENGE_BYTES: Final = 8 * CHALLENGE_WORDS
ANSWER_BYTES: Final = HASH_BYTES
CHECK: Final = (FlightBytes(0, CHALLENGE_BYTES), FlightBytes(ANSWER_BYTES, 0))
"""The check of a call, which travels with other messages."""


def setup(sizes: VoleSizes = PRODUCTION) -> tuple[FlightBytes, ...]:
    """The set-up of one direction, at its first use."""
    made = _refills(sizes, sizes.first_rows) + _sums(sizes.first, sizes.first_blocks)
    return *extended_blocks(sizes.silent.reserve_rows), FlightBytes(made, 0)


def steps(count: int, sizes: VoleSizes = PRODUCTION) -> tuple[FlightBytes, ...]:
    """A call for so many rows, without its check."""
    found: list[FlightBytes] = []
    for number, window in enumerate(sizes.windows(count)):
        if number:
            found.append(FlightBytes(0, 1))
        rows = _refills(sizes, sizes.path_rows(window))
        found.append(FlightBytes(rows + _sums(sizes.field, sum(window)), 0))
    return tuple(found)


def _refills(sizes: VoleSizes, rows: int) -> int:
    return sum(message_bytes(sizes.silent, blocks) for blocks in sizes.refills(rows))


def _sums(sizes: LpnSet, blocks: int) -> int:
    return blocks * sizes.group * (sizes.depth + 1) * ROW_BYTES
