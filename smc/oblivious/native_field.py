"""Loops over the field of 2**128 elements in C, as `smc.oblivious.numpy_field` declares them.

All sizes are checked here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Final

import numpy as np
from typing_extensions import override

from smc.oblivious.bitmatrix import Word
from smc.oblivious.native_arrays import address, check, check_written, unfit
from smc.oblivious.numpy_field import ELEMENT_BITS, ROWS_AT_ONCE, NumpyField
from smc.oblivious.workspace import Workspace

_SIZE, _POINTER, _WORD = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_uint64
FUNCTIONS: Final[dict[str, Sequence[type]]] = {
    "duetto_pack_elements": (_POINTER, _SIZE, _POINTER),
    "duetto_known_sums": (_POINTER, _POINTER, _SIZE, _SIZE, _POINTER),
    "duetto_place_leaves": (_POINTER, _POINTER, _SIZE, _SIZE, *[_POINTER] * 3),
}
CIPHER_FUNCTIONS: Final[dict[str, Sequence[type]]] = {
    "duetto_add_products": (_POINTER, _POINTER, _SIZE, _POINTER),
    "duetto_add_tag": (_POINTER, _SIZE, _SIZE, _POINTER, _POINTER),
    "duetto_add_field_code": (_POINTER, _WORD, _POINTER, _WORD, *[_SIZE] * 3, _POINTER),
}

_TAG_LANES: Final = 16
_MOST_ACROSS: Final = 2
_WORD_BYTES: Final = 8


class NativeField(NumpyField):
    """The loops of a library that work on every machine.

    Args:
        workspace: scratch memory.
        loaded: the library.
    """

    def __init__(self, workspace: Workspace, loaded: ctypes.CDLL) -> None:
        super().__init__(workspace)
        self._library = loaded

    @override
    def pack(self, rows: Word) -> Word:
        """As declared."""
        check(rows, (len(rows), 2))
        if len(rows) % ELEMENT_BITS:
            raise unfit()
        packed = np.empty((len(rows) // ELEMENT_BITS, 2), dtype=np.uint64)
        self._library.duetto_pack_elements(address(rows), len(packed), address(packed))
        return packed

    @override
    def known_sums(self, nodes: Word, leaves: Word) -> Word:
        """As declared."""
        lines, trees, _ = nodes.shape
        check(nodes, (lines, trees, 2))
        check(leaves, nodes.shape)
        sums = np.empty((trees, 2), dtype=np.uint64)
        self._library.duetto_known_sums(address(nodes), address(leaves), lines, trees, address(sums))
        return sums

    @override
    def place_leaves(self, nodes: Word, leaves: Word, missing: Word, factors: Word, pairs: Word) -> None:
        """As declared."""
        lines, trees, _ = nodes.shape
        check(nodes, (lines, trees, 2))
        check(leaves, nodes.shape)
        check(missing, (trees, 2))
        check(factors, (trees, 2))
        check_written(pairs, (lines * trees, 2, 2))
        given = (address(nodes), address(leaves), lines, trees, address(missing), address(factors))
        self._library.duetto_place_leaves(*given, address(pairs))


class NativeCipherField(NativeField):
    """The loops of a library on a processor that multiplies without carries.

    Args:
        workspace: scratch memory.
        loaded: the library.
        instructions: the set of them, one that the processor has.
    """

    def __init__(self, workspace: Workspace, loaded: ctypes.CDLL, instructions: int) -> None:
        super().__init__(workspace, loaded)
        self._set = instructions

    @override
    def add_products(self, elements: Word, factor: Word, sums: Word) -> None:
        """As declared."""
        check(elements, (len(elements), 2))
        check(factor, (2,))
        check_written(sums, elements.shape)
        given = (address(elements), address(factor), len(elements))
        self._library.duetto_add_products(self._set, *given, address(sums))

    @override
    def tag(self, elements: Word, key: Word) -> Word:
        """As declared."""
        count = len(elements)
        check(key, (2,))
        step, inner = elements.strides if count else (2 * _WORD_BYTES, _WORD_BYTES)
        whole = elements.dtype == np.uint64 and elements.shape == (count, 2) and elements.flags.aligned
        if not whole or inner != _WORD_BYTES or step < 2 * _WORD_BYTES or step % _WORD_BYTES:
            raise unfit()
        # key**16 first, then key**15 to key**0: the first is what fifteen of the others make.
        powers = np.zeros((1 + _TAG_LANES, 2), dtype=np.uint64)
        powers[_TAG_LANES, 0] = 1
        for place in reversed(range(1, _TAG_LANES)):
            self.add_products(powers[place + 1 : place + 2], key, powers[place : place + 1])
        self.add_products(powers[1:2], key, powers[:1])
        tag = np.zeros(2, dtype=np.uint64)
        head = count % _TAG_LANES
        if head:
            # Zeros in front change nothing.
            first = np.zeros((_TAG_LANES, 2), dtype=np.uint64)
            first[_TAG_LANES - head :] = elements[:head]
            self._library.duetto_add_tag(
                self._set, address(first), 2, _TAG_LANES, address(powers), address(tag)
            )
        if count > head:
            rest = elements[head:]
            given = (address(rest), step // _WORD_BYTES, len(rest))
            self._library.duetto_add_tag(self._set, *given, address(powers), address(tag))
        return tag

    @override
    def add_code(self, secret: Word, key: Word, number: int, piece: int, rows: Word) -> None:
        """As declared."""
        length, across, count = len(secret), secret.shape[1], len(rows)
        check(secret, (length, across, 2))
        check(key, (2,))
        check_written(rows, (count, across, 2))
        if not 1 <= length <= 1 << 32 or length & length - 1 or not 1 <= across <= _MOST_ACROSS:
            raise unfit()
        if piece < ROWS_AT_ONCE or piece % ROWS_AT_ONCE or count % piece or not 0 <= number < 1 << 64:
            raise unfit()
        given = (address(secret), length - 1, address(key), number, count, piece, across)
        self._library.duetto_add_field_code(self._set, *given, address(rows))
