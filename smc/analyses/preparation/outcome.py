"""What both parties hear of a preparation."""

from __future__ import annotations

from smc.analyses.preparation.cost import ROUTE
from smc.analyses.preparation.parameters import PreparationParameters
from smc.analyses.studies.outcome import Outcome


def outcome(parameters: PreparationParameters, prepared: int) -> Outcome:
    """The outcome of either party, without a table.

    Args:
        parameters: of the job.
        prepared: comparisons that the pool is good for.
    """
    details = {
        "route": ROUTE,
        "comparisons": prepared,
        "bits": parameters.bits,
        "x_at": parameters.x_at.value,
    }
    return Outcome(
        notes=(f"{prepared} comparisons of {parameters.bits} bits are prepared.",), details=details
    )
