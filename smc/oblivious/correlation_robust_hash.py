"""The hash that breaks the correlation of extended transfers.

H(z) = E_k(z) ^ z for a row z of 128 bits, under a public key k that is derived from the session, the
direction, the purpose and a running number, and serves at most 2**14 rows and what is hashed beside them.

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
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

from smc.forms import Role
from smc.oblivious.bitmatrix import SLOTS, Word
from smc.oblivious.kernels import make_kernels
from smc.oblivious.workspace import Workspace
from smc.pieces import chunks

HASH_WORDS: Final = 256
"""Words per column that are transposed and hashed under one key: 2**14 rows, which fit a cache."""

_DOMAIN: Final = b"duetto/oblivious/row-hash/2"
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
    """

    def __init__(self, session: bytes, sender: Role, purpose: bytes, workspace: Workspace) -> None:
        self._prefix = _DOMAIN + session + sender.value.encode().ljust(8) + purpose.ljust(8)
        self._workspace = workspace
        self._kernels = make_kernels(workspace)
        self._number = 0
        self._cipher = self._next_cipher()

    def _next_key(self) -> bytes:
        key = hashlib.sha256(self._prefix + self._number.to_bytes(8, "big")).digest()[:_KEY_BYTES]
        self._number += 1
        return key

    def _next_cipher(self) -> CipherContext:
        return Cipher(algorithms.AES(self._next_key()), modes.ECB()).encryptor()  # noqa: S305 - one block per row

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

    def rows(self, columns: Word) -> Iterator[tuple[slice, Word]]:
        """Transpose columns block by block, with a fresh key for each block.

        Args:
            columns: shape (128, w); bit r of word k of column i belongs to slot (r, k).

        Yields:
            Which words, and their rows, shape (64, v, 2), valid until the next step: entry (r, k) holds the
            128 bits of a slot, column i at bit i % 64 of word i // 64.
        """
        width = columns.shape[1]
        for part in chunks(width, HASH_WORDS):
            size = part.stop - part.start
            rows = self._workspace.words("rows", SLOTS, size, 2)
            self._kernels.rows(columns[:, part], rows)
            self._cipher = self._next_cipher()
            yield part, rows

    def _encrypted(self, rows: Word) -> Word:
        """E_k of all rows, shape (64, 2 v), valid until the next call."""
        output = self._workspace.output("hashed", rows.nbytes)
        self._cipher.update_into(rows.view(np.uint8).reshape(-1).data, output.data)
        return output[: rows.nbytes].view(np.uint64).reshape(SLOTS, -1)

    def words(self, rows: Word) -> Word:
        """64 bits of the hash of each row.

        Args:
            rows: shape (64, v, 2).

        Returns:
            Shape (64, v).
        """
        hashed = self._encrypted(rows).reshape(rows.shape)
        result: Word = hashed[:, :, 0] ^ rows[:, :, 0]
        return result

    def blocks(self, rows: Word) -> Word:
        """All 128 bits of the hash of each row.

        Args:
            rows: shape (64, v, 2).

        Returns:
            Shape (64, v, 2), valid until the next call.
        """
        hashed = self._encrypted(rows).reshape(rows.shape)
        np.bitwise_xor(hashed, rows, out=hashed)
        return hashed
