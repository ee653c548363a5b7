"""Opening shares to those who are to learn the values, and to nobody else.

    Alice (shares)    -- OpenedShares -->    Bob, if he is a recipient
                      <-- OpenedShares --    for Alice, if she is one; at the same time

Inputs: additive shares modulo 2**64 of integers, or XOR shares of bits; the recipients, public.
Outputs: the values, at the recipients.
Learns: the recipients the values, and as the share they receive is the value minus their share, nothing more.
Assumes: nothing.
Cost: `records.cost_opening`, `records.cost_opening_bits`: 1 flight, 8 bytes per integer or 1 bit per
bit to each recipient.
Reference: none.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smc.channel.message import Message
from smc.channel.vectors import Bits, ExpectedBits, ExpectedWords, Words
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.session import Session


@dataclass(frozen=True, slots=True)
class OpenedShares(Message, kind="opened-shares"):
    """The local shares, for a recipient."""

    shares: Words


@dataclass(frozen=True, slots=True)
class OpenedBits(Message, kind="opened-bits"):
    """The local XOR shares of bits, for a recipient."""

    shares: Bits


Recipients = AbstractSet[Role] | Role | str
"""Who learns what is opened: a set of roles, or one, which may be given by its word."""


def roles_of(recipients: Recipients) -> AbstractSet[Role]:
    """Recipients as a set.

    Raises:
        UsageError: they are no parties.
    """
    given = {recipients} if isinstance(recipients, str | Role) else recipients
    try:
        return frozenset(map(Role, given))
    except (ValueError, TypeError):
        raise UsageError(
            f"{recipients!r} is no recipient.", "Give Role.ALICE or Role.BOB, or a set of both."
        ) from None


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
        ProtocolViolation: the peer sent another number of shares, or its transfers are not consistent.
    """
    session.oblivious.verify()
    if session.role.other in recipients:
        session.channel.send(OpenedShares(Words(shares)))
    if session.role not in recipients:
        return None
    return shares + session.channel.recv(OpenedShares, ExpectedWords(len(shares)))


def open_bits(
    session: Session,
    shares: NDArray[np.uint8],
    recipients: AbstractSet[Role],
    kind: type[OpenedBits] = OpenedBits,
) -> NDArray[np.uint8] | None:
    """Open XOR-shared bits; one flight.

    Args:
        session: this side of the run.
        shares: local XOR shares, shape (n,).
        recipients: who learns the bits; the same on both sides.
        kind: of the message, by which it is known which protocol opens them.

    Returns:
        The bits, or None for a party that is not a recipient.

    Raises:
        ProtocolViolation: the peer sent another number of shares, or its transfers are not consistent.
    """
    session.oblivious.verify()
    if session.role.other in recipients:
        session.channel.send(kind(Bits(shares)))
    if session.role not in recipients:
        return None
    return shares ^ session.channel.recv(kind, ExpectedBits(len(shares)))
