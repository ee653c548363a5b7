"""A shared word for each row of one party, in an order that only this party knows and changes as it likes."""

from __future__ import annotations

from typing import Final

import numpy as np

from smc.errors import UsageError
from smc.forms import Role
from smc.numeric.shapes import of_shape, shape_array
from smc.protocols.session import Session
from smc.protocols.spec import Cost
from smc.secret.orders import permutation
from smc.secret.orders.benes import Index, Word


class RowState:
    """Shared words, one per row of their owner, zero at first.

    Both parties call the same methods in the same order.

    Args:
        session: this side of the run.
        owner: whose rows they are.
        size: public; words, at least as many as the owner has rows.
    """

    def __init__(self, session: Session, owner: Role, size: int) -> None:
        self._session = session
        self._owner: Final = owner
        self._order, self._shares = _identity_state(session, size)
        self._blank = True

    @property
    def size(self) -> int:
        """Words."""
        return len(self._order)

    @property
    def shares(self) -> Word:
        """Local shares, modulo 2**64, in the present order."""
        return self._shares

    def arrange(self, order: Index | None) -> None:
        """Bring the words into another order; two rounds, nothing while all are zero.

        Args:
            order: at the owner the row that each place is to hold, a permutation of range(size) in which
                numbers past the last row stand for none; None at the peer.

        Raises:
            UsageError: the order is on the wrong side, or no permutation.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        if (order is None) is (self._session.role is self._owner):
            raise UsageError(
                "Either both parties gave an order, or none of them did.",
                "Give the order at the owner of the register, and None at the other party.",
            )
        moves = None
        if order is not None:
            places = np.empty_like(self._order)
            places[self._order] = np.arange(len(places), like=places)
            moves, self._order = places[order], order
        if not self._blank:
            self._shares = permutation.permute(self._session, self._shares, self._owner, moves)

    def add(self, shares: Word) -> None:
        """Add to the first words in the present order.

        Args:
            shares: local shares, shape (k,), k at most the size.
        """
        self._blank = False
        self._shares[: len(shares)] += shares


@of_shape(lambda session, size: (shape_array(size, np.int64), shape_array(size, np.uint64)))
def _identity_state(session: Session, size: int) -> tuple[Index, Word]:
    """Words in the order of rows, all zero: their numbers, and local shares."""
    del session
    return np.arange(size), np.zeros(size, dtype=np.uint64)


def cost(size: int, owner: Role) -> Cost:
    """The exact cost of one `arrange` of words that are not all zero."""
    return permutation.cost(size, owner)
