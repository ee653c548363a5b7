"""The secret inner products of all pairs of two tables of vectors, strip by strip of Alice's rows.

They are one matrix product, made in the cheaper of two ways, by public sizes:

By additive lattice encryption (`smc.secret.lattice.matrices`): Bob's vectors are encrypted once, Alice
multiplies her rows, less the middle of their range, and Bob adds the middles times his vectors. Large tables
of 128 dimensions take about 15 bytes a pair; but the query has 100 kB or more however few rows there are.

By oblivious transfer (`smc.secret.products.repeated`), for small tables: a tile of rows of both sides at a
time. Of a tile one half is multiplied with the bits of Alice's rows as choices, the other with those of
Bob's, so that both work and send alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.matching.vectors.scores import VectorMeasure
from smc.forms import Role
from smc.pieces import chunks
from smc.protocols.flights import Flight
from smc.protocols.session import Session
from smc.protocols.spec import Cost
from smc.secret.lattice.matrices import HeldMatrix, MatrixLayout, PeerMatrix, layout_of
from smc.secret.products import repeated
from smc.secret.products.repeated import FactorShape, RepeatedFactors

Word = NDArray[np.uint64]
Whole = NDArray[np.int64]

TILE_ROWS: Final = 1024
"""Most rows of either side in a tile, and the root of the most pairs in a strip."""


@dataclass(frozen=True, slots=True)
class ProductPlan:
    """How the products of a run are made: the same at both parties, by public sizes.

    Attributes:
        measure: of the job.
        alice: rows of Alice's.
        bob: rows of Bob's.
        layout: of the matrices under lattice encryption; None where oblivious transfer sends less.
    """

    measure: VectorMeasure
    alice: int
    bob: int
    layout: MatrixLayout | None

    @classmethod
    def of(cls, measure: VectorMeasure, alice: int, bob: int) -> ProductPlan:
        """The plan that sends less."""
        transfers = cls(measure, alice, bob, None)
        layout = layout_of(alice, len(measure.bits), bob, measure.largest, measure.width)
        if layout is None:
            return transfers
        lattice = cls(measure, alice, bob, layout)
        return min(lattice, transfers, key=lambda plan: _bytes(plan.cost()))

    def strips(self) -> Iterator[slice]:
        """Alice's rows, so many at a time that all pairs with Bob's fit a tile, or nearly so."""
        return chunks(self.alice, max(1, min(TILE_ROWS, TILE_ROWS * TILE_ROWS // self.bob)))

    def cost(self) -> Cost:
        """The exact cost of all products, without the set-up of oblivious transfer."""
        return self.cost_start() + cost_pieces(self.strips(), self.cost_strip)

    def cost_start(self) -> Cost:
        """The exact cost before the first strip."""
        return Cost() if self.layout is None else Cost((Flight.BOB,), 0, self.layout.query_bytes)

    def cost_strip(self, height: int) -> Cost:
        """The exact cost of a strip of so many of Alice's rows."""
        if self.layout is not None:
            return Cost((Flight.ALICE,), self.layout.response_bytes(height), 0)

        def cost_tile(width: int) -> Cost:
            sizes, entries = (width, height - height // 2), _entries(self.measure, height, width)
            return repeated.cost(*entries, sizes, self.measure.width, first=True)

        return cost_pieces(_tiles(self.bob), cost_tile)


def cost_pieces(pieces: Iterable[slice], cost: Callable[[int], Cost]) -> Cost:
    """The cost of pieces of which neighbours are mostly of one size, by the cost of a piece of a size."""
    total = Cost()
    for size, same in groupby(piece.stop - piece.start for piece in pieces):
        total += cost(size) * len(list(same))
    return total


def _bytes(cost: Cost) -> int:
    return cost.alice_bytes + cost.bob_bytes


class InnerProducts:
    """This side's shares of the products.

    Args:
        session: this side of the run.
        plan: public.
        own: the local vectors, shape (n, d).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """

    def __init__(self, session: Session, plan: ProductPlan, own: Whole) -> None:
        self._session, self._plan, self._own = session, plan, own
        self._first = session.role is Role.ALICE
        self._held: HeldMatrix | None = None
        self._peer: PeerMatrix | None = None
        if plan.layout is not None and self._first:
            self._peer = PeerMatrix(session, plan.layout)
        elif plan.layout is not None:
            self._held = HeldMatrix(session, plan.layout, own.T.astype(np.uint64) & self._mask)

    def strip(self, rows: slice) -> Word:
        """The products of a strip.

        Args:
            rows: of Alice's.

        Returns:
            Local shares modulo 2**width (bits above are arbitrary), shape (rows, bob).

        Raises:
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        middles = np.array(self._plan.measure.middles, dtype=np.int64)
        if self._peer is not None:
            return self._peer.times(self._own[rows] - middles)
        if self._held is not None:
            return self._held.times(rows.stop - rows.start) + (self._own @ middles).astype(np.uint64)
        height = rows.stop - rows.start
        own = self._own[rows] if self._first else self._own
        parts = [
            self._tile(own if self._first else own[tile], height, tile.stop - tile.start)
            for tile in _tiles(self._plan.bob)
        ]
        return np.concatenate(parts, axis=1)

    @property
    def _mask(self) -> np.uint64:
        return np.uint64((1 << self._plan.measure.width) - 1)

    def _tile(self, own: Whole, alice: int, bob: int) -> Word:
        """The products of so many of Alice's rows and of Bob's by oblivious transfer."""
        measure, half = self._plan.measure, alice // 2
        entries = _entries(measure, alice, bob)
        positive = (own - measure.offset).astype(np.uint64)
        vectors = own.astype(np.uint64).T
        nothing = np.zeros((len(measure.bits), bob if self._first else alice - half), dtype=np.uint64)
        if self._first:
            factors = RepeatedFactors(self._session, positive[:half], *entries)
            upper, lower = factors.times(nothing, vectors[:, half:], measure.width)
            offsets = np.concatenate(
                [np.zeros((half, 1), dtype=np.uint64, like=own), _sums(own[half:])[:, None]]
            )
        else:
            factors = RepeatedFactors(self._session, positive, *entries[::-1])
            lower, upper = factors.times(nothing, vectors, measure.width)
            offsets = np.zeros((alice, bob), dtype=np.uint64, like=own)
            offsets[:half] = _sums(own)[None]
        inner = np.concatenate([upper, lower.T]).astype(np.uint64)
        inner += offsets * np.uint64(measure.offset % (1 << 64))
        return inner


def _tiles(count: int) -> Iterator[slice]:
    """Rows of one side, a tile at a time."""
    return chunks(count, TILE_ROWS)


def _sums(vectors: Whole) -> Word:
    result: Word = vectors.sum(axis=1).astype(np.uint64)
    return result


def _entries(measure: VectorMeasure, alice: int, bob: int) -> tuple[FactorShape, FactorShape]:
    """Alice's and Bob's rows that choose: the first half of hers, for the other half all of his."""
    return FactorShape(alice // 2, measure.bits), FactorShape(bob, measure.bits)
