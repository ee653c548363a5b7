"""Opening shares to those who are to learn the values, and to nobody else.

    Alice (shares)    -- OpenedShares -->    Bob, if he is a recipient
                      <-- OpenedShares --    for Alice, if she is one; at the same time

Inputs: additive shares modulo 2**64 of integers, or XOR shares of bits; the recipients, public.
Outputs: the values, at the recipients.
Learns: the recipients the values, and as the share they receive is the value minus their share, nothing more.
Assumes: nothing.
Cost: `cost`, `cost_bits`: 1 flight, 8 bytes per integer or 1 bit per bit to each recipient.
Reference: none.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.channel.message import Message
from smc.channel.vectors import Bits, ExpectedBits, ExpectedWords, Words
from smc.forms import Role
from smc.protocols.flights import Flight
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure


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
        shares: local additive shares modulo 2**64, shape (n,).
        recipients: who learns the values; the same on both sides.

    Returns:
        The values modulo 2**64, or None for a party that is not a recipient.

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
        shares: local XOR shares, shape (n,).
        recipients: who learns the bits; the same on both sides.

    Returns:
        The bits, or None for a party that is not a recipient.

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


SPEC: Final = Procedure(
    name="opened-words",
    module=__name__,
    inputs="shares modulo 2^64",
    outputs="the values, at the recipients",
    cost=cost,
    learns="The recipients learn the values.",
    security="None needed: what is sent a recipient gets is uniform but for the value.",
    reference="none",
    example={"count": 1000, "recipients": frozenset(Role)},
)


SPEC_BITS: Final = Procedure(
    name="opened-bits",
    module=__name__,
    inputs="XOR shares of bits",
    outputs="the bits, at the recipients",
    cost=cost_bits,
    learns="The recipients learn the bits.",
    security="None needed: what is sent a recipient gets is uniform but for the bit.",
    reference="none",
    example={"count": 1000, "recipients": frozenset(Role)},
)
