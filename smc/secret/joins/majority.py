"""How many members of a secret set have another value than most of them, none of which is known.

    Alice, Bob (shares of member bits and digits)

    counts_j = members whose digit j is 1        most_j = [2 counts_j > size]
    differs  = member & (digit_1 ^ most_1 | digit_2 ^ most_2 | ...)      differing = sum of differs

The binary digits that most members have are those of a value that more than half of them have, if there is
one: all members who have it agree in every digit. Where there is none, they make up a value that at most half
of them have, and so at least half of the members differ.

Columns with more values than `MOST_DIGITS` digits tell apart bring the digits of a code in their place, by
how common a value is among the rows of its side. Values may share a code, but not two of the commonest; who
has a value with the code of most is not counted, so that no more are found to differ than do.

Inputs: XOR shares of who is a member, shares modulo 2**64 of how many are, and of the digits of their values.
Outputs: shares modulo 2**64 of how many members differ, per column.
Learns: neither party anything.
Assumes: `smc.secret.comparison.msb`, `smc.oblivious`.
Cost: `cost`; per slot and digit an AND of bits, 8.5 bytes, and 12 bytes per slot; rounds grow with the
logarithm of the digits.
Reference: duetto; that a majority has the majority in each digit is folklore.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.numeric.shapes import of_shape, shape_array
from smc.oblivious import cost as oblivious
from smc.protocols.against import Against
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import TRANSFERS, cost_of
from smc.secret.bits import SecretBits
from smc.secret.comparison.records import cost_nonnegative, cost_to_words
from smc.secret.linear_ints import LinearInts, concatenate
from smc.secret.sharing.bounds import Bounds

Bit = NDArray[np.uint8]


MOST_DIGITS: Final = 8
"""Of a value, at most."""


def count_digits(bounds: Bounds) -> int:
    """How many digits a value within bounds has here."""
    return min(bounds.span_bits, MOST_DIGITS)


def digits(values: NDArray[np.int64], bounds: Bounds) -> list[NDArray[np.int64]]:
    """The binary digits of a side's values, counted from the lower bound, or of their codes.

    Args:
        values: of all rows of the side, shape (n,).
        bounds: of the values.

    Returns:
        `count_digits` arrays of 0 and 1, of the same shape.
    """
    codes = values.view(np.uint64) - np.uint64(bounds.lower % (1 << 64))
    if bounds.span_bits > MOST_DIGITS:
        codes = _ranks(values)
    ones = np.uint64(1)
    return [(codes >> np.uint64(place) & ones).astype(np.int64) for place in range(count_digits(bounds))]


@of_shape(lambda values: shape_array(values.shape, np.uint64))
def _ranks(values: NDArray[np.int64]) -> NDArray[np.uint64]:
    """How many values are commoner than that of each row; of two that are as common, the smaller is first."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = np.empty(len(counts), dtype=np.uint64)
    ranks[np.argsort(-counts, kind="stable")] = np.arange(len(counts), dtype=np.uint64)
    return ranks[inverse]


def differing(
    member: SecretBits, size: LinearInts, columns: Sequence[Sequence[LinearInts]]
) -> list[LinearInts]:
    """For each column the number of members whose value is not the one that most members have.

    Args:
        member: who is a member, shape (slots,).
        size: how many are, one integer that is not negative.
        columns: of each the digits, of shape (slots,), 0 or 1 and 0 where the member bit is 0.

    Returns:
        One integer each, from 0 to the largest size. If more than half of the members have the same digits
        it is the number of the others; else it is at least half of the size.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    session, slots = member.session, len(member)
    every = [digit for column in columns for digit in column]
    if not every:
        return [_none(size) for _ in columns]
    within = Bounds(0, size.bounds.upper)
    counts = concatenate(
        [
            LinearInts.from_shares(session, digit.shares.sum(dtype=np.uint64, keepdims=True), within)
            for digit in every
        ]
    )
    most = counts * 2 > size
    shares = np.stack([(digit.shares & np.uint64(1)).astype(np.uint8) for digit in every])
    other = SecretBits(session, shares) ^ most.reshape(len(every), 1)
    ends = np.cumsum([len(column) for column in columns])[:-1]
    rows = _any(other, np.split(np.arange(len(every)), ends))
    wide = [place for place, column in enumerate(columns) if column]
    members = SecretBits(session, np.broadcast_to(member.shares, (len(wide), slots)))
    found = LinearInts.from_bits(rows & members)
    totals = {
        place: LinearInts.from_shares(session, line.sum(dtype=np.uint64, keepdims=True), within)
        for place, line in zip(wide, found.shares, strict=True)
    }
    return [totals.get(place, _none(size)) for place in range(len(columns))]


def _none(size: LinearInts) -> LinearInts:
    return LinearInts.from_shares(size.session, np.zeros(1, dtype=np.uint64), Bounds(0, 0))


def _any(bits: SecretBits, groups: Iterable[NDArray[np.int64]]) -> SecretBits:
    """The OR of the rows of each group that has any, in the order of the groups."""
    left = [group for group in groups if len(group)]
    while any(len(group) > 1 for group in left):
        first = np.concatenate([group[0 : len(group) // 2 * 2 : 2] for group in left])
        second = np.concatenate([group[1 : len(group) // 2 * 2 : 2] for group in left])
        joined = bits[first] | bits[second]
        shares = bits.shares.copy()
        shares[first] = joined.shares
        bits = SecretBits(bits.session, shares)
        left = [group[::2] for group in left]
    return bits[np.concatenate(left)]


def cost(slots: int, most: int, widths: Sequence[int]) -> Cost:
    """The exact cost of `differing`: flights and bytes, without the set-up of oblivious transfer.

    Args:
        slots: of the set.
        most: the largest size.
        widths: digits of each column.
    """
    left = [width for width in widths if width]
    if not left:
        return Cost()
    total = cost_nonnegative(sum(left), Bounds(0, most) - Bounds(0, 2 * most))
    wide = len(left)
    while any(width > 1 for width in left):
        total += cost_of(oblivious.conjunction(sum(width // 2 for width in left) * slots))
        left = [width - width // 2 for width in left]
    total += cost_of(oblivious.conjunction(wide * slots))
    return total + cost_to_words(wide * slots)


SPEC: Final = Procedure(
    name="differing-members",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost,
    setups=(TRANSFERS,),
    example={"slots": 50, "most": 50, "widths": (3, 1)},
)
