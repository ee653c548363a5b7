"""What exchanging numbers of rows costs, and its record."""

from __future__ import annotations

from typing import Final

from smc.channel.vectors import residues_bytes
from smc.protocols.exchange import row_counts
from smc.protocols.flights import Flight
from smc.protocols.spec import Cost, Procedure


def counts_cost(numbers: int) -> Cost:
    """The exact cost of exchanging so many row counts."""
    size = residues_bytes(row_counts.BOUND, numbers)
    return Cost((Flight.BOTH,), size, size)


ROW_COUNTS: Final = Procedure(
    name="row-counts",
    module=row_counts.__name__,
    inputs="numbers of rows at each party",
    outputs="those of the other, at both",
    cost=counts_cost,
    learns="Each party learns the row counts of the other.",
    security="None needed: what is sent is public.",
    reference="none",
    example={"numbers": 3},
)
