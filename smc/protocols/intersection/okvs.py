"""An oblivious key-value store: a table that gives every encoded key its value and all other keys something.

A key stands for a row of a binary matrix with three ones in the sparse columns and a random pattern in 40
dense ones; its value is the sum (XOR) of the entries of the table at these places. Encoding solves the linear
system: rows that own a column are peeled off, round by round, until none does; what is left, usually nothing,
is solved by elimination with the dense columns; the peeled rows follow in reverse order. Many keys are spread
over parts that fit a cache, each a system of its own, of a size that the number of keys settles.

Whatever the system leaves free is drawn at random. Thus for values that are uniform the table is uniform,
whatever the keys: it tells nothing of them but how many there are.

Failure: the system has a solution for all values if no non-empty set of rows adds up to zero. By the union
bound over all sets the probability that one does is at most 2**-40 N, N being the expected number of sets
whose sparse parts cancel: with places drawn independently, n keys and m sparse columns,

    N + 1 = 2**-m sum_j C(m, j) (1 + (1 - 2 j / m)**3)**n

N is below 0.11 for all n at m = ceil(1.3 n) + 8: largest near n = 20, and about 3.4 / n from some hundreds
on. A part is overfull with probability at most 2**-40 over all parts, by Bernstein's inequality.

Assumes: AES-128 as an ideal cipher; keys drawn or hashed before the seed is known.
Reference: Garimella, Pinkas, Rosulek, Trieu and Yanai, Oblivious key-value stores and amplification for
private set intersection, CRYPTO 2021 (the store; garbled cuckoo tables with three hash functions); peeling
and dense columns: Pinkas, Rosulek, Trieu and Yanai, PSI from PaXoS, EUROCRYPT 2020; the number of dependent
sets: Kolchin, Random graphs and systems of linear equations in finite fields, Random Structures and
Algorithms, 1994.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, sqrt
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from smc.errors import UsageError
from smc.numeric.random import Randomness
from smc.numeric.shapes import of_shape, shape_array
from smc.pieces import chunks, each

Word = NDArray[np.uint64]
Places = NDArray[np.int32]

SEED_BYTES: Final = 32
"""Of the public seed: two keys of the hash that turns keys into rows."""

DENSE: Final = 40
"""Dense columns of a part, the statistical security parameter."""

PART_KEYS: Final = 1 << 16
"""Keys of a part on average, where there is more than one."""

_EXTRA: Final = 8
_ONES: Final = 3
_BLOCK: Final = 1 << 15
_CIPHER_KEY_BYTES: Final = 16
_OCTET_BITS: Final = 8
_OCTETS: Final = 256
_HALF_WORD: Final = np.uint64(32)
_LOW_HALF: Final = np.uint64((1 << 32) - 1)
_DENSE_MASK: Final = np.uint64((1 << DENSE) - 1)


@dataclass(frozen=True, slots=True)
class StoreSize:
    """The public size of a store.

    Attributes:
        parts: systems that are solved each by itself.
        capacity: most keys of a part.
    """

    parts: int
    capacity: int

    @classmethod
    def of(cls, count: int) -> StoreSize:
        """For so many keys."""
        parts = max(1, -(-count // PART_KEYS))
        if parts == 1:
            return cls(1, count)
        mean, bits = count / parts, DENSE * log(2) + log(parts)
        excess = bits / 3 + sqrt(bits * bits / 9 + 2 * bits * mean)
        return cls(parts, ceil(mean + excess))

    @property
    def columns(self) -> int:
        """Sparse columns of a part: ceil(1.3 capacity) + 8."""
        return -(-13 * self.capacity // 10) + _EXTRA

    @property
    def height(self) -> int:
        """Entries of a part."""
        return self.columns + DENSE

    @property
    def rows(self) -> int:
        """Entries of the store."""
        return self.parts * self.height


@of_shape(
    lambda keys, values, seed, random: shape_array((StoreSize.of(len(keys)).rows, values.shape[1]), np.uint64)
)
def encode(keys: Word, values: Word, seed: bytes, random: Randomness) -> Word:
    """Make a store.

    Args:
        keys: distinct, shape (n, 2).
        values: shape (n, w).
        seed: public, `SEED_BYTES` uniform bytes that are drawn after the keys.
        random: fills what the keys leave free.

    Returns:
        The entries, shape (StoreSize.of(n).rows, w).

    Raises:
        UsageError: two keys are equal; also, with probability below 2**-39, for distinct keys.
    """
    count, width = values.shape
    layout = StoreSize.of(count)
    rows = _KeyRows.of(keys, seed, layout)
    store = random.words(layout.rows * width).reshape(layout.parts, layout.height, width)
    order = np.argsort(rows.parts, kind="stable")
    ends = np.cumsum(np.bincount(rows.parts, minlength=layout.parts))
    for part, members in enumerate(each(np.split(order, ends[:-1]), 1)):
        if len(members) > layout.capacity:
            raise _unsolvable()
        _solve(store[part], rows[members], values[members])
    return store.reshape(-1, width)


@of_shape(lambda store, keys, seed, count: shape_array((len(keys), store.shape[1]), np.uint64))
def decode(store: Word, keys: Word, seed: bytes, count: int) -> Word:
    """Look keys up.

    Args:
        store: shape (StoreSize.of(count).rows, w).
        keys: shape (n, 2).
        seed: as when the store was made.
        count: keys that the store was made of.

    Returns:
        Shape (n, w): the value of each key that was encoded, and a sum of the store's words for any other.
    """
    layout = StoreSize.of(count)
    rows = _KeyRows.of(keys, seed, layout)
    parts = store.reshape(layout.parts, layout.height, -1)
    result = np.empty((len(keys), parts.shape[2]), dtype=np.uint64)
    order = np.argsort(rows.parts, kind="stable")
    ends = np.cumsum(np.bincount(rows.parts, minlength=layout.parts))
    for part, members in each(zip(parts, np.split(order, ends[:-1]), strict=True), 1):
        asked = rows[members]
        result[members] = asked.dense_sums(part) ^ _sparse_sums(part, asked.places)
    return result


@dataclass(frozen=True, slots=True)
class _KeyRows:
    """The rows of keys.

    Attributes:
        parts: to which they belong, shape (n,).
        places: of the ones in the sparse columns of the part, with repetition, shape (n, 3).
        patterns: of the dense columns, column i at bit i, shape (n,).
    """

    parts: NDArray[np.uint16]
    places: Places
    patterns: Word

    @classmethod
    def of(cls, keys: Word, seed: bytes, layout: StoreSize) -> _KeyRows:
        parts = np.empty(len(keys), dtype=np.uint16)
        places = np.empty((len(keys), _ONES), dtype=np.int32)
        patterns = np.empty(len(keys), dtype=np.uint64)
        cipher_keys = seed[:_CIPHER_KEY_BYTES], seed[_CIPHER_KEY_BYTES:SEED_BYTES]
        hashes = [Cipher(algorithms.AES(key), modes.ECB()).encryptor() for key in cipher_keys]  # noqa: S305
        for here in chunks(len(keys), _BLOCK):
            block = np.ascontiguousarray(keys[here])
            first, second = (
                np.frombuffer(each.update(block.view(np.uint8).data), dtype=np.uint64).reshape(-1, 2) ^ block
                for each in hashes
            )
            # The upper halves of three words are the places, the lower half of the first one is the part: a
            # uniform 32-bit number times a size, shifted, is uniform below the size within size 2**-32.
            drawn = np.concatenate([first, second[:, :1]], axis=1) >> _HALF_WORD
            places[here] = drawn * np.uint64(layout.columns) >> _HALF_WORD
            parts[here] = (first[:, 0] & _LOW_HALF) * np.uint64(layout.parts) >> _HALF_WORD
            patterns[here] = second[:, 1] & _DENSE_MASK
        return cls(parts, places, patterns)

    def __len__(self) -> int:
        return len(self.patterns)

    def __getitem__(self, members: NDArray[np.int64]) -> _KeyRows:
        return _KeyRows(self.parts[members], self.places[members], self.patterns[members])

    def dense_sums(self, store: Word) -> Word:
        """The dense part of the rows times the entries of their part, shape (n, w)."""
        result = np.zeros((len(self), store.shape[1]), dtype=np.uint64)
        for shift in range(0, DENSE, _OCTET_BITS):
            # All 256 sums of eight entries at once; a row then looks its sum up by eight bits of its pattern.
            table = np.zeros((1, store.shape[1]), dtype=np.uint64)
            for entry in store[len(store) - DENSE + shift :][:_OCTET_BITS]:
                table = np.concatenate([table, table ^ entry])
            octets = self.patterns >> np.uint64(shift) & np.uint64(_OCTETS - 1)
            result ^= table[octets.astype(np.uint8)]
        return result

    def matrix(self) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """The sparse columns that these rows have, and the rows on these and on the dense columns."""
        used, places = np.unique(self.places, return_inverse=True)
        matrix = np.zeros((len(self), len(used) + DENSE), dtype=np.uint8)
        # A place that occurs twice cancels, as it does in the sparse sums.
        np.bitwise_xor.at(matrix, (np.arange(len(self))[:, None], places.reshape(-1, _ONES)), 1)
        shifts = np.arange(DENSE, dtype=np.uint64)
        matrix[:, len(used) :] = self.patterns[:, None] >> shifts & np.uint64(1)
        return used, matrix


def _sparse_sums(store: Word, places: Places) -> Word:
    result: Word = store[places[:, 0]] ^ store[places[:, 1]] ^ store[places[:, 2]]
    return result


def _solve(store: Word, rows: _KeyRows, values: Word) -> None:
    """Set the entries of a part, shape (height, w), that is filled at random so far."""
    layers, core = _peel(rows.places, len(store) - DENSE)
    if len(core):
        _solve_core(store, rows[core], values[core])
    # The core has settled the dense entries. A pivot stands in no row that was peeled later, so going
    # backwards all else that a row sums up is final when its pivot is set.
    wanted = values ^ rows.dense_sums(store)
    for own, pivots in reversed(layers):
        # With its pivot at zero a row sums up the other two places.
        store[pivots] = 0
        store[pivots] = wanted[own] ^ _sparse_sums(store, rows.places[own])


def _peel(places: Places, columns: int) -> tuple[list[tuple[Places, Places]], NDArray[np.int64]]:
    """Take away rows that own a column, in rounds.

    Args:
        places: shape (n, 3).
        columns: how many sparse ones there are.

    Returns:
        For each round the rows and the columns that they own; the rows that are left.
    """
    count = len(places)
    numbers = np.arange(count, dtype=np.int32)
    degrees = np.bincount(places.reshape(-1), minlength=columns).astype(np.int32)
    owners = np.zeros(columns, dtype=np.int32)
    for place in places.T:
        # The XOR of the numbers of all rows with a one in the column: of degree 1, the number of the only
        # one.
        np.bitwise_xor.at(owners, place, numbers)
    left = np.ones(count, dtype=np.bool_)
    chosen = np.empty(max(count, columns), dtype=np.int32)
    layers = []
    owned = np.flatnonzero(degrees == 1).astype(np.int32)
    while owned.size:
        rows = owners[owned]
        # A row that owns several columns keeps the one that was written last.
        chosen[rows] = owned
        once = chosen[rows] == owned
        rows, pivots = rows[once], owned[once]
        layers.append((rows, pivots))
        left[rows] = False
        touched = places[rows].reshape(-1)
        np.subtract.at(degrees, touched, 1)
        np.bitwise_xor.at(owners, touched, np.repeat(rows, _ONES))
        # Columns that have one row left now, each once.
        touched = touched[degrees[touched] == 1]
        order = np.arange(len(touched), dtype=np.int32)
        chosen[touched] = order
        owned = touched[chosen[touched] == order]
    return layers, np.flatnonzero(left)


def _solve_core(store: Word, rows: _KeyRows, values: Word) -> None:
    """Elimination over rows that own no column: sets their columns and the dense ones in the store.

    Raises:
        UsageError: the rows are dependent.
    """
    used, matrix = rows.matrix()
    wanted = values.copy()
    pivots = np.empty(len(rows), dtype=np.int64)
    for row in range(len(rows)):
        ones = np.flatnonzero(matrix[row])
        if not ones.size:
            raise _unsolvable()
        pivots[row] = ones[0]
        others = matrix[:, ones[0]].astype(np.bool_)
        others[row] = False
        matrix[others] ^= matrix[row]
        wanted[others] ^= wanted[row]
    # What the rows leave free stays as it was drawn, without which the store would not be uniform.
    free = np.ones(matrix.shape[1], dtype=np.bool_)
    free[pivots] = False
    places = np.concatenate([used, np.arange(len(store) - DENSE, len(store))])
    solution = store[places]
    for row, pivot in enumerate(pivots):
        chosen = solution[free & matrix[row].astype(np.bool_)]
        solution[pivot] = wanted[row] ^ np.bitwise_xor.reduce(chosen, axis=0)
    store[places] = solution


def _unsolvable() -> UsageError:
    return UsageError("The keys of a key-value store are not distinct.", "Give every key once.")
