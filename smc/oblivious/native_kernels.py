"""The inner loops of oblivious transfer in C, where a compiler was at hand when duetto was installed.

The library is called through ctypes, which lets other threads run meanwhile. All sizes are checked here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Final

import numpy as np
from typing_extensions import override

from smc.errors import UsageError
from smc.oblivious import native_field, native_store
from smc.oblivious.bitmatrix import COLUMNS, SLOTS, Bit, Word
from smc.oblivious.native_arrays import address, check, check_written, unfit
from smc.oblivious.numpy_field import FieldLoops
from smc.oblivious.numpy_kernels import Reference, hash_key
from smc.oblivious.numpy_store import StoreLoops
from smc.oblivious.prg import LeafStreams, out_of_step
from smc.oblivious.workspace import Workspace
from smc.pieces import chunks

_VERSION: Final = 6
_SIZE, _POINTER, _WORD = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_uint64
_FUNCTIONS: Final[dict[str, Sequence[type]]] = {
    "duetto_add_drawn": (_POINTER, _POINTER, _SIZE, _WORD, _POINTER),
    "duetto_diagonals": (_POINTER, _POINTER, _SIZE, _POINTER, _SIZE, ctypes.c_int),
    "duetto_rows": (_POINTER, _SIZE, _SIZE, _POINTER),
    "duetto_weigh": (_POINTER, _SIZE, _SIZE, _SIZE, _POINTER, _POINTER),
}
_CIPHER_FUNCTIONS: Final[dict[str, Sequence[type]]] = {
    "duetto_add_code": (_POINTER, _WORD, _POINTER, _WORD, _SIZE, _SIZE, _POINTER),
    "duetto_grow": (_POINTER, _POINTER, _POINTER, _SIZE, _SIZE, _POINTER, _POINTER),
    "duetto_regrow": (_POINTER, _POINTER, _POINTER, _SIZE, _SIZE, _POINTER),
    "duetto_leaves": (_POINTER, _SIZE, _SIZE, _WORD, _SIZE, _POINTER, _POINTER),
    "duetto_tags": (_POINTER, _SIZE, _SIZE, _SIZE, _POINTER, _POINTER),
    "duetto_hash_columns": (_POINTER, _SIZE, _SIZE, _POINTER, _SIZE, _POINTER, _SIZE, _POINTER),
    "duetto_hash_rows": (*[_POINTER, _SIZE], *[_POINTER] * 2, _SIZE, _POINTER, _SIZE, _POINTER),
}
CIPHERS: Final = ("", "AES-NI", "VAES", "VAES with AVX-512")
"""Sets of instructions for AES, by the number that the library has for them; none first."""

_MOST_DEPTH: Final = 4
_MOST_TREES: Final = 32
_OFFSETS: Final = (1, 2, 4, 8, 16)
"""Numbers of offsets that a kernel takes."""


@cache
def library() -> ctypes.CDLL | None:
    """The compiled library, or None where there is none of this release."""
    for suffix in EXTENSION_SUFFIXES:
        path = Path(__file__).with_name(f"_kernels{suffix}")
        if path.exists():
            try:
                found = ctypes.CDLL(str(path))
                if found.duetto_kernels_version() != _VERSION:
                    return None
                plain = _FUNCTIONS | native_field.FUNCTIONS | native_store.FUNCTIONS
                for name, arguments in plain.items():
                    _declare(found, name, arguments)
                ciphers = _CIPHER_FUNCTIONS | native_field.CIPHER_FUNCTIONS | native_store.CIPHER_FUNCTIONS
                if found.duetto_ciphers():
                    for name, arguments in ciphers.items():
                        _declare(found, name, (ctypes.c_int, *arguments))
            except (OSError, AttributeError):
                return None
            return found
    return None


def _declare(loaded: ctypes.CDLL, name: str, arguments: Sequence[type]) -> None:
    function = getattr(loaded, name)
    function.argtypes, function.restype = arguments, native_store.RESULTS.get(name)


class Native(Reference):
    """The loops of a library in the place of numpy's; AES stays that of the library `cryptography`."""

    name = "native"

    def __init__(self, workspace: Workspace, loaded: ctypes.CDLL) -> None:
        super().__init__(workspace)
        self._library = loaded
        self.field: FieldLoops = native_field.NativeField(workspace, loaded)
        self.store: StoreLoops = native_store.NativeStore(loaded)

    @override
    def add_drawn(self, secret: Word, drawn: Word, rows: Word) -> None:
        """As the reference."""
        count = len(rows)
        _check_table(secret)
        check(drawn, (5, count))
        check_written(rows, (count, 2))
        self._library.duetto_add_drawn(address(secret), address(drawn), count, len(secret) - 1, address(rows))

    @override
    def diagonals(self, hashed: Word, rows: Word | None, planes: Word) -> None:
        """As the reference."""
        width = planes.shape[1]
        check(hashed, (SLOTS, 2 * width))
        if rows is not None:
            check(rows, hashed.shape)
        stride = _stride(planes)
        if len(planes) not in (2, 4) or not planes.flags.writeable:
            raise unfit()
        plain = None if rows is None else address(rows)
        self._library.duetto_diagonals(
            address(hashed), plain, width, address(planes), stride, len(planes) == 4
        )

    @override
    def rows(self, columns: Word, rows: Word) -> None:
        """As declared."""
        width = columns.shape[1]
        check_written(rows, (SLOTS, width, 2))
        if len(columns) != COLUMNS:
            raise unfit()
        self._library.duetto_rows(address(columns), _stride(columns), width, address(rows))

    @override
    def weigh(self, streams: Word, weighed: Word, total: Word) -> None:
        """As the reference; the streams keep their content."""
        trees, depth, width = _check_sums(weighed, total)
        check(streams, (trees, 1 << depth, width))
        self._library.duetto_weigh(address(streams), trees, depth, width, address(weighed), address(total))


class NativeCiphers(Native):
    """The loops of a library, with AES in them.

    Args:
        workspace: scratch memory.
        loaded: the library.
        instructions: which of `CIPHERS`, no more than the processor has.
    """

    def __init__(self, workspace: Workspace, loaded: ctypes.CDLL, instructions: int) -> None:
        super().__init__(workspace, loaded)
        if not 1 <= instructions <= loaded.duetto_ciphers():
            raise UsageError("This processor lacks the instructions for AES.", "Use the other kernels.")
        self._set = instructions
        self.ciphers = CIPHERS[instructions]
        self.field = native_field.NativeCipherField(workspace, loaded, instructions)
        self.store = native_store.NativeCipherStore(loaded, instructions)

    @override
    def streams(self, seeds: Word) -> LeafStreams:
        """As declared."""
        return NativeStreams(seeds, self._library, self._set)

    @override
    def hash_columns(self, columns: Word, keys: Word, span: int, offsets: Word, found: Word) -> None:
        """As declared."""
        width = columns.shape[1]
        if len(columns) != COLUMNS or span < 1 or len(offsets) not in _OFFSETS:
            raise unfit()
        check(keys, (-(-width // span), 2))
        check(offsets, (len(offsets), 2))
        check_written(found, (len(offsets), 2, width))
        lines = (address(columns), _stride(columns), width)
        self._library.duetto_hash_columns(
            self._set, *lines, address(keys), span, address(offsets), len(offsets), address(found)
        )

    @override
    def tags(self, columns: Word, key: Word) -> Word:
        """As declared."""
        count, width = columns.shape
        check(key, (2,))
        found, powers_of = np.empty((count, 2), dtype=np.uint64), hash_key(key)
        lines = (address(columns), _stride(columns), count, width)
        self._library.duetto_tags(self._set, *lines, address(powers_of), address(found))
        return found

    @override
    def hash_rows(
        self, rows: Word, key: Word, offsets: Word, planes: Word, choices: Word | None = None
    ) -> None:
        """As declared; the rows keep their content."""
        count, lines, width = planes.shape
        check(rows, (SLOTS * width, 2))
        check(key, (2,))
        check(offsets, (count, 2))
        stride = _stride(planes[0])
        if lines != 4 or planes.strides[0] != 4 * planes.strides[1] or not planes.flags.writeable:
            raise unfit()
        if count not in _OFFSETS[:2]:
            raise unfit()
        if choices is not None:
            check_written(choices, (width,))
        wanted = None if choices is None else address(choices)
        given = (address(rows), width, address(key), address(offsets), count)
        self._library.duetto_hash_rows(self._set, *given, address(planes), stride, wanted)

    @override
    def add_code(self, secret: Word, key: Word, number: int, piece: int, rows: Word) -> None:
        """As declared."""
        count = len(rows)
        _check_table(secret)
        check(key, (2,))
        check_written(rows, (count, 2))
        if piece < SLOTS or piece % SLOTS or count % piece or not 0 <= number < 1 << 64:
            raise unfit()
        mask = len(secret) - 1
        self._library.duetto_add_code(
            self._set, address(secret), mask, address(key), number, count, piece, address(rows)
        )

    @override
    def grow(self, seeds: Word, offset: Word, key: Word, nodes: Word) -> Word:
        """As declared."""
        trees, depth = _check_trees(nodes)
        check(seeds, (trees, 2))
        check(offset, (2,))
        check(key, (2,))
        sums = np.empty((depth, trees, 2), dtype=np.uint64)
        given = (address(seeds), address(offset), address(key), trees, depth)
        self._library.duetto_grow(self._set, *given, address(nodes), address(sums))
        return sums

    @override
    def regrow(self, sums: Word, choices: Bit, key: Word, nodes: Word) -> None:
        """As declared."""
        trees, depth = _check_trees(nodes)
        check(sums, (depth, trees, 2))
        check(key, (2,))
        if choices.dtype != np.uint8 or choices.shape != (depth, trees) or not choices.flags.c_contiguous:
            raise unfit()
        given = (address(sums), address(choices), address(key), trees, depth)
        self._library.duetto_regrow(self._set, *given, address(nodes))


class NativeStreams:
    """As `smc.oblivious.prg.Streams`, but made where they are summed."""

    def __init__(self, seeds: Word, loaded: ctypes.CDLL, instructions: int) -> None:
        trees, leaves, _ = seeds.shape
        self._seeds = np.ascontiguousarray(seeds)
        self._depth = leaves.bit_length() - 1
        check(self._seeds, (trees, 1 << self._depth, 2))
        if not 1 <= self._depth <= _MOST_DEPTH:
            raise unfit()
        self._library, self._set = loaded, instructions
        self._given = np.zeros(trees, dtype=np.int64)  # words of each stream

    def groups(self, width: int) -> Iterator[slice]:  # noqa: ARG002 - they take no room, however wide
        """All trees at once, since the streams are never in memory."""
        return chunks(len(self._given), len(self._given))

    def weigh(self, trees: slice, weighed: Word, total: Word) -> None:
        """As declared there."""
        seeds, start = self._seeds[trees], int(self._given[trees.start])
        count, depth, width = _check_sums(weighed, total)
        check(seeds, (count, 1 << self._depth, 2))
        if depth != self._depth:
            raise unfit()
        if (self._given[trees] != start).any():
            raise out_of_step()
        # Before they are made: whatever happens then, they are not made again.
        self._given[trees] += width
        self._library.duetto_leaves(
            self._set, address(seeds), count, depth, start, width, address(weighed), address(total)
        )


def _check_table(secret: Word) -> None:
    check(secret, (len(secret), 2))
    if not 1 <= len(secret) <= 1 << 32 or len(secret) & len(secret) - 1:
        raise unfit()


def _check_trees(nodes: Word) -> tuple[int, int]:
    """How many trees, and how deep."""
    lines, trees, _ = nodes.shape
    depth = lines.bit_length() - 1
    check_written(nodes, (1 << depth, trees, 2))
    if depth < 1 or not 1 <= trees <= _MOST_TREES:
        raise unfit()
    return trees, depth


def _check_sums(weighed: Word, total: Word) -> tuple[int, int, int]:
    """Trees, bits of a leaf's number and words of each sum."""
    trees, depth, width = weighed.shape
    if not 1 <= depth <= _MOST_DEPTH:
        raise unfit()
    check_written(weighed, (trees, depth, width))
    check_written(total, (trees, width))
    return trees, depth, width


def _stride(lines: Word) -> int:
    """Words from one line to the next, of which each is contiguous."""
    step, inner = lines.strides
    if lines.dtype != np.uint64 or (inner != 8 and lines.shape[1] > 1) or not lines.flags.aligned:
        raise unfit()
    # Lines that overlap would be written over each other.
    if step % 8 or (len(lines) > 1 and step < 8 * lines.shape[1]):
        raise unfit()
    return step // 8
