"""The public ciphers of batched oblivious pseudorandom functions: the code and the hash.

Code words are AES-128 of an input under two keys of the batch. The hash of a row (a, b) of 2 x 128 bits is
E'(z) + z with z = E(a) + a + b over bits, E and E' AES-128 under two keys of the piece; wider values take
further keys in the place of E'. What this rests on is said in `smc.oblivious.oprf`.
"""

from __future__ import annotations

import hashlib
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

from smc.forms import Role
from smc.oblivious.bitmatrix import Word
from smc.oblivious.workspace import Workspace

_KEY_BYTES: Final = 16
_BLOCK_BYTES: Final = 16
_MAX_KNOWN: Final = 256
_CODE_DOMAIN: Final = b"duetto/oblivious/prf-code/1"
_HASH_DOMAIN: Final = b"duetto/oblivious/prf-hash/1"


class PrfCiphers:
    """The ciphers of one direction of one session.

    Args:
        session: id of the session.
        sender: the party that sends in this direction.
        workspace: scratch memory.
    """

    def __init__(self, session: bytes, sender: Role, workspace: Workspace) -> None:
        self._name = session + sender.value.encode().ljust(8)
        self._workspace = workspace
        self._known: dict[bytes, CipherContext] = {}

    def _cipher(self, domain: bytes, number: int, part: int) -> CipherContext:
        name = domain + self._name + number.to_bytes(8, "big") + part.to_bytes(2, "big")
        if name not in self._known:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            key = hashlib.sha256(name).digest()[:_KEY_BYTES]
            self._known[name] = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305 - single blocks
        return self._known[name]

    def _encrypted(self, cipher: CipherContext, blocks: Word, name: str) -> Word:
        output = self._workspace.output(name, blocks.nbytes)
        cipher.update_into(blocks.view(np.uint8).reshape(-1).data, output.data)
        return output[: blocks.nbytes].view(np.uint64).reshape(-1, 2)

    def code(self, batch: int, inputs: Word) -> tuple[Word, Word]:
        """Code words: bit s of the four words is symbol s.

        Args:
            batch: its number.
            inputs: contiguous, shape (n, 2).

        Returns:
            Words 0 and 1, and words 2 and 3, shape (n, 2) each, valid until the next call.
        """
        low, high = (
            self._encrypted(self._cipher(_CODE_DOMAIN, batch, half), inputs, f"code {half}")
            for half in range(2)
        )
        return low, high

    def hash(self, piece: int, first: Word, second: Word, values: NDArray[np.uint8]) -> None:
        """H of rows.

        Args:
            piece: its number.
            first: a, contiguous, shape (n, 2).
            second: b, shape (n, 2).
            values: shape (n, width), written.
        """
        inner = self._encrypted(self._cipher(_HASH_DOMAIN, piece, 0), first, "inner")
        inner ^= first
        inner ^= second
        width = values.shape[1]
        for start in range(0, width, _BLOCK_BYTES):
            number = 1 + start // _BLOCK_BYTES
            outer = self._encrypted(self._cipher(_HASH_DOMAIN, piece, number), inner, "outer")
            outer ^= inner
            part = slice(start, min(start + _BLOCK_BYTES, width))
            values[:, part] = outer.view(np.uint8)[:, : part.stop - start]
