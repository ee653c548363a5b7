"""What the steps of the engine send, exactly, as functions of public parameters.

The first party of a comparison is the one that holds x; of a conversion to words, the one that sends the
transfers; in all else both do the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from smc.oblivious.base import NONCE_BYTES, POINT_BYTES
from smc.oblivious.bitmatrix import COLUMNS, words_for

BLOCK_TRANSFERS: Final = 1 << 18
"""Most transfers of one direction in one message: 4 MiB, which a transport has to buffer in each direction
because both parties send before either reads."""

WORD_BITS: Final = 64


@dataclass(frozen=True, slots=True)
class Step:
    """One flight: bytes of message bodies from either party; 0 is silence.

    Attributes:
        first: bytes from the first party.
        second: bytes from the second party.
    """

    first: int
    second: int


SETUP: Final = (
    Step(NONCE_BYTES + 2 * POINT_BYTES, NONCE_BYTES + 2 * POINT_BYTES),
    Step(COLUMNS * POINT_BYTES, COLUMNS * POINT_BYTES),
)
"""The base transfers of both directions."""


def blocks(count: int, transfers: int) -> Iterator[slice]:
    """Cut a batch into blocks that fit `BLOCK_TRANSFERS`.

    Args:
        count: instances in the batch.
        transfers: most transfers of one direction that an instance takes.
    """
    size = max(1, BLOCK_TRANSFERS // max(1, transfers))
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def matrix_bytes(transfers: int) -> int:
    """Bytes of the extension matrix of so many transfers."""
    return COLUMNS * 8 * words_for(transfers)


def _packed(bits: int) -> int:
    return (bits + 7) // 8


def _openings(count: int, bits: int) -> list[Step]:
    """The levels of the carry tree over `bits` planes of `count` instances."""
    steps = []
    while bits > 1:
        size = _packed(3 * (bits // 2) * count)
        steps.append(Step(size, size))
        bits -= bits // 2
    return steps


def comparison_transfers(bits: int) -> tuple[int, int]:
    """Transfers per comparison that the x holder and that the y holder receives."""
    return 2 * bits - 1, bits - 1


def comparison(count: int, bits: int) -> tuple[Step, ...]:
    """Comparing `count` pairs of which one party holds x and the other y."""
    steps: list[Step] = []
    by_x, by_y = comparison_transfers(bits)
    for block in blocks(count, by_x):
        size = block.stop - block.start
        steps.append(Step(matrix_bytes(by_x * size), matrix_bytes(by_y * size)))
        steps.append(Step(0, _packed(bits * size)))
        steps += _openings(size, bits)
    return tuple(steps)


def below(count: int) -> tuple[Step, ...]:
    """Comparing `count` XOR-shared words with public bounds."""
    steps: list[Step] = []
    for block in blocks(count, WORD_BITS - 1):
        size = block.stop - block.start
        matrix = matrix_bytes((WORD_BITS - 1) * size)
        steps += [Step(matrix, matrix), *_openings(size, WORD_BITS)]
    return tuple(steps)


def conjunction(count: int) -> tuple[Step, ...]:
    """AND of `count` pairs of XOR-shared bits."""
    steps: list[Step] = []
    for block in blocks(count, 1):
        size = block.stop - block.start
        steps.append(Step(matrix_bytes(size), matrix_bytes(size)))
        steps.append(Step(_packed(2 * size), _packed(2 * size)))
    return tuple(steps)


def to_words(count: int) -> tuple[Step, ...]:
    """Converting `count` XOR-shared bits to shares modulo 2**64."""
    steps: list[Step] = []
    for block in blocks(count, 1):
        size = block.stop - block.start
        steps += [Step(0, matrix_bytes(size)), Step(8 * size, 0)]
    return tuple(steps)
