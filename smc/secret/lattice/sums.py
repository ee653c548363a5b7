"""Sums of rows that one party holds, over groups that neither knows, many times: rows encrypted once.

    Alice (rows X, XOR shares of all bits)                 Bob (rows Z, XOR shares of all bits)
                      -- X, encrypted -->        and       <-- Z, encrypted --                     once
      each time:
                      == bits become words modulo 2**w, shared ==
      her words of X's bits times X                        his words of Z's bits times Z           local
                      <-- response: his words of X's bits times X --
                      -- response: her words of Z's bits times Z -->
      shares modulo 2**w of the sums of both

`smc.secret.products.grouped` sends corrections for every number of every row each time. Here it is a word
for each bit of a row, and a response that does not depend on the rows. Both directions run at once, and no
more is sent than a transport buffers before the peer's batch is read.

Inputs: the rows of each party, once; each time XOR shares of which row is in which group.
Outputs: each time shares modulo 2**w of the sums of each group, for
`smc.secret.products.grouped.extend_shares`.
Learns: neither party anything.
Assumes: `smc.secret.lattice.columns`, `smc.secret.products.bit_words`.
Cost: `SumsPlan.cost_once`, and `SumsPlan.cost` each time.
Reference: `smc.secret.lattice.columns`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.errors import UsageError
from smc.forms import Role
from smc.numeric.shapes import contiguous
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure, cost_each, lengths
from smc.protocols.transfer_costs import TRANSFERS
from smc.secret.lattice.columns import ColumnsLayout, columns_layout, cost_exchange, exchange_columns
from smc.secret.products import bit_words
from smc.secret.products.grouped import Grouping
from smc.secret.sharing.masks import Words, word_type

Word = NDArray[np.uint64]
Bit = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class SumsPlan:
    """How the rows of both parties are encrypted: the same at both.

    Attributes:
        alice: of Alice's rows.
        bob: of Bob's rows.
        width: w, bits of the words.
    """

    alice: ColumnsLayout
    bob: ColumnsLayout
    width: int

    @classmethod
    def of(cls, alice: Grouping, bob: Grouping, width: int, groups: int) -> SumsPlan | None:
        """The plan of a run, or None where no secure lattice is exact, or a side has nothing to sum.

        Args:
            alice: what is public of Alice's rows.
            bob: of Bob's.
            width: bits of the words.
            groups: over how many groups rows are summed, all times together, at most.
        """
        found = [
            columns_layout(each.rows, each.length, 1 << (width - 1), groups, width) for each in (alice, bob)
        ]
        return None if found[0] is None or found[1] is None else cls(found[0], found[1], width)

    def layout(self, role: Role) -> ColumnsLayout:
        """Of a party's rows."""
        return self.alice if role is Role.ALICE else self.bob

    @property
    def rows(self) -> int:
        """Of both parties."""
        return self.alice.parameters.length + self.bob.parameters.length

    def cost_once(self) -> Cost:
        """The exact cost of encrypting the rows."""
        return cost_exchange(self.alice, self.bob)

    def cost(self, groups: int) -> Cost:
        """The exact cost of summing once over so many groups."""

        def batch_cost(sizes: tuple[int | None, ...]) -> Cost:
            sent = [
                layout.response_size(size) if size else 0
                for layout, size in zip((self.bob, self.alice), sizes, strict=True)
            ]
            flight = Flight.BOTH if all(sent) else Flight.ALICE if sent[0] else Flight.BOB
            return Cost((flight,), sent[0], sent[1])

        batches = (lengths(layout.batches(groups)) for layout in (self.bob, self.alice))
        return bit_words.cost(self.rows * groups, self.width) + cost_each(zip_longest(*batches), batch_cost)


class LatticeSums:
    """The rows of both parties, encrypted when it is made.

    Args:
        session: this side of the run.
        plan: public.
        own: the local rows, shape (n, length), modulo 2**w.
    """

    def __init__(self, session: Session, plan: SumsPlan, own: Word) -> None:
        self._session, self._plan, self._own = session, plan, own
        mine, theirs = plan.layout(session.role), plan.layout(session.role.other)
        self._peer_rows = theirs.parameters.length
        self._held, self._inner = exchange_columns(session, (mine, own), theirs)

    def sums(self, own_bits: Bit, peer_bits: Bit) -> tuple[Words, Words]:
        """Sum both parties' rows over the groups.

        Args:
            own_bits: local XOR shares of the groups of the local rows, shape (n, groups).
            peer_bits: local XOR shares of the groups of the peer's rows, shape (n', groups).

        Returns:
            Local shares modulo 2**w of the sums of the local rows, shape (groups, length), and of the peer's,
            shape (groups, length').

        Raises:
            UsageError: the bits are of other rows, or of more groups than the plan is for.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        groups, width = own_bits.shape[1], self._plan.width
        if own_bits.shape[0] != len(self._own) or peer_bits.shape != (self._peer_rows, groups):
            raise UsageError(
                f"The plan is for {len(self._own)} and {self._peer_rows} rows.",
                "Give the bits of these rows.",
            )
        mine, theirs = self._words(own_bits, peer_bits)
        # Words count from the middle: what they stand for modulo 2**w has the smallest size.
        away = np.uint64(64 - width)
        centred = (theirs << away).view(np.int64) >> np.int64(away)
        total = mine @ self._own
        other = np.empty((groups, self._plan.layout(self._session.role.other).parameters.columns), np.uint64)
        outgoing = self._plan.layout(self._session.role.other).batches(groups)
        incoming = self._plan.layout(self._session.role).batches(groups)
        for sent, received in zip_longest(outgoing, incoming):
            if sent:
                other[sent] = self._inner.send(centred[sent])
            if received:
                total[received] += self._held.receive(received.stop - received.start)
        kind = word_type(width)
        return total.astype(kind), other.astype(kind)

    def _words(self, own_bits: Bit, peer_bits: Bit) -> tuple[Word, Word]:
        """Local shares of the bits of the local rows and of the peer's as words, shape (groups, rows)."""
        alice = self._session.role is Role.ALICE
        ordered = (own_bits, peer_bits) if alice else (peer_bits, own_bits)
        flat = np.concatenate([contiguous(bits.T).reshape(-1) for bits in ordered])
        words = np.split(bit_words.to_words(self._session, flat, self._plan.width), [ordered[0].size])
        first, second = (each.reshape(bits.shape[::-1]) for each, bits in zip(words, ordered, strict=True))
        return (first, second) if alice else (second, first)


def cost(alice: Grouping, bob: Grouping, width: int) -> Cost:
    """The exact cost of encrypting the rows and summing them once.

    Raises:
        UsageError: no secure lattice is exact for these sizes.
    """
    plan = SumsPlan.of(alice, bob, width, alice.groups)
    if plan is None:
        raise UsageError(
            f"No lattice is exact and secure for these rows and words of {width} bits.",
            "Sum by oblivious transfer.",
        )
    return plan.cost_once() + plan.cost(alice.groups)


SPEC: Final = Procedure(
    name="lattice-grouped-sums",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost,
    setups=(TRANSFERS,),
    example={"alice": Grouping(100, 3, 4), "bob": Grouping(50, 2, 4), "width": 32},
)
