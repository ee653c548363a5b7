"""The hash that breaks the correlation of extended transfers.

H(z) = E_k(z) ^ z for a row z of 128 bits, under a public key k that is derived from the session, the
direction, the purpose and a running number, and serves at most 2**14 rows and what is hashed beside them.

Rows get a public random row each before they are hashed, the same in every block, from a salt that is drawn
when the trees of the receiver are fixed: else it could draw trees until two rows are equal. Rows that leave
without this hash are hashed by others under one key for many blocks, so they get one more row, that of their
block.

Assumes: AES-128 as an ideal cipher. Rows hashed beside each other under one key differ by offsets that are
each uniform on 128 bits to the other party. If m rows have c offsets each, a party that makes p evaluations
of the cipher under that key learns something of a pad with probability about p c m / 2**127, plus the
birthday term (c m)**2 / 2**128: at m = 2**14 and c = 15 finding an offset takes about 2**109 evaluations
under a key; over a whole session nothing is lost to the number of transfers.
Reference: Guo, Katz, Wang and Yu, Efficient and secure multiparty computation from fixed-key block ciphers,
IEEE S&P 2020 (correlation robustness of this construction); a key per block for multi-instance security:
Guo, Katz, Wang, Weng and Yu, Better concrete security for half-gates garbling, CRYPTO 2020.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from smc.forms import Role
from smc.oblivious.bitmatrix import COLUMNS, SLOTS, Word
from smc.oblivious.kernels import make_kernels
from smc.oblivious.workspace import Workspace
from smc.pieces import chunks

HASH_WORDS: Final = 256
"""Words per column that are transposed and hashed under one key: 2**14 rows, which fit a cache."""

_DOMAIN: Final = b"duetto/oblivious/row-hash/2"
_SALT_DOMAIN: Final = b"duetto/oblivious/row-salt/1"
_BLOCK_DOMAIN: Final = b"duetto/oblivious/block-salt/1"
_KEY_BYTES: Final = 16

NO_OFFSET: Final = np.zeros((1, 2), dtype=np.uint64)
"""For `RowHash.bits` of whoever has no other rows than those of the columns."""


class RowHash:
    """The hash of one direction and purpose of one session.

    Args:
        session: id of the session.
        sender: the party that sends in this direction.
        purpose: 8 bytes that no other hash of the session has.
        workspace: scratch memory.
        salt: public, and drawn when all that rows follow from was fixed.
    """

    def __init__(
        self, session: bytes, sender: Role, purpose: bytes, workspace: Workspace, salt: bytes
    ) -> None:
        self._prefix = _DOMAIN + session + sender.value.encode().ljust(8) + purpose.ljust(8)
        drawn = hashlib.shake_256(_SALT_DOMAIN + self._prefix + salt).digest(8 * COLUMNS * HASH_WORDS)
        self._salt = np.frombuffer(drawn, dtype=np.uint64).reshape(COLUMNS, HASH_WORDS)
        self._blocks_salt = hashlib.sha256(_BLOCK_DOMAIN + self._prefix + salt).digest()
        self._blocks = 0
        self._workspace = workspace
        self._kernels = make_kernels(workspace)
        self._number = 0

    def _next_key(self) -> bytes:
        key = hashlib.sha256(self._prefix + self._number.to_bytes(8, "big")).digest()[:_KEY_BYTES]
        self._number += 1
        return key

    def add_salt(self, columns: Word) -> None:
        """Add a public random row to each, in place, so that no two rows under one key are equal by design.

        Args:
            columns: shape (128, w), as of `bits`. Both ends add the same to the same rows.
        """
        for part in chunks(columns.shape[1], HASH_WORDS):
            block = columns[:, part]
            np.bitwise_xor(block, self._salt[:, : block.shape[1]], out=block)

    def bits(self, columns: Word, offsets: Word) -> Word:
        """Two bits of the hashes of every row plus each of 2**j offsets, with a fresh key for each block.

        Args:
            columns: shape (128, w), as of `rows`.
            offsets: shape (2**j, 2) with j at most 4; entry a ^ b is the sum of entries a and b.

        Returns:
            Shape (2**j, 2, w), in slots: bits r and 64 + r of the hash of the row of slot (r, k).
        """
        width = columns.shape[1]
        keys = b"".join(self._next_key() for _ in chunks(width, HASH_WORDS))
        found = np.empty((len(offsets), 2, width), dtype=np.uint64)
        blocks = np.frombuffer(keys, dtype=np.uint64).reshape(-1, 2)
        self._kernels.hash_columns(columns, blocks, HASH_WORDS, offsets, found)
        return found

    def words(self, columns: Word, offsets: Word) -> Word:
        """64 bits of these hashes, from arguments as of `bits`: shape (n, 64, w)."""
        found = np.empty((len(offsets), SLOTS, columns.shape[1]), dtype=np.uint64)
        for number, part, hashed in self._hash(columns, offsets):
            found[number, :, part] = hashed[:, :, 0]
        return found

    def blocks(self, columns: Word, offsets: Word) -> Word:
        """All 128 bits of these hashes, as of `words`: shape (n, 64, w, 2)."""
        found = np.empty((len(offsets), SLOTS, columns.shape[1], 2), dtype=np.uint64)
        for number, part, hashed in self._hash(columns, offsets):
            found[number, :, part] = hashed
        return found

    def rows(self, columns: Word, offsets: Word) -> Word:
        """The rows themselves, before the hash, shape (1, 64, w, 2); the offsets are not added.

        Whoever hashes them does so under one key for all: so each block has a public random row of its own
        added to all of its rows, and no two rows of a session are equal by design.

        Entry (0, r, k) holds the 128 bits of slot (r, k), column i at bit i % 64 of word i // 64.
        """
        del offsets
        found = np.empty((1, SLOTS, columns.shape[1], 2), dtype=np.uint64)
        for part, rows in self._transpose(columns):
            np.bitwise_xor(rows, self._next_block_salt(), out=found[0, :, part])
        return found

    def _next_block_salt(self) -> Word:
        """A row that no other block of this hash gets, shape (2,)."""
        drawn = hashlib.sha256(self._blocks_salt + self._blocks.to_bytes(8, "big")).digest()
        self._blocks += 1
        return np.frombuffer(drawn[: 8 * 2], dtype=np.uint64)

    def _hash(self, columns: Word, offsets: Word) -> Iterator[tuple[int, slice, Word]]:
        """Which offset, which words, and the hashes of their rows, shape (64, v, 2), valid for one step."""
        for part, rows in self._transpose(columns):
            flat = rows.reshape(SLOTS, -1)
            key = self._next_key()
            cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305 - one block per row
            output = self._workspace.output("hashed", rows.nbytes)
            for number, offset in enumerate(offsets):
                if number:  # the first offset is zero
                    np.bitwise_xor(flat, np.tile(offset ^ offsets[number - 1], rows.shape[1]), out=flat)
                cipher.update_into(flat.view(np.uint8).reshape(-1).data, output.data)
                hashed = output[: rows.nbytes].view(np.uint64).reshape(rows.shape)
                np.bitwise_xor(hashed, rows, out=hashed)
                yield number, part, hashed

    def _transpose(self, columns: Word) -> Iterator[tuple[slice, Word]]:
        """Which words, and their rows, shape (64, v, 2), valid for one step."""
        for part in chunks(columns.shape[1], HASH_WORDS):
            rows = self._workspace.words("rows", SLOTS, part.stop - part.start, 2)
            self._kernels.rows(columns[:, part], rows)
            yield part, rows
