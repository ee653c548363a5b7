"""How many iterations, trees and raw rows vector OLE takes for so many rows: public numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from smc.errors import UsageError
from smc.oblivious import field_lpn, lpn
from smc.oblivious.bitmatrix import words_for
from smc.oblivious.lpn import LpnSet
from smc.oblivious.numpy_field import ELEMENT_BITS

MOST_ROWS: Final = 1 << 28
"""More rows are not made at once: they alone would fill 12 GiB at both parties together."""

WINDOW: Final = 16
"""Iterations that the sender makes before it has heard of the receiver: what a peer only announces takes no
memory beyond these."""


@dataclass(frozen=True, slots=True)
class VoleSizes:
    """The problems on which vector OLE rests.

    Attributes:
        field: of the iteration.
        first: of the one before it, whose rows are the first entries that an iteration takes.
        silent: of the transfers that the entries of the first one and the trees of all are made of.
    """

    field: LpnSet
    first: LpnSet
    silent: LpnSet

    @property
    def kept(self) -> int:
        """Entries that an iteration takes, and leaves for the next one: k + t."""
        return self.field.length + self.field.trees

    @property
    def packed(self) -> int:
        """Entries that the first one takes."""
        return self.first.length + self.first.trees

    @property
    def first_blocks(self) -> int:
        """Blocks of the first one."""
        return -(-self.kept // self.first.block_rows)

    @property
    def first_rows(self) -> int:
        """Raw rows that the first one takes: 128 for each entry, and those of its trees."""
        return ELEMENT_BITS * self.packed + self.first_blocks * self.first.group * self.first.depth

    def check(self, count: int) -> None:
        """Demand a number of rows that can be made.

        Raises:
            UsageError: it is above `MOST_ROWS`.
        """
        if count > MOST_ROWS:
            raise UsageError(
                f"{count} keys are more than the {MOST_ROWS} that one run can take.",
                "Split the data into several jobs.",
            )

    def iterations(self, count: int) -> Iterator[int]:
        """Blocks of each iteration for so many rows and one more, which the check uses up; none for none."""
        left, full = count + 1 if count else 0, self.field.trees // self.field.group
        while left > 0:
            blocks = min(full, -(-(left + self.kept) // self.field.block_rows))
            yield blocks
            left -= blocks * self.field.block_rows - self.kept

    def windows(self, count: int) -> Iterator[list[int]]:
        """The same, as many at a time as are made without an answer."""
        blocks = list(self.iterations(count))
        for start in range(0, len(blocks), WINDOW):
            yield blocks[start : start + WINDOW]

    def rows_made(self, count: int) -> int:
        """Rows that are made in all, without those that the next iteration takes the place of."""
        blocks = list(self.iterations(count))
        return sum(blocks) * self.field.block_rows - max(0, len(blocks) - 1) * self.kept

    def refills(self, rows: int) -> list[int]:
        """Blocks of each iteration of silent transfers for so many raw rows."""
        return self.silent.iterations(words_for(rows))

    def path_rows(self, window: list[int]) -> int:
        """Raw rows for the trees of iterations: one for each level."""
        return sum(window) * self.field.group * self.field.depth


PRODUCTION: Final = VoleSizes(field_lpn.PRODUCTION, field_lpn.FIRST, lpn.SMALLER)
