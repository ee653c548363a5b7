"""Sorting shared integers: both parties shuffle them in secret, and then open how they compare.

    Alice (shares, order a)                           Bob (shares, order b)
      key 2**p + place, so that no two are equal, local
      == rows in the order a, then b, two networks ==   the j-th row is one that neither party can name
      == comparisons ==  <-- their bits, opened -->     a sample, sorted already, and where each other row
                                                        falls among it, by halves; then all pairs of rows
                                                        that fall between the same two of the sample
      the order of the shuffled rows, public

Every bit that opens follows from the order of the shuffled keys. As no two are equal, each of the n! orders
is as likely, whatever the keys are: either shuffle sees to that alone, and the other party does not know it.

How many comparisons a step takes follows from n. How many pairs fall together does not quite: a step takes as
many as there are but for one chance in 2**40 or so, empty ones among them, and more steps follow where there
are more.

Inputs: shares modulo 2**64 of n integers within public bounds.
Outputs: at either party its own shuffle; the public order of the rows after both.
Learns: both parties a uniformly random order, which is independent of the integers.
Assumes: `smc.secret.orders.permutation`, `smc.secret.comparison.msb`, `smc.secret.sharing.opening`. It holds
nothing against a peer that deviates: who adds to its shares after the shuffle reads how far keys lie apart.
Cost: `cost`; of 100,000 integers 18 comparisons each, of as many bits as the integer has and its place takes,
in 52 steps of six rounds.
Reference: Hamada, Kikuchi, Ikarashi, Chida and Takahashi, Practically efficient multi-party sorting protocols
from comparison sort algorithms, ICISC 2012 (shuffle, then open); Frazer and McKellar, Samplesort, JACM 1970.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil, isqrt, prod
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from smc.errors import DomainError, ProtocolViolation
from smc.forms import Role
from smc.network import Network
from smc.numeric.shapes import of_shape, shape_array
from smc.protocols.against import Against
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import TRANSFERS
from smc.secret.bits import BOTH
from smc.secret.comparison import msb
from smc.secret.comparison.records import cost_nonnegative
from smc.secret.orders import permutation
from smc.secret.orders.benes import Index, Word
from smc.secret.sharing import opening
from smc.secret.sharing.bounds import WORD_BITS, Bounds
from smc.secret.sharing.opening import OpenedBits
from smc.secret.sharing.records import cost_opening_bits

Bit = NDArray[np.uint8]

_STEP: Final = 8192
"""Comparisons that a step, of six rounds or more, is taken to be as dear as."""

_CHANCE_BITS: Final = 40


@dataclass(frozen=True, slots=True)
class OrderBits(OpenedBits, kind="order-bits"):
    """How keys compare that both have shuffled; the local XOR shares."""


@dataclass(frozen=True, slots=True)
class Sorted:
    """What sorts rows.

    Attributes:
        shuffle: the local one: row k after it is row shuffle[k] before. Alice's comes first.
        order: row k of the sorted ones is row order[k] of those that both have shuffled; public.
    """

    shuffle: Index
    order: Index


def sort(session: Session, words: Word, bounds: Bounds) -> Sorted:
    """Sort shared integers, equal ones in the order of their places.

    Args:
        session: this side of the run.
        words: local shares modulo 2**64, shape (n,).
        bounds: of the integers.

    Raises:
        DomainError: key and place do not fit a word together; nothing was sent.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    count = len(words)
    width = _width(count, bounds)
    own = session.random.permutation(count)
    if count < 2:
        return Sorted(own, own)
    keys = words << np.uint64(_place_bits(count))
    if session.role is Role.ALICE:
        lowest = np.uint64((bounds.lower << _place_bits(count)) % (1 << WORD_BITS))
        places: Word = np.arange(count, dtype=np.uint64) - lowest
        keys = keys + places
    for owner in Role:
        order = own if session.role is owner else None
        keys = permutation.permute(session, keys, owner, order, bits=width + 1)
    found: Index = np.zeros(0, dtype=np.int64, like=words)
    for size in plan(count):
        found = _insert(session, keys, width, found, size)
    return Sorted(own, found)


def _insert(session: Session, keys: Word, width: int, sample: Index, count: int) -> Index:
    """The order of the first rows, by that of a smaller number of them.

    Args:
        session: this side of the run.
        keys: local shares modulo 2**(width + 1), distinct.
        width: bits of a key.
        sample: the order of the first rows; 2**k - 1 of them.
        count: rows to order.
    """
    size = len(sample)
    others = np.arange(size, count, like=sample)
    gaps = np.zeros(count - size, dtype=np.int64, like=sample)
    step = size + 1 >> 1
    while step:
        above = _above(session, keys, width, others, sample[gaps + (step - 1)])
        gaps = gaps + step * above.astype(np.int64)
        step >>= 1
    left, right = _together(gaps)
    batch = pairs(count, size)
    above = np.zeros(0, dtype=np.uint8, like=sample)
    for start in range(0, _batches(left, batch) * batch, batch):
        some = (_fill(side[start : start + batch], batch) for side in (left, right))
        first, second = (others[places] for places in some)
        above = np.concatenate([above, _above(session, keys, width, first, second)])
    return _merge(sample, gaps, left, right, above)


def _above(session: Session, keys: Word, width: int, left: Index, right: Index) -> Bit:
    """Whether keys at some places are at least those at others, opened; one step."""
    bits = msb.nonnegative(session, keys[left] - keys[right], _difference_bounds(width))
    return cast(Bit, opening.open_bits(session, bits, BOTH, OrderBits))


def _difference_bounds(width: int) -> Bounds:
    """Of the differences of two keys."""
    most = (1 << width) - 1
    return Bounds(-most, most)


@of_shape(lambda gaps: (gaps, gaps))
def _together(gaps: Index) -> tuple[Index, Index]:
    """All pairs of rows in the same gap, each once."""
    by_gap = np.argsort(gaps, kind="stable")
    held = gaps[by_gap]
    later = np.searchsorted(held, held, side="right") - np.arange(len(held)) - 1
    left = np.repeat(np.arange(len(held)), later)
    starts = np.cumsum(later) - later
    right = left + 1 + np.arange(len(left)) - starts[left]
    return by_gap[left], by_gap[right]


@of_shape(lambda left, batch: min(1, batch))
def _batches(left: Index, batch: int) -> int:
    """How many steps all pairs take: one, but for the chance that `pairs` leaves."""
    return min(batch, max(1, -(-len(left) // max(1, batch))))


@of_shape(lambda places, count: shape_array(count, np.int64))
def _fill(places: Index, count: int) -> Index:
    """So many places; those that nobody asks for are the first one."""
    found = np.zeros(count, dtype=np.int64)
    found[: len(places)] = places
    return found


@of_shape(lambda sample, gaps, left, right, above: shape_array(len(sample) + len(gaps), np.int64))
def _merge(sample: Index, gaps: Index, left: Index, right: Index, above: Bit) -> Index:
    """The order of all, from the gaps of those that are new, and which of each pair is above the other.

    Raises:
        ProtocolViolation: no order is like that: what the peer opened is not how keys compare.
    """
    above = above[: len(left)]
    within = np.bincount(np.where(above, left, right), minlength=len(gaps))
    below = np.cumsum(np.bincount(gaps, minlength=len(sample) + 1))
    found = np.full(len(sample) + len(gaps), -1, dtype=np.int64)
    found[np.arange(len(sample)) + below[:-1]] = sample
    before = np.concatenate([np.zeros(1, dtype=np.int64), below[:-1]])
    found[gaps + before[gaps] + within] = len(sample) + np.arange(len(gaps))
    if (found < 0).any():
        raise ProtocolViolation(
            "sort: what was opened is not how keys compare: of three each is above the next."
        )
    return found


def pairs(count: int, sample: int) -> int:
    """How many pairs of rows fall between the same two of a sorted sample, but for one chance in 2**40 or so.

    All ways to deal the other rows to the gaps are as likely, so that mean and variance are known. In a large
    sample the number is nearly normal, and 7.5 standard deviations are enough; beside them one gap may be as
    long as none is but for that chance, which is what counts in a small one.

    Args:
        count: rows, those of the sample with them.
        sample: rows of it.
    """
    rows, gaps = count - sample, sample + 1
    two, three, four = (
        Fraction(prod(range(rows, rows - each, -1)), prod(range(gaps, gaps + each))) for each in (2, 3, 4)
    )
    mean = gaps * two
    variance = gaps * (6 * four + 6 * three + two) + gaps * (gaps - 1) * four - mean**2
    # Of exponential lengths of the mean r / s + 1 / 2 in nats: what none exceeds.
    longest = (Fraction(rows, gaps) + Fraction(1, 2)) * Fraction(7, 10) * (_CHANCE_BITS + gaps.bit_length())
    slack = isqrt(ceil(56 * variance)) + ceil(longest**2 / 2) + 1
    return min(rows * (rows - 1) // 2, ceil(mean) + slack)


@cache
def plan(count: int) -> tuple[int, ...]:
    """How many of the first rows are in order after each insertion; all in the end."""
    return _plan(count)[1]


@cache
def _plan(count: int) -> tuple[int, tuple[int, ...]]:
    """The least number of comparisons, steps among them, and the plan."""
    best: tuple[int, tuple[int, ...]] = _STEP + pairs(count, 0), (count,)
    for halvings in range(2, count.bit_length()):
        sample = (1 << halvings) - 1
        if sample < count:
            before, way = _plan(sample)
            each = halvings * (_STEP + count - sample) + _STEP + pairs(count, sample)
            best = min(best, (before + each, (*way, count)))
    return best


def _place_bits(count: int) -> int:
    return max(0, count - 1).bit_length()


def _width(count: int, bounds: Bounds) -> int:
    """Bits of a key with its place.

    Raises:
        DomainError: too many for a word.
    """
    width = bounds.span_bits + _place_bits(count)
    if width > WORD_BITS - 2:
        raise DomainError(
            f"Keys of {bounds.span_bits} bits and {count} places do not fit a word together.",
            f"State bounds of the keys that are at most 2**{WORD_BITS - 2 - _place_bits(count)} apart.",
        )
    return width


def cost(count: int, bounds: Bounds, network: Network | None = None) -> Cost:
    """The exact cost of `sort`, but for the chance of `pairs`: without the set-up of oblivious transfer.

    Args:
        count: integers.
        bounds: of them.
        network: that of the session.
    """
    if count < 2:
        return Cost()
    width = _width(count, bounds)
    total = Cost()
    for owner in Role:
        total += permutation.cost(count, owner, network, width + 1)
    size = 0
    for after in plan(count):
        batches = [after - size] * size.bit_length() + [pairs(after, size)]
        for batch in filter(None, batches):
            total += cost_nonnegative(batch, _difference_bounds(width), network)
            total += cost_opening_bits(batch, frozenset(Role))
        size = after
    return total


SPEC: Final = Procedure(
    name="sort",
    against=Against.SEMI_HONEST,
    module=__name__,
    cost=cost,
    setups=(TRANSFERS,),
    example={"count": 100, "bounds": Bounds(0, 1000)},
)
