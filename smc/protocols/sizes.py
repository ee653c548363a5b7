"""Row counts, told to each other before a run.

    Alice (counts)    -- Counts -->    Bob (counts)
                      <-- Counts --    at the same time

Inputs: a few numbers of rows at each side.
Outputs: the other side's.
Learns: each party the other's row counts, which are public in every analysis that uses this.
Assumes: nothing.
Cost: 1 round, 5 bytes per number each way.
Reference: none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from smc.channel.message import Message
from smc.channel.vectors import ExpectedResidues, Residues, residues_bytes
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Flight

_BOUND = 1 << 40


@dataclass(frozen=True, slots=True)
class Counts(Message):
    """The sender's row counts."""

    counts: Residues


def exchange_counts(session: Session, own: Sequence[int]) -> list[int]:
    """Tell the own row counts and learn as many of the peer's.

    Args:
        session: the own side.
        own: row counts below 2**40; 0 stands for "has none".
    """
    session.channel.send(Counts(Residues(own, _BOUND)))
    return session.channel.recv(Counts, ExpectedResidues(_BOUND, len(own)))


def counts_cost(numbers: int) -> Cost:
    """The exact cost of exchanging so many row counts."""
    size = residues_bytes(_BOUND, numbers)
    return Cost((Flight.BOTH,), size, size)
