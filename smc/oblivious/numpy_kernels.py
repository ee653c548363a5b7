"""The inner loops of oblivious transfer in numpy: what every other implementation gives, bit for bit."""

from __future__ import annotations

from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from smc.oblivious.bitmatrix import SLOTS, Bit, Word, transpose_squares
from smc.oblivious.numpy_field import FieldLoops, NumpyField
from smc.oblivious.numpy_store import NumpyStore, StoreLoops
from smc.oblivious.prg import LeafStreams, Streams
from smc.oblivious.workspace import Workspace
from smc.pieces import chunks

_FOLD: Final = 32
_NONCE: Final = bytes(12)
_HALF_WEIGHT: Final = 5
_ONE: Final = np.uint64(1)
_REST: Final = ~_ONE
_HALF: Final = np.uint64(32)
_LANES: Final = np.arange(SLOTS, dtype=np.uint64)[:, None]
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
        self.field: FieldLoops = NumpyField(workspace)
        self.store: StoreLoops = NumpyStore()

    def streams(self, seeds: Word) -> LeafStreams:
        """As declared."""
        return Streams(seeds, self._workspace, self.weigh)

    def hash_columns(self, columns: Word, keys: Word, span: int, offsets: Word, found: Word) -> None:
        """As declared."""
        for part, key in zip(chunks(columns.shape[1], span), keys, strict=True):
            rows = self._workspace.words("rows", SLOTS, part.stop - part.start, 2)
            self.rows(columns[:, part], rows)
            if len(offsets) > 2:
                self._hash_space(rows, _cipher(key), offsets, found[:, :, part])
            else:
                self._hash_shifted(rows, _cipher(key), offsets, found[:, :, part])

    def _hash_shifted(self, rows: Word, cipher: CipherContext, offsets: Word, found: Word) -> None:
        """Bits of the hashes of every row, shape (64, v, 2), and of every row plus a second offset."""
        flat = rows.reshape(SLOTS, -1)
        for number, planes in enumerate(found):
            if number:
                np.bitwise_xor(flat, np.tile(offsets[number], rows.shape[1]), out=flat)
            self.diagonals(self._encrypt(flat, cipher), flat, planes)

    def _hash_space(self, rows: Word, cipher: CipherContext, offsets: Word, found: Word) -> None:
        """As above for a linear space: in Gray order, one basis vector at a time."""
        flat = rows.reshape(SLOTS, -1)
        plain = np.empty(found.shape[1:], dtype=np.uint64)
        self.diagonals(flat.copy(), None, plain)
        basis = {bit: np.tile(offsets[bit], rows.shape[1]) for bit in _POWERS if bit < len(offsets)}
        present = 0
        for step in range(len(offsets)):
            wanted = step ^ step >> 1
            if wanted != present:
                np.bitwise_xor(flat, basis[wanted ^ present], out=flat)
                present = wanted
            self.diagonals(self._encrypt(flat, cipher), None, found[wanted])
            np.bitwise_xor(found[wanted], plain, out=found[wanted])
        np.bitwise_xor(found, offsets[:, :, None], out=found)

    def _encrypt(self, rows: Word, cipher: CipherContext) -> Word:
        """E of all blocks of two words, in the same shape, valid until the next call."""
        output = self._workspace.output("hashed", rows.nbytes)
        cipher.update_into(rows.view(np.uint8).reshape(-1).data, output.data)
        return output[: rows.nbytes].view(np.uint64).reshape(rows.shape)

    def hash_rows(
        self, rows: Word, key: Word, offsets: Word, planes: Word, choices: Word | None = None
    ) -> None:
        """As declared."""
        lines = rows.reshape(SLOTS, -1, 2)
        if choices is not None:
            np.bitwise_or.reduce((lines[:, :, 0] & _ONE) << _LANES, axis=0, out=choices)
        self._hash_shifted(lines, _cipher(key), offsets, planes)

    def add_code(self, secret: Word, key: Word, number: int, piece: int, rows: Word) -> None:
        """As declared."""
        start = number.to_bytes(8, "big") + bytes(8)
        stream = Cipher(algorithms.AES(key.tobytes()), modes.CTR(start)).encryptor()
        drawn = self._workspace.words("drawn", _HALF_WEIGHT, piece)
        zeros = self._workspace.zeros(drawn.nbytes)
        for part in chunks(len(rows), piece):
            stream.update_into(zeros, drawn.view(np.uint8).reshape(-1).data)
            self.add_drawn(secret, drawn, rows[part])

    def add_drawn(self, secret: Word, drawn: Word, rows: Word) -> None:
        """Add entries to one piece; they are gathered 16 bytes at a time, and nothing is computed in floats.

        Args:
            secret: the table, contiguous, shape (k, 2).
            drawn: the stream, contiguous, shape (5, n).
            rows: contiguous, shape (n, 2), changed in place.
        """
        half, count = drawn.shape
        mask = np.uint64(len(secret) - 1)
        scratch = self._workspace.words("code", 6 * half * count + 2 * count)
        places = scratch[: 2 * half * count].reshape(2 * half, count)
        taken = scratch[2 * half * count : 6 * half * count].view(np.complex128).reshape(2 * half, count)
        total = scratch[6 * half * count :].reshape(count, 2)
        np.bitwise_and(drawn, mask, out=places[:half])
        np.right_shift(drawn, _HALF, out=places[half:])
        np.bitwise_and(places[half:], mask, out=places[half:])
        np.take(secret.view(np.complex128).reshape(-1), places.view(np.int64), out=taken, mode="clip")
        np.bitwise_xor.reduce(taken.view(np.uint64), axis=0, out=total.reshape(-1))
        np.bitwise_xor(rows, total, out=rows)

    def diagonals(self, hashed: Word, rows: Word | None, planes: Word) -> None:
        """Pick bits of `hashed` plus `rows`: bit r of word (r, 2 k + h) goes to bit r of planes[h][k].

        With four planes, its bit r ^ 32 goes to bit r of planes[2 + h][k].

        Args:
            hashed: contiguous, shape (64, 2 w); its content is lost.
            rows: of the same shape; None stands for zeros.
            planes: shape (2, w) or (4, w), each row contiguous; written.
        """
        if rows is not None:
            np.bitwise_xor(hashed, rows, out=hashed)
        picked = self._workspace.words("picked", *hashed.shape)
        # Entry (r, 2 k + h) of `hashed` is half h of row (r, k).
        for pair in range(len(planes) // 2):
            np.bitwise_and(hashed, _DIAGONALS[pair], out=picked)
            planes[2 * pair : 2 * pair + 2] = np.bitwise_or.reduce(picked, axis=0).reshape(-1, 2).T
        # The second diagonal has put the bit of row r into place r ^ 32.
        halves = planes[2:]
        np.bitwise_or(halves >> _HALF, halves << _HALF, out=halves)

    def tags(self, columns: Word, key: Word) -> Word:
        """As declared."""
        cipher = AESGCM(key.tobytes())
        # The tag of associated data alone is GHASH plus what depends on key and length only.
        found = [cipher.encrypt(_NONCE, b"", column.view(np.uint8).data) for column in columns]
        nothing = np.frombuffer(cipher.encrypt(_NONCE, b"", bytes(8 * columns.shape[1])), dtype=np.uint64)
        tags: Word = np.frombuffer(b"".join(found), dtype=np.uint64).reshape(-1, 2) ^ nothing
        return tags

    def rows(self, columns: Word, rows: Word) -> None:
        """As declared."""
        width = columns.shape[1]
        rows[:, :, 0] = columns[:SLOTS]
        rows[:, :, 1] = columns[SLOTS:]
        transpose_squares(rows.reshape(SLOTS, 2 * width), self._workspace.words("swap", SLOTS * width))

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

    def grow(self, seeds: Word, offset: Word, key: Word, nodes: Word) -> Word:
        """As declared."""
        cipher, depth = _cipher(key), _depth(nodes)
        sums = np.empty((depth, *seeds.shape), dtype=np.uint64)
        nodes[0], nodes[1] = seeds, seeds ^ offset
        sums[0] = seeds
        for level in range(1, depth):
            sums[level] = self._double(nodes, 1 << level, cipher)
        nodes[..., 0] &= _REST
        return sums

    def regrow(self, sums: Word, choices: Bit, key: Word, nodes: Word) -> None:
        """As declared."""
        cipher, group = _cipher(key), sums.shape[1]
        trees, path = np.arange(group, dtype=np.uint64), np.zeros(group, dtype=np.uint64)
        known = np.zeros((group, 2), dtype=np.uint64)  # the sum of all nodes but the missing one
        nodes[0] = 0
        left = np.zeros_like(known)
        for level in range(len(sums)):
            count = 1 << level
            if level:
                left = self._double(nodes, count, cipher)
            # The right child stands `count` rows behind the left one. Both children of the missing node are
            # unknown; as zeros they leave the sums.
            far = path + np.uint64(count)
            left ^= nodes[path, trees]
            nodes[path, trees] = 0
            nodes[far, trees] = 0
            chosen = choices[level].astype(bool)
            # What is known of the right nodes sums to `known` less the left ones, as children sum to parents.
            # The sum of a whole side less what is known of it is the one node that was missing there.
            opened = sums[level] ^ np.where(chosen[:, None], known ^ left, left)
            nodes[np.where(chosen, far, path), trees] = opened
            # Its sibling is the missing node of the next level.
            path = np.where(chosen, path, far)
            known ^= opened
        # All leaves sum to D, so the sum of the others is the missing leaf plus D.
        nodes[path, trees] = known
        nodes[..., 0] &= _REST
        nodes[path, trees, 0] |= _ONE

    def _double(self, nodes: Word, count: int, cipher: CipherContext) -> Word:
        """Put the left children of the first `count` rows of nodes in their place, the right ones behind.

        Returns:
            The sums of the left ones, shape (g, 2).
        """
        parents, right = nodes[:count], nodes[count : 2 * count]
        turned = self._workspace.words("turned", *parents.shape)
        # sigma(low, high) = (low + high, low): linear, and both sigma and sigma + 1 are one-to-one, which
        # makes E(sigma(z)) + sigma(z) circular correlation robust for an ideal cipher E.
        np.bitwise_xor(parents[..., 0], parents[..., 1], out=turned[..., 0])
        turned[..., 1] = parents[..., 0]
        hashed = self._encrypt(turned, cipher)
        np.bitwise_xor(hashed, turned, out=hashed)
        # Children sum to their parent: one cipher call makes both, and every level sums to D.
        np.bitwise_xor(parents, hashed, out=right)
        parents[:] = hashed
        # The sum in two steps of long rows.
        folds = parents.reshape(-1, min(count, _FOLD), *parents.shape[1:])
        folded = np.bitwise_xor.reduce(folds.reshape(len(folds), -1), axis=0).reshape(folds.shape[1:])
        total: Word = np.bitwise_xor.reduce(folded, axis=0)
        return total


def hash_key(key: Word) -> Word:
    """E(0), by whose powers `tags` weighs, shape (2,)."""
    return np.frombuffer(_cipher(key).update(bytes(16)), dtype=np.uint64)


def _depth(nodes: Word) -> int:
    return len(nodes).bit_length() - 1


def _cipher(key: Word) -> CipherContext:
    return Cipher(algorithms.AES(key.tobytes()), modes.ECB()).encryptor()  # noqa: S305 - one block per row
