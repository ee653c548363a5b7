"""Whether both parties go on: one bit of each, before something that either may refuse.

    Alice (yes or no)    -- Agreement -->    Bob (yes or no)
                         <-- Agreement --    at the same time

Inputs: a bit at each side.
Outputs: whether both are 1, at both sides.
Learns: each party the other's bit.
Assumes: nothing.
Cost: 1 round, 1 byte each way.
Reference: none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.errors import ProtocolViolation
from smc.protocols.session import Session


@dataclass(frozen=True, slots=True)
class Agreement(Message, kind="agreement", hidden=True):
    """Whether the sender goes on: 0 or 1."""

    answer: ByteRows


def agree(session: Session, *, answer: bool) -> bool:
    """Whether both parties go on; the peer calls it at the same time.

    Raises:
        ProtocolViolation: the peer sent something else than a bit.
    """
    session.channel.send(Agreement(ByteRows(np.array([[answer]], dtype=np.uint8))))
    (theirs,) = session.channel.recv(Agreement, ExpectedByteRows(1, 1)).reshape(-1).tolist()
    if theirs not in (0, 1):
        raise ProtocolViolation("The peer neither agreed nor refused.")
    return answer and theirs == 1
