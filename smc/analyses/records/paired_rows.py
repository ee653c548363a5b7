"""Rows of both sides that belong together by their position: as many on either side, and that is public."""

from __future__ import annotations

from smc.errors import DomainError
from smc.protocols.exchange.row_counts import exchange_counts
from smc.protocols.session import Session


def check_paired_rows(own: int, peer: int) -> None:
    """Check that rows can be paired, as far as their numbers show.

    Raises:
        DomainError: the numbers differ, or there are no rows.
    """
    if own != peer or not own:
        raise DomainError(
            f"This side has {own} rows and the other one {peer}; rows are paired by their position.",
            "Bring the same rows in the same order.",
        )


def agree_on_paired_rows(session: Session, own: int) -> None:
    """Tell the number of local rows, and check that the peer has as many; both sides call it.

    Raises:
        DomainError: it has not, or there are none.
    """
    (peer,) = exchange_counts(session, [own])
    check_paired_rows(own, peer)
