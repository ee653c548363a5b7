"""The inner loops of oblivious key-value stores in numpy: what compiled ones give, bit for bit.

`smc.protocols.intersection.okvs` says what a store is, and what is looked up in it.
"""

from __future__ import annotations

from typing import Final, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from smc.oblivious.bitmatrix import Word

Rows = NDArray[np.void]
"""Rows of keys, of type `ROW`."""

Numbers = NDArray[np.uint32]

ONES: Final = 3
"""Ones of a row in the sparse columns."""

DENSE: Final = 40
"""Dense columns of a part, behind the sparse ones."""

SEED_BYTES: Final = 32
"""Of the public seed: two keys of the hash that turns keys into rows."""

ROW: Final = np.dtype([("places", np.uint32, ONES), ("part", np.uint32), ("pattern", np.uint64)])
"""The row of a key: the places of its ones in the sparse columns of its part, with repetition, and its
pattern in the dense ones, column i at bit i."""

_CIPHER_KEY_BYTES: Final = 16
_OCTET_BITS: Final = 8
_OCTETS: Final = 256
_HALF_WORD: Final = np.uint64(32)
_LOW_HALF: Final = np.uint64((1 << 32) - 1)
_PATTERN: Final = np.uint64((1 << DENSE) - 1)


class Peeled(Protocol):
    """A part whose rows were taken away, each with a column that only it had of those that were left."""

    @property
    def left(self) -> Numbers:
        """Places among the members of the rows that never owned a column."""
        ...

    def fill(self, store: Word, values: Word) -> None:
        """Give the rows that were taken away their values, and leave all other entries as they are.

        Args:
            store: the part, contiguous, shape (columns + DENSE, w), changed in place.
            values: of all keys, contiguous, shape (n, w).
        """
        ...


class StoreLoops(Protocol):
    """The loops. Rows are as `rows` gives them for the same columns and parts."""

    def rows(self, keys: Word, seed: bytes, columns: int, parts: int, rows: Rows) -> None:
        """Turn keys into rows.

        Args:
            keys: contiguous, shape (n, 2).
            seed: `SEED_BYTES` of them.
            columns: sparse columns of a part, below 2**31.
            parts: from 1 to 2**16.
            rows: shape (n,), written.
        """
        ...

    def order(self, rows: Rows, parts: int) -> tuple[Numbers, NDArray[np.int64]]:
        """The numbers of the rows part by part, in each ascending, and how many rows each part has."""
        ...

    def peel(self, rows: Rows, members: Numbers, columns: int) -> Peeled:
        """Take away rows that own a column, in rounds, until none does.

        In a round each row that owns columns is taken away with the first of its places that is one. What a
        store holds hangs on these pairs, and not on the order of rows within a round.

        Args:
            rows: of all keys, shape (n,).
            members: the numbers of the rows of a part, shape (k,).
            columns: sparse ones of a part.
        """
        ...

    def sums(self, store: Word, rows: Rows, members: Numbers, result: Word) -> None:
        """Add up what rows say of the entries of their part.

        Args:
            store: the part, contiguous, shape (columns + DENSE, w).
            rows: of all keys, shape (n,).
            members: the numbers of the rows of a part, shape (k,).
            result: contiguous, shape (n, w); gets the sums at these numbers.
        """
        ...


class NumpyStore:
    """The loops in numpy; see `StoreLoops`."""

    def rows(self, keys: Word, seed: bytes, columns: int, parts: int, rows: Rows) -> None:
        """As declared."""
        octets = np.ascontiguousarray(keys).view(np.uint8).data
        halves = seed[:_CIPHER_KEY_BYTES], seed[_CIPHER_KEY_BYTES:]
        ciphers = [Cipher(algorithms.AES(key), modes.ECB()) for key in halves]  # noqa: S305
        first, second = (np.frombuffer(each.encryptor().update(octets), dtype=np.uint64) for each in ciphers)
        first, second = first.reshape(-1, 2) ^ keys, second.reshape(-1, 2) ^ keys
        # The upper halves of three words are the places, the lower half of the first one is the part: a
        # uniform 32-bit number times a size, shifted, is uniform below the size within size 2**-32.
        drawn = np.concatenate([first, second[:, :1]], axis=1) >> _HALF_WORD
        rows["places"] = drawn * np.uint64(columns) >> _HALF_WORD
        rows["part"] = (first[:, 0] & _LOW_HALF) * np.uint64(parts) >> _HALF_WORD
        rows["pattern"] = second[:, 1] & _PATTERN

    def order(self, rows: Rows, parts: int) -> tuple[Numbers, NDArray[np.int64]]:
        """As declared."""
        part = rows["part"].astype(np.uint16)  # numpy sorts these in linear time
        return np.argsort(part, kind="stable").astype(np.uint32), np.bincount(part, minlength=parts)

    def peel(self, rows: Rows, members: Numbers, columns: int) -> Peeled:
        """As declared."""
        return _Layers(rows.take(members), members, columns)

    def sums(self, store: Word, rows: Rows, members: Numbers, result: Word) -> None:
        """As declared."""
        asked = rows.take(members)  # many times faster than by brackets, here and below
        result[members] = _dense_sums(store, asked["pattern"].copy()) ^ _sparse_sums(store, _places(asked))


class _Layers:
    """The rows of a part, peeled in rounds.

    Args:
        rows: of the part.
        members: their numbers among all keys.
        columns: sparse ones.
    """

    def __init__(self, rows: Rows, members: Numbers, columns: int) -> None:
        self._rows, self._members = rows, members
        self._places = _places(rows)
        self._layers, self.left = _peel(self._places, columns)

    def fill(self, store: Word, values: Word) -> None:
        """As declared."""
        # A pivot stands in no row that was peeled later, so going backwards all else that a row sums up is
        # final when its pivot is set.
        wanted = values.take(self._members, axis=0) ^ _dense_sums(store, self._rows["pattern"].copy())
        for own, pivots in reversed(self._layers):
            # With its pivot at zero a row sums up the other two places.
            store[pivots] = 0
            store[pivots] = wanted.take(own, axis=0) ^ _sparse_sums(store, self._places.take(own, axis=0))


def _dense_sums(store: Word, patterns: Word) -> Word:
    """Rows times the dense entries of their part, shape (n, w)."""
    result = np.zeros((len(patterns), store.shape[1]), dtype=np.uint64)
    for shift in range(0, DENSE, _OCTET_BITS):
        # All 256 sums of eight entries at once; a row then looks its sum up by eight bits of its pattern.
        table = np.zeros((1, store.shape[1]), dtype=np.uint64)
        for entry in store[len(store) - DENSE + shift :][:_OCTET_BITS]:
            table = np.concatenate([table, table ^ entry])
        octets = patterns >> np.uint64(shift) & np.uint64(_OCTETS - 1)
        result ^= table.take(octets.astype(np.uint8), axis=0)
    return result


def _places(rows: Rows) -> NDArray[np.int64]:
    return np.ascontiguousarray(rows["places"], dtype=np.int64)


def _sparse_sums(store: Word, places: NDArray[np.int64]) -> Word:
    first, second, third = (store.take(each, axis=0) for each in places.T)
    found: Word = first ^ second ^ third
    return found


def _peel(
    places: NDArray[np.int64], columns: int
) -> tuple[list[tuple[NDArray[np.int64], NDArray[np.int64]]], Numbers]:
    """For each round the rows and the columns that they own; the rows that are left."""
    count = len(places)
    numbers = np.arange(count)
    degrees = np.bincount(places.reshape(-1), minlength=columns)
    owners = np.zeros(columns, dtype=np.int64)
    for place in places.T:
        # The XOR of the numbers of all rows with a one in the column: of degree 1, the number of the only
        # one.
        np.bitwise_xor.at(owners, place, numbers)
    left = np.ones(count, dtype=np.bool_)
    chosen = np.empty(max(count, columns), dtype=np.int64)
    layers = []
    owned = np.flatnonzero(degrees == 1)
    while owned.size:
        rows = _once(owners.take(owned), chosen)
        among = places.take(rows, axis=0)
        pivots = among[np.arange(len(rows)), (degrees.take(among) == 1).argmax(axis=1)]
        layers.append((rows, pivots))
        left[rows] = False
        touched = among.reshape(-1)
        np.subtract.at(degrees, touched, 1)
        np.bitwise_xor.at(owners, touched, np.repeat(rows, ONES))
        owned = _once(touched[degrees.take(touched) == 1], chosen)
    return layers, np.flatnonzero(left).astype(np.uint32)


def _once(numbers: NDArray[np.int64], chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each number once, with the help of an array that has a place for each."""
    order = np.arange(len(numbers))
    chosen[numbers] = order
    found: NDArray[np.int64] = numbers[chosen.take(numbers) == order]
    return found
