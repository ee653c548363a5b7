"""What later steps take of oblivious transfer, made ahead: while the parties wait for the link, or with it.

    both: order               nothing is sent; another thread makes the sender's half
      == steps in between ==
    both: deliver             == refills and matrices, one flight ==; another thread makes the receiver's half
      == steps in between ==
    both: the steps           take what was delivered

Silent transfers do not depend on what is compared, so they can be made before it is known. What is ordered
are the first comparisons of a step, as far as they fit `silent_circuits.SPAN_WORDS`; the rest is made when
it is wanted. Correlated transfers and triples are prepared with random choices, all of them or none, and save
a round wherever they are used; beside an order they are made of silent transfers, too. All of that follows
from public numbers, so both parties send the same, whenever their threads are ready.

Inputs: nothing.
Outputs: silent transfers, transfers with random choices and triples in both sessions.
Learns: neither party anything.
Assumes: `smc.oblivious.silent_transfers`, `smc.oblivious.prepared`.
Cost: a flight of `smc.oblivious.silent_transfers.refills`, or of `smc.oblivious.cost.prepare`; steps take
a round less where they use what was prepared.
Reference: duetto; correlations before inputs: Beaver, Precomputing oblivious transfer, CRYPTO 1995.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from smc.network import Network
from smc.oblivious import silent_circuits
from smc.oblivious.bitmatrix import SLOTS
from smc.oblivious.cost import compares_in_lanes
from smc.protocols.session import Session
from smc.protocols.transfer_costs import (
    takes_silent,
)

PAD_BYTES: Final = 104
"""Bytes of memory that a word of silent transfers of both directions takes."""


MOST_PREPARED: Final = 1 << 20
"""Most transfers that are prepared, and most triples."""

_PREPARED_BYTES: Final = 74


@dataclass(frozen=True, slots=True)
class Prefetch:
    """What is made for the steps that come next: the same at both parties.

    Attributes:
        words: of silent transfers of each direction.
        whole: whether they are enough for the steps.
        prepared: correlated transfers of each direction.
        triples: words of triples.
    """

    words: int
    whole: bool
    prepared: int = 0
    triples: int = 0

    @classmethod
    def of(
        cls,
        network: Network | None,
        lanes: int,
        comparisons: Iterable[tuple[int, int]],
        taken: Callable[[], tuple[int, int]] | None = None,
    ) -> Prefetch:
        """For steps in their order.

        Args:
            network: that of the session, or the one that costs are counted for; None for one without limits,
                for which nothing is made ahead.
            lanes: the same; for what they take nothing is made ahead.
            comparisons: of each large batch how many, and of how many bits.
            taken: says how many correlated transfers and words of triples the steps from the delivery to the
                last one take, by a traced run of them.
        """
        words, whole = _order(network, lanes, comparisons)
        if network is None or taken is None:
            return cls(words, whole)
        prepared, triples = taken()
        if max(prepared, SLOTS * triples) > MOST_PREPARED:
            return cls(words, whole)
        return cls(words, whole, prepared, triples)

    def order(self, session: Session) -> None:
        """Begin to make them; between this and `deliver` nothing else is made silently."""
        if self.words:
            session.oblivious.order_silent(self.words, self.prepared, self.triples)

    def deliver(self, session: Session) -> None:
        """Exchange what was ordered and prepared, for the steps that follow.

        Raises:
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        if self.words:
            session.oblivious.deliver()
        elif self.prepared or self.triples:
            session.oblivious.deliver(self.prepared, self.triples)

    @property
    def memory(self) -> int:
        """Bytes that a party takes for them."""
        return PAD_BYTES * self.words + _PREPARED_BYTES * self.prepared


def _order(network: Network | None, lanes: int, comparisons: Iterable[tuple[int, int]]) -> tuple[int, bool]:
    total = 0
    for count, bits in comparisons:
        if compares_in_lanes(count, bits, lanes) or not takes_silent(network, count, bits):
            continue
        for words in silent_circuits.words_of_spans(count, bits):
            if total + words > silent_circuits.SPAN_WORDS:
                return total, False
            total += words
    return total, True


NO_PREFETCH: Final = Prefetch(0, False)
"""Nothing was ordered, and a step makes all it needs."""
