"""Random 1-of-16 transfers of two bits, 20 bytes each, by a code over the field of four elements.

    receiver (all 4 leaves of 80 trees; choices v)        sender (all leaves but one of each)
      u_s = sum of G(leaf x) over x                         D_s = number of the missing leaf
      t_s = sum of x G(leaf x)
      c_s = u_s + C(v)_s                -- c -->            q_s = sum of (x + D_s) G(leaf x) + D_s c_s
      pad = H(L(t))                                         pad_v = H(L(q) + L(C(v) D)) for 16 values v

Everything is over the field {0, 1, w, w + 1}, w**2 = w + 1, each element two bits, G's outputs too. C is the
simplex code [5, 2, 4], each of its symbols 16 times: v = (a, b) goes to a, b, a + b, a + w b, a + (w+1) b, so
two code words differ in exactly 64 of the 80 symbols s. q = t + C(v) D, symbol by symbol.

L compresses 160 bits to 128 by adding the last of the five classes of symbols to each of the others. It is
injective on the vectors that vanish on any one class, so L(C(v) D) for v other than the receiver's choice
minus that for the choice is uniform on 128 bits to the receiver: 64 symbols of D that it does not know.

Learns: the sender nothing (each u_s contains the stream of the leaf it lacks); the receiver nothing of the
other 15 pads.
Assumes: `smc.oblivious.ggm_trees`, of a receiver that deviates
`smc.oblivious.consistency`; AES-128 in counter mode as the generator G;
`smc.oblivious.correlation_robust_hash` with 15 offsets per row.
Reference: Roy, SoftSpokenOT, CRYPTO 2022, sections 3 and 5 (subspace correlations over a field with four
elements); codes for 1-of-N transfer: Kolesnikov and Kumaresan, Improved OT extension for transferring short
secrets, CRYPTO 2013. The compression L is duetto's own.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.oblivious.bitmatrix import COLUMNS, Word
from smc.oblivious.kernels import make_kernels
from smc.oblivious.workspace import Workspace

CHOICES: Final = 16
DIGIT_BITS: Final = 4
"""Bits of a choice: a is the lower two, b the upper two; in each the lower one is the coefficient of 1."""

DEPTH: Final = 2
TREES: Final = 80
LEAVES: Final = 1 << DEPTH
MATRIX_ROWS: Final = 2 * TREES

PIECE_WORDS: Final = 768
"""Most words per plane that are extended at once: just below a mebibyte in one message."""

_CLASSES: Final = 5
_REPEATS: Final = TREES // _CLASSES

PURPOSE: Final = b"one-of16"
"""Of the hash of these transfers."""


def _times(left: int, right: int) -> int:
    """The product of two field elements."""
    # left times the lower coefficient of right, and times the one of w; 7 is w**2 + w + 1.
    low, high = left * (right & 1), left * (right >> 1)
    product = low ^ high << 1
    return product ^ (7 if product & 4 else 0)


def _symbols(choice: int) -> list[int]:
    """The code word of a choice, one symbol per class."""
    a, b = choice & 3, choice >> 2
    return [a, b, a ^ b, a ^ _times(2, b), a ^ _times(3, b)]


def _combine(sums: Word, columns: Word) -> None:
    """S_0 + w S_1, shape (t, 2, 2, w) to (t, 2, w); S_b is the sum of the streams whose number has bit b."""
    # With planes (z0, z1) for z0 + z1 w, w z has (z1, z0 + z1).
    np.bitwise_xor(sums[:, 0], sums[:, 1, 1:], out=columns)
    np.bitwise_xor(columns[:, 1], sums[:, 1, 0], out=columns[:, 1])


def _compress(symbols: Word, columns: Word) -> None:
    """L, from shape (80, 2, w) to shape (128, w)."""
    # Trees 16 i to 16 i + 15 are those of symbol i; the last class is added to each other one.
    classes = symbols.reshape(_CLASSES, 2 * _REPEATS, -1)
    np.bitwise_xor(classes[:-1], classes[-1], out=columns.reshape(_CLASSES - 1, 2 * _REPEATS, -1))


class ChoiceReceiver:
    """The receiving end of one direction.

    Args:
        leaves: of the local trees, shape (80, 4, 2).
        workspace: scratch memory.
    """

    def __init__(self, leaves: Word, workspace: Workspace) -> None:
        self._streams = make_kernels(workspace).streams(leaves)
        self._workspace = workspace

    def extend(self, choices: Word, columns: Word) -> Word:
        """Random transfers with the given choices.

        Args:
            choices: planes, shape (4, w) with w at most `PIECE_WORDS`.
            columns: shape (128, w), gets the local columns L(t).

        Returns:
            The matrix for the sender, shape (160, w), valid until the next call in the workspace.
        """
        width = choices.shape[1]
        whole = self._workspace.words("columns", TREES, 2, width)
        matrix = self._workspace.words("matrix", TREES, 2, width)
        for part in self._streams.groups(2 * width):
            sums = self._workspace.words("sums", part.stop - part.start, DEPTH, 2 * width)
            self._streams.weigh(part, sums, matrix.reshape(TREES, -1)[part])
            _combine(sums.reshape(-1, DEPTH, 2, width), whole[part])
        classes = matrix.reshape(_CLASSES, _REPEATS, 2, width)
        np.bitwise_xor(classes, _code_planes(choices)[:, None], out=classes)
        _compress(whole, columns)
        return matrix.reshape(MATRIX_ROWS, width)


def _code_planes(choices: Word) -> Word:
    """The code words of choices, shape (4, w) to (5, 2, w)."""
    a, b = choices[:2], choices[2:]
    turned = np.stack([b[1], b[0] ^ b[1]])  # w b
    return np.stack([a, b, a ^ b, a ^ turned, a ^ turned ^ b])


class ChoiceSender:
    """The sending end of one direction.

    Args:
        leaves: of the peer's trees, shape (80, 4, 2); what stands for the missing ones is not used.
        missing: their numbers, shape (80,).
        workspace: scratch memory.

    Attributes:
        offsets: L(C(v) D) for every v, shape (16, 2).
    """

    def __init__(self, leaves: Word, missing: NDArray[np.int64], workspace: Workspace) -> None:
        # As in `softspoken`: at place y the stream of leaf y + D_s, which has weight y in q; the missing one
        # has 0.
        moved = np.arange(LEAVES) ^ missing[:, None]
        self._streams = make_kernels(workspace).streams(leaves[np.arange(TREES)[:, None], moved])
        bits = missing[:, None] >> np.arange(DEPTH) & 1
        # All ones where D_s has the bit, so that AND with it is multiplication by the bit.
        self._masks = (-bits).astype(np.int64).view(np.uint64)[:, :, None, None]
        self.offsets = self._offsets_of(missing)
        self._workspace = workspace

    @staticmethod
    def _offsets_of(missing: NDArray[np.int64]) -> Word:
        products = np.array(
            [
                [_times(int(d), _symbols(v)[s // _REPEATS]) for s, d in enumerate(missing)]
                for v in range(CHOICES)
            ],
            dtype=np.uint64,
        )
        planes = np.stack([products & np.uint64(1), products >> np.uint64(1)], axis=2)
        compressed = np.empty((CHOICES, COLUMNS, 1), dtype=np.uint64)
        for row, found in zip(planes, compressed, strict=True):
            _compress(row[:, :, None], found)
        return np.packbits(compressed[..., 0].astype(np.uint8), axis=1, bitorder="little").view(np.uint64)

    def extend(self, matrix: Word) -> Word:
        """The sender's side of random transfers.

        Args:
            matrix: from the receiver, shape (160, w).

        Returns:
            The columns L(q), shape (128, w), valid until the next call in the workspace.
        """
        received = matrix.reshape(TREES, 2, -1)
        width = received.shape[2]
        columns = self._workspace.words("columns", TREES, 2, width)
        for part in self._streams.groups(2 * width):
            count = part.stop - part.start
            sums = self._workspace.words("sums", count, DEPTH, 2, width)
            total = self._workspace.words("total", count, 2 * width)
            self._streams.weigh(part, sums.reshape(count, DEPTH, -1), total)
            # D_s c_s is the sum of c_s and of w c_s where D_s has the bits: added to S_0 and S_1.
            multiples = self._workspace.words("multiples", *sums.shape)
            np.bitwise_and(received[part, None], self._masks[part], out=multiples)
            np.bitwise_xor(sums, multiples, out=sums)
            _combine(sums, columns[part])
        found = self._workspace.words("compressed", COLUMNS, width)
        _compress(columns, found)
        return found
