"""What oblivious transfer costs the protocols that use it, and what a session sets up for it once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from smc.oblivious.cost import SETUP, Step
from smc.oblivious.silent_circuits import setup
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Flight, Setup

_FLIGHTS: Final = {
    (True, False): Flight.ALICE,
    (False, True): Flight.BOB,
    (True, True): Flight.BOTH,
}


def cost_of(steps: Iterable[Step]) -> Cost:
    """The cost of steps of the oblivious engine whose first party is Alice."""
    flights = []
    alice = bob = 0
    for step in steps:
        flights.append(_FLIGHTS[step.first > 0, step.second > 0])
        alice += step.first
        bob += step.second
    return Cost(tuple(flights), alice, bob)


SETUP_COST: Final = cost_of(SETUP)
"""What the first use of oblivious transfer in a session costs, whichever protocol it is."""


def _set_up_transfers(session: Session) -> None:
    session.oblivious.setup()


def _set_up_silent(session: Session) -> None:
    session.oblivious.setup_silent()


TRANSFERS: Final = Setup("transfers", _set_up_transfers, SETUP_COST)
"""The base transfers and seed trees of both directions."""

SILENT_TRANSFERS: Final = Setup("silent-transfers", _set_up_silent, cost_of((setup(),)))
"""The first reserve of silent transfers, which `TRANSFERS` makes: to be listed after it."""
