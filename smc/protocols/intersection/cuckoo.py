"""Hashing of keys into bins: at most one key per bin on one side, every candidate bin on the other.

Three hash functions give every key three distinct bins. The owner of a cuckoo table finds a place for each of
its keys in one of the key's bins, at most one key per bin; the other party puts each of its keys into all
three. If both have a key, it is in the owner's bin on the other side, too.

Failure: a table does not exist if some t keys have fewer than t bins between them. From 4096 keys on there
are 1.27 n bins, for which published experiments, extrapolated, give less than 2**-40. For fewer keys there
are so many bins that the union bound over all sets of keys and of bins is below 2**-40 (`failure`).

Assumes: keys that were chosen, or hashed under a salt drawn, before the seed; AES-128 as the hash functions.
Reference: Pinkas, Schneider and Zohner, Scalable private set intersection based on OT extension, ACM TOPS
2018, section 3.2 (three hash functions, 1.27 n bins, no stash); Pagh and Rodler, Cuckoo hashing, 2004;
Fotakis, Pagh, Sanders and Spirakis, 2005 (more than two functions).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import comb
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from smc.errors import DuettoError, UsageError
from smc.numeric.shapes import of_shape, shape_array
from smc.pieces import chunks

Word = NDArray[np.uint64]

HASHES: Final = 3
"""Hash functions: the bins of every key."""

SEED_BYTES: Final = 16

_LARGE: Final = 4096
_MAX_ROUNDS: Final = 4096
_BLOCK: Final = 1 << 16
_BITS: Final = (43, 43, 42)
_FREE: Final = -1


@dataclass(frozen=True, slots=True)
class Placement:
    """A cuckoo table.

    Attributes:
        slots: the number of the key in each bin, or -1, shape (bins,).
        hashes: which hash function put it there, 0 to 2; 0 in an empty bin; shape (bins,).
    """

    slots: NDArray[np.int64] = field(repr=False)
    hashes: NDArray[np.uint8] = field(repr=False)


def bins_for(count: int) -> int:
    """The bins of a table for so many keys."""
    if count >= _LARGE:
        return -(-127 * count // 100)
    return max(count + 150, -(-8 * count // 5) + 20)


def failure(count: int, bins: int) -> float:
    """A bound on the probability that so many keys have no table, over the hash functions.

    Summed over all sets of t keys and of t - 1 bins that may hold all bins of these keys. For 1.27 n bins the
    sum is above 1 and says nothing.
    """
    triples = comb(bins, HASHES)
    terms = (
        Fraction(comb(count, t) * comb(bins, t - 1) * comb(t - 1, HASHES) ** t, triples**t)
        for t in range(HASHES + 1, count + 1)
    )
    return float(sum(terms))


@of_shape(lambda keys, seed, bins: shape_array((HASHES, len(keys)), np.int64))
def candidates(keys: Word, seed: bytes, bins: int) -> NDArray[np.int64]:
    """The three bins of each key, all different.

    Args:
        keys: shape (n, 2).
        seed: public, of `SEED_BYTES`.
        bins: at least 3.

    Returns:
        Shape (3, n), by hash function.
    """
    if len(seed) != SEED_BYTES or bins < HASHES:
        raise UsageError(
            f"Keys cannot be hashed into {bins} bins with a seed of {len(seed)} bytes.",
            f"Use at least {HASHES} bins and a seed of {SEED_BYTES} bytes.",
        )
    cipher = Cipher(algorithms.AES(seed), modes.ECB()).encryptor()  # noqa: S305 - single blocks
    found = np.empty((HASHES, len(keys)), dtype=np.int64)
    for part in chunks(len(keys), _BLOCK):
        hashed = np.frombuffer(cipher.update(keys[part].tobytes()), dtype="<u8").reshape(-1, 2)
        low, high = hashed.T
        # 43, 43 and 42 bits of the block: the remainders below are uniform within bins 2**-42.
        pieces = (
            low & np.uint64((1 << _BITS[0]) - 1),
            high & np.uint64((1 << _BITS[1]) - 1),
            low >> np.uint64(_BITS[0]) | high >> np.uint64(_BITS[1]) << np.uint64(64 - _BITS[0]),
        )
        first, second, third = (
            (piece % np.uint64(bins - taken)).astype(np.int64) for taken, piece in enumerate(pieces)
        )
        # Drawn from the bins that are left, in order: numbers at or past a bin that is taken move up by one.
        second += second >= first
        lower, upper = np.minimum(first, second), np.maximum(first, second)
        third += third >= lower
        third += third >= upper
        found[:, part] = first, second, third
    return found


def _sizes(keys: Word, seed: bytes) -> Placement:
    """The shapes of a table."""
    del seed
    bins = bins_for(len(keys))
    return Placement(shape_array(bins, np.int64), shape_array(bins, np.uint8))


@of_shape(_sizes)
def place(keys: Word, seed: bytes) -> Placement:
    """The owner's table: all keys at once look for a free bin, then those without one evict others.

    Args:
        keys: distinct, shape (n, 2).
        seed: public.

    Raises:
        DuettoError: there is no place for all keys, which for distinct ones has negligible probability.
    """
    bins = bins_for(len(keys))
    options = candidates(keys, seed, bins)
    slots = np.full(bins, _FREE, dtype=np.int64)
    waiting = np.arange(len(keys))
    for option in options:
        # Of several keys that want one bin the last one written has it; the others see its number there and
        # wait.
        free = waiting[slots[option[waiting]] == _FREE]
        slots[option[free]] = free
        waiting = waiting[slots[option[waiting]] != waiting]
    _evict(slots, options, waiting, keys)
    hashes = np.zeros(bins, dtype=np.uint8)
    taken = np.flatnonzero(slots != _FREE)
    for number in range(1, HASHES):
        hashes[taken] += number * (options[number, slots[taken]] == taken).astype(np.uint8)
    return Placement(slots, hashes)


def _evict(
    slots: NDArray[np.int64], options: NDArray[np.int64], waiting: NDArray[np.int64], keys: Word
) -> None:
    """Put the waiting keys into their bins and let those that were there look for another one.

    Which bin a key tries follows from bits of the key itself, as good as random, and from the round.
    """
    for turn in range(_MAX_ROUNDS):
        if not len(waiting):
            return
        choice = keys[waiting, turn // 32 % 2] >> np.uint64(2 * (turn % 32)) & np.uint64(3)
        choice = (choice.astype(np.int64) + turn) % HASHES
        wanted = options[choice, waiting]
        # Who stood in a bin is read before anybody is written, and goes back to waiting if a newcomer won it.
        before = slots[wanted]
        slots[wanted] = waiting
        lost = waiting[slots[wanted] != waiting]
        won = slots[wanted] == waiting
        evicted = before[won]
        waiting = np.concatenate([lost, evicted[evicted != _FREE]])
    raise DuettoError(
        "The keys found no place in the hash table, which almost never happens.",
        "Run the job again: it will draw new hash functions.",
        code="placement",
    )


@of_shape(
    lambda keys, seed, bins: tuple(
        shape_array(HASHES * len(keys), each) for each in (np.int64, np.int64, np.uint8)
    )
)
def simple(
    keys: Word, seed: bytes, bins: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
    """The other party's side: every key in all its bins.

    Args:
        keys: distinct, shape (n, 2).
        seed: public.
        bins: of the owner's table.

    Returns:
        Bins, key numbers and hash functions, shape (3 n,) each, by hash function and then by key.
    """
    places = candidates(keys, seed, bins).reshape(-1)
    numbers = np.tile(np.arange(len(keys)), HASHES)
    return places, numbers, np.repeat(np.arange(HASHES, dtype=np.uint8), len(keys))
