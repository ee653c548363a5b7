"""Memory and time of a run on loopback, from models with a few figures for each analysis.

The figures are measured, see docs/benchmarks.md: what is sent goes in batches of bounded size, so that the
peak of a party grows with its rows and not with the traffic. They steer nothing; people plan by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from smc.tracing.session import Trace

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


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast runs of an analysis are on loopback.

    Attributes:
        fixed: seconds of a run of any size.
        byte: seconds of each byte that either party sends, with the compiled kernels.
        round: seconds of each round.
        row: seconds of each row of the side with more.
        numpy: how many times as long a byte takes with numpy's kernels.
        numpy_fixed: how many times as long the fixed part takes with them: many small steps.
    """

    fixed: float
    byte: float
    round: float = 0.0
    row: float = 0.0
    numpy: float = 1.5
    numpy_fixed: float = 1.0

    def seconds(self, found: Trace, rows: int, *, compiled: bool) -> float:
        """What a run takes.

        Args:
            found: what it sends.
            rows: of the side with more.
            compiled: whether the compiled kernels run.
        """
        fixed, byte = (1.0, 1.0) if compiled else (self.numpy_fixed, self.numpy)
        sent = byte * self.byte * (found.alice_bytes + found.bob_bytes)
        return fixed * self.fixed + self.round * found.rounds + self.row * rows + sent


USUAL_PACE: Final = Pace(0.05, byte=6e-9)
"""Of an analysis that has not been measured."""
