"""Which records are compared where passes are joins: those of the same key, rank against rank.

In a pass a row has a rank among the rows of its side with the same key: 0 for the first of them, and so on up
to a public number m. A row of rank i offers an item (key, i, j) for each rank j of the other side, and there
(key, i, j) for each rank i: each pair of ranks meets once. Rows without a key and those past rank m offer as
many random items, so that a pass has m items a row whatever the keys are. Rows of a key are ordered by a hash
of a field that the key does not take, which is more often the same order on both sides than that of the rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from smc.analyses.matching.tolerant.blocking import EMPTY, Index, KeyPart, hashed_keys
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.numeric.shapes import of_shape, shape_array
from smc.pieces import each

Word = NDArray[np.uint64]

_HASH_BYTES: Final = 16
_ORDER_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class RankLayout:
    """The items of one side in a pass.

    Attributes:
        hashes: of the key of each row, public for who knows the key, shape (n, 2).
        ranks: of each row among those of its key, or `EMPTY` without a key, shape (n,).
        capacity: m, ranks that take part.
    """

    hashes: Word = field(repr=False)
    ranks: Index = field(repr=False)
    capacity: int

    @property
    def rows(self) -> Index:
        """Rows that take part."""
        return np.flatnonzero((self.ranks != EMPTY) & (self.ranks < self.capacity))

    @property
    def full(self) -> int:
        """Rows past the last rank."""
        return int((self.ranks >= self.capacity).sum())

    @property
    def keyless(self) -> int:
        """Rows without a key."""
        return int((self.ranks == EMPTY).sum())

    @of_shape(lambda self, role, salt, random: shape_array((len(self.ranks) * self.capacity, 2), np.uint64))
    def items(self, role: Role, salt: bytes, random: Randomness) -> Word:
        """The items of all rows as keys of a join, row by row, shape (n * m, 2).

        Args:
            role: whose rows these are.
            salt: public, drawn with the peer once the rows were read.
            random: draws the items of rows that do not take part.
        """
        rows, others = self.rows, np.arange(self.capacity)
        own = self.ranks[rows, None]
        # Numbers of pairs of ranks: Alice's is the first.
        pair = own * self.capacity + others if role is Role.ALICE else others * self.capacity + own
        named = np.repeat(self.hashes[rows], self.capacity, axis=0)
        named[:, 0] ^= pair.reshape(-1).astype(np.uint64)
        key = hashlib.sha256(b"duetto/matching/items/1/" + salt).digest()[:_HASH_BYTES]
        cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305 - single blocks
        found = random.words(2 * len(self.ranks) * self.capacity).reshape(-1, 2 * self.capacity)
        # A permutation of blocks: what was distinct stays so.
        found[rows] = np.frombuffer(cipher.update(named.tobytes()), dtype=np.uint64).reshape(
            len(rows), found.shape[1]
        )
        return found.reshape(-1, 2)


def _shapes(
    key: Sequence[KeyPart], texts: Mapping[str, Sequence[str]], ordering: str | None, capacity: int, salt: str
) -> RankLayout:
    """The shapes of a layout."""
    del ordering, salt
    rows = len(texts[key[0].column])
    return RankLayout(shape_array((rows, 2), np.uint64), shape_array(rows, np.int64), capacity)


@of_shape(_shapes)
def rank(
    key: Sequence[KeyPart],
    texts: Mapping[str, Sequence[str]],
    ordering: str | None,
    capacity: int,
    salt: str,
) -> RankLayout:
    """Rank the rows of one side in a pass.

    Args:
        key: the parts.
        texts: of each part's column and of `ordering`, all of one length.
        ordering: the column by whose hash the rows of a key are ordered; None for the order of rows.
        capacity: m.
        salt: public; differs between passes.
    """
    codes, hashes = hashed_keys(key, texts, salt, _HASH_BYTES)
    words = np.frombuffer(b"".join(hashes) + bytes(_HASH_BYTES), dtype=np.uint64).reshape(-1, 2)
    order = (
        np.lexsort((_order(texts[ordering], salt), codes)) if ordering else np.argsort(codes, kind="stable")
    )
    sorted_codes = codes[order]
    ranks = np.empty(len(codes), dtype=np.int64)
    ranks[order] = np.arange(len(codes)) - np.searchsorted(sorted_codes, sorted_codes)
    ranks[codes == EMPTY] = EMPTY
    return RankLayout(words[codes], ranks, capacity)


def _order(texts: Sequence[str], salt: str) -> Word:
    prefix = hashlib.sha256(f"duetto/matching/ranks/1/{salt}".encode()).digest()
    found = {
        text: int.from_bytes(
            hashlib.blake2b(text.encode(), key=prefix, digest_size=_ORDER_BYTES).digest(), "big"
        )
        for text in each(set(texts))
    }
    return np.array([found[text] for text in each(texts)], dtype=np.uint64)
