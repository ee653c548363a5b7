"""Base oblivious transfers, in both directions at once, and the session id of both parties.

    Alice                                   Bob
      nonce, A, keys of choices   -- offers -->   the same         (both at once)
      ciphertexts                 -- answers -->  the same         (both at once)
      k_ij = H(transcript of transfer i, j, curve secret ij, lattice secret ij)

Each transfer is one on the curve (`smc.oblivious.endemic_curve`) and one on lattices
(`smc.oblivious.endemic_lattice`) with the same choice; a key is a hash of both secrets and of all that was
sent for the transfer.

Inputs: nothing.
Outputs: pairs of keys at each party as a sender, and at the other one key of each pair, of random choice; the
session id, the same at both.
Learns: the receiver one key of each pair, whatever it sends, as long as one of the two halves holds: who
breaks the curve alone, now or in a record of the traffic, learns nothing. Choices that differ between the
halves give no key at all. The sender nothing of the choices, whatever it sends, unless it breaks module
learning with errors: the curve's half hides them from everybody, the lattice's from who cannot do that. A
sender that sends a false ciphertext leaves the receiver with a key that the sender does not know. Whether the
receiver got that key shows when the trees are checked (`smc.oblivious.ggm_trees`), which tests one guess.
Assumes: for the sender's keys strong Diffie-Hellman on secp256k1 or module learning with errors as in
ML-KEM-768, for the receiver's choices the latter; SHA-256 and SHAKE as random oracles; about 128 bits.
Cost: 2 flights, `offer_bytes` and `answer_bytes` each way.
Reference: Masny and Rindal, CCS 2019; the statement for both halves is in docs/proofs/base-transfers.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows, byte_row
from smc.errors import ProtocolViolation
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious.bitmatrix import Bit
from smc.oblivious.endemic_curve import POINT_BYTES, CurveReceiver, CurveSender
from smc.oblivious.endemic_lattice import SEED_BYTES, LatticeReceiver, encapsulate
from smc.oblivious.ml_kem import CIPHERTEXT_BYTES, KEY_BYTES

NONCE_BYTES: Final = 32
BASE_KEY_BYTES: Final = 16

_SESSION_DOMAIN: Final = b"duetto/oblivious/session/1"
_TRANSCRIPT_DOMAIN: Final = b"duetto/oblivious/base-transcript/2"
_KEY_DOMAIN: Final = b"duetto/oblivious/base-key/2"


def offer_bytes(count: int) -> int:
    """Bytes of one party's first message for so many transfers of each direction."""
    return NONCE_BYTES + POINT_BYTES + count * (2 * POINT_BYTES + SEED_BYTES + 2 * KEY_BYTES)


def answer_bytes(count: int) -> int:
    """Bytes of its second message."""
    return count * 2 * CIPHERTEXT_BYTES


@dataclass(frozen=True, slots=True)
class BaseOffer(Message, kind="base-offer", hidden=True):
    """Both ways: the nonce, A where this party sends, and the points R_i0 and R_i1 where it receives."""

    nonce: ByteRows
    point: ByteRows
    points: ByteRows


@dataclass(frozen=True, slots=True)
class BaseKeyOffer(Message, kind="base-key-offer", hidden=True):
    """Both ways: rho_i, and t_i0 and t_i1, where this party receives."""

    seeds: ByteRows
    keys: ByteRows


@dataclass(frozen=True, slots=True)
class BaseAnswer(Message, kind="base-answer", hidden=True):
    """Both ways: ciphertexts to both keys of each transfer in which this party sends."""

    ciphertexts: ByteRows


@dataclass(frozen=True, slots=True)
class BaseKeys:
    """Keys of one party's transfers.

    Attributes:
        session: id of the session, 32 bytes, the same on both sides and never the same twice.
        pairs: both keys of the transfers that this party sends, n pairs of 16 bytes.
        choices: the choice bits of the transfers that it receives, shape (n,).
        peer_nonce: of the peer.
    """

    session: bytes
    pairs: Sequence[tuple[bytes, bytes]] = field(repr=False)
    choices: Bit = field(repr=False)
    peer_nonce: bytes


@dataclass(frozen=True, slots=True)
class _Direction:
    """What all keys of one direction are bound to: what was sent, row by row, but for the ciphertexts."""

    session: bytes
    sender: Role
    point: bytes
    points: NDArray[np.uint8]
    seeds: NDArray[np.uint8]
    keys: NDArray[np.uint8]

    def transcript(self, index: int, ciphertexts: NDArray[np.uint8]) -> bytes:
        """The digest of a transfer, with its ciphertexts, shape (2, 1088)."""
        parts = (
            _TRANSCRIPT_DOMAIN,
            self.session,
            self.sender.value.encode().ljust(8),
            index.to_bytes(2, "big"),
            self.point,
            *(rows[index].tobytes() for rows in (self.points, self.seeds, self.keys)),
            ciphertexts.tobytes(),
        )
        return hashlib.sha256(b"".join(parts)).digest()


def _key(transcript: bytes, side: int, curve: bytes, lattice: bytes) -> bytes:
    """The key of a side of a transfer; all parts but the domain have a fixed length."""
    parts = _KEY_DOMAIN + transcript + bytes([side]) + curve + lattice
    return hashlib.sha256(parts).digest()[:BASE_KEY_BYTES]


def _name(receiver: Role, nonce: bytes) -> bytes:
    return receiver.value.encode().ljust(8) + nonce


def session_id(role: Role, own: bytes, peer: bytes) -> bytes:
    """The id of the session, from both nonces.

    Raises:
        ProtocolViolation: they are the same.
    """
    if own == peer:
        raise ProtocolViolation(
            "The peer sent this party's own nonce back.", "Check that the peer's address is not your own."
        )
    first, second = (own, peer) if role is Role.ALICE else (peer, own)
    return hashlib.sha256(_SESSION_DOMAIN + first + second).digest()


class BaseTransfers:
    """The transfers of one set-up, the same code on both sides, in three steps: `offer`, `answer`, `receive`.

    What else goes in a flight is sent after the step that sends it.

    Args:
        role: this side's role.
        channel: the conversation with the peer.
        random: the source of choices and secrets; of ciphertexts too, where the run replays.
        count: transfers of each direction.

    Attributes:
        nonce: of this party.

    Raises:
        UsageError: the library of this installation has no ML-KEM-768.
    """

    def __init__(self, role: Role, channel: Channel, random: Randomness, count: int) -> None:
        self._role, self._channel, self._random, self._count = role, channel, random, count
        self.nonce = random.bytes(NONCE_BYTES)
        self._choices = random.bits(count)
        self._sender = CurveSender(random)
        name = _name(role, self.nonce)
        self._curve = CurveReceiver(name, self._choices, random)
        self._lattice = LatticeReceiver(name, self._choices, random)

    def offer(self) -> None:
        """Send the first flight."""
        mine = self._curve.points, self._lattice.seeds, self._lattice.keys.reshape(-1, KEY_BYTES)
        points, seeds, keys = (ByteRows(rows) for rows in mine)
        self._channel.send(BaseOffer(byte_row(self.nonce), byte_row(self._sender.point), points))
        self._channel.send(BaseKeyOffer(seeds, keys))

    def answer(self) -> BaseKeys:
        """Take the first flight of the peer, and send the second one.

        Raises:
            ProtocolViolation: something is not a point or a key, or was sent before.
        """
        nonce, point, points = self._channel.recv(
            BaseOffer,
            ExpectedByteRows(1, NONCE_BYTES),
            ExpectedByteRows(1, POINT_BYTES),
            ExpectedByteRows(self._count, 2 * POINT_BYTES),
        )
        seeds, rows = self._channel.recv(
            BaseKeyOffer,
            ExpectedByteRows(self._count, SEED_BYTES),
            ExpectedByteRows(2 * self._count, KEY_BYTES),
        )
        session = session_id(self._role, self.nonce, nonce.tobytes())
        self._check_fresh(point, points)
        keys = rows.reshape(-1, 2, KEY_BYTES)
        name = _name(self._role.other, nonce.tobytes())
        curve = self._sender.secrets(name, points)
        ciphertexts, lattice = encapsulate(name, seeds, keys, self._random)
        self._channel.send(BaseAnswer(ByteRows(ciphertexts.reshape(-1, CIPHERTEXT_BYTES))))
        outgoing = _Direction(session, self._role, self._sender.point, points, seeds, keys)
        pairs: list[tuple[bytes, bytes]] = []
        for index, (found, shared) in enumerate(zip(curve, lattice, strict=True)):
            transcript = outgoing.transcript(index, ciphertexts[index])
            zero, one = (_key(transcript, side, found[side], shared[side]) for side in (0, 1))
            pairs.append((zero, one))
        lists = self._curve.points, self._lattice.seeds, self._lattice.keys
        self._incoming = _Direction(session, self._role.other, point.tobytes(), *lists)
        return BaseKeys(session, pairs, self._choices, nonce.tobytes())

    def receive(self) -> list[bytes]:
        """Take the second flight of the peer: the keys of the choices, n of 16 bytes.

        Raises:
            ProtocolViolation: the peer's A is not a point of the curve.
        """
        curve = self._curve.secrets(self._incoming.point)
        size = ExpectedByteRows(2 * self._count, CIPHERTEXT_BYTES)
        ciphertexts = self._channel.recv(BaseAnswer, size).reshape(-1, 2, CIPHERTEXT_BYTES)
        lattice = self._lattice.secrets(ciphertexts)
        return [
            _key(self._incoming.transcript(index, ciphertexts[index]), choice, curve[index], lattice[index])
            for index, choice in enumerate(self._choices.tolist())
        ]

    def _check_fresh(self, point: NDArray[np.uint8], points: NDArray[np.uint8]) -> None:
        """Refuse points that either party sent before in this set-up; honest ones are all different."""
        rows = [point, points.reshape(-1, POINT_BYTES), self._curve.points.reshape(-1, POINT_BYTES)]
        seen = [row.tobytes() for row in np.concatenate(rows)] + [self._sender.point]
        if len(set(seen)) != len(seen):
            raise ProtocolViolation(
                "A point from the peer in the set-up of oblivious transfer was sent before."
            )
