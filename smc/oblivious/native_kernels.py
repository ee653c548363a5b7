"""The inner loops of oblivious transfer in C, where a compiler was at hand when duetto was installed.

The library is called through ctypes, which lets other threads run meanwhile. All sizes are checked here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Final

import numpy as np

from smc.errors import UsageError
from smc.oblivious.bitmatrix import COLUMNS, LANES, Word

_VERSION: Final = 1
_SIZE, _POINTER = ctypes.c_size_t, ctypes.c_void_p
_FUNCTIONS: Final[dict[str, Sequence[type]]] = {
    "duetto_add_code": (_POINTER, _POINTER, _SIZE, ctypes.c_uint64, _POINTER),
    "duetto_diagonals": (_POINTER, _POINTER, _SIZE, _POINTER, _SIZE, ctypes.c_int),
    "duetto_rows": (_POINTER, _SIZE, _SIZE, _POINTER),
    "duetto_weigh": (_POINTER, _SIZE, _SIZE, _POINTER),
    "duetto_turn": (_POINTER, _SIZE, _POINTER),
    "duetto_children": (_POINTER, _POINTER, _POINTER, _SIZE, _SIZE, _POINTER, _POINTER),
}


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
                for name, arguments in _FUNCTIONS.items():
                    function = getattr(found, name)
                    function.argtypes, function.restype = arguments, None
            except (OSError, AttributeError):
                return None
            return found
    return None


class Native:
    """The kernels of a library; see `smc.oblivious.kernels.Kernels` for what they do."""

    name: Final = "native"

    def __init__(self, loaded: ctypes.CDLL) -> None:
        self._library = loaded

    def add_code(self, secret: Word, drawn: Word, mask: int, rows: Word) -> None:
        """As declared."""
        count = len(rows)
        _check(secret, (mask + 1, 2))
        _check(drawn, (5, count))
        _check_written(rows, (count, 2))
        self._library.duetto_add_code(_at(secret), _at(drawn), count, mask, _at(rows))

    def diagonals(self, hashed: Word, rows: Word | None, planes: Word) -> None:
        """As declared."""
        width = planes.shape[1]
        _check(hashed, (LANES, 2 * width))
        if rows is not None:
            _check(rows, hashed.shape)
        stride = _stride(planes)
        if len(planes) not in (2, 4) or not planes.flags.writeable:
            raise _unfit()
        plain = None if rows is None else _at(rows)
        self._library.duetto_diagonals(_at(hashed), plain, width, _at(planes), stride, len(planes) == 4)

    def rows(self, columns: Word, rows: Word) -> None:
        """As declared."""
        width = columns.shape[1]
        _check_written(rows, (LANES, width, 2))
        if len(columns) != COLUMNS:
            raise _unfit()
        self._library.duetto_rows(_at(columns), _stride(columns), width, _at(rows))

    def weigh(self, streams: Word, weighed: Word) -> None:
        """As declared."""
        trees, _, width = streams.shape
        _check_written(streams, (trees, 16, width))
        _check_written(weighed, (trees, 4, width))
        self._library.duetto_weigh(_at(streams), trees, width, _at(weighed))

    def turn(self, nodes: Word, turned: Word) -> None:
        """As declared."""
        _check(nodes, (*nodes.shape[:-1], 2))
        _check_written(turned, nodes.shape)
        self._library.duetto_turn(_at(nodes), nodes.size // 2, _at(turned))

    def children(self, parents: Word, hashed: Word, turned: Word, right: Word) -> Word:
        """As declared."""
        shape = (*parents.shape[:2], 2)
        for read, written in ((hashed, parents), (turned, right)):
            _check(read, shape)
            _check_written(written, shape)
        total = np.empty(parents.shape[1:], dtype=np.uint64)
        self._library.duetto_children(
            *(_at(array) for array in (parents, hashed, turned)),
            parents.size,
            total.size,
            _at(right),
            _at(total),
        )
        return total


def _at(array: Word) -> int:
    return array.ctypes.data


def _check(array: Word, shape: tuple[int, ...]) -> None:
    if array.dtype != np.uint64 or array.shape != shape or not array.flags.c_contiguous:
        raise _unfit()


def _check_written(array: Word, shape: tuple[int, ...]) -> None:
    _check(array, shape)
    if not array.flags.writeable:
        raise _unfit()


def _stride(lines: Word) -> int:
    """Words from one line to the next, of which each is contiguous."""
    step, inner = lines.strides
    if lines.dtype != np.uint64 or (inner != 8 and lines.shape[1] > 1) or step % 8 or step < 0:
        raise _unfit()
    return step // 8


def _unfit() -> UsageError:
    return UsageError(
        "A kernel was given an array of another type, shape or layout.", "This is a defect of the program."
    )
