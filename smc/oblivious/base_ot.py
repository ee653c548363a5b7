"""Base oblivious transfers on secp256k1, 288 in each direction, and the session id of both parties.

    sender (keys k0_i, k1_i)                  receiver (choices c_i, keys k_i = kc_i)
      a random, A = aG, C random   -- A, C -->
                                   <-- P_i --  r_i random, Q = r_i G, P_i = Q if c_i = 0 else C - Q
      k0_i = H(aP_i), k1_i = H(aC - aP_i)      k_i = H(r_i A)

Both directions run at once in two flights, together with a nonce from each party.

Inputs: nothing.
Outputs: 288 pairs of keys at each party as a sender, and at the other one key of each pair, of random choice;
the session id, the same at both.
Learns: the sender nothing (P_i is a uniform point whatever c_i is), the receiver one key of each pair.
Assumes: computational Diffie-Hellman on secp256k1 and H = SHA-256 as a random oracle, for a semi-honest
sender and any receiver that sends valid points; about 128 bits. The sender's C must have a discrete logarithm
that the receiver does not know: it is the sender's own random point. H binds the session id, the direction,
the index, A, C and P_i, so that keys of two sessions, directions or indices are unrelated.
Cost: 2 flights, 288 points and a nonce each way and two points more; `smc.oblivious.cost.SETUP`.
Reference: Naor and Pinkas, Efficient oblivious transfer protocols, SODA 2001, section 3 (with one A for all
transfers, as the paper allows in the random oracle model).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from coincurve import PublicKey
from coincurve.utils import GROUP_ORDER_INT
from numpy.typing import NDArray

from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.errors import ProtocolViolation
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious import ot_1_of_16, softspoken
from smc.oblivious.bitmatrix import Bit

POINT_BYTES: Final = 33
NONCE_BYTES: Final = 32
KEY_BYTES: Final = 16

TRANSFERS: Final = softspoken.TREES * softspoken.DEPTH + ot_1_of_16.TREES * ot_1_of_16.DEPTH
"""Base transfers in each direction: one per level of every seed tree of both extensions."""

_SESSION_DOMAIN: Final = b"duetto/oblivious/session/1"
_KEY_DOMAIN: Final = b"duetto/oblivious/base-key/1"


@dataclass(frozen=True, slots=True)
class BaseOffer(Message, kind="base-offer"):
    """Both ways: the local nonce, and A and C of the direction in which this party sends."""

    nonce: ByteRows
    points: ByteRows


@dataclass(frozen=True, slots=True)
class BaseChoices(Message, kind="base-choices"):
    """Both ways: the points P_i of the direction in which this party receives."""

    points: ByteRows


@dataclass(frozen=True, slots=True)
class BaseKeys:
    """What a party has from the set-up.

    Attributes:
        session: id of the session, 32 bytes, the same on both sides and never the same twice.
        pairs: both keys of the transfers that this party sent, `TRANSFERS` pairs of 16 bytes.
        choices: the choice bits of the transfers that it received, shape (`TRANSFERS`,).
        chosen: the keys that it received, `TRANSFERS` of 16 bytes.
    """

    session: bytes
    pairs: Sequence[tuple[bytes, bytes]] = field(repr=False)
    choices: Bit = field(repr=False)
    chosen: Sequence[bytes] = field(repr=False)


def _scalar(random: Randomness) -> bytes:
    return (1 + random.below(GROUP_ORDER_INT - 1, 1)[0]).to_bytes(32, "big")


def _point(data: bytes) -> PublicKey:
    try:
        return PublicKey(data)
    except ValueError:
        raise ProtocolViolation(
            "A point from the peer in the set-up of oblivious transfer is not on the curve.",
            "Do not run the job again before the other institution has checked its installation.",
        ) from None


def _difference(left: PublicKey, right: PublicKey) -> PublicKey:
    """Left - right; the peer can make the two equal only by breaking the protocol."""
    data = right.format()
    negated = PublicKey(bytes([data[0] ^ 1]) + data[1:])  # prefixes 2 and 3 are the two signs
    try:
        return PublicKey.combine_keys([left, negated])
    except ValueError:
        raise ProtocolViolation("Two points in the set-up of oblivious transfer coincide.") from None


def _rows(points: Sequence[PublicKey]) -> NDArray[np.uint8]:
    data = b"".join(point.format() for point in points)
    return np.frombuffer(data, dtype=np.uint8).reshape(len(points), POINT_BYTES)


@dataclass(frozen=True, slots=True)
class _Direction:
    """What all keys of one direction are bound to."""

    session: bytes
    sender: Role
    offer: bytes

    def key(self, index: int, choice: bytes, shared: PublicKey) -> bytes:
        parts = (
            _KEY_DOMAIN,
            self.session,
            self.sender.value.encode().ljust(8),
            index.to_bytes(2, "big"),
            self.offer,
            choice,
            shared.format(),
        )
        return hashlib.sha256(b"".join(parts)).digest()[:KEY_BYTES]


def _session_id(role: Role, own: bytes, peer: bytes) -> bytes:
    if own == peer:
        raise ProtocolViolation(
            "The peer sent this party's own nonce back.", "Check that the peer's address is not your own."
        )
    first, second = (own, peer) if role is Role.ALICE else (peer, own)
    return hashlib.sha256(_SESSION_DOMAIN + first + second).digest()


def exchange(role: Role, channel: Channel, random: Randomness) -> BaseKeys:
    """Run the set-up, the same code on both sides.

    Raises:
        ProtocolViolation: the peer sent something that is not a point, or a reflected nonce.
    """
    nonce = random.bytes(NONCE_BYTES)
    secret = _scalar(random)
    offer = [PublicKey.from_secret(secret), PublicKey.from_secret(_scalar(random))]
    channel.send(
        BaseOffer(ByteRows(np.frombuffer(nonce, dtype=np.uint8).reshape(1, -1)), ByteRows(_rows(offer)))
    )
    peer_nonce, peer_points = channel.recv(
        BaseOffer, ExpectedByteRows(1, NONCE_BYTES), ExpectedByteRows(2, POINT_BYTES)
    )
    session = _session_id(role, nonce, peer_nonce.tobytes())

    incoming = _Direction(session, role.other, peer_points.tobytes())
    choices = random.bits(TRANSFERS)
    points, chosen = _choose(incoming, peer_points, choices, random)
    channel.send(BaseChoices(ByteRows(points)))
    answers = channel.recv(BaseChoices, ExpectedByteRows(TRANSFERS, POINT_BYTES))
    outgoing = _Direction(session, role, _rows(offer).tobytes())
    return BaseKeys(session, _key_pairs(outgoing, offer[1], secret, answers), choices, chosen)


def _choose(
    direction: _Direction, offer: NDArray[np.uint8], choices: Bit, random: Randomness
) -> tuple[NDArray[np.uint8], list[bytes]]:
    """The receiver's points, shape (n, 33), and its keys."""
    base, other = (_point(row.tobytes()) for row in offer)
    sent: list[PublicKey] = []
    keys: list[bytes] = []
    for index, choice in enumerate(choices.tolist()):
        scalar = _scalar(random)
        own = PublicKey.from_secret(scalar)
        point = (own, _difference(other, own))[choice]
        sent.append(point)
        keys.append(direction.key(index, point.format(), base.multiply(scalar)))
    return _rows(sent), keys


def _key_pairs(
    direction: _Direction, other: PublicKey, secret: bytes, answers: NDArray[np.uint8]
) -> list[tuple[bytes, bytes]]:
    """Both keys of every transfer, for the sender."""
    shifted = other.multiply(secret)
    pairs: list[tuple[bytes, bytes]] = []
    for index, row in enumerate(answers):
        data = row.tobytes()
        zero = _point(data).multiply(secret)
        one = _difference(shifted, zero)
        pairs.append((direction.key(index, data, zero), direction.key(index, data, one)))
    return pairs
