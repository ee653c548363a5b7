"""Whether extended transfers are consistent: tags of their columns, compared before anything is opened.

    receiver (columns v, choices u)                     sender (columns q = v + D u)
      mask: 128 transfers, before any other -->
      matrices of a batch                   -->           draws K, adds up tag_K(q)
      adds up tag_K(v), tag_K(u)            <-- K --
      sum of tag(u), digest of all tag(v)   -->           the digest of tag(q_i) + D_i tag(u), all i?

tag_K of a column is the sum of its blocks of 128 bits times powers of K in the field of 2**128 elements:
linear over bits, and for a column that is not zero any one value with probability blocks / 2**128 over K. A
key is drawn for each batch and told when the batch has come, so that a receiver has fixed what it sent when
it learns the key. The mask counts once, without a key, and hides what the tags of the choices would tell.

Inputs: columns and choices at the receiver, columns and D at the sender.
Outputs: none; the sender goes on or ends the session.
Learns: the sender nothing (the mask is uniform, and all else follows from it and its own columns); a
receiver whose matrices are not consistent learns the bits of D that they touch if it guesses them, else the
session ends.
Assumes: nothing for soundness, which is statistical; SHA-256 as a random oracle for the keys of pieces and
for the digest.
Cost: 16 bytes a batch, which wait for nobody, and `proof_bytes` a check, in one flight.
Reference: Roy, SoftSpokenOT, CRYPTO 2022, section 4 (the check of Keller, Orsini and Scholl, CRYPTO 2015,
mended); the hash is that of AES-GCM (NIST SP 800-38D). docs/proofs/transfers.md.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows, ExpectedWords, Words
from smc.numeric.random import Randomness
from smc.oblivious.bitmatrix import COLUMNS, Word
from smc.oblivious.kernels import Kernels

MASK_WORDS: Final = 2
"""Words per column of the transfers that hide the tag of the choices: 128 of them."""

CHALLENGE_BYTES: Final = 16
DIGEST_BYTES: Final = 32
_TAG_WORDS: Final = 2
_DOMAIN: Final = b"duetto/oblivious/tag-key/1"


def proof_bytes(planes: int) -> int:
    """Bytes of the proof of transfers whose choices have so many bits."""
    return 8 * _TAG_WORDS * planes + DIGEST_BYTES


@dataclass(frozen=True, slots=True)
class TransferChallenge(Message, kind="transfer-challenge", hidden=True):
    """From the sender of a batch of transfers whose matrices have come: the seed of the keys of tags."""

    seed: ByteRows


@dataclass(frozen=True, slots=True)
class TransferProof(Message, kind="transfer-proof", hidden=True):
    """From the receiver of transfers: the tags of its choices, and the digest of those of its columns."""

    tags: Words
    digest: ByteRows


class TagSums:
    """Sums of tags of columns, over all batches since the last check.

    Args:
        count: columns.
        kernels: what makes tags.
    """

    def __init__(self, count: int, kernels: Kernels) -> None:
        self._kernels = kernels
        self._sums = np.zeros((count, _TAG_WORDS), dtype=np.uint64)

    def add(self, columns: Word, seed: bytes, number: int) -> None:
        """Add the tags of a piece, shape (count, w), which is the `number`-th of the batch of this seed."""
        key = hashlib.sha256(_DOMAIN + seed + number.to_bytes(8, "big")).digest()[:CHALLENGE_BYTES]
        self._sums ^= self._kernels.tags(columns, np.frombuffer(key, dtype=np.uint64))

    def begin(self, mask: Word) -> None:
        """Begin anew, with the mask's columns, shape (count, 2), which count without a key."""
        self._sums = mask.copy()

    @property
    def sums(self) -> Word:
        """Shape (count, 2)."""
        return self._sums


class Prover:
    """The receiver's part, for the transfers of one kind and direction.

    Args:
        planes: bits of a choice.
        kernels: what makes tags.
        channel: the conversation with the peer.
    """

    def __init__(self, planes: int, kernels: Kernels, channel: Channel) -> None:
        self._columns, self._choices = TagSums(COLUMNS, kernels), TagSums(planes, kernels)
        self._channel = channel

    def begin(self, choices: Word, columns: Word) -> None:
        """Begin anew, with a mask: its choices, shape (planes, 2), and its columns, shape (128, 2)."""
        self._choices.begin(choices)
        self._columns.begin(columns)

    def keep(self, pieces: Sequence[tuple[Word, Word]]) -> None:
        """Keep choices and columns of the pieces of a batch, which nobody changes, until the keys come."""

        def answer(seed: bytes) -> None:
            for number, (choices, columns) in enumerate(pieces):
                self._choices.add(choices, seed, number)
                self._columns.add(columns, seed, number)

        self._channel.expect_aside(TransferChallenge, CHALLENGE_BYTES, answer)

    def proof(self) -> TransferProof:
        """What shows that all transfers since the mask are consistent."""
        digest = np.frombuffer(_digest(self._columns.sums), dtype=np.uint8).reshape(1, -1)
        return TransferProof(Words(self._choices.sums.reshape(-1)), ByteRows(digest))


@dataclass(slots=True)
class _Batch:
    seed: bytes = field(repr=False)
    pieces: int = 0


class Checker:
    """The sender's part.

    Args:
        offsets: what a row of each choice has more than that of choice 0, shape (2**planes, 2).
        kernels: what makes tags.
        channel: the conversation with the peer.
        random: the source of keys.
    """

    def __init__(self, offsets: Word, kernels: Kernels, channel: Channel, random: Randomness) -> None:
        self._planes = len(offsets).bit_length() - 1
        # All ones where bit i of the offset of a choice with this one bit is 1, shape (planes, 128, 1).
        single = np.ascontiguousarray(offsets[1 << np.arange(self._planes)]).view(np.uint8)
        bits = np.unpackbits(single, axis=1, bitorder="little")
        self._masks = np.negative(bits.astype(np.uint64))[:, :, None]
        self._columns = TagSums(COLUMNS, kernels)
        self._channel = channel
        self._random = random

    def begin(self, columns: Word) -> None:
        """Begin anew, with the columns of a mask, shape (128, 2)."""
        self._columns.begin(columns)

    def batch(self) -> _Batch:
        """Begin a batch, whose keys nobody knows before `tell`."""
        return _Batch(self._random.bytes(CHALLENGE_BYTES))

    def take(self, batch: _Batch, columns: Word) -> None:
        """Take the columns of the next piece of a batch, shape (128, w)."""
        self._columns.add(columns, batch.seed, batch.pieces)
        batch.pieces += 1

    def tell(self, batch: _Batch) -> None:
        """Tell the keys of a batch of which all pieces have come."""
        seed = np.frombuffer(batch.seed, dtype=np.uint8).reshape(1, -1)
        self._channel.send_aside(TransferChallenge(ByteRows(seed)))

    def check(self) -> bool:
        """Receive the proof; whether the peer's transfers since the mask are consistent."""
        expected = ExpectedWords(_TAG_WORDS * self._planes), ExpectedByteRows(1, DIGEST_BYTES)
        tags, shown = self._channel.recv(TransferProof, *expected)
        product = self._masks & tags.reshape(self._planes, 1, _TAG_WORDS)
        columns = self._columns.sums ^ np.bitwise_xor.reduce(product, axis=0)
        return hmac.compare_digest(_digest(columns), shown.tobytes())


def _digest(tags: NDArray[np.uint64]) -> bytes:
    return hashlib.sha256(np.ascontiguousarray(tags).tobytes()).digest()
