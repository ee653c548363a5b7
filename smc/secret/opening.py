"""Opening shares modulo 2**64 to those who are to learn the values, and to nobody else."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smc.channel.message import Message
from smc.channel.vectors import ExpectedWords, Words
from smc.forms import Role
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Flight


@dataclass(frozen=True, slots=True)
class OpenedShares(Message):
    """The own shares, for a recipient."""

    shares: Words


def open_words(
    session: Session, shares: NDArray[np.uint64], recipients: AbstractSet[Role]
) -> NDArray[np.uint64] | None:
    """Open a shared vector; one flight.

    Args:
        session: the own side of the run.
        shares: own additive shares modulo 2**64, shape (n,).
        recipients: who learns the values; the same on both sides.

    Returns:
        The values modulo 2**64, or None for a party that is no recipient.

    Raises:
        ProtocolViolation: the peer sent another number of shares.
    """
    if session.role.other in recipients:
        session.channel.send(OpenedShares(Words(shares)))
    if session.role not in recipients:
        return None
    return shares + session.channel.recv(OpenedShares, ExpectedWords(len(shares)))


def cost(count: int, recipients: AbstractSet[Role]) -> Cost:
    """The exact cost of `open_words`."""
    to_bob, to_alice = Role.BOB in recipients, Role.ALICE in recipients
    flights = {
        (True, True): (Flight.BOTH,),
        (True, False): (Flight.ALICE,),
        (False, True): (Flight.BOB,),
        (False, False): (),
    }
    return Cost(flights[to_bob, to_alice], 8 * count * to_bob, 8 * count * to_alice)
