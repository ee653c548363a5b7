"""Memory of a run from a model with two figures for each analysis: a fixed part and bytes for each row.

The figures are measured, see docs/benchmarks.md: what is sent goes in batches of bounded size, so that the
peak of a party grows with its rows and not with the traffic. They steer nothing; people plan by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MEBI: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Memory:
    """The peak of one party in a run, over what its daemon holds when idle.

    Attributes:
        fixed: bytes for batches of full size, which small runs do not fill.
        row: bytes for each row of a side; both sides bring as many.
    """

    fixed: int
    row: float

    def at(self, rows: int) -> int:
        """Bytes for so many rows a side."""
        return self.fixed + round(self.row * rows)
