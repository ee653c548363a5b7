"""How batches are cut: into spans that a transport can buffer, and comparisons into digits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from smc.oblivious import ot_1_of_16, softspoken
from smc.oblivious.bitmatrix import SLOTS
from smc.oblivious.consistency import proof_bytes
from smc.pieces import chunks

SPAN_BYTES: Final = 16 << 20
"""Most bytes that a party sends before it reads: what a transport has to buffer in each direction."""


WORD_BITS: Final = 64


POOL_NAME_BYTES: Final = 32


WORD_BYTES: Final = 8


BIT_COLUMN_BYTES: Final = softspoken.TREES * WORD_BYTES


CHOICE_COLUMN_BYTES: Final = ot_1_of_16.MATRIX_ROWS * WORD_BYTES


_PROOF_BYTES: Final = proof_bytes(1, softspoken.TREES) + proof_bytes(
    ot_1_of_16.DIGIT_BITS, ot_1_of_16.MATRIX_ROWS
)


PLANES_SENT: Final = 2 * (ot_1_of_16.CHOICES - 1)


def spans(count: int, word_bytes: int) -> Iterator[slice]:
    """Cut a batch into spans whose first flight fits `SPAN_BYTES`, with the proofs of its transfers.

    Args:
        count: instances in the batch.
        word_bytes: most bytes of one direction's first flight for 64 instances, at least 1.
    """
    size = SLOTS * max(1, (SPAN_BYTES - _PROOF_BYTES) // word_bytes)
    return chunks(count, size)


@dataclass(frozen=True, slots=True)
class Digits:
    """How a comparison is cut into digits of four bits, the lower ones sent by the holder of x.

    Attributes:
        count: digits.
        sent_by_x: digits whose 1-of-16 transfers the holder of x sends, the lowest ones.
    """

    count: int
    sent_by_x: int

    @classmethod
    def of(cls, bits: int) -> Digits:
        """For numbers of so many bits."""
        count = -(-bits // ot_1_of_16.DIGIT_BITS)
        return cls(count, (count + 1) // 2)

    @property
    def sent_by_y(self) -> int:
        """Digits whose transfers the holder of y sends."""
        return self.count - self.sent_by_x

    @property
    def joins(self) -> int:
        """Pairs of neighbours that are joined until one is left."""
        return self.count - 1

    @property
    def word_bytes(self) -> int:
        """Most bytes of one direction's first flight for 64 comparisons."""
        return CHOICE_COLUMN_BYTES * self.sent_by_x + BIT_COLUMN_BYTES * self.joins

    @property
    def prepared_word_bytes(self) -> int:
        """Most bytes of one direction's largest flight for 64 comparisons out of a pool."""
        return PLANES_SENT * WORD_BYTES * self.sent_by_x


BELOW_WORD_BYTES: Final = BIT_COLUMN_BYTES * (WORD_BITS - 1)


CONJUNCTION_WORD_BYTES: Final = BIT_COLUMN_BYTES


CORRELATED_WORD_BYTES: Final = BIT_COLUMN_BYTES + SLOTS * WORD_BYTES
