"""Matrices of whole numbers, one of each party, multiplied by secret matrices a stated number of times.

    Alice (matrix X, shares of its factor U and of V)        Bob (matrix Z, shares of its factor V and of U)
                      -- her share of V, encrypted -->       and    <-- his share of U, encrypted --
      X times his share of U          -- responses -->       and    <-- responses -- Z times her share of V
      shares modulo 2**w of X U and of Z V

A product of a local matrix with the local share of its factor needs nobody; with the peer's share it is a
product of two matrices, one of each party (`smc.secret.lattice.matrices`). Entries are counted from the
middle of their range, which halves their size; the holder of a share adds the middles times it. Both
directions run at once, and no more is sent than a transport buffers before the peer's batch is read.

Inputs: a matrix of whole numbers at each party; each time shares of a factor for each of them.
Outputs: each time shares modulo 2**w of both products.
Learns: neither party anything.
Assumes: `smc.secret.lattice.matrices`.
Cost: `LatticePlan.cost`.
Reference: `smc.secret.lattice.matrices`; that factors are shared and data are not:
`smc.secret.products.repeated`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.errors import UsageError
from smc.forms import Role
from smc.numeric.shapes import shape_array
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure, cost_each, lengths
from smc.secret.lattice.matrices import HeldMatrix, MatrixLayout, PeerMatrix, layout_of
from smc.secret.products.repeated import FactorShape
from smc.tracing.charges import charge

Word = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class LatticePlan:
    """How both matrices are multiplied: the same at both parties.

    Attributes:
        alice: of Alice's matrix times Bob's share.
        bob: of Bob's matrix times Alice's share.
        width: bits of the words.
    """

    alice: MatrixLayout
    bob: MatrixLayout
    width: int

    @classmethod
    def of(
        cls, alice: FactorShape, bob: FactorShape, lengths: tuple[int, int], width: int, times: int
    ) -> LatticePlan | None:
        """The plan of a run, or None where no secure lattice is exact, or a side has nothing to multiply.

        Args:
            alice: what is public of Alice's matrix.
            bob: of Bob's.
            lengths: columns of what Alice's and what Bob's matrix is multiplied by.
            width: bits of the words.
            times: how often; the results of all are exact together.
        """
        found = [
            layout_of(entries.rows, len(entries.bits), length, max(_middles(entries)), width, times)
            for entries, length in zip((alice, bob), lengths, strict=True)
            if entries.rows and entries.bits and length
        ]
        first, second = [*found, None, None][:2]
        return None if first is None or second is None else cls(first, second, width)

    def layout(self, role: Role) -> MatrixLayout:
        """Of a party's matrix."""
        return self.alice if role is Role.ALICE else self.bob

    def cost(self) -> Cost:
        """The exact cost of multiplying both once."""

        def batch_cost(sizes: tuple[int | None, ...]) -> Cost:
            sent = [
                layout.response_bytes(size) if size else 0
                for layout, size in zip((self.alice, self.bob), sizes, strict=True)
            ]
            flight = Flight.BOTH if all(sent) else Flight.ALICE if sent[0] else Flight.BOB
            return Cost((flight,), sent[0], sent[1])

        batches = (lengths(layout.batches(layout.rows)) for layout in (self.alice, self.bob))
        queries = Cost((Flight.BOTH,), self.bob.query_bytes, self.alice.query_bytes)
        return queries + cost_each(zip_longest(*batches), batch_cost)


class LatticeFactors:
    """The matrices of both parties.

    Args:
        session: this side of the run.
        plan: public.
        own: the local matrix, shape (n, m), entries below 2**bits of their column.
        entries: what is public of the local matrix.
        peer: what is public of the peer's.
    """

    def __init__(
        self, session: Session, plan: LatticePlan, own: Word, entries: FactorShape, peer: FactorShape
    ) -> None:
        self.session, self._plan, self._own = session, plan, own
        self._mine, self._theirs = plan.layout(session.role), plan.layout(session.role.other)
        self._centred = own.astype(np.int64) - np.array(_middles(entries), dtype=np.int64)
        self._peer_middles = np.array(_middles(peer), dtype=np.uint64)

    def _price(self, own_factor: Word, peer_factor: Word, width: int) -> tuple[Cost, tuple[Word, Word]]:
        """What `times` costs and gives."""
        del width
        factors = (own_factor, peer_factor)
        own, other = (
            shape_array((layout.rows, factor.shape[1]), np.uint64)
            for layout, factor in zip((self._mine, self._theirs), factors, strict=True)
        )
        return self._plan.cost(), (own, other)

    @charge(_price, transfers=False)
    def times(self, own_factor: Word, peer_factor: Word, width: int) -> tuple[Word, Word]:
        """Multiply both matrices.

        Args:
            own_factor: local shares of what the local matrix is multiplied by, shape (m, length).
            peer_factor: local shares of what the peer's matrix is multiplied by, shape (m', length').
            width: bits of the words, those of the plan.

        Returns:
            Local shares, modulo 2**width (bits above are arbitrary), of the local matrix times its factor,
            shape (n, length), and of the peer's times its factor, shape (n', length').

        Raises:
            UsageError: the plan is for other words.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        if width != self._plan.width:
            raise UsageError(
                f"The plan is for words of {self._plan.width} bits.", "Make a plan for these words."
            )
        held = HeldMatrix(self.session, self._theirs, peer_factor & np.uint64((1 << width) - 1))
        peer = PeerMatrix(self.session, self._mine)
        own = self._own @ own_factor
        other = np.empty((self._theirs.rows, peer_factor.shape[1]), dtype=np.uint64, like=peer_factor)
        batches = zip_longest(self._mine.batches(self._mine.rows), self._theirs.batches(self._theirs.rows))
        for outgoing, incoming in batches:
            if outgoing:
                own[outgoing] += peer.send(self._centred[outgoing])
            if incoming:
                other[incoming] = held.receive(incoming.stop - incoming.start)
        other += self._peer_middles @ peer_factor
        return own, other


def _middles(entries: FactorShape) -> tuple[int, ...]:
    """The middle of the range of each column, which is as large as what is left on either side of it."""
    return tuple((1 << bits) >> 1 for bits in entries.bits)


def cost(alice: FactorShape, bob: FactorShape, lengths: tuple[int, int], width: int, times: int) -> Cost:
    """The exact cost of one of `times` products.

    Raises:
        UsageError: no secure lattice is exact for these sizes.
    """
    plan = LatticePlan.of(alice, bob, lengths, width, times)
    if plan is None:
        raise UsageError(
            f"No lattice is exact and secure for these entries and words of {width} bits.",
            "Multiply by oblivious transfer.",
        )
    return plan.cost()


SPEC: Final = Procedure(
    name="lattice-repeated-products",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost,
    example={
        "alice": FactorShape(200, (8, 4)),
        "bob": FactorShape(100, (6,)),
        "lengths": (3, 2),
        "width": 32,
        "times": 10,
    },
)
