"""A public random string that neither party knew before and neither can choose.

    Alice (a random)    -- CoinCommitment: SHA-256(domain, Alice, a) -->    Bob (b random)
                        <-- CoinCommitment: SHA-256(domain, Bob, b) --
                        -- Coins: a -->
                        <-- Coins: b --                                  SHA-256(domain, a, b)

Each pair of messages crosses. A half is 32 uniform bytes and so hides itself behind its hash; the role in
the hash keeps a party from committing to the other's half.

Inputs: none.
Outputs: 32 bytes, the same at both sides.
Learns: neither party anything.
Assumes: SHA-256 as a random oracle. Whoever deviates can only end the run, also after having seen the result.
Cost: 2 rounds, 64 bytes each way.
Reference: Blum, Coin flipping by telephone, CRYPTO 1981, with a hash as commitment.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows, byte_row
from smc.errors import ProtocolViolation
from smc.forms import Role
from smc.protocols.session import Session

COIN_BYTES: Final = 32

HASH_BYTES: Final = 32
_DOMAIN: Final = b"duetto/coins/2"
_COMMITMENT_DOMAIN: Final = b"duetto/coin-commitment/1"


@dataclass(frozen=True, slots=True)
class CoinCommitment(Message, kind="coin-commitment", hidden=True):
    """The hash of the sender's half."""

    hashed: ByteRows


@dataclass(frozen=True, slots=True)
class Coins(Message, kind="coins", hidden=True):
    """The sender's half."""

    half: ByteRows


def toss(session: Session) -> bytes:
    """Draw a public string together with the peer, who calls it at the same time.

    Raises:
        ProtocolViolation: the peer sent something else, or opened another half than it had committed to.
    """
    own = session.random.bytes(COIN_BYTES)
    session.channel.send(CoinCommitment(byte_row(_commitment(session.role, own))))
    committed = session.channel.recv(CoinCommitment, ExpectedByteRows(1, HASH_BYTES)).tobytes()
    session.channel.send(Coins(byte_row(own)))
    peer = session.channel.recv(Coins, ExpectedByteRows(1, COIN_BYTES)).tobytes()
    if _commitment(session.role.other, peer) != committed:
        raise ProtocolViolation("The peer's half of the joint coins is not the one that it had committed to.")
    first, second = (own, peer) if session.role is Role.ALICE else (peer, own)
    return hashlib.sha256(_DOMAIN + first + second).digest()


def _commitment(role: Role, half: bytes) -> bytes:
    return hashlib.sha256(_COMMITMENT_DOMAIN + role.value.encode().ljust(8) + half).digest()
