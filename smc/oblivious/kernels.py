"""The inner loops of oblivious transfer, which know nothing of protocols, and which of them run.

The compiled ones run where they were built and agree with the reference, unless `DUETTO_KERNELS` says numpy.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from ctypes import CDLL
from functools import cache
from typing import Final, Protocol

import numpy as np

from smc.errors import UsageError
from smc.oblivious.bitmatrix import COLUMNS, SLOTS, Bit, Word
from smc.oblivious.native_kernels import Native, NativeCiphers, library
from smc.oblivious.numpy_field import FieldLoops
from smc.oblivious.numpy_kernels import Reference
from smc.oblivious.numpy_store import DENSE, ROW, SEED_BYTES, StoreLoops
from smc.oblivious.prg import LeafStreams
from smc.oblivious.workspace import Workspace

VARIABLE: Final = "DUETTO_KERNELS"
_CHOICES: Final = (Reference.name, Native.name)
_WIDTHS: Final = (9, 130, 300, 1027)
"""Of the trial: both sides of the pieces into which compiled loops cut lines, and past a key of hashes."""

_OFFSETS: Final = (1, 2, 16)
_SPANS: Final = (64, 256)
_DEPTHS: Final = (2, 4)
_PIECES: Final = (SLOTS, 1024)
_TREES: Final = ((1, 3), (6, 3), (10, 16))
"""Of the trial: those of runs, which a test compares with what runs ask for, and smaller ones."""

_STORED, _COLUMNS, _PARTS = 750, 300, 3
_STORE_WIDTHS: Final = (1, 2, 3, 5)
"""Of the trial of stores: half of the keys of a part are left, and widths have loops of their own."""

TRIAL_DIGEST: Final = "2a05c8c47138766595ba03c67f8e9a904fc2d5ba3c0b2f20a60c80e24e6c6ea9"
"""`trial_digest` of the reference, which a test holds against it: so a process that starts runs the compiled
kernels only, in a fifth of the time."""


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

    @property
    def field(self) -> FieldLoops:
        """The loops over the field of 2**128 elements."""
        ...

    @property
    def store(self) -> StoreLoops:
        """The loops of key-value stores."""
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

    def hash_rows(
        self, rows: Word, key: Word, offsets: Word, planes: Word, choices: Word | None = None
    ) -> None:
        """Four bits of E(z) + z of each row z plus one of the offsets, and the lowest bit of z itself.

        Row r * w + k gives bit r of words k: of the hash of its sum with offset v the bits r and 64 + r to
        planes[v][0] and planes[v][1], and r ^ 32 and 64 + (r ^ 32) to planes[v][2] and planes[v][3].

        Args:
            rows: shape (64 * w, 2); their content is lost.
            key: of AES, shape (2,).
            offsets: shape (n, 2) with n either 1 or 2, of which the first is zero.
            planes: shape (n, 4, w), part of a contiguous array that is wider; written.
            choices: shape (w,); gets the lowest bits.
        """
        ...

    def add_code(self, secret: Word, key: Word, number: int, piece: int, rows: Word) -> None:
        """Add ten entries of a table to each row, at places that a public stream names.

        The stream is AES in counter mode from block number * 2**64 on. For every piece of rows it has five
        lines of as many words; each word of a row's column names two entries, by its lower and by its upper
        32 bits, as far as they count them.

        Args:
            secret: the table, shape (k, 2) with k a power of two up to 2**32.
            key: of AES, shape (2,).
            number: below 2**64.
            piece: rows of a piece, a multiple of 64.
            rows: shape (n, 2), whole pieces, changed in place.
        """
        ...

    def grow(self, seeds: Word, offset: Word, key: Word, nodes: Word) -> Word:
        """The owner's trees of `smc.oblivious.correlated_ggm`, with E under the key.

        Args:
            seeds: shape (g, 2) with g up to 32.
            offset: D, shape (2,).
            key: of AES, shape (2,).
            nodes: shape (2**depth, g, 2), gets the leaves, with 0 for the lowest bit of each.

        Returns:
            The sums of the left nodes, shape (depth, g, 2).
        """
        ...

    def regrow(self, sums: Word, choices: Bit, key: Word, nodes: Word) -> None:
        """The guest's trees.

        Args:
            sums: of the chosen sides, shape (depth, g, 2) with g up to 32.
            choices: bits, contiguous, shape (depth, g).
            key: of AES, shape (2,).
            nodes: shape (2**depth, g, 2), gets the leaves, the missing one plus D; the lowest bit of that is
                1, and of the others 0.
        """
        ...

    def tags(self, columns: Word, key: Word) -> Word:
        """GHASH of columns, the sum of their blocks of 16 bytes times powers of H, without the length's.

        H = E(0), and block i of n counts with the power n + 1 - i of H, in the field and order of bits of
        AES-GCM; a last block of 8 bytes is filled up with zeros.

        Args:
            columns: shape (n, w), each row contiguous.
            key: of AES, shape (2,).

        Returns:
            Shape (n, 2).
        """
        ...

    def rows(self, columns: Word, rows: Word) -> None:
        """Transpose: bit r of word k of column i goes to bit i % 64 of word i // 64 of row (r, k).

        Args:
            columns: shape (128, w), each row contiguous.
            rows: shape (64, w, 2), written.
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


def run_compiled() -> bool:
    """Whether the compiled kernels run.

    Raises:
        UsageError: as `make_kernels`.
    """
    return make_kernels(Workspace()).name != Reference.name


def differ() -> bool:
    """Whether there are compiled kernels that are not used since they differ from the reference."""
    return library() is not None and not agrees()


@cache
def agrees() -> bool:
    """Whether the compiled kernels give on this machine what the reference gives, with the sizes of runs."""
    loaded = library()
    return loaded is not None and trial_digest(_native(loaded, Workspace())) == TRIAL_DIGEST


def trial_digest(kernels: Kernels) -> str:
    """SHA-256 of what kernels make of the arrays of the trial."""
    return hashlib.sha256(b"".join(array.tobytes() for array in _trial(kernels))).hexdigest()


def _trial(kernels: Kernels) -> list[Word]:
    """What every kernel makes of arrays whose words are all different."""
    words = _number
    found: list[Word] = []
    key = words(2)
    for width in _WIDTHS:
        rows, columns = words(SLOTS, width, 2), words(COLUMNS, width + 1)[:, 1:]
        for depth in _DEPTHS:
            weighed, total = words(2, depth, width), words(2, width)
            streams = kernels.streams(words(2, 1 << depth, 2))
            for _ in range(2):  # the second time from within a block
                streams.weigh(slice(0, 2), weighed, total)
                found += [weighed.copy(), total.copy()]
        for count in _OFFSETS:
            offsets = _sums(words(count.bit_length() - 1, 2))
            for span in _SPANS:
                hashed = words(count, 2, width)
                kernels.hash_columns(columns, words(-(-width // span), 2), span, offsets, hashed)
                found.append(hashed)
            if count <= 2:
                planes, choices = words(count, 4, width + 1), words(width)
                kernels.hash_rows(words(SLOTS * width, 2), key, offsets, planes[:, :, 1:], choices)
                found += [planes, choices]
        found.append(kernels.tags(columns, key))
        kernels.rows(columns, rows)
        found.append(rows)
    for piece in _PIECES:
        code = words(piece * 2, 2)
        kernels.add_code(words(1 << 9, 2), key, 7, piece, code)
        found.append(code)
    for depth, trees in _TREES:
        leaves, others = words(1 << depth, trees, 2), words(1 << depth, trees, 2)
        sums = kernels.grow(words(trees, 2), key, words(2), leaves)
        sides = (words(depth, trees) & np.uint64(1)).astype(np.uint8)
        kernels.regrow(sums, sides, words(2), others)
        found += [leaves, sums, others]
    return found + _field_trial(kernels.field, words) + _trial_of_stores(kernels.store)


def _field_trial(field: FieldLoops, words: Callable[..., Word]) -> list[Word]:
    """The same of the loops over the field."""
    factor, sums = words(2), words(37, 2)
    field.add_products(words(37, 2), factor, sums)
    found = [sums, field.tag(words(37, 2), factor), field.pack(words(3 * 128, 2))]
    nodes, leaves, pairs = words(16, 3, 2), words(16, 3, 2), words(48, 2, 2)
    field.place_leaves(nodes, leaves, words(3, 2), words(3, 2), pairs)
    found += [field.known_sums(nodes, leaves), pairs]
    for across in (1, 2):
        rows = words(1 << 11, across, 2)
        field.add_code(words(1 << 9, across, 2), factor, 7, 1 << 10, rows)
        found.append(rows)
    return found


def _trial_of_stores(loops: StoreLoops) -> list[Word]:
    """What comes of the keys of several parts."""
    keys, seed = _number(_STORED, 2), bytes(range(SEED_BYTES))
    rows = np.empty(_STORED, dtype=ROW)
    loops.rows(keys, seed, _COLUMNS, _PARTS, rows)
    order, sizes = loops.order(rows, _PARTS)
    found = [rows.view(np.uint64), order.astype(np.uint64), sizes.view(np.uint64)]
    for width in _STORE_WIDTHS:
        values, store = _number(_STORED, width), _number(_PARTS, _COLUMNS + DENSE, width)
        result = np.zeros_like(values)
        for part, members in zip(store, np.split(order, np.cumsum(sizes)[:-1]), strict=True):
            peeled = loops.peel(rows, members, _COLUMNS)
            peeled.fill(part, values)
            loops.sums(part, rows, members, result)
            found.append(peeled.left.astype(np.uint64))
        found += [store, result]
    return found


def _number(*shape: int) -> Word:
    numbers = np.arange(1, int(np.prod(shape)) + 1, dtype=np.uint64)
    return (numbers * np.uint64(0x9E3779B97F4A7C15)).reshape(shape)


def _sums(generators: Word) -> Word:
    """All sums of some of the offsets, of which entry a ^ b is that of entries a and b."""
    result = np.zeros((1, 2), dtype=np.uint64)
    for generator in generators:
        result = np.concatenate([result, result ^ generator])
    return result
