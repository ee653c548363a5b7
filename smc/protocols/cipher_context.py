"""What a protocol on one homomorphic cipher needs of a session, and how two parties exchange keys.

    Alice (own key pair)                Bob (own key pair)
      ElGamal: Q_A       -- PublicPoint --       Q_B         (both at once)
      DGK:     n, g, h   -- PublicNumbers --     n, g, h     (both at once)

Inputs: a secret key of its own at each side.
Outputs: each party a context: its own cipher, and the cipher under the peer's public key.
Learns: each party the other's public key, whose sizes are fixed.
Assumes: semi-honest parties: nobody proves that its key is well made. What can be checked is checked.
Cost: 1 round; 33 bytes each way for ElGamal, 768 for DGK.
Reference: none.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.ciphers.curve import POINT_BYTES
from smc.ciphers.dgk import Dgk, OwnDgk
from smc.ciphers.dgk_keys import (
    KEY_BYTES,
    DgkPrivateKey,
    check_dgk_key,
    decode_public_key,
    encode_public_key,
)
from smc.ciphers.elgamal import ElGamal, ElGamalKey, OwnElGamal, generate_elgamal
from smc.ciphers.homomorphic import B, Cipher, OwnCipher
from smc.numeric.random import Randomness
from smc.pieces import Report


class CipherContext(Protocol[B]):
    """The conversation, the randomness, and a cipher both ways; a `FullSession` is one for Paillier."""

    @property
    def channel(self) -> Channel:
        """The conversation with the peer."""
        ...

    @property
    def random(self) -> Randomness:
        """The source of randomness."""
        ...

    @property
    def report(self) -> Report:
        """Called as work proceeds."""
        ...

    @property
    def own(self) -> OwnCipher[B]:
        """The cipher of which this party holds the secret key."""
        ...

    @property
    def peer(self) -> Cipher[B]:
        """The cipher of which the peer holds the secret key."""
        ...


OwnT = TypeVar("OwnT", bound=OwnCipher[Any])
PeerT = TypeVar("PeerT", bound=Cipher[Any])


@dataclass(frozen=True, slots=True)
class KeyedCipherContext(Generic[OwnT, PeerT]):
    """A context with the ciphers that it was given.

    Attributes:
        channel: the conversation with the peer.
        random: the source of randomness.
        report: called as work proceeds.
        own: the cipher of which this party holds the secret key.
        peer: the cipher of which the peer holds the secret key.
    """

    channel: Channel
    random: Randomness = field(repr=False)
    report: Report
    own: OwnT
    peer: PeerT


@dataclass(frozen=True, slots=True)
class PublicPoint(Message, kind="public-point", hidden=True):
    """Both ways: an ElGamal key."""

    point: ByteRows


@dataclass(frozen=True, slots=True)
class PublicNumbers(Message, kind="public-numbers", hidden=True):
    """Both ways: a DGK key."""

    numbers: ByteRows


def elgamal_context(
    channel: Channel, executor: Executor, random: Randomness, report: Report
) -> KeyedCipherContext[OwnElGamal, ElGamal]:
    """Make an ElGamal key for this session and exchange public keys; both parties do so at the same place.

    Raises:
        ProtocolViolation: the peer's key is not a point of the curve.
    """
    secret = generate_elgamal(random)
    channel.send(PublicPoint(_row(secret.public.data)))
    peer = ElGamalKey(channel.recv(PublicPoint, ExpectedByteRows(1, POINT_BYTES)).tobytes())
    return KeyedCipherContext(
        channel, random, report, OwnElGamal(secret, random, executor), ElGamal(peer, random, executor)
    )


def dgk_context(
    key: DgkPrivateKey, channel: Channel, executor: Executor, random: Randomness, report: Report
) -> KeyedCipherContext[OwnDgk, Dgk]:
    """Exchange public DGK keys; both parties do so at the same place.

    Raises:
        KeyMaterialError: the local key is not of the size that parties use.
        ProtocolViolation: the peer's key is malformed or of another size.
    """
    check_dgk_key(key.public)
    channel.send(PublicNumbers(_row(encode_public_key(key.public))))
    peer = decode_public_key(channel.recv(PublicNumbers, ExpectedByteRows(1, KEY_BYTES)).tobytes())
    return KeyedCipherContext(
        channel, random, report, OwnDgk(key, random, executor), Dgk(peer, random, executor)
    )


def _row(data: bytes) -> ByteRows:
    return ByteRows(np.frombuffer(data, dtype=np.uint8).reshape(1, -1))
