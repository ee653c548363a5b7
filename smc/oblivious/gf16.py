"""Vectors of symbols over the field of sixteen elements, as bit planes: sums over seed trees, products, rows.

The field is {0, 1}[w] modulo w**4 + w + 1; an element is four bits, the coefficient of 1 first. A vector of
64 symbols for each of many slots is 4 planes per symbol or, transposed, 4 words per slot: bit s of word b is
bit b of symbol s.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.oblivious.bitmatrix import SLOTS, Word, transpose_squares
from smc.oblivious.kernels import make_kernels
from smc.oblivious.workspace import Workspace

DEPTH: Final = 4
"""Bits of a symbol, and of the missing leaf of a tree."""

LEAVES: Final = 1 << DEPTH
SYMBOLS: Final = SLOTS
"""Symbols of a vector; one tree for each."""

_MODULUS: Final = 0b10011
_TOP: Final = 0b1000


def times_powers(sums: Word, result: Word) -> None:
    """The sum of w**b times sum b.

    Args:
        sums: shape (4, 4, v), sum by plane; its content is lost.
        result: shape (4, v), written.
    """
    high = np.empty((3, sums.shape[2]), dtype=np.uint64)  # of w**4, w**5 and w**6
    result[:] = sums[0]
    for power in range(1, DEPTH):
        result[power:] ^= sums[power, : DEPTH - power]
    high[2] = sums[3, 3]
    np.bitwise_xor(sums[2, 3], sums[3, 2], out=high[1])
    np.bitwise_xor(sums[1, 3], sums[2, 2], out=high[0])
    high[0] ^= sums[3, 1]
    result[:3] ^= high
    result[1:] ^= high


class Weigher:
    """Sums over the leaves of every tree, one tree after the other.

    Args:
        leaves: shape (64, 16, 2), leaf x at the place whose number it is weighed by.
        workspace: scratch memory.
    """

    def __init__(self, leaves: Word, workspace: Workspace) -> None:
        self._streams = make_kernels(workspace).streams(leaves)
        self._workspace = workspace

    def tree(self, number: int, width: int) -> tuple[Word, Word]:
        """The next words of a tree's streams.

        Returns:
            The sum of all, shape (4, w), and the sums S_b, shape (4, 4, w): that of the streams whose place
            has bit b. Both are valid until the next call.
        """
        total = self._workspace.words("total", 1, DEPTH * width)
        weighed = self._workspace.words("weighed", 1, DEPTH, DEPTH * width)
        self._streams.weigh(slice(number, number + 1), weighed, total)
        return total.reshape(DEPTH, width), weighed.reshape(DEPTH, DEPTH, width)


def transpose(symbols: Word, workspace: Workspace) -> Word:
    """From planes to rows and back: shape (64, w, 4), in place."""
    width = symbols.shape[1]
    scratch = workspace.words("swap", SLOTS // 2 * DEPTH * width)
    transpose_squares(symbols.reshape(SLOTS, DEPTH * width), scratch)
    return symbols


def products(vector: NDArray[np.int64]) -> Word:
    """The products of a fixed vector with the powers of w, as masks.

    Args:
        vector: the vector D, shape (64,), each in [0, 16).

    Returns:
        Shape (4, 4): bit s of word (i, j) is bit i of w**j D_s.
    """
    words = np.zeros((DEPTH, DEPTH), dtype=np.uint64)
    multiples = vector.copy()
    places = np.arange(SYMBOLS, dtype=np.uint64)
    for power in range(DEPTH):
        for bit in range(DEPTH):
            words[bit, power] = ((multiples >> bit & 1).astype(np.uint64) << places).sum()
        multiples = multiples << 1 ^ np.where(multiples & _TOP, _MODULUS, 0)
    return words
