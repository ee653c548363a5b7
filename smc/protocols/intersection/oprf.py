"""An oblivious pseudorandom function by vector OLE and a store: one key, many points of the receiver.

    receiver (n points x)                               sender
      P: a store in which every x has the value x
      A, C                    <-- vector OLE -->          D, B           C = A D + B, one row for each of P
                              <-- hash of u --
                              -- v, seed, P + A -->       K = B + D (P + A) = C + D P
                              <-- u --
      F(x) = H(C(x), x)                                   F(y) = H(K(y) + D y, y)

C(x) is what the store C gives for x; as it is linear, K(x) = C(x) + D P(x), which is C(x) + D x where
P(x) = x. Elsewhere K(y) + D y is C(y) and a multiple of D that is not zero.

H(a, b) is E'(z) + z with z = E(a) + a + b, E and E' AES-128 under keys that SHA-256 makes of u and v; wider
values take further keys in the place of E'. So H is drawn when the sender has all that the receiver can
choose, and by both.

Inputs: at the receiver distinct points of 128 bits, hashed under a salt that was not known when they were
    chosen; both know n.
Outputs: F at its points at the receiver, F at all points at the sender.
Learns: the sender nothing: P + A is masked by A, which is pseudo-random. The receiver nothing of F elsewhere.
    Whatever it sends, P + A has a limited number of points with P(y) = y: as many as the store has entries,
    1.35 n or, of few, ceil(1.3 n) + 48, and few more by chance.
Assumes: `smc.oblivious.vole`, whose check runs before u is told; `okvs`; AES-128 as an ideal cipher and
    SHA-256 as a random oracle. A party that makes p evaluations under the keys of a call then learns
    something of one of the sender's m values with probability of about m p 2**-127: it has to guess a
    multiple of D.
Cost: `records.cost_oprf`; 22 bytes per point at a million, 3 rounds.
Reference: Rindal and Schoppmann, VOLE-PSI: Fast OPRF and circuit-PSI from vector-OLE, EUROCRYPT 2021,
    sections 3 and 4 (the function, and w, here a key); Raghuraman and Rindal, Blazing fast PSI, CCS 2022.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows, ExpectedWords, Words, byte_row
from smc.errors import ProtocolViolation
from smc.numeric.shapes import of_shape, shape_array
from smc.oblivious.kernels import make_kernels
from smc.oblivious.workspace import Workspace
from smc.pieces import chunks, each
from smc.protocols.exchange.row_counts import RowCount
from smc.protocols.intersection import okvs
from smc.protocols.session import Session

Word = NDArray[np.uint64]

NONCE_BYTES: Final = 32
HASH_BYTES: Final = 32
ELEMENT_WORDS: Final = 2

_PIECE_ROWS: Final = 1 << 16
_BLOCK: Final = 1 << 14
_COMMITMENT_DOMAIN: Final = b"duetto/oprf-commitment/1"
_DOMAIN: Final = b"duetto/oprf/1"
_KEY_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class OprfCommitment(Message, kind="oprf-commitment", hidden=True):
    """The hash of the sender's part of the key of H."""

    hashed: ByteRows


@dataclass(frozen=True, slots=True)
class OprfRequest(Message, kind="oprf-request", hidden=True):
    """The receiver's part of the key of H, and the seed of its store, if there is one."""

    octets: ByteRows


@dataclass(frozen=True, slots=True)
class OprfStore(Message, kind="oprf-store", hidden=True):
    """Masked entries of the receiver's store, or masked points."""

    entries: Words


@dataclass(frozen=True, slots=True)
class OprfOpening(Message, kind="oprf-opening"):
    """The sender's part of the key of H."""

    nonce: ByteRows


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The receiver's side.

    Attributes:
        store: C, shape (m, 2).
        seed: of the store.
        key: of H.
    """

    store: Word = field(repr=False)
    seed: bytes
    key: bytes

    def values(self, points: Word, words: int) -> Word:
        """F at the points that were given.

        Args:
            points: in the same or another order, shape (n, 2).
            words: of a value.

        Returns:
            Shape (n, words).
        """
        found = okvs.decode(self.store, points, self.seed, len(points))
        return hash_points(found, points, self.key, words)


@dataclass(frozen=True, slots=True)
class Function:
    """The sender's side: F at all points.

    Attributes:
        store: K, shape (m, 2).
        offset: D, shape (2,).
        seed: of the store.
        count: points of the receiver.
        key: of H.
    """

    store: Word = field(repr=False)
    offset: Word = field(repr=False)
    seed: bytes
    count: int
    key: bytes

    def values(self, points: Word, words: int) -> Word:
        """F, shapes as of `Evaluated.values`."""
        found = okvs.decode(self.store, points, self.seed, self.count)
        return hash_points(add_products(found, points, self.offset), points, self.key, words)


def receive(session: Session, points: Word) -> Evaluated:
    """The side that has points; the peer calls `send`.

    Args:
        session: this side of the run.
        points: distinct, shape (n, 2).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
        UsageError: the points are not distinct, or too many.
    """
    seed = session.random.bytes(okvs.SEED_BYTES)
    store, key = ask(session, okvs.encode(points, points, seed, session.random), seed)
    return Evaluated(store, seed, key)


def send(session: Session, peer_count: RowCount) -> Function:
    """The side that gets the function; the peer calls `receive`.

    Args:
        session: this side of the run.
        peer_count: points of the peer.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
        UsageError: the points are too many.
    """
    answered = answer(session, okvs.StoreSize.of(peer_count).rows, okvs.SEED_BYTES)
    return Function(answered.store, answered.offset, answered.public, peer_count, answered.key)


@dataclass(frozen=True, slots=True)
class Answered:
    """What `answer` gives.

    Attributes:
        store: K, shape (m, 2).
        offset: D, shape (2,).
        public: what the receiver has added.
        key: of H.
    """

    store: Word = field(repr=False)
    offset: Word = field(repr=False)
    public: bytes
    key: bytes


def ask(session: Session, entries: Word, public: bytes) -> tuple[Word, bytes]:
    """Send masked entries P; the peer calls `answer`.

    Args:
        session: this side of the run.
        entries: P, shape (m, 2).
        public: sent with them, of a length that both know.

    Returns:
        C, shape (m, 2), and the key of H.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
        UsageError: the entries are too many.
    """
    channel, vole = session.channel, session.oblivious.vole_receive(len(entries))
    committed = channel.recv(OprfCommitment, ExpectedByteRows(1, HASH_BYTES)).tobytes()
    expected = vole.challenge()
    nonce = session.random.bytes(NONCE_BYTES)
    channel.send(OprfRequest(byte_row(nonce + public)))
    for part in chunks(len(entries), _PIECE_ROWS):
        channel.send(OprfStore(Words((entries[part] ^ vole.factors[part]).reshape(-1))))
    # Nothing that depends on C has been told so far: A does not, whatever the peer sent.
    vole.verify(expected)
    session.oblivious.verify()
    opened = channel.recv(OprfOpening, ExpectedByteRows(1, NONCE_BYTES)).tobytes()
    if session.has_data and _commitment(opened) != committed:
        raise ProtocolViolation(
            "The peer's part of the key of a function is not the one it had committed to."
        )
    return vole.sums, nonce + opened


def answer(session: Session, rows: int, public_bytes: int) -> Answered:
    """Take masked entries; the peer calls `ask`.

    Args:
        session: this side of the run.
        rows: m.
        public_bytes: what comes with them.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
        UsageError: the entries are too many.
    """
    channel, vole = session.channel, session.oblivious.vole_send(rows)
    nonce = session.random.bytes(NONCE_BYTES)
    channel.send(OprfCommitment(byte_row(_commitment(nonce))))
    vole.answer()
    asked = channel.recv(OprfRequest, ExpectedByteRows(1, NONCE_BYTES + public_bytes)).tobytes()
    store = vole.rows
    for part in chunks(rows, _PIECE_ROWS):
        size = part.stop - part.start
        entries = channel.recv(OprfStore, ExpectedWords(ELEMENT_WORDS * size)).reshape(size, ELEMENT_WORDS)
        store[part] = add_products(store[part], entries, vole.offset)
    # With its part of the key the peer can evaluate F: what D rests on is checked before.
    session.oblivious.verify()
    channel.send(OprfOpening(byte_row(nonce)))
    return Answered(store, vole.offset, asked[NONCE_BYTES:], asked[:NONCE_BYTES] + nonce)


@of_shape(lambda sums, elements, factor: sums)
def add_products(sums: Word, elements: Word, factor: Word) -> Word:
    """Sums plus the factor times elements, shape (n, 2); where they are contiguous, the sums are changed."""
    result = np.ascontiguousarray(sums)
    make_kernels(Workspace()).field.add_products(np.ascontiguousarray(elements), factor, result)
    return result


@of_shape(lambda found, points, key, words: shape_array((len(points), words), np.uint64))
def hash_points(found: Word, points: Word, key: bytes, words: int) -> Word:
    """H of elements and points, shape (n, 2) both; shape (n, words)."""
    count = -(-words // ELEMENT_WORDS)
    inner, *outer = (_cipher(key, number) for number in range(1 + count))
    result = np.empty((len(points), words), dtype=np.uint64)
    workspace = Workspace()
    for part in each(list(chunks(len(points), _BLOCK)), 1):
        z = _encrypt(inner, np.ascontiguousarray(found[part]), workspace) ^ found[part] ^ points[part]
        for number, cipher in enumerate(outer):
            place = slice(number * ELEMENT_WORDS, min(words, (number + 1) * ELEMENT_WORDS))
            block = _encrypt(cipher, z, workspace) ^ z
            result[part, place] = block[:, : place.stop - place.start]
    return result


def _cipher(key: bytes, number: int) -> Cipher[modes.ECB]:
    name = hashlib.sha256(_DOMAIN + key + number.to_bytes(2, "big")).digest()
    return Cipher(algorithms.AES(name[:_KEY_BYTES]), modes.ECB())  # noqa: S305 - single blocks


def _encrypt(cipher: Cipher[modes.ECB], blocks: Word, workspace: Workspace) -> Word:
    """E of each row, valid until the next call."""
    output = workspace.output("encrypted", blocks.nbytes)
    cipher.encryptor().update_into(blocks.view(np.uint8).reshape(-1).data, output.data)
    return output[: blocks.nbytes].view(np.uint64).reshape(blocks.shape)


def _commitment(nonce: bytes) -> bytes:
    return hashlib.sha256(_COMMITMENT_DOMAIN + nonce).digest()
