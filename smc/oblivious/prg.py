"""Pseudorandom streams that run on from call to call: one per leaf of the seed trees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

from smc.oblivious.bitmatrix import Word
from smc.oblivious.ggm_trees import SEED_BYTES
from smc.oblivious.workspace import Workspace


class Streams:
    """AES-128 in counter mode under each of many seeds; no part of a stream is ever given out twice.

    Args:
        seeds: shape (n, 2) words.
        workspace: scratch memory.
    """

    def __init__(self, seeds: Word, workspace: Workspace) -> None:
        data = seeds.tobytes()
        self._streams: Sequence[CipherContext] = [
            Cipher(algorithms.AES(data[i : i + SEED_BYTES]), modes.CTR(bytes(SEED_BYTES))).encryptor()
            for i in range(0, len(data), SEED_BYTES)
        ]
        self._workspace = workspace

    def fill(self, first: int, rows: Word) -> None:
        """Write the next words of consecutive streams.

        Args:
            first: number of the stream of row 0.
            rows: contiguous, shape (n, w).
        """
        size = rows[0].nbytes
        octets = rows.reshape(-1).view(np.uint8).data
        zeros = self._workspace.zeros(size)
        for number, stream in enumerate(self._streams[first : first + len(rows)]):
            stream.update_into(zeros, octets[number * size : (number + 1) * size])
