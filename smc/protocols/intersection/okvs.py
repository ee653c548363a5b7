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

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, log, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.errors import UsageError
from smc.numeric.random import Randomness
from smc.numeric.shapes import of_shape, shape_array
from smc.oblivious import numpy_store
from smc.oblivious.kernels import make_kernels
from smc.oblivious.numpy_store import DENSE, ROW, Numbers, Rows, StoreLoops
from smc.oblivious.workspace import Workspace
from smc.pieces import chunks, each

Word = NDArray[np.uint64]

SEED_BYTES: Final = numpy_store.SEED_BYTES
"""Of the public seed."""

PART_KEYS: Final = 1 << 16
"""Keys of a part on average, where there is more than one."""

_EXTRA: Final = 8
_BLOCK: Final = 1 << 15
_LOOKED_UP: Final = 1 << 20
"""Keys that are looked up at a time: what their rows take in memory is bounded by that."""


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
    layout, loops = StoreSize.of(count), make_kernels(Workspace()).store
    rows = _rows(loops, keys, seed, layout)
    store = random.words(layout.rows * width).reshape(layout.parts, layout.height, width)
    values = np.ascontiguousarray(values)
    for part, members in zip(store, _members(loops, rows, layout), strict=True):
        if len(members) > layout.capacity:
            raise _unsolvable()
        peeled = loops.peel(rows, members, layout.columns)
        if len(peeled.left):
            core = members[peeled.left]
            _solve_core(part, rows[core], values[core])
        # The core has settled the dense entries.
        peeled.fill(part, values)
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
    layout, loops = StoreSize.of(count), make_kernels(Workspace()).store
    parts = np.ascontiguousarray(store).reshape(layout.parts, layout.height, store.shape[1])
    result = np.empty((len(keys), store.shape[1]), dtype=np.uint64)
    for here in chunks(len(keys), _LOOKED_UP):
        rows = _rows(loops, keys[here], seed, layout)
        for part, members in zip(parts, _members(loops, rows, layout), strict=True):
            loops.sums(part, rows, members, result[here])
    return result


def _rows(loops: StoreLoops, keys: Word, seed: bytes, layout: StoreSize) -> Rows:
    rows = np.empty(len(keys), dtype=ROW)
    for here in chunks(len(keys), _BLOCK):
        loops.rows(np.ascontiguousarray(keys[here]), seed, layout.columns, layout.parts, rows[here])
    return rows


def _members(loops: StoreLoops, rows: Rows, layout: StoreSize) -> Iterator[Numbers]:
    """The numbers of the rows of each part."""
    order, sizes = loops.order(rows, layout.parts)
    return each(np.split(order, np.cumsum(sizes)[:-1]), 1)


def _solve_core(store: Word, rows: Rows, values: Word) -> None:
    """Elimination over rows that own no column: sets their columns and the dense ones in the store.

    Raises:
        UsageError: the rows are dependent.
    """
    used, matrix = _matrix(rows)
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


def _matrix(rows: Rows) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """The sparse columns that rows have, and the rows on these and on the dense columns."""
    used, places = np.unique(rows["places"], return_inverse=True)
    matrix = np.zeros((len(rows), len(used) + DENSE), dtype=np.uint8)
    # A place that occurs twice cancels, as it does in the sparse sums.
    np.bitwise_xor.at(matrix, (np.arange(len(rows))[:, None], places.reshape(len(rows), -1)), 1)
    shifts = np.arange(DENSE, dtype=np.uint64)
    matrix[:, len(used) :] = rows["pattern"][:, None] >> shifts & np.uint64(1)
    return used, matrix


def _unsolvable() -> UsageError:
    return UsageError("The keys of a key-value store are not distinct.", "Give every key once.")
