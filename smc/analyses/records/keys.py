"""Keys of rows: the normal forms of one or several columns, hashed to 128 bits under a salt of the run.

The hash of a text is a chain over its blocks of 16 bytes, AES-128 under a key derived from the salt, that
begins with its length and the number of its column; those of several columns, and the number of a copy, are
chained in the same way. It hides nothing: everyone who knows the salt can hash. As the salt is drawn once the
keys are normalized, two rows that differ get the same hash with probability of about l**2 2**-128 for l
blocks.

Reference: Bellare, Kilian and Rogaway, The security of the cipher block chaining message authentication code,
2000 (the chain, for inputs of which none is the beginning of another one); the length in front: there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

from smc.numeric.shapes import of_shape
from smc.pieces import chunks

Word = NDArray[np.uint64]
Texts = list[str]


_BLOCK: Final = 16
_CHUNK: Final = 1 << 16
_DOMAIN: Final = b"duetto/matching/key/1"


@dataclass(frozen=True, slots=True)
class KeyedRows:
    """The rows that a side brings, before they are hashed.

    Attributes:
        texts: by column, the normal forms of the rows that take part.
        numbers: the rows, from 0, shape (n,); without those that repeat another one's key if keys count once.
        copies: the number of each row among those with its key, from 0, shape (n,); None where it does not
            count.
    """

    texts: tuple[Texts, ...] = field(repr=False)
    numbers: NDArray[np.int64] = field(repr=False)
    copies: NDArray[np.int64] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.numbers)

    def plain(self) -> list[tuple[Hashable, ...]]:
        """The keys themselves."""
        parts: list[Sequence[Hashable]] = list(self.texts)
        if self.copies is not None:
            parts.append(self.copies.tolist())
        return list(zip(*parts, strict=True))


def hash_keys(keyed: KeyedRows, salt: bytes) -> Word:
    """The keys as 128-bit hashes.

    Args:
        keyed: n rows.
        salt: public, drawn with the peer once the rows were normalized.

    Returns:
        Shape (n, 2); distinct where the keys are, but with the probability in the module's text.
    """
    key = hashlib.sha256(_DOMAIN + salt).digest()[:_BLOCK]
    cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305 - chained by hand
    state = np.zeros((len(keyed), 2), dtype=np.uint64, like=keyed.numbers)
    for number, texts in enumerate(keyed.texts):
        state = _encrypt(cipher, state ^ _hashed_texts(cipher, texts, number))
    if keyed.copies is not None:
        state[:, 0] ^= keyed.copies.astype(np.uint64)
        state = _encrypt(cipher, state)
    return state


def _hashed_texts(cipher: CipherContext, texts: Texts, number: int) -> Word:
    """The hash of each text, shape (n, 2)."""
    result = np.empty((len(texts), 2), dtype=np.uint64)
    for part in chunks(len(texts), _CHUNK):
        octets = list(map(str.encode, texts[part]))
        lengths = np.fromiter(map(len, octets), dtype=np.int64, count=len(octets))
        blocks = -(-lengths // _BLOCK)
        for size in np.unique(blocks).tolist():
            rows = np.flatnonzero(blocks == size)
            chosen = octets if len(rows) == len(octets) else [octets[row] for row in rows.tolist()]
            padded = np.array(chosen, dtype=f"S{_BLOCK * size}").view("<u8").reshape(len(rows), size, 2)
            state = np.empty((len(rows), 2), dtype=np.uint64)
            state[:, 0], state[:, 1] = lengths[rows], number
            state = _encrypt(cipher, state)
            for block in range(size):
                state = _encrypt(cipher, state ^ padded[:, block])
            result[part.start + rows] = state
    return result


@of_shape(lambda cipher, blocks: blocks)
def _encrypt(cipher: CipherContext, blocks: Word) -> Word:
    return np.frombuffer(cipher.update(blocks.tobytes()), dtype="<u8").reshape(-1, 2).astype(np.uint64)
