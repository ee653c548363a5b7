"""What oblivious transfer costs the protocols that use it, and what a session sets up for it once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from smc.forms import Role
from smc.oblivious import oprf
from smc.oblivious.cost import SETUP, FlightBytes
from smc.oblivious.silent_circuits import setup
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Flight, Setup

_FLIGHTS: Final = {
    (True, False): Flight.ALICE,
    (False, True): Flight.BOB,
    (True, True): Flight.BOTH,
}


def cost_of(steps: Iterable[FlightBytes]) -> Cost:
    """The cost of steps of the oblivious engine whose first party is Alice."""
    flights = []
    alice = bob = 0
    for step in steps:
        flights.append(_FLIGHTS[step.first > 0, step.second > 0])
        alice += step.first
        bob += step.second
    return Cost(tuple(flights), alice, bob)


TRANSFER_SECURITY: Final = (
    "Semi-honest; 128-bit oblivious transfer: CDH on secp256k1 in the random oracle model, AES as an ideal "
    "cipher."
)
"""What a protocol assumes that uses nothing else."""

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


def _set_up_functions(session: Session) -> None:
    # A batch of no functions at all sends nothing but the set-up of its direction.
    if session.role is Role.ALICE:
        session.oblivious.prf_receive(np.empty((0, 2), dtype=np.uint64))
    else:
        session.oblivious.prf_send(0)


FUNCTIONS: Final = Setup("functions", _set_up_functions, cost_of(oprf.SETUP).mirror)
"""The seed trees of pseudorandom functions that Bob holds and Alice evaluates; listed after `TRANSFERS`."""
