"""Loops over the field of 2**128 elements in numpy: what compiled ones give, bit for bit.

The field is {0, 1}[x] modulo x**128 + x**7 + x**2 + x + 1. An element is two words, little end first: bit j
of the two is the coefficient of x**j.
"""

from __future__ import annotations

from typing import Final, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from smc.oblivious.bitmatrix import Word
from smc.oblivious.workspace import Workspace
from smc.pieces import chunks

ELEMENT_BITS: Final = 128
FACTOR_BITS: Final = 16
"""Of the coefficient that a row of the code has."""

ROWS_AT_ONCE: Final = 256
"""Rows of the code come in multiples of so many."""

_HALF_WEIGHT: Final = 5
_TAG_LANES: Final = 4096
_OCTET_BITS: Final = 8
_WORD_BITS: Final = 64
_MODULUS: Final = 0x87
_ONE: Final = np.uint64(1)
_HALF: Final = np.uint64(32)
_LOW_HALF: Final = np.uint64((1 << 32) - 1)


class FieldLoops(Protocol):
    """The loops. All arrays are contiguous words; elements have shape (..., 2)."""

    def add_products(self, elements: Word, factor: Word, sums: Word) -> None:
        """Add factor times element i to sum i.

        Args:
            elements: shape (n, 2).
            factor: shape (2,).
            sums: shape (n, 2), changed in place.
        """
        ...

    def tag(self, elements: Word, key: Word) -> Word:
        """The sum of key**(n - 1 - i) times element i, shape (2,).

        Args:
            elements: shape (n, 2); rows may lie apart.
            key: shape (2,).
        """
        ...

    def pack(self, rows: Word) -> Word:
        """The sums of x**j times row 128 i + j, shape (n, 2), of rows of shape (128 n, 2)."""
        ...

    def known_sums(self, nodes: Word, leaves: Word) -> Word:
        """The sum of each tree's leaves without the one whose node has 1 for its lowest bit, shape (g, 2).

        Args:
            nodes: shape (2**depth, g, 2).
            leaves: of the same shape.
        """
        ...

    def place_leaves(self, nodes: Word, leaves: Word, missing: Word, factors: Word, pairs: Word) -> None:
        """Write leaves with 0 beside each, but in the marked place of each tree what is given for it.

        Args:
            nodes: as of `known_sums`.
            leaves: of the same shape.
            missing: what stands for the marked leaf of each tree, shape (g, 2).
            factors: what stands beside it, shape (g, 2).
            pairs: shape (2**depth * g, 2, 2), written.
        """
        ...

    def add_code(self, secret: Word, key: Word, number: int, piece: int, rows: Word) -> None:
        """Add to each row five entries of a table, and five others times an element below x**16.

        The stream is AES in counter mode from block number * 2**64 on. For every piece of rows it has five
        lines of as many words, each of which names two entries, one for either sum, by its lower and by its
        upper 32 bits, as far as they count them; then 16 bits a row, which are its coefficient.

        Args:
            secret: the table, shape (k, a, 2) with k a power of two up to 2**32 and a either 1 or 2.
            key: of AES, shape (2,).
            number: below 2**64.
            piece: rows of a piece, a multiple of `ROWS_AT_ONCE`.
            rows: shape (n, a, 2), whole pieces, changed in place.
        """
        ...


class NumpyField:
    """The loops in numpy; see `FieldLoops`.

    Args:
        workspace: scratch memory.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def add_products(self, elements: Word, factor: Word, sums: Word) -> None:
        """As declared."""
        np.bitwise_xor(sums, _products(elements, _tables(factor)), out=sums)

    def tag(self, elements: Word, key: Word) -> Word:
        """As declared."""
        lanes = min(_TAG_LANES, 1 << max(0, len(elements) - 1).bit_length())
        # Zeros in front change nothing.
        padded = np.zeros((-(-len(elements) // lanes) * lanes, 2), dtype=np.uint64)
        padded[len(padded) - len(elements) :] = elements
        powers, count = {1: key}, 1
        while count < lanes:
            powers[2 * count] = _products(powers[count][None], _tables(powers[count]))[0]
            count *= 2
        step, total = _tables(powers[lanes]), np.zeros((lanes, 2), dtype=np.uint64)
        for part in padded.reshape(-1, lanes, 2):
            total = _products(total, step) ^ part
        while len(total) > 1:
            half = len(total) // 2
            total = _products(total[:half], _tables(powers[half])) ^ total[half:]
        result: Word = total[0]
        return result

    def pack(self, rows: Word) -> Word:
        """As declared."""
        columns = rows.reshape(-1, ELEMENT_BITS, 2)
        total = np.zeros((len(columns), 2), dtype=np.uint64)
        for bit in reversed(range(ELEMENT_BITS)):
            total = _shift(total) ^ columns[:, bit]
        return total

    def known_sums(self, nodes: Word, leaves: Word) -> Word:
        """As declared."""
        known = (nodes[..., :1] & _ONE) - _ONE
        total: Word = np.bitwise_xor.reduce(leaves & known, axis=0)
        return total

    def place_leaves(self, nodes: Word, leaves: Word, missing: Word, factors: Word, pairs: Word) -> None:
        """As declared."""
        here = np.negative(nodes[..., :1] & _ONE)
        wide = pairs.reshape(*nodes.shape[:2], 2, 2)
        wide[:, :, 0] = leaves & ~here | missing & here
        wide[:, :, 1] = factors & here

    def add_code(self, secret: Word, key: Word, number: int, piece: int, rows: Word) -> None:
        """As declared."""
        start = number.to_bytes(8, "big") + bytes(8)
        stream = Cipher(algorithms.AES(key.tobytes()), modes.CTR(start)).encryptor()
        size = _HALF_WEIGHT * piece + piece * FACTOR_BITS // _WORD_BITS
        drawn = self._workspace.words("field code", size)
        zeros = self._workspace.zeros(drawn.nbytes)
        mask = np.uint64(len(secret) - 1)
        for part in chunks(len(rows), piece):
            stream.update_into(zeros, self._workspace.output("field code", drawn.nbytes).data)
            places = drawn[: _HALF_WEIGHT * piece].reshape(_HALF_WEIGHT, piece)
            # Shares of 16 bits lie in a word as they do in memory, where this is built for.
            factors = drawn[_HALF_WEIGHT * piece :].view(np.uint16).astype(np.uint64)
            plain = _gather(secret, places & mask)
            scaled = _gather(secret, places >> _HALF & mask)
            rows[part] ^= plain
            rows[part] ^= _short_products(scaled, factors)


def _gather(secret: Word, places: Word) -> Word:
    """The sums of entries, shape (k, a, 2), at places, shape (m, n): shape (n, a, 2)."""
    # 16 bytes at a time; nothing is computed in floats.
    entries = secret.view(np.complex128).reshape(len(secret), -1)
    taken = np.take(entries, places.view(np.int64), axis=0, mode="clip")
    total: Word = np.bitwise_xor.reduce(taken.view(np.uint64), axis=0)
    return total.reshape(places.shape[1], *secret.shape[1:])


def _shift(elements: Word) -> Word:
    """Times x."""
    result = elements << _ONE
    result[..., 1] |= elements[..., 0] >> np.uint64(_WORD_BITS - 1)
    result[..., 0] ^= np.negative(elements[..., 1] >> np.uint64(_WORD_BITS - 1)) & np.uint64(_MODULUS)
    return result


def _tables(factor: Word) -> Word:
    """The products of the factor with every byte in each of 16 places, shape (16, 256, 2)."""
    shifted = np.empty((ELEMENT_BITS, 2), dtype=np.uint64)
    shifted[0] = factor
    for bit in range(1, ELEMENT_BITS):
        shifted[bit] = _shift(shifted[bit - 1])
    tables = np.zeros((ELEMENT_BITS // _OCTET_BITS, 1, 2), dtype=np.uint64)
    octets = shifted.reshape(len(tables), _OCTET_BITS, 2)
    for bit in range(_OCTET_BITS):
        tables = np.concatenate([tables, tables ^ octets[:, bit : bit + 1]], axis=1)
    return tables


def _products(elements: Word, tables: Word) -> Word:
    """Elements, shape (n, 2), times the factor of the tables."""
    octets = np.ascontiguousarray(elements).view(np.uint8).reshape(-1, len(tables))
    result: Word = tables[0][octets[:, 0]]
    for place in range(1, len(tables)):
        result ^= tables[place][octets[:, place]]
    return result


def _short_products(elements: Word, factors: Word) -> Word:
    """Elements, shape (n, a, 2), times elements below x**16, one word each, shape (n,)."""
    # Halves of all elements in lines of their own, which numpy goes through several times as fast.
    low, high = np.ascontiguousarray(elements.transpose(2, 1, 0))
    halves = np.zeros((3, *low.shape), dtype=np.uint64)
    for bit in range(FACTOR_BITS):
        taken = np.negative(factors >> np.uint64(bit) & _ONE)
        here, there = low & taken, high & taken
        halves[0] ^= here << np.uint64(bit)
        halves[1] ^= there << np.uint64(bit)
        if bit:
            halves[1] ^= here >> np.uint64(_WORD_BITS - bit)
            halves[2] ^= there >> np.uint64(_WORD_BITS - bit)
    # x**128 is x**7 + x**2 + x + 1.
    for power in (0, 1, 2, 7):
        halves[0] ^= halves[2] << np.uint64(power)
    return halves[:2].transpose(2, 1, 0)
