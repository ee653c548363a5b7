"""Opening shares to those who are to learn the values, and to nobody else."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smc.channel.message import Message
from smc.channel.vectors import Bits, ExpectedBits, ExpectedWords, Words
from smc.forms import Role
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Flight


@dataclass(frozen=True, slots=True)
class OpenedShares(Message, kind="opened-shares"):
    """The local shares, for a recipient."""

    shares: Words


@dataclass(frozen=True, slots=True)
class OpenedBits(Message, kind="opened-bits"):
    """The local XOR shares of bits, for a recipient."""

    shares: Bits


def open_words(
    session: Session, shares: NDArray[np.uint64], recipients: AbstractSet[Role]
) -> NDArray[np.uint64] | None:
    """Open a shared vector; one flight.

    Args:
        session: this side of the run.
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


def open_bits(
    session: Session, shares: NDArray[np.uint8], recipients: AbstractSet[Role]
) -> NDArray[np.uint8] | None:
    """Open XOR-shared bits; one flight.

    Args:
        session: this side of the run.
        shares: own XOR shares, shape (n,).
        recipients: who learns the bits; the same on both sides.

    Returns:
        The bits, or None for a party that is no recipient.

    Raises:
        ProtocolViolation: the peer sent another number of shares.
    """
    if session.role.other in recipients:
        session.channel.send(OpenedBits(Bits(shares)))
    if session.role not in recipients:
        return None
    return shares ^ session.channel.recv(OpenedBits, ExpectedBits(len(shares)))


def cost(count: int, recipients: AbstractSet[Role]) -> Cost:
    """The exact cost of `open_words`."""
    return _cost(8 * count, recipients)


def cost_bits(count: int, recipients: AbstractSet[Role]) -> Cost:
    """The exact cost of `open_bits`."""
    return _cost((count + 7) // 8, recipients)


def _cost(size: int, recipients: AbstractSet[Role]) -> Cost:
    to_bob, to_alice = Role.BOB in recipients, Role.ALICE in recipients
    flights = {
        (True, True): (Flight.BOTH,),
        (True, False): (Flight.ALICE,),
        (False, True): (Flight.BOB,),
        (False, False): (),
    }
    return Cost(flights[to_bob, to_alice], size * to_bob, size * to_alice)
