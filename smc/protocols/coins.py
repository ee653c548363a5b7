"""A public random string that neither party knew before.

    Alice (a random)    -- Coins -->    Bob (b random)
                        <-- Coins --    at the same time        SHA-256(domain, a, b)

Inputs: none.
Outputs: 32 bytes, the same at both sides.
Learns: neither party anything.
Assumes: semi-honest parties: the one that hears first does not choose its half after the other's.
Cost: 1 round, 32 bytes each way.
Reference: none.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

import numpy as np

from smc.channel.message import Message
from smc.channel.vectors import ExpectedRows, Rows
from smc.forms import Role
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Flight

COIN_BYTES: Final = 32

_DOMAIN: Final = b"duetto/coins/1"


@dataclass(frozen=True, slots=True)
class Coins(Message):
    """The sender's half."""

    half: Rows


def toss(session: Session) -> bytes:
    """Draw a public string together with the peer, who calls it at the same time.

    Raises:
        ProtocolViolation: the peer sent something else.
    """
    own = session.random.bytes(COIN_BYTES)
    session.channel.send(Coins(Rows(np.frombuffer(own, dtype=np.uint8)[None])))
    peer = session.channel.recv(Coins, ExpectedRows(1, COIN_BYTES)).tobytes()
    first, second = (own, peer) if session.role is Role.ALICE else (peer, own)
    return hashlib.sha256(_DOMAIN + first + second).digest()


TOSS_COST: Final = Cost((Flight.BOTH,), COIN_BYTES, COIN_BYTES)
"""What one toss costs."""
