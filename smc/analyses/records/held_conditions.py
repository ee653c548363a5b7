"""Conditions on held values of one row, and the rows that meet them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Within:
    """A comparison of held values.

    Attributes:
        column: the column.
        lower: the least held value that fits, or None.
        upper: the greatest, or None.
        values: the held values that fit; None where bounds say it.
        negated: whether the held values are those that do not fit.
    """

    column: str
    lower: int | None = None
    upper: int | None = None
    values: tuple[int, ...] | None = None
    negated: bool = False

    def of(self, columns: Mapping[str, Ints]) -> Bools:
        """Whether it holds, for each row."""
        held = columns[self.column]
        if self.values is not None:
            found: Bools = np.isin(held, np.array(self.values, dtype=np.int64))
            return ~found if self.negated else found
        found = np.ones(len(held), dtype=np.bool_)
        if self.lower is not None:
            found &= held >= self.lower
        if self.upper is not None:
            found &= held <= self.upper
        return found


@dataclass(frozen=True, slots=True)
class Joined:
    """Conditions on held values of which all have to hold, or any.

    Attributes:
        operator: `all` or `any`.
        parts: the conditions, one at least.
    """

    operator: str
    parts: tuple[Bound, ...]

    @property
    def column(self) -> str:
        """One of its columns."""
        return self.parts[0].column

    def of(self, columns: Mapping[str, Ints]) -> Bools:
        """Whether it holds, for each row."""
        join = np.logical_and if self.operator == "all" else np.logical_or
        return reduce(join, (part.of(columns) for part in self.parts))


Bound = Within | Joined


Where = tuple[Bound, ...]
"""Conditions on held values; all have to hold."""


def rows_meeting(where: Where, columns: Mapping[str, Ints], count: int) -> Bools:
    """Whether all conditions hold, for each of `count` rows."""
    return reduce(np.logical_and, (part.of(columns) for part in where), np.ones(count, dtype=np.bool_))
