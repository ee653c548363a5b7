"""What exchanging numbers of rows costs, and its record."""

from __future__ import annotations

from typing import Final

from smc.channel.vectors import residues_bytes
from smc.protocols.against import Against
from smc.protocols.exchange import row_counts
from smc.protocols.flights import Flight
from smc.protocols.spec import Cost, Procedure


def counts_cost(numbers: int) -> Cost:
    """The exact cost of exchanging so many row counts."""
    size = residues_bytes(row_counts.BOUND, numbers)
    return Cost((Flight.BOTH,), size, size)


ROW_COUNTS: Final = Procedure(
    name="row-counts",
    against=Against.ACTIVE,
    module=row_counts.__name__,
    cost=counts_cost,
    example={"numbers": 3},
)
