"""What a run may open, known before it: its release refuses figures of other kinds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, unique


@unique
class Kind(Enum):
    """What an opened figure is about."""

    GROUPS = "figures about several persons taken together, without noise"
    ROWS = "answers about single rows"
    NOISY = "figures with noise for which a loss is spent"


@dataclass(frozen=True, slots=True)
class Scope:
    """What the facts of a job say of its figures; policies have allowed the job by the same facts.

    Attributes:
        kinds: of the figures that may be opened.
        matches: whether rows of both sides are matched, so that limits on sets and intersections apply.
        figures: how many figures without noise the rows of a side are shown by.
        apart: how many of them nothing holds against each other.
        together: whether they are opened by parts alone, see `smc.analyses.disclosure.together`.
    """

    kinds: frozenset[Kind]
    matches: bool = False
    figures: int = 1
    apart: int = 1
    together: bool = False
