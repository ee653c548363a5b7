"""Tables of several figures of one query, each with an interval of the noise and one with sampling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

OpenEnds = tuple[float | int | None, float | int | None]
"""The ends of an interval; None where it is open."""


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A figure.

    Attributes:
        term: its name.
        value: None where it is none, or withheld.
        noise: the interval that speaks of the noise.
        sampled: the one that speaks of sampling too.
    """

    term: str
    value: float | int | None
    noise: OpenEnds
    sampled: OpenEnds = (None, None)

    @classmethod
    def of_count(cls, term: str, entry: int | None, width: int) -> FigureRow:
        """A count that is `width` at most from the exact one, but for 5 %; None if it is withheld."""
        return cls(term, entry, (None, None) if entry is None else (entry - width, entry + width))


def figure_table(rows: Sequence[FigureRow]) -> dict[str, Sequence[Any]]:
    """The columns of the table."""
    heads = ("term", "value", "lower_95", "upper_95", "with_sampling_lower_95", "with_sampling_upper_95")
    cells = [(row.term, row.value, *row.noise, *row.sampled) for row in rows]
    return dict(zip(heads, map(list, zip(*cells, strict=True)), strict=True))


def open_ends(ends: tuple[float, float]) -> OpenEnds:
    """Ends that are finite."""
    low, high = (end if isfinite(end) else None for end in ends)
    return low, high
