"""Comparisons of a later step, whose silent transfers are made while the parties wait for the link.

    both: order               nothing is sent; another thread makes the sender's half
      == steps in between ==
    both: deliver             == refills, one flight ==; another thread makes the receiver's half
      == steps in between ==
    both: the comparisons     take what was delivered

Silent transfers do not depend on what is compared, so they can be made before it is known. What is ordered
are the first comparisons of a step, as far as they fit `silent_circuits.SPAN_WORDS`; the rest is made when
it is wanted. All of that follows from public numbers, so both parties send the same, whenever their threads
are ready.

Inputs: nothing.
Outputs: silent transfers in both sessions.
Learns: neither party anything.
Assumes: `smc.oblivious.silent_transfers`.
Cost: `Ahead.cost`; the comparisons cost what they do within `Ahead.priced`.
Reference: this house; correlations before inputs: Beaver, Precomputing oblivious transfer, CRYPTO 1995.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

from smc.network import Network
from smc.oblivious import silent_circuits
from smc.protocols.session import Session
from smc.protocols.spec import Cost
from smc.protocols.transfer_costs import cost_order, stocked, takes_silent

PAD_BYTES: Final = 104
"""Bytes of memory that a word of silent transfers of both directions takes."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """What is ordered for a step: the same at both parties.

    Attributes:
        words: of silent transfers of each direction.
        whole: whether they are enough for the step.
    """

    words: int
    whole: bool

    @classmethod
    def of(cls, network: Network | None, comparisons: Iterable[tuple[int, int]]) -> Ahead:
        """For comparisons in their order.

        Args:
            network: that of the session, or the one that costs are counted for.
            comparisons: of each batch how many, and of how many bits.
        """
        total = 0
        for count, bits in comparisons:
            if not takes_silent(network, count, bits):
                continue
            for words in silent_circuits.words_of_spans(count, bits):
                if total + words > silent_circuits.SPAN_WORDS:
                    return cls(total, False)
                total += words
        return cls(total, True)

    def order(self, session: Session) -> None:
        """Begin to make them; between this and `deliver` nothing else is made silently."""
        if self.words:
            session.oblivious.order_silent(self.words)

    def deliver(self, session: Session) -> None:
        """Exchange what was ordered, for the comparisons that follow.

        Raises:
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        if self.words:
            session.oblivious.deliver_silent()

    def cost(self) -> Cost:
        """The exact cost of `deliver`, without the reserve of silent transfers."""
        return cost_order(self.words)

    def priced(self) -> AbstractContextManager[None]:
        """Within it comparisons are priced as they cost after `deliver`."""
        return stocked(self.words)

    @property
    def memory(self) -> int:
        """Bytes that a party takes for them."""
        return PAD_BYTES * self.words


NOTHING: Final = Ahead(0, False)
"""Nothing was ordered, and a step makes all it needs."""
