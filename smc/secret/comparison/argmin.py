"""The least of each row of shared integers and where it stands: a knock-out among neighbours.

    Alice, Bob (shares of n entrants)
      round after round:   == comparison of neighbours ==    == selection of the lesser ==   ceil(n / 2) left

Of n entrants ceil(n / 2) are left after a round of one comparison and one selection of value and place; with
an odd number the last one goes on unopposed. The earlier one wins a tie.

Inputs: shares modulo 2**64 of rows of integers within public bounds.
Outputs: shares modulo 2**64 of the least integer of each row and of its place.
Learns: neither party anything.
Assumes: `smc.secret.comparison.msb`, `smc.secret.comparison.mux`.
Cost: `records.cost_least`; ceil(log2 n) times the rounds of a comparison and a selection.
Reference: duetto; the knock-out is folklore.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smc.forms import Role
from smc.protocols.session import Session
from smc.secret.comparison import msb, mux
from smc.secret.sharing.bounds import Bounds

Word = NDArray[np.uint64]


def least(session: Session, words: Word, bounds: Bounds) -> tuple[Word, Word]:
    """The least integer of each row.

    Args:
        session: this side of the run.
        words: local shares, shape (rows, n) with n >= 1.
        bounds: of the integers; their distance fits a word.

    Returns:
        Local shares of the first place of the least, and of the least, shape (rows,) each.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    rows, columns = words.shape
    places = np.arange(columns, dtype=np.uint64) * np.uint64(session.role is Role.ALICE)
    # Value and place move together. Places are public: they are Alice's shares, and Bob's are zero.
    entrants = np.stack([words, np.broadcast_to(places, words.shape)])
    while entrants.shape[2] > 1:
        pairs = entrants.shape[2] // 2
        left, right = entrants[:, :, 0 : 2 * pairs : 2], entrants[:, :, 1 : 2 * pairs : 2]
        stays = msb.nonnegative(session, (right[0] - left[0]).reshape(-1), bounds - bounds)
        # The winner is right + [left <= right] (left - right), for the value and for the place alike.
        moved = mux.select(session, np.tile(stays, 2), (left - right).reshape(-1))
        winners = right + moved.reshape(2, rows, pairs)
        entrants = np.concatenate([winners, entrants[:, :, 2 * pairs :]], axis=2)
    return entrants[1, :, 0], entrants[0, :, 0]
