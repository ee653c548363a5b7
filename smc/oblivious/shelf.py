"""Where pools lie between sessions, as protocols see it; who keeps them encrypted on disk is not known here.

What is taken from a shelf is gone from it for good before it is handed out, so a pool is used at most once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from smc.oblivious.pool import Pool


@dataclass(frozen=True, slots=True)
class Stored:
    """What is known of a pool without its secrets.

    Attributes:
        name: the same on both sides, 32 bytes.
        comparisons: how many it is good for, a multiple of 64.
        bits: width of the numbers to compare.
        holds_x: whether the local numbers will be x.
    """

    name: bytes
    comparisons: int
    bits: int
    holds_x: bool

    @classmethod
    def of(cls, pool: Pool) -> Stored:
        """The description of a pool as it is now."""
        return cls(pool.name, len(pool), pool.bits, pool.holds_x)


class Shelf(Protocol):
    """The local halves of the pools with one peer."""

    def put(self, stored: Stored, data: bytes) -> None:
        """Keep what `Pool.export` gave.

        Raises:
            DuettoError: there is no room, or a pool of that name is or was there.
        """
        ...

    def pools(self) -> Sequence[Stored]:
        """What is there, in any order."""
        ...

    def take(self, name: bytes) -> bytes | None:
        """Delete a pool and then hand it out; None if there is none of that name.

        Raises:
            DuettoError: it is damaged, or was taken before.
        """
        ...
