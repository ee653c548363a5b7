"""Pairs within blocks that are best of their row and of their column.

    Alice, Bob (shares of scores and eligibility)

    scores of eligible pairs, 0 for others  -->  knock-out in each row and column, values upwards,
    the winner's place downwards as bits    -->  mutual = best of row & best of column & eligible
                                                 tops = the best scores of rows and columns

Inputs: shares modulo 2**64 of scores and XOR shares of who is eligible, for all pairs of each block.
Outputs: XOR shares of which pairs are mutual, and shares modulo 2**64 of the best score of each line.
Learns: neither party anything, not even whether a block has such a pair.
Assumes: `smc.secret.comparison.msb`, `smc.secret.comparison.mux`, `smc.oblivious`.
Cost: `cost`; per pair about four gates and two comparisons, and five ANDs of bits.
Reference: Preis, Linear time 1/2-approximation algorithm for maximum weighted matching, STACS 1999 (locally
dominant edges).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from smc.numeric.narrow_words import WORD_BITS
from smc.oblivious import cost as oblivious
from smc.protocols.against import Against
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import TRANSFERS, cost_of
from smc.secret.comparison import msb, mux
from smc.secret.comparison.msb import Bit, Word, public_bits
from smc.secret.comparison.records import cost_nonnegative, cost_select
from smc.secret.sharing.bounds import Bounds
from smc.tracing.repeats import traced_once


@dataclass(frozen=True, slots=True)
class Best:
    """One party's shares of what is best in blocks of r rows and r columns.

    Attributes:
        mutual: XOR shares of which pairs are the best of their row and of their column, shape (blocks, r, r).
        rows: shares of the best score of each row, 0 without an eligible pair, shape (blocks, r).
        columns: the same of the columns.
    """

    mutual: Bit = field(repr=False)
    rows: Word = field(repr=False)
    columns: Word = field(repr=False)


@traced_once
def best(session: Session, eligible: Bit, scores: Word, most: int) -> Best:
    """Find the best pairs.

    Args:
        session: this side of the run.
        eligible: local XOR shares of which pairs count, shape (blocks, r, r).
        scores: local shares of the scores, same shape. Those of eligible pairs lie in [1, most] and differ
            within a row and within a column; a modulus of more than 2 * most, a power of two, suffices.
        most: public.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    blocks, side, _ = eligible.shape
    values = mux.select(session, eligible.reshape(-1), scores.reshape(-1)).reshape(scores.shape)
    # Rows and columns are lines of one length, and go through the knock-out together.
    lines = np.stack([values, values.transpose(0, 2, 1)]).reshape(-1, side)
    bounds = Bounds(-most, most)
    places, tops = mutual_best(session, lines, lambda lead: msb.nonnegative(session, lead, bounds))
    rows, columns = places.reshape(2, blocks, side, side)
    # A line without an eligible pair has a winner too, of score 0, which eligibility rules out.
    mutual = _and(session, _and(session, rows, columns.transpose(0, 2, 1)), eligible)
    return Best(mutual, *tops.reshape(2, blocks, side))


def both(session: Session, rows: Bit, columns: Bit) -> Bit:
    """Pairs of which the row and the column are marked.

    Args:
        session: this side of the run.
        rows: local XOR shares of marks, shape (blocks, r).
        columns: the same of the columns.

    Returns:
        Local XOR shares, shape (blocks, r, r).
    """
    shape = (*rows.shape, rows.shape[1])
    return _and(session, np.broadcast_to(rows[:, :, None], shape), np.broadcast_to(columns[:, None], shape))


def _and(session: Session, left: Bit, right: Bit) -> Bit:
    product = session.oblivious.and_bits(left.reshape(-1), right.reshape(-1))
    return product.reshape(left.shape)


def mutual_best(
    session: Session, lines: Word, leads: Callable[[Word], Bit], width: int = WORD_BITS
) -> tuple[Bit, Word]:
    """The largest value of each line, the first of equal ones, and its place as one 1 among zeros.

    Args:
        session: this side of the run.
        lines: local shares, shape (k, n), n at least 1.
        leads: XOR shares of whether values minus later ones, shape (i,), are not negative.
        width: bits of the values.

    Returns:
        Local XOR shares of the places, shape (k, n), and local shares of the values modulo 2**width, shape
        (k,); bits above are arbitrary.
    """
    entrants, levels = lines, []
    # A knock-out: each round halves the entrants; of an odd number the last one goes through unmatched.
    while entrants.shape[1] > 1:
        pairs = entrants.shape[1] // 2
        left, right = entrants[:, 0 : 2 * pairs : 2], entrants[:, 1 : 2 * pairs : 2]
        difference = (left - right).reshape(-1)
        stays = leads(difference)
        levels.append(stays.reshape(-1, pairs))
        winners = right + mux.select(session, stays, difference, width=width).reshape(right.shape)
        entrants = np.concatenate([winners, entrants[:, 2 * pairs :]], axis=1)
    # Back from the final: one entrant is left, so its bit is 1; each earlier round says which of two it was.
    places = public_bits(session, np.ones((len(lines), 1), dtype=np.uint8))
    for stays in reversed(levels):
        pairs = stays.shape[1]
        first = stays if places.shape[1] == 1 else _and(session, places[:, :pairs], stays)
        # The winner inherits the bit of its place in the next round, the loser gets 0.
        split = np.stack([first, places[:, :pairs] ^ first], axis=2).reshape(len(lines), -1)
        places = np.concatenate([split, places[:, pairs:]], axis=1)
    return places, entrants[:, 0]


def cost_both(blocks: int, side: int) -> Cost:
    """The exact cost of `both`."""
    return cost_of(oblivious.conjunction(blocks * side * side))


def cost(blocks: int, side: int, most: int) -> Cost:
    """The exact cost of `best`: flights and bytes, without the set-up of oblivious transfer."""
    each = cost_of(oblivious.conjunction(blocks * side * side))
    knock_out = cost_winners(2 * blocks * side, side, Bounds(-most, most))
    return cost_select(blocks * side * side) + knock_out + each + each


def cost_winners(lines: int, side: int, bounds: Bounds) -> Cost:
    """The exact cost of `mutual_best` where leads are compared within bounds."""
    total, widths = Cost(), []
    left = side
    while left > 1:
        pairs = left // 2
        total += cost_nonnegative(lines * pairs, bounds) + cost_select(lines * pairs)
        widths.append(pairs)
        left -= pairs
    # The final is left out: there the winner's bit is public, and the AND with it costs nothing.
    for pairs in reversed(widths[:-1]):
        total += cost_of(oblivious.conjunction(lines * pairs))
    return total


SPEC: Final = Procedure(
    name="best-pairs",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost,
    setups=(TRANSFERS,),
    example={"blocks": 6, "side": 4, "most": 16},
)
