"""The declared bounds and scales of columns, exchanged before a run.

    Alice (declarations)    -- Declarations -->    Bob (declarations)
                            <-- Declarations --    at the same time

Inputs: bounds and scale of some own columns.
Outputs: those of the other side's columns, whose number is known.
Learns: each party the other's declarations, which are public in every analysis that uses this.
Assumes: nothing.
Cost: 1 round, 17 bytes per column each way.
Reference: none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.errors import ProtocolViolation
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure

MAX_SCALE: Final = 18
"""More digits after the point would leave no room for a whole number."""

_WORD_BYTES: Final = 8
_BYTES: Final = 2 * _WORD_BYTES + 1


@dataclass(frozen=True, slots=True)
class Declarations(Message, kind="declarations", hidden=True):
    """The sender's declarations, one row each."""

    rows: ByteRows


@dataclass(frozen=True, slots=True)
class Declared:
    """What both parties know of a column of numbers.

    Attributes:
        lower: least value in held units, above -2**63.
        upper: greatest value, below 2**63.
        scale: decimal digits after the point; the held unit is 10**-scale.
    """

    lower: int
    upper: int
    scale: int


def exchange_declarations(session: Session, own: Sequence[Declared], theirs: int) -> list[Declared]:
    """Tell the local declarations and learn the peer's.

    Args:
        session: this side.
        own: bounds fit 63 bits and a sign.
        theirs: how many the peer has.

    Raises:
        ProtocolViolation: the bounds of the peer are impossible, or its scale is.
    """
    encoded = b"".join(
        each.lower.to_bytes(_WORD_BYTES, "big", signed=True)
        + each.upper.to_bytes(_WORD_BYTES, "big", signed=True)
        + each.scale.to_bytes(1, "big")
        for each in own
    )
    session.channel.send(Declarations(ByteRows(np.frombuffer(encoded, dtype=np.uint8).reshape(-1, _BYTES))))
    return [
        _decode(row.tobytes()) for row in session.channel.recv(Declarations, ExpectedByteRows(theirs, _BYTES))
    ]


def _decode(row: bytes) -> Declared:
    lower, upper = (
        int.from_bytes(row[start : start + _WORD_BYTES], "big", signed=True) for start in (0, _WORD_BYTES)
    )
    found = Declared(lower, upper, row[-1])
    if lower > upper or lower == -(1 << 63) or found.scale > MAX_SCALE:
        raise ProtocolViolation("The peer declared a column with impossible bounds or scale.")
    return found


def declarations_cost(alice: int, bob: int) -> Cost:
    """The exact cost of exchanging declarations of so many columns of Alice and of Bob."""
    return Cost((Flight.BOTH,), alice * _BYTES, bob * _BYTES)


SPEC: Final = Procedure(
    name="declared-bounds",
    against=Against.ACTIVE,
    module=__name__,
    cost=declarations_cost,
    example={"alice": 2, "bob": 3},
)
