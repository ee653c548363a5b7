"""Pseudorandom streams that run on from call to call, one per leaf of the seed trees, and their sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Final, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

from smc.errors import UsageError
from smc.oblivious.bitmatrix import Word
from smc.oblivious.workspace import Workspace
from smc.pieces import chunks

SEED_BYTES: Final = 16

_CACHE_WORDS: Final = 1 << 15
_AHEAD: Final = 64
"""Words of a stream that are made at once where fewer are asked for, since a call takes longer than they."""


class LeafStreams(Protocol):
    """AES-128 in counter mode under the seed of each leaf; no part of a stream is ever given out twice."""

    def groups(self, width: int) -> Iterator[slice]:
        """How many trees it is best to weigh at a time.

        Args:
            width: words of each stream.
        """
        ...

    def weigh(self, trees: slice, weighed: Word, total: Word) -> None:
        """Sum the next words of the streams of consecutive trees.

        Args:
            trees: which, g of them with 2**d leaves each.
            weighed: contiguous, shape (g, d, w); entry b gets the sum of those whose number has bit b.
            total: contiguous, shape (g, w); gets the sum of all.

        Raises:
            UsageError: not all of them have been weighed as far.
        """
        ...


class Streams:
    """Such streams of the library `cryptography`.

    Args:
        seeds: shape (t, n, 2), those of each tree beside each other.
        workspace: scratch memory.
        weigh: sums over the streams of trees, see `smc.oblivious.numpy_kernels.Reference.weigh`.
    """

    def __init__(self, seeds: Word, workspace: Workspace, weigh: Callable[[Word, Word, Word], None]) -> None:
        trees, self._leaves, _ = seeds.shape
        self._seeds = seeds.tobytes()
        self._workspace = workspace
        self._weigh = weigh
        self._ahead = np.empty((trees * self._leaves, _AHEAD), dtype=np.uint64)
        self._given = np.full(trees, _AHEAD)  # words of the rows of `_ahead`, tree by tree

    @cached_property
    def _streams(self) -> list[CipherContext]:
        """Made when they are first used: there are hundreds, and few jobs use all ends of a session."""
        data = self._seeds
        return [
            Cipher(algorithms.AES(data[i : i + SEED_BYTES]), modes.CTR(bytes(SEED_BYTES))).encryptor()
            for i in range(0, len(data), SEED_BYTES)
        ]

    def groups(self, width: int) -> Iterator[slice]:
        """As many as keep their streams in the cache between filling and weighing."""
        return chunks(len(self._given), max(1, _CACHE_WORDS // (self._leaves * width)))

    def weigh(self, trees: slice, weighed: Word, total: Word) -> None:
        """As declared."""
        streams = self._workspace.words("streams", len(total), self._leaves, total.shape[1])
        self._fill(trees, streams)
        self._weigh(streams, weighed, total)

    def _fill(self, trees: slice, streams: Word) -> None:
        """Write the next words of the streams; shape (g, n, w)."""
        given = int(self._given[trees.start])
        if (self._given[trees] != given).any():
            raise out_of_step()
        rows = streams.reshape(-1, streams.shape[2])
        part = slice(self._leaves * trees.start, self._leaves * trees.stop)
        width, ahead = rows.shape[1], self._ahead[part]
        here = min(width, _AHEAD - given)
        rows[:, :here] = ahead[:, given : given + here]
        rest = width - here
        if not rest:
            self._given[trees] = given + here
        elif rest < _AHEAD:
            self._run(part, ahead, 0)
            rows[:, here:] = ahead[:, :rest]
            self._given[trees] = rest
        else:
            self._run(part, rows, here)
            self._given[trees] = _AHEAD

    def _run(self, part: slice, rows: Word, start: int) -> None:
        """Let consecutive streams run on into rows, from column `start` to the end."""
        size, skipped = rows[0].nbytes, start * rows.itemsize
        octets = rows.reshape(-1).view(np.uint8).data
        zeros = self._workspace.zeros(size - skipped)
        for number, stream in enumerate(self._streams[part]):
            stream.update_into(zeros, octets[number * size + skipped : (number + 1) * size])


def out_of_step() -> UsageError:
    """Of trees that cannot be weighed together."""
    return UsageError(
        "The streams of these trees have given out different numbers of words.",
        "This is a defect of the program: weigh the same trees together every time.",
    )
