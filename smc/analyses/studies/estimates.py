"""Estimates out of exact costs, and of the seconds that a run without silent transfers takes on loopback."""

from __future__ import annotations

from smc.analyses.studies.study import Estimate, Longest
from smc.levels import level_of_run
from smc.network import Network
from smc.oblivious.kernels import run_compiled
from smc.planning.cost import operation_named
from smc.protocols.transfer_costs import OPENING_SECONDS, SILENT_ROWS
from smc.tracing.session import Trace


def estimate(
    found: Trace,
    seconds: float,
    route: str,
    memory: int | None,
    network: Network | None,
    longest: Trace | None = None,
) -> Estimate:
    """The estimate of a run in a fresh session.

    Args:
        found: what the whole run takes.
        seconds: of a run on loopback, without the work of silent transfers.
        route: how it will be done, for people.
        memory: bytes, see `Estimate`.
        network: over which the run goes.
        longest: what the longest run takes, where data decide how long it is.
    """
    row = operation_named(SILENT_ROWS).seconds_taken(compiled=run_compiled())
    seconds += row * found.silent_rows + OPENING_SECONDS * found.opens_lanes
    if network is not None:
        # What is made ahead takes time only as far as it is more than the waiting.
        waiting = network.seconds(found.rounds, found.alice_bytes, found.bob_bytes)
        seconds += max(0.0, row * found.ahead_rows - waiting)
    sent = found.alice_bytes, found.bob_bytes
    most = None
    if longest is not None:
        most = Longest(longest.rounds, longest.alice_bytes, longest.bob_bytes)
    against = level_of_run(found.modules)
    return Estimate(found.rounds, *sent, seconds, route, memory, against=against, most=most)
