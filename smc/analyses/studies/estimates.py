"""Estimates out of exact costs, and of the seconds that a run without silent transfers takes on loopback."""

from __future__ import annotations

from dataclasses import dataclass

from smc.analyses.studies.study import Estimate
from smc.network import Network
from smc.oblivious.kernels import run_compiled
from smc.planning.cost import operation_named
from smc.protocols.spec import Cost
from smc.protocols.transfer_costs import OPENING_SECONDS, SILENT_ROWS
from smc.tracing.session import Trace


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast runs of an analysis are on loopback, measured; `docs/benchmarks.md` says how.

    Attributes:
        fixed: seconds of a run of any size.
        byte: seconds of each byte that either party sends, with the compiled kernels.
        round: seconds of each round.
        numpy: how many times as long a byte takes with numpy's kernels.
    """

    fixed: float
    byte: float
    round: float = 0.0
    numpy: float = 1.5

    def seconds(self, cost: Cost | Trace) -> float:
        """What a run takes with the kernels that run here."""
        byte = self.byte if run_compiled() else self.numpy * self.byte
        return self.fixed + self.round * cost.rounds + byte * (cost.alice_bytes + cost.bob_bytes)


def estimated(
    found: Trace, seconds: float, route: str, memory: int | None, network: Network | None
) -> Estimate:
    """The estimate of a run in a fresh session.

    Args:
        found: what the whole run takes.
        seconds: of a run on loopback, without the work of silent transfers.
        route: how it will be done, for people.
        memory: bytes, see `Estimate`.
        network: over which the run goes.
    """
    row = operation_named(SILENT_ROWS).taken(compiled=run_compiled())
    seconds += row * found.silent_rows + OPENING_SECONDS * found.opens_lanes
    if network is not None:
        # What is made ahead takes time only as far as it is more than the waiting.
        waiting = network.seconds(found.rounds, found.alice_bytes, found.bob_bytes)
        seconds += max(0.0, row * found.ahead_rows - waiting)
    return Estimate(found.rounds, found.alice_bytes, found.bob_bytes, seconds, route, memory)
