"""The inner loops of oblivious transfer, which know nothing of protocols, and which of them run.

The compiled ones run where they were built and agree with the reference, unless `DUETTO_KERNELS` says numpy.
"""

from __future__ import annotations

import os
from ctypes import CDLL
from functools import cache
from typing import Final, Protocol

import numpy as np

from smc.errors import UsageError
from smc.oblivious.bitmatrix import COLUMNS, LANES, Word
from smc.oblivious.native_kernels import Native, NativeCiphers, library
from smc.oblivious.numpy_kernels import Reference
from smc.oblivious.prg import LeafStreams
from smc.oblivious.workspace import Workspace

VARIABLE: Final = "DUETTO_KERNELS"
_CHOICES: Final = (Reference.name, Native.name)
_WIDTHS: Final = (9, 130)
"""Of the trial: both sides of the pieces into which the compiled loops cut lines."""


class Kernels(Protocol):
    """One thread's kernels. All arrays are words; where nothing else is said they are contiguous."""

    @property
    def name(self) -> str:
        """By which people choose it."""
        ...

    @property
    def ciphers(self) -> str:
        """The processor's instructions for AES that the loops use themselves, or nothing."""
        ...

    def streams(self, seeds: Word) -> LeafStreams:
        """Streams under the leaves of seed trees, from their beginning.

        Args:
            seeds: shape (t, 2**d, 2) with d from 1 to 4.
        """
        ...

    def hash_columns(self, columns: Word, keys: Word, span: int, offsets: Word, found: Word) -> None:
        """Two bits of E(z) + z of each row z of turned columns, and of each row plus offsets.

        Bit r of word k of found[v][h] is bit r of word h of the hash of row (r, k) plus offset v, where rows
        are as of `rows`.

        Args:
            columns: shape (128, w), each row contiguous.
            keys: of AES, for every `span` words one, shape (ceil(w / span), 2).
            span: at least 1.
            offsets: shape (2**j, 2) with j at most 4; entry a ^ b is the sum of entries a and b, so the
                first is zero.
            found: shape (2**j, 2, w), written.
        """
        ...

    def add_code(self, secret: Word, drawn: Word, mask: int, rows: Word) -> None:
        """Add ten entries of a table to each row, at places that a public stream names.

        Args:
            secret: the table, shape (mask + 1, 2).
            drawn: the stream, shape (5, n): each word names two entries, by its lower and its upper 32 bits,
                both under the mask.
            mask: a power of two less one, below 2**32.
            rows: shape (n, 2), changed in place.
        """
        ...

    def diagonals(self, hashed: Word, rows: Word | None, planes: Word) -> None:
        """Pick bits of `hashed` plus `rows`: bit r of word (r, 2 k + h) goes to bit r of planes[h][k].

        With four planes, its bit r ^ 32 goes to bit r of planes[2 + h][k].

        Args:
            hashed: shape (64, 2 w); its content is lost.
            rows: of the same shape; None stands for zeros.
            planes: shape (2, w) or (4, w), each row contiguous; written.
        """
        ...

    def rows(self, columns: Word, rows: Word) -> None:
        """Transpose: bit r of word k of column i goes to bit i % 64 of word i // 64 of row (r, k).

        Args:
            columns: shape (128, w), each row contiguous.
            rows: shape (64, w, 2), written.
        """
        ...

    def turn(self, nodes: Word, turned: Word) -> None:
        """Write (low + high, low) for every node (low, high); shape (..., 2) each."""
        ...

    def children(self, parents: Word, hashed: Word, turned: Word, right: Word) -> Word:
        """Put left = hashed + turned in the place of the parents, and parent + left into `right`.

        Args:
            parents: shape (n, g, 2) with n a power of two.
            hashed: of that shape; its content is lost.
            turned: of that shape.
            right: of that shape, written.

        Returns:
            The sum of all left ones over n, shape (g, 2).
        """
        ...


def make_kernels(workspace: Workspace) -> Kernels:
    """The kernels of one thread.

    Args:
        workspace: scratch memory.

    Raises:
        UsageError: `DUETTO_KERNELS` asks for what is unknown or not there.
    """
    loaded = library()
    chosen = os.environ.get(VARIABLE, "")
    if chosen not in ("", *_CHOICES):
        raise UsageError(f"{VARIABLE} is {chosen!r}.", f"Set it to {' or '.join(_CHOICES)}, or leave it out.")
    if chosen == Native.name and loaded is None:
        raise UsageError(
            f"{VARIABLE} asks for native kernels, which are not built.",
            "Install duetto again where a C compiler is at hand, or leave the variable out.",
        )
    if chosen == Native.name and not agrees():
        raise UsageError(
            f"{VARIABLE} asks for native kernels, which differ from numpy's on this machine.",
            "Leave the variable out, and report the machine and its compiler.",
        )
    if loaded is None or chosen == Reference.name or not agrees():
        return Reference(workspace)
    return _native(loaded, workspace)


def _native(loaded: CDLL, workspace: Workspace) -> Native:
    instructions = loaded.duetto_ciphers()
    return NativeCiphers(workspace, loaded, instructions) if instructions else Native(workspace, loaded)


def differ() -> bool:
    """Whether there are compiled kernels that are not used since they differ from the reference."""
    return library() is not None and not agrees()


@cache
def agrees() -> bool:
    """Whether the compiled kernels give what the reference gives, on small inputs of each."""
    loaded = library()
    if loaded is None:
        return False
    both = zip(_trial(_native(loaded, Workspace())), _trial(Reference(Workspace())), strict=True)
    return all(np.array_equal(one, other) for one, other in both)


def _trial(kernels: Kernels) -> list[Word]:
    """What every kernel makes of arrays whose words are all different."""

    def words(*shape: int) -> Word:
        numbers = np.arange(1, int(np.prod(shape)) + 1, dtype=np.uint64)
        return (numbers * np.uint64(0x9E3779B97F4A7C15)).reshape(shape)

    found: list[Word] = []
    for width in _WIDTHS:
        code, planes, rows = words(width, 2), words(4, width + 1), words(LANES, width, 2)
        weighed, total, turned = words(2, 4, width), words(2, width), words(2, width, 2)
        parents, right, two = words(2, width, 2), words(2, width, 2), words(2, width)
        kernels.add_code(words(32, 2), words(5, width), 31, code)
        kernels.diagonals(words(LANES, 2 * width), words(LANES, 2 * width), planes[:, 1:])
        kernels.diagonals(words(LANES, 2 * width), None, two)
        kernels.rows(words(COLUMNS, width + 1)[:, 1:], rows)
        streams = kernels.streams(words(2, 16, 2))
        for _ in range(2):  # the second time from within a block
            streams.weigh(slice(0, 2), weighed, total)
            found += [weighed.copy(), total.copy()]
        hashed = words(2, 2, width)
        offsets = words(2, 2)
        offsets[0] = 0
        kernels.hash_columns(words(COLUMNS, width + 1)[:, 1:], words(-(-width // 64), 2), 64, offsets, hashed)
        kernels.turn(words(2, width, 2), turned)
        right_total = kernels.children(parents, words(2, width, 2), turned, right)
        found += [code, planes, two, rows, hashed, turned, parents, right, right_total]
    return found
