"""What the cost of a run depends on besides the study and its columns."""

from __future__ import annotations

from dataclasses import dataclass

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.network import Network


@dataclass(frozen=True, slots=True)
class RunSetting:
    """A run whose cost is asked for.

    Attributes:
        rows: of Alice and of Bob.
        limits: those of disclosure, as far as they are known.
        key_bits: size of the Paillier keys.
        network: see `Session.network`.
        lanes: see `Session.lanes`.
    """

    rows: tuple[int, int]
    limits: Limits = NO_LIMITS
    key_bits: int = 2048
    network: Network | None = None
    lanes: int = 1
