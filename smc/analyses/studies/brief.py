"""A job in short, for people who decide on it; what it promises exactly, `Leakage` says."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from smc.forms import Role

WHETHER: Final = "comparison"
"""The name of the table that says row by row whether x >= y; people read its columns under other heads."""


@dataclass(frozen=True, slots=True)
class Brief:
    """What a job does, in a few words.

    Attributes:
        does: what the programs of both do, such as `count the keys that both have`.
        alice: what Alice learns, at most twelve words each.
        bob: what Bob learns.
        hides: what nobody learns from it; empty where there is nothing to say.
        figures: the names of the figures that are released.
    """

    does: str
    alice: tuple[str, ...]
    bob: tuple[str, ...]
    hides: str = ""
    figures: tuple[str, ...] = ()

    @classmethod
    def to(
        cls,
        recipients: AbstractSet[Role],
        does: str,
        gets: tuple[str, ...],
        hides: str,
        *,
        both: tuple[str, ...] = (),
        figures: tuple[str, ...] = (),
    ) -> Brief:
        """Of a job from which all recipients learn the same.

        Args:
            recipients: who gets the results.
            does: as the attribute.
            gets: what a recipient learns.
            hides: as the attribute.
            both: what both learn besides, whoever receives.
            figures: as the attribute.
        """
        alice, bob = ((*gets, *both) if role in recipients else both for role in Role)
        return cls(does, alice, bob, hides, figures)


def count_of(number: int, noun: str) -> str:
    """A number with its noun: `1 figure`, `3 figures`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


LEAST_MATCHES = "one bit: whether enough match, if a policy asks"
"""What both learn where the policies may ask for a least number of matches."""
