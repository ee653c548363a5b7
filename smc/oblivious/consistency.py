"""Whether extended transfers are consistent: each batch carries a proof, checked before the batch is used.

    receiver (columns v, choices u)                     sender (columns q = v + D u)
      mask: 128 transfers, earlier     -->
      matrices of a batch              -->                adds up tag_K(q)
      sum of tag_K(u), digest of all
      tag_K(v), the next batch's mask  -->                the digest of tag_K(q_i) + D_i tag_K(u), all i?

tag_K of a column is the sum of its blocks of 128 bits times powers of K in the field of 2**128 elements:
linear over bits, and for a column that is not zero any one value with probability blocks / 2**128 over K. The
key of a piece is a hash of all matrices of this kind and direction up to that piece, so that a receiver has
fixed what it sent when it learns the key, and has to send another matrix to draw another key. The mask counts
without a key, serves one batch, and hides what the tags of the choices would tell.

Inputs: columns and choices at the receiver, columns and D at the sender; the matrices at both.
Outputs: none; the sender goes on or ends the session.
Learns: the sender nothing (the mask is uniform, and all else follows from it and its own columns); a
receiver whose matrices are not consistent learns the bits of D that they touch if it guesses them, else the
session ends.
Assumes: SHA-256 as a random oracle for the keys and for the digest.
Cost: `proof_bytes` a batch, in the flight of its matrices.
Reference: Roy, SoftSpokenOT, CRYPTO 2022, section 4 (the check of Keller, Orsini and Scholl, CRYPTO 2015,
mended), without interaction by the transform of Fiat and Shamir (CRYPTO 1986); the hash is that of AES-GCM
(NIST SP 800-38D). docs/proofs/transfers.md.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.oblivious.bitmatrix import COLUMNS, Word
from smc.oblivious.kernels import Kernels

MASK_WORDS: Final = 2
"""Words per column of the transfers that hide the tag of the choices: 128 of them."""

DIGEST_BYTES: Final = 32
TAG_WORDS: Final = 2
_KEY_BYTES: Final = 16
_WORD_BYTES: Final = 8
_DOMAIN: Final = b"duetto/oblivious/tag-key/2"


def proof_bytes(planes: int, matrix_rows: int) -> int:
    """Bytes of the proof of a batch, with the mask of the next one.

    Args:
        planes: bits of a choice.
        matrix_rows: of the matrices.
    """
    return _WORD_BYTES * (TAG_WORDS * planes + MASK_WORDS * matrix_rows) + DIGEST_BYTES


class _Keys:
    """Keys of pieces, each the hash of all matrices so far.

    Args:
        name: of the transfers, another one for each session, direction and kind.
    """

    def __init__(self, name: bytes) -> None:
        self._state = hashlib.sha256(_DOMAIN + name).digest()

    def after(self, matrix: Word) -> NDArray[np.uint64]:
        """The key once this matrix has been fixed, shape (2,)."""
        hashed = hashlib.sha256(self._state)
        hashed.update(np.ascontiguousarray(matrix).data)
        self._state = hashed.digest()
        return np.frombuffer(self._state[:_KEY_BYTES], dtype=np.uint64)


class Prover:
    """The receiver's part, for the transfers of one kind and direction.

    Args:
        planes: bits of a choice.
        kernels: what makes tags.
        name: as of the peer's `Checker`, unique to the session, direction and kind.
    """

    def __init__(self, planes: int, kernels: Kernels, name: bytes) -> None:
        self._kernels, self._keys = kernels, _Keys(name)
        self._columns, self._choices = _no_tags(COLUMNS), _no_tags(planes)

    def begin(self, matrix: Word, choices: Word, columns: Word) -> None:
        """Begin a batch by its mask: the matrix, choices, shape (planes, 2), columns, shape (128, 2)."""
        self._keys.after(matrix)
        self._choices, self._columns = choices.copy(), columns.copy()

    def add(self, matrix: Word, choices: Word, columns: Word) -> None:
        """Add a piece: its matrix, choices, shape (planes, w), and columns, shape (128, w)."""
        key = self._keys.after(matrix)
        self._choices ^= self._kernels.tags(choices, key)
        self._columns ^= self._kernels.tags(columns, key)

    def prove(self) -> tuple[Word, NDArray[np.uint8]]:
        """Tags of the choices, shape (2 * planes,), and the digest of those of columns, shape (1, 32)."""
        digest = np.frombuffer(_digest(self._columns), dtype=np.uint8).reshape(1, -1)
        return self._choices.reshape(-1), digest


class Checker:
    """The sender's part.

    Args:
        offsets: what a row of each choice has more than that of choice 0, shape (2**planes, 2).
        kernels: what makes tags.
        name: as of the peer's `Prover`.
    """

    def __init__(self, offsets: Word, kernels: Kernels, name: bytes) -> None:
        self._planes = len(offsets).bit_length() - 1
        # All ones where bit i of the offset of a choice with this one bit is 1, shape (planes, 128, 1).
        single = np.ascontiguousarray(offsets[1 << np.arange(self._planes)]).view(np.uint8)
        bits = np.unpackbits(single, axis=1, bitorder="little")
        self._masks = np.negative(bits.astype(np.uint64))[:, :, None]
        self._kernels, self._keys = kernels, _Keys(name)
        self._columns = _no_tags(COLUMNS)

    def begin(self, matrix: Word, columns: Word) -> None:
        """Begin a batch with its mask: the matrix that came, and its columns, shape (128, 2)."""
        self._keys.after(matrix)
        self._columns = columns.copy()

    def add(self, matrix: Word, columns: Word) -> None:
        """Add a piece: the matrix that came, and its columns, shape (128, w)."""
        self._columns ^= self._kernels.tags(columns, self._keys.after(matrix))

    def holds(self, tags: Word, shown: NDArray[np.uint8]) -> bool:
        """Whether the pieces since the mask are consistent, by what the peer's `prove` gave."""
        product = self._masks & tags.reshape(self._planes, 1, TAG_WORDS)
        columns = self._columns ^ np.bitwise_xor.reduce(product, axis=0)
        return hmac.compare_digest(_digest(columns), shown.tobytes())


def _no_tags(count: int) -> Word:
    return np.zeros((count, TAG_WORDS), dtype=np.uint64)


def _digest(tags: Word) -> bytes:
    return hashlib.sha256(np.ascontiguousarray(tags).tobytes()).digest()
