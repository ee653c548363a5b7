"""Public texts, exchanged before a run, such as the declarations of columns with their labels.

    Alice (text)    -- PublicText -->    Bob (text)
                    <-- PublicText --    at the same time

Inputs: a text of each side, whose length in bytes the other side knows already.
Outputs: the other side's.
Learns: each party the other's text, which is public in every analysis that uses this.
Assumes: nothing.
Cost: 1 round, the bytes of the texts.
Reference: none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.errors import DomainError, ProtocolViolation
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure

MAX_BYTES: Final = 1 << 20
"""Longer texts are neither sent nor taken."""


@dataclass(frozen=True, slots=True)
class PublicText(Message, kind="public-text", hidden=True):
    """The sender's text."""

    octets: ByteRows


def exchange_texts(session: Session, own: bytes, length: int) -> str:
    """Tell the local text and learn the peer's.

    Args:
        session: this side.
        own: UTF-8, at least one byte.
        length: of the peer's, as it has announced it.

    Raises:
        DomainError: the local text is too long; nothing was sent.
        ProtocolViolation: the peer announced too much, or sent no text.
    """
    if len(own) > MAX_BYTES:
        raise DomainError(
            "The declarations of the columns are too long to be sent.", "Declare fewer or shorter labels."
        )
    if not 1 <= length <= MAX_BYTES:
        raise ProtocolViolation("The peer announced declarations of an impossible length.")
    session.channel.send(PublicText(ByteRows(np.frombuffer(own, dtype=np.uint8)[None])))
    received = session.channel.recv(PublicText, ExpectedByteRows(1, length)).tobytes()
    try:
        return received.decode("utf-8")
    except UnicodeDecodeError:
        raise ProtocolViolation("The peer's declarations are not text.") from None


def texts_cost(alice: int, bob: int) -> Cost:
    """The exact cost of exchanging texts of so many bytes of Alice and of Bob."""
    return Cost((Flight.BOTH,), alice, bob)


SPEC: Final = Procedure(
    name="public-texts",
    against=Against.ACTIVE,
    module=__name__,
    cost=texts_cost,
    example={"alice": 20, "bob": 30},
)
