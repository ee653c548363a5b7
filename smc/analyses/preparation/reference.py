"""What a preparation gives with a trusted third party."""

from __future__ import annotations

from smc.analyses.preparation.outcome import outcome
from smc.analyses.preparation.parameters import PreparationParameters
from smc.analyses.studies.outcome import Outcome


def reference(parameters: PreparationParameters) -> tuple[Outcome, Outcome]:
    """The reference: a trusted third party has nothing to prepare."""
    return outcome(parameters, 0), outcome(parameters, 0)
