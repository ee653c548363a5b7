"""Simple random sampling without replacement."""

from __future__ import annotations

from typing import ClassVar

from anonymizer.errors import TableError
from anonymizer.models.method import Method
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table


class Sampling(Method):
    """Keeps a random part of the rows, in their order.

    Args:
        rate: the part, in (0, 1]; round(rate * n) rows are kept, at least one.
        random_state: a seed, or None for the operating system's randomness.

    Reference: thesis, sections 2.2.3 and 4.2.2.
    """

    word: ClassVar[str] = "sampling"

    def __init__(self, *, rate: float = 0.8, random_state: int | None = None) -> None:
        self.rate = rate
        self.random_state = random_state

    def columns_of(self, table: Table) -> tuple[str, ...]:
        """None."""
        del table
        return ()

    def _fit(self, table: Table) -> None:
        del table
        if not 0 < self.rate <= 1:
            raise TableError(f"The sampling rate {self.rate} lies outside (0, 1].", "Choose another.")

    def _transform(self, table: Table) -> Table:
        size = max(1, round(self.rate * len(table)))
        return table.taken(Randomness(self.random_state).sample(len(table), size))
