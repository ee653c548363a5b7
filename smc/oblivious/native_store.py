"""The inner loops of key-value stores in C, as `smc.oblivious.numpy_store` declares them.

All sizes are checked here, and that members are numbers of rows; whether places and parts are within them is
seen by the loops.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.oblivious.bitmatrix import Word
from smc.oblivious.native_arrays import address, check, check_written, unfit
from smc.oblivious.numpy_store import DENSE, ROW, SEED_BYTES, Numbers, NumpyStore, Peeled, Rows

_SIZE, _POINTER, _WORD = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_uint64
FUNCTIONS: Final[dict[str, Sequence[type]]] = {
    "duetto_order_rows": (_POINTER, _SIZE, _SIZE, _POINTER, _POINTER),
    "duetto_peel": (*[_POINTER] * 2, *[_SIZE] * 2, *[_POINTER] * 4),
    "duetto_fill_store": (*[_POINTER] * 3, *[_SIZE] * 2, _POINTER, _SIZE, *[_POINTER] * 2),
    "duetto_sum_rows": (_POINTER, _SIZE, *[_POINTER] * 2, *[_SIZE] * 2, *[_POINTER] * 2),
}
CIPHER_FUNCTIONS: Final[dict[str, Sequence[type]]] = {
    "duetto_store_rows": (_POINTER, _SIZE, _POINTER, _WORD, _WORD, _POINTER),
}
RESULTS: Final = dict.fromkeys(("duetto_order_rows", "duetto_peel", "duetto_sum_rows"), _SIZE)
"""Of the functions that return something."""

_STEP: Final = np.dtype([("row", np.uint32), ("pivot", np.uint32)])
_OCTET_SUMS: Final = DENSE // 8 * 256
_MOST: Final = (1 << 32) - 1
_MOST_PARTS: Final = 1 << 16


class NativeStore(NumpyStore):
    """The loops of a library but for those with AES in them.

    Args:
        loaded: the library.
    """

    def __init__(self, loaded: ctypes.CDLL) -> None:
        self._library = loaded

    @override
    def order(self, rows: Rows, parts: int) -> tuple[Numbers, NDArray[np.int64]]:
        """As declared."""
        check(rows, (len(rows),), ROW)
        if len(rows) > _MOST or not 1 <= parts <= _MOST_PARTS:
            raise unfit()
        order, starts = np.empty(len(rows), dtype=np.uint32), np.empty(parts + 1, dtype=np.int64)
        given = (address(rows), len(rows), parts)
        if not self._library.duetto_order_rows(*given, address(order), address(starts)):
            raise unfit()
        sizes: NDArray[np.int64] = starts[1:] - starts[:-1]
        return order, sizes

    @override
    def peel(self, rows: Rows, members: Numbers, columns: int) -> Peeled:
        """As declared."""
        _check_members(rows, members)
        if not 0 <= columns <= _MOST:
            raise unfit()
        return _Steps(self._library, rows, members, columns)

    @override
    def sums(self, store: Word, rows: Rows, members: Numbers, result: Word) -> None:
        """As declared."""
        height, width = store.shape
        check(store, (height, width))
        check_written(result, (len(rows), width))
        if height < DENSE:
            raise unfit()
        _check_members(rows, members)
        scratch = np.empty(_OCTET_SUMS * width, dtype=np.uint64)
        asked = (address(rows), address(members), len(members))
        part = (address(store), height - DENSE)
        if not self._library.duetto_sum_rows(*part, *asked, width, address(scratch), address(result)):
            raise unfit()


class NativeCipherStore(NativeStore):
    """The loops of a library, with AES in them.

    Args:
        loaded: the library.
        instructions: the set of them for AES, one that the processor has.
    """

    def __init__(self, loaded: ctypes.CDLL, instructions: int) -> None:
        super().__init__(loaded)
        self._set = instructions

    @override
    def rows(self, keys: Word, seed: bytes, columns: int, parts: int, rows: Rows) -> None:
        """As declared."""
        check(keys, (len(keys), 2))
        check_written(rows, (len(keys),), ROW)
        if len(seed) != SEED_BYTES or not 0 <= columns <= _MOST or not 1 <= parts <= _MOST_PARTS:
            raise unfit()
        words = np.frombuffer(seed, dtype=np.uint64).copy()
        given = (address(keys), len(keys), address(words), columns, parts)
        self._library.duetto_store_rows(self._set, *given, address(rows))


class _Steps:
    """The rows of a part, peeled one after the other; arguments as of `NumpyStore.peel`."""

    def __init__(self, loaded: ctypes.CDLL, rows: Rows, members: Numbers, columns: int) -> None:
        count = len(members)
        self._library, self._members, self._rows, self._columns = loaded, members, len(rows), columns
        self._own, steps = np.empty(count, dtype=ROW), np.empty(count, dtype=_STEP)
        table, queue = np.empty(columns, dtype=np.uint64), np.empty(columns + 1, dtype=np.uint32)
        given = (address(rows), address(members), count, columns)
        scratch = (address(self._own), address(table), address(queue), address(steps))
        taken = loaded.duetto_peel(*given, *scratch)
        if taken > count:
            raise unfit()
        self._steps = steps[:taken]
        left = np.ones(count, dtype=np.bool_)
        left[self._steps["row"]] = False
        self.left = np.flatnonzero(left).astype(np.uint32)

    def fill(self, store: Word, values: Word) -> None:
        """As declared."""
        width = values.shape[1]
        check(values, (self._rows, width))
        check_written(store, (self._columns + DENSE, width))
        scratch = np.empty(_OCTET_SUMS * width, dtype=np.uint64)
        given = (address(self._own), address(self._members), address(self._steps), len(self._steps))
        self._library.duetto_fill_store(
            *given, self._columns, address(values), width, address(scratch), address(store)
        )


def _check_members(rows: Rows, members: Numbers) -> None:
    check(rows, (len(rows),), ROW)
    check(members, (len(members),), np.uint32)
    if len(rows) > _MOST or (len(members) and members.max() >= len(rows)):
        raise unfit()
