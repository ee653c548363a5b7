"""Row counts, exchanged before a run.

    Alice (counts)    -- Counts -->    Bob (counts)
                      <-- Counts --    at the same time

This is the only way to learn how many rows the peer has. What comes out is a `RowCount`, and whatever makes
room for the peer's rows asks for one: a number that the peer made up does not get as far as an allocation.

Inputs: a few numbers of rows at each side, none above `MAX_ROWS`.
Outputs: the other side's.
Learns: each party the other's row counts, which are public in every analysis that uses this.
Assumes: nothing.
Cost: 1 round, 4 bytes per number each way.
Reference: none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from smc.channel.message import Message
from smc.channel.vectors import ExpectedResidues, Residues
from smc.errors import ProtocolViolation, TooManyRowsError
from smc.protocols.session import Session

MAX_ROWS: Final = 1 << 27
"""More rows than one side brings to a run: 134 million, some gigabytes of keys and masks."""

BOUND: Final = 1 << 32


class RowCount(int):
    """A number of rows that memory may be set aside for: 0 to `MAX_ROWS`.

    Raises:
        ProtocolViolation: it lies outside of that.
    """

    def __new__(cls, rows: int) -> Self:
        """Check the number."""
        if not 0 <= rows <= MAX_ROWS:
            raise ProtocolViolation(
                f"The peer announced {rows} rows; a run takes at most {MAX_ROWS} from each side.",
                "Split the data into several jobs.",
            )
        return super().__new__(cls, rows)


@dataclass(frozen=True, slots=True)
class Counts(Message, kind="row-counts", hidden=True):
    """The sender's row counts."""

    counts: Residues


def exchange_counts(
    session: Session, own: Sequence[int], *, most: Sequence[int] | None = None
) -> list[RowCount]:
    """Tell the peer the local row counts and learn as many of the peer's.

    Args:
        session: the local side.
        own: row counts; 0 stands for "has none".
        most: the largest of each of the peer's counts that this run has room for, where that is less than
            `MAX_ROWS`.

    Raises:
        TooManyRowsError: a local count is above `MAX_ROWS`; nothing was sent.
        ProtocolViolation: one of the peer's is above that, or above `most`.
    """
    if any(rows > MAX_ROWS for rows in own):
        raise TooManyRowsError(
            f"This side has {max(own)} rows; a run takes at most {MAX_ROWS} from each side.",
            "Split the data into several jobs.",
        )
    session.channel.send(Counts(Residues(own, BOUND)))
    counts = [RowCount(rows) for rows in session.channel.recv(Counts, ExpectedResidues(BOUND, len(own)))]
    for rows, limit in zip(counts, most or (), strict=most is not None):
        if rows > limit:
            raise ProtocolViolation(
                f"The peer announced {rows} rows; this run has room for {limit}.",
                "Match smaller sets, or split the data into several jobs.",
            )
    return counts
