"""Oblivious pseudorandom functions by vector OLE: one per instance, evaluated at one point by the receiver.

    receiver (a point x_b for each instance b)          sender
      A, C                    <-- vector OLE -->          D, B           C = A D + B
                              -- x + A -->                K = B + D (x + A) = C + D x
      F_b(x_b) = H(C_b, x_b)                              F_b(y) = H(K_b + D y, y)

The messages and H are those of `oprf`, with the points in the place of a store. Whoever is to ask no more
than one point of each instance, whatever it sends, is held to it here: K_b + D y is C_b at y = x_b alone.

Inputs: at the receiver points of 128 bits, hashed under a salt that was not known when they were chosen, or
    random; both know how many.
Outputs: F_b(x_b) at the receiver, all F_b at the sender.
Learns: the sender nothing, the receiver nothing of its functions at other points.
Assumes: as `oprf`, without a store.
Cost: `records.cost_single_oprf`; 17 bytes per instance at a million, 3 rounds.
Reference: Kolesnikov, Kumaresan, Rosulek and Trieu, Efficient batched oblivious PRF with applications to
    private set intersection, CCS 2016 (what it is for); from vector OLE: Rindal and Schoppmann, VOLE-PSI,
    EUROCRYPT 2021.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from smc.protocols.intersection import oprf
from smc.protocols.session import Session

Word = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Functions:
    """The sender's side: all functions at all points.

    Attributes:
        rows: K, shape (n, 2).
        offset: D, shape (2,).
        key: of H.
    """

    rows: Word = field(repr=False)
    offset: Word = field(repr=False)
    key: bytes

    def values(self, instances: NDArray[np.int64], points: Word, words: int) -> Word:
        """Values of functions.

        Args:
            instances: which function, 0 to n - 1, shape (m,).
            points: at which point, shape (m, 2).
            words: of a value.

        Returns:
            Shape (m, words).
        """
        found = oprf.add_products(self.rows[instances], points, self.offset)
        return oprf.hash_points(found, points, self.key, words)


def receive(session: Session, points: Word, words: int) -> Word:
    """The side that asks; the peer calls `send`.

    Args:
        session: this side of the run.
        points: one for each instance, shape (n, 2).
        words: of a value.

    Returns:
        F_b(x_b), shape (n, words).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
        UsageError: there are too many.
    """
    found, key = oprf.ask(session, points, b"")
    return oprf.hash_points(found, points, key, words)


def send(session: Session, count: int) -> Functions:
    """The side that answers; the peer calls `receive`.

    Args:
        session: this side of the run.
        count: n.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
        UsageError: there are too many.
    """
    answered = oprf.answer(session, count, 0)
    return Functions(answered.store, answered.offset, answered.key)
