"""The inner loops of oblivious transfer in numpy: what every other implementation gives, bit for bit."""

from __future__ import annotations

from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

from smc.oblivious.bitmatrix import LANES, Word, transpose_squares
from smc.oblivious.prg import LeafStreams, Streams
from smc.oblivious.workspace import Workspace
from smc.pieces import cut

_FOLD: Final = 32
_ONE: Final = np.uint64(1)
_HALF: Final = np.uint64(32)
_LANES: Final = np.arange(LANES, dtype=np.uint64)[:, None]
# Of row r one bit each in place r and in place r ^ 32 of both words: the OR over 64 rows is then a word with
# one bit of each row, and nothing has to be transposed.
_DIAGONALS: Final = (_ONE << _LANES, _ONE << (_LANES ^ _HALF))
_POWERS: Final = (1, 2, 4, 8)


class Reference:
    """One thread's kernels; see `smc.oblivious.kernels.Kernels` for what those do that are declared there.

    The others are loops without a cipher in them, which may be replaced one by one.
    """

    name = "numpy"
    ciphers = ""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def streams(self, seeds: Word) -> LeafStreams:
        """As declared."""
        return Streams(seeds, self._workspace, self.weigh)

    def hash_columns(self, columns: Word, keys: Word, span: int, offsets: Word, found: Word) -> None:
        """As declared."""
        for part, key in zip(cut(columns.shape[1], span), keys, strict=True):
            rows = self._workspace.words("rows", LANES, part.stop - part.start, 2)
            self.rows(columns[:, part], rows)
            if len(offsets) > 2:
                self._hash_space(rows, _cipher(key), offsets, found[:, :, part])
            else:
                self._hash_shifted(rows, _cipher(key), offsets, found[:, :, part])

    def _hash_shifted(self, rows: Word, cipher: CipherContext, offsets: Word, found: Word) -> None:
        """Bits of the hashes of every row, shape (64, v, 2), and of every row plus a second offset."""
        flat = rows.reshape(LANES, -1)
        for number, planes in enumerate(found):
            if number:
                np.bitwise_xor(flat, np.tile(offsets[number], rows.shape[1]), out=flat)
            self.diagonals(self._encrypted(flat, cipher), flat, planes)

    def _hash_space(self, rows: Word, cipher: CipherContext, offsets: Word, found: Word) -> None:
        """As above for a linear space: in Gray order, one basis vector at a time."""
        flat = rows.reshape(LANES, -1)
        plain = np.empty(found.shape[1:], dtype=np.uint64)
        self.diagonals(flat.copy(), None, plain)
        basis = {bit: np.tile(offsets[bit], rows.shape[1]) for bit in _POWERS if bit < len(offsets)}
        present = 0
        for step in range(len(offsets)):
            wanted = step ^ step >> 1
            if wanted != present:
                np.bitwise_xor(flat, basis[wanted ^ present], out=flat)
                present = wanted
            self.diagonals(self._encrypted(flat, cipher), None, found[wanted])
            np.bitwise_xor(found[wanted], plain, out=found[wanted])
        np.bitwise_xor(found, offsets[:, :, None], out=found)

    def _encrypted(self, rows: Word, cipher: CipherContext) -> Word:
        """E of all blocks of two words, in the same shape, valid until the next call."""
        output = self._workspace.output("hashed", rows.nbytes)
        cipher.update_into(rows.view(np.uint8).reshape(-1).data, output.data)
        return output[: rows.nbytes].view(np.uint64).reshape(rows.shape)

    def add_code(self, secret: Word, drawn: Word, mask: int, rows: Word) -> None:
        """As declared; entries are gathered 16 bytes at a time, and nothing is computed in floats."""
        half, count = drawn.shape
        scratch = self._workspace.words("code", 6 * half * count + 2 * count)
        places = scratch[: 2 * half * count].reshape(2 * half, count)
        taken = scratch[2 * half * count : 6 * half * count].view(np.complex128).reshape(2 * half, count)
        total = scratch[6 * half * count :].reshape(count, 2)
        np.bitwise_and(drawn, np.uint64(mask), out=places[:half])
        np.right_shift(drawn, _HALF, out=places[half:])
        np.bitwise_and(places[half:], np.uint64(mask), out=places[half:])
        np.take(secret.view(np.complex128).reshape(-1), places.view(np.int64), out=taken, mode="clip")
        np.bitwise_xor.reduce(taken.view(np.uint64), axis=0, out=total.reshape(-1))
        np.bitwise_xor(rows, total, out=rows)

    def diagonals(self, hashed: Word, rows: Word | None, planes: Word) -> None:
        """As declared."""
        if rows is not None:
            np.bitwise_xor(hashed, rows, out=hashed)
        picked = self._workspace.words("picked", *hashed.shape)
        # Entry (r, 2 k + h) of `hashed` is half h of row (r, k).
        for pair in range(len(planes) // 2):
            np.bitwise_and(hashed, _DIAGONALS[pair], out=picked)
            planes[2 * pair : 2 * pair + 2] = np.bitwise_or.reduce(picked, axis=0).reshape(-1, 2).T
        # The second diagonal has put the bit of row r into place r ^ 32.
        lanes = planes[2:]
        np.bitwise_or(lanes >> _HALF, lanes << _HALF, out=lanes)

    def rows(self, columns: Word, rows: Word) -> None:
        """As declared."""
        width = columns.shape[1]
        rows[:, :, 0] = columns[:LANES]
        rows[:, :, 1] = columns[LANES:]
        transpose_squares(rows.reshape(LANES, 2 * width), self._workspace.words("swap", LANES * width))

    def weigh(self, streams: Word, weighed: Word, total: Word) -> None:
        """The sums of x times stream x, bit by bit of x, and the sum of all.

        Args:
            streams: contiguous, shape (t, 2**d, w) with d from 1 to 4; its content is lost.
            weighed: contiguous, shape (t, d, w), written.
            total: contiguous, shape (t, w), written.
        """
        half = streams.shape[1] // 2
        # The upper half holds the streams whose number has this bit. Folding it onto the lower half leaves
        # stream x as the sum of all whose numbers agree with x in the bits below.
        for bit in reversed(range(weighed.shape[1])):
            upper = streams[:, half : 2 * half]
            np.bitwise_xor.reduce(upper, axis=1, out=weighed[:, bit])
            np.bitwise_xor(streams[:, :half], upper, out=streams[:, :half] if bit else total[:, None])
            half //= 2

    def turn(self, nodes: Word, turned: Word) -> None:
        """As declared."""
        np.bitwise_xor(nodes[..., 0], nodes[..., 1], out=turned[..., 0])
        turned[..., 1] = nodes[..., 0]

    def children(self, parents: Word, hashed: Word, turned: Word, right: Word) -> Word:
        """As declared; the sum is taken in two steps of long rows."""
        np.bitwise_xor(hashed, turned, out=hashed)
        np.bitwise_xor(parents, hashed, out=right)
        parents[:] = hashed
        folds = parents.reshape(-1, min(len(parents), _FOLD), *parents.shape[1:])
        folded = np.bitwise_xor.reduce(folds.reshape(len(folds), -1), axis=0).reshape(folds.shape[1:])
        total: Word = np.bitwise_xor.reduce(folded, axis=0)
        return total


def _cipher(key: Word) -> CipherContext:
    return Cipher(algorithms.AES(key.tobytes()), modes.ECB()).encryptor()  # noqa: S305 - one block per row
