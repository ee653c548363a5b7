"""Pseudorandom streams that run on from call to call: one per leaf of the seed trees."""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

from smc.oblivious.bitmatrix import Word
from smc.oblivious.ggm_trees import SEED_BYTES
from smc.oblivious.workspace import Workspace

_AHEAD: Final = 64
"""Words of a stream that are made at once where fewer are asked for, since a call takes longer than they."""


class Streams:
    """AES-128 in counter mode under each of many seeds; no part of a stream is ever given out twice.

    Args:
        seeds: shape (n, 2) words.
        workspace: scratch memory.
    """

    def __init__(self, seeds: Word, workspace: Workspace) -> None:
        self._seeds = seeds.tobytes()
        self._workspace = workspace
        self._ahead = np.empty((len(seeds), _AHEAD), dtype=np.uint64)
        self._given = np.full(len(seeds), _AHEAD)  # words of each row of `_ahead`

    @cached_property
    def _streams(self) -> list[CipherContext]:
        """Made when they are first used: there are hundreds, and few jobs use all ends of a session."""
        data = self._seeds
        return [
            Cipher(algorithms.AES(data[i : i + SEED_BYTES]), modes.CTR(bytes(SEED_BYTES))).encryptor()
            for i in range(0, len(data), SEED_BYTES)
        ]

    def fill(self, first: int, rows: Word) -> None:
        """Write the next words of consecutive streams.

        Args:
            first: number of the stream of row 0.
            rows: contiguous, shape (n, w).
        """
        part = slice(first, first + len(rows))
        given = int(self._given[first])
        if (self._given[part] != given).any():
            for number in range(len(rows)):
                self.fill(first + number, rows[number : number + 1])
            return
        width, ahead = rows.shape[1], self._ahead[part]
        here = min(width, _AHEAD - given)
        rows[:, :here] = ahead[:, given : given + here]
        rest = width - here
        if not rest:
            self._given[part] = given + here
        elif rest < _AHEAD:
            self._run(first, ahead, 0)
            rows[:, here:] = ahead[:, :rest]
            self._given[part] = rest
        else:
            self._run(first, rows, here)
            self._given[part] = _AHEAD

    def _run(self, first: int, rows: Word, start: int) -> None:
        """Let consecutive streams run on into rows, from column `start` to the end."""
        size, skipped = rows[0].nbytes, start * rows.itemsize
        octets = rows.reshape(-1).view(np.uint8).data
        zeros = self._workspace.zeros(size - skipped)
        for number, stream in enumerate(self._streams[first : first + len(rows)]):
            stream.update_into(zeros, octets[number * size + skipped : (number + 1) * size])
