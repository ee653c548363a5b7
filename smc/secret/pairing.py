"""One-to-one pairing within blocks: round after round the pairs that are best of their row and column.

    scores of eligible pairs, 0 for others  -->  knock-out in each row and column, values upwards,
    the winner's place downwards as bits    -->  mutual = best of row & best of column & eligible
    rows and columns of mutual pairs drop out of the next round

With enough rounds this is the greedy pairing by falling score; a pair that is taken is the best that both
its rows have left.

Learns: neither party anything, not even whether a round still found pairs.
Assumes: `smc.secret.signs`, `smc.secret.gates`, `smc.oblivious`.
Cost: `cost`; per pair and round four gates and two comparisons, and about seven ANDs of bits.
Reference: Preis, Linear time 1/2-approximation algorithm for maximum weighted matching, STACS 1999 (locally
dominant edges); rounds: Manne and Bisseling, PPAM 2007.
"""

from __future__ import annotations

import numpy as np

from smc.oblivious import cost as oblivious
from smc.protocols.session import Session
from smc.protocols.spec import Cost
from smc.protocols.transfer_costs import cost_of
from smc.secret import gates, signs
from smc.secret.bounds import Bounds
from smc.secret.signs import Bit, Word, public_bits


def pair(session: Session, eligible: Bit, scores: Word, most: int, rounds: int) -> Bit:
    """Choose pairs, each row and each column of a block at most once.

    Args:
        session: the own side of the run.
        eligible: own XOR shares of which pairs may be chosen, shape (blocks, r, r).
        scores: own shares of the scores, same shape. Those of eligible pairs lie in [1, most] and differ
            within a row and within a column; a modulus of more than 2 * most, a power of two, suffices.
        most: public.
        rounds: public, at least 1.

    Returns:
        Own XOR shares of which pairs are chosen, same shape.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    chosen = np.zeros_like(eligible)
    for number in range(rounds):
        mutual = _mutual(session, eligible, scores, most)
        chosen ^= mutual
        if number < rounds - 1:
            eligible = _and(session, eligible, left_over(session, mutual))
    return chosen


def left_over(session: Session, chosen: Bit) -> Bit:
    """Which pairs of a block have neither row nor column in a chosen one.

    Args:
        session: the own side of the run.
        chosen: own XOR shares, shape (blocks, r, r), at most one pair of each row and each column.

    Returns:
        Own XOR shares, same shape.
    """
    return neither(session, np.bitwise_xor.reduce(chosen, axis=2), np.bitwise_xor.reduce(chosen, axis=1))


def neither(session: Session, rows: Bit, columns: Bit) -> Bit:
    """Pairs of which neither the row nor the column is marked.

    Args:
        session: the own side of the run.
        rows: own XOR shares of marks, shape (blocks, r).
        columns: the same of the columns.

    Returns:
        Own XOR shares, shape (blocks, r, r).
    """
    flip = public_bits(session, np.ones_like(rows))
    shape = (*rows.shape, rows.shape[1])
    free_rows = np.broadcast_to((rows ^ flip)[:, :, None], shape)
    return _and(session, free_rows, np.broadcast_to((columns ^ flip)[:, None], shape))


def _and(session: Session, left: Bit, right: Bit) -> Bit:
    product = session.oblivious.and_bits(left.reshape(-1), right.reshape(-1))
    return product.reshape(left.shape)


def _mutual(session: Session, eligible: Bit, scores: Word, most: int) -> Bit:
    blocks, side, _ = eligible.shape
    values = gates.gate(session, eligible.reshape(-1), scores.reshape(-1)).reshape(scores.shape)
    lines = np.stack([values, values.transpose(0, 2, 1)]).reshape(-1, side)
    best = _winners(session, lines, Bounds(-most, most)).reshape(2, blocks, side, side)
    return _and(session, _and(session, best[0], best[1].transpose(0, 2, 1)), eligible)


def _winners(session: Session, lines: Word, bounds: Bounds) -> Bit:
    """The place of the largest value of each line, as one 1 among zeros.

    Args:
        session: the own side of the run.
        lines: own shares, shape (k, n).
        bounds: of the differences of values.

    Returns:
        Own XOR shares, shape (k, n).
    """
    entrants, levels = lines, []
    while entrants.shape[1] > 1:
        pairs = entrants.shape[1] // 2
        left, right = entrants[:, 0 : 2 * pairs : 2], entrants[:, 1 : 2 * pairs : 2]
        difference = (left - right).reshape(-1)
        stays = signs.nonnegative(session, difference, bounds)
        levels.append(stays.reshape(-1, pairs))
        if entrants.shape[1] > 2:
            winners = right + gates.gate(session, stays, difference).reshape(right.shape)
            entrants = np.concatenate([winners, entrants[:, 2 * pairs :]], axis=1)
        else:
            entrants = right
    places = public_bits(session, np.ones((len(lines), 1), dtype=np.uint8))
    for stays in reversed(levels):
        pairs = stays.shape[1]
        first = stays if places.shape[1] == 1 else _and(session, places[:, :pairs], stays)
        both = np.stack([first, places[:, :pairs] ^ first], axis=2).reshape(len(lines), -1)
        places = np.concatenate([both, places[:, pairs:]], axis=1)
    return places


def cost_neither(blocks: int, side: int) -> Cost:
    """The exact cost of `neither` and of `left_over`."""
    return cost_of(oblivious.conjunction(blocks * side * side))


def cost(blocks: int, side: int, most: int, rounds: int) -> Cost:
    """The exact cost of `pair`: flights and bytes, without the set-up of oblivious transfer."""
    each = cost_of(oblivious.conjunction(blocks * side * side))
    lines = 2 * blocks * side
    once = gates.cost(blocks * side * side)
    widths = []
    left = side
    while left > 1:
        pairs = left // 2
        once += signs.cost_nonnegative(lines * pairs, Bounds(-most, most))
        once += gates.cost(lines * pairs) if left > 2 else Cost()
        widths.append(pairs)
        left -= pairs
    for pairs in reversed(widths[:-1]):
        once += cost_of(oblivious.conjunction(lines * pairs))
    once += each + each
    total = Cost()
    for number in range(rounds):
        total += once + (each + each if number < rounds - 1 else Cost())
    return total
