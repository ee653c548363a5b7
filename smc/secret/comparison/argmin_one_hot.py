"""The least of each row of shared integers as a row of bits: a knock-out, played back from its last round.

    Alice, Bob (shares of n entrants)
      round after round:   == comparison of neighbours ==    == selection of the lesser ==   ceil(n / 2) left

    up:    of two neighbours the lesser goes on, the earlier of equals; an odd one goes on unopposed
    down:  the winner of all has bit 1; of two that met the loser gets 0 and the winner the bit of their place

Going up takes a comparison and a selection per meeting, going down one AND: a row of k integers costs k - 1
comparisons, k - 2 selections and k - 2 ANDs.

Inputs: shares modulo 2**64 of rows of integers within public bounds.
Outputs: XOR shares of a row of bits for each row, 1 where the least integer stands.
Learns: neither party anything.
Assumes: `smc.secret.comparison.msb`, `smc.secret.comparison.mux`, `smc.oblivious`.
Cost: `cost`.
Reference: duetto; the knock-out is folklore.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.numeric.shapes import contiguous
from smc.oblivious import cost as oblivious
from smc.protocols.against import Against
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import TRANSFERS, cost_of
from smc.secret.comparison import msb, mux
from smc.secret.comparison.msb import public_bits
from smc.secret.comparison.records import cost_nonnegative, cost_select
from smc.secret.sharing.bounds import Bounds
from smc.tracing.repeats import traced_once

Word = NDArray[np.uint64]
Bit = NDArray[np.uint8]


@traced_once
def one_hot(session: Session, words: Word, differences: Bounds) -> Bit:
    """Where the least integer of each row stands, the first one of equals.

    Args:
        session: this side of the run.
        words: local shares, shape (rows, n) with n >= 1; modulo any power of two above twice the bounds.
        differences: bounds of the difference of any two integers of a row.

    Returns:
        Local XOR shares, shape (rows, n), of bits of which one in each row is 1.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    rows = len(words)
    entrants = contiguous(words.T)
    rounds: list[Bit] = []
    while len(entrants) > 1:
        pairs = len(entrants) // 2
        left, right = entrants[0 : 2 * pairs : 2], entrants[1 : 2 * pairs : 2]
        stays = msb.nonnegative(session, (right - left).reshape(-1), differences)
        rounds.append(stays.reshape(pairs, rows))
        # After the last meeting nobody needs the least value.
        if len(entrants) > 2:
            moved = mux.select(session, stays, (left - right).reshape(-1), width=differences.sign_bits + 1)
            winners = right + moved.reshape(pairs, rows)
            entrants = np.concatenate([winners, entrants[2 * pairs :]])
        else:
            entrants = entrants[:1]
    return _played_back(session, rounds, rows)


def _played_back(session: Session, rounds: list[Bit], rows: int) -> Bit:
    bits = public_bits(session, np.ones((1, rows), dtype=np.uint8, like=rounds[0] if rounds else None))
    for stays in reversed(rounds):
        pairs = len(stays)
        if len(bits) == 1:
            # The last meeting: its winner is the winner of all, with bit 1.
            left = stays
        else:
            met = session.oblivious.and_bits(bits[:pairs].reshape(-1), stays.reshape(-1))
            left = met.reshape(pairs, rows)
        # Of the two that met, one inherits the bit of their place in the next round, the other gets 0.
        both = np.stack([left, bits[:pairs] ^ left], axis=1).reshape(2 * pairs, rows)
        bits = np.concatenate([both, bits[pairs:]])
    return contiguous(bits.T)


def comparisons(rows: int, columns: int, differences: Bounds) -> list[tuple[int, int]]:
    """The batches of comparisons of `one_hot`: of each how many, and of how many bits."""
    batches = []
    while columns > 1:
        batches.append((rows * (columns // 2), differences.sign_bits))
        columns -= columns // 2
    return batches


def cost(rows: int, columns: int, differences: Bounds) -> Cost:
    """The exact cost of `one_hot`: flights and bytes, without the set-up of oblivious transfer."""
    up, down = Cost(), Cost()
    while columns > 1:
        pairs = columns // 2
        up += cost_nonnegative(rows * pairs, differences)
        if columns > 2:
            up += cost_select(rows * pairs, width=differences.sign_bits + 1)
            down = cost_of(oblivious.conjunction(rows * pairs)) + down
        columns -= pairs
    return up + down


SPEC: Final = Procedure(
    name="argmin-one-hot",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost,
    setups=(TRANSFERS,),
    example={"rows": 100, "columns": 8, "differences": Bounds(-1000, 1000)},
)
