"""The declared numbers of a column, which no cell decides, and its cells brought to them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.schema.documents import key_of
from anonymizer.tables.declared import decimals, declared_numbers
from anonymizer.tables.table import Table

Float = NDArray[np.float64]
Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True)
class NumberDomain:
    """The declared numbers of a column.

    Attributes:
        lower: the least.
        upper: the largest.
        grid: the distance of neighbours, which are multiples of it; None if all numbers between are possible.
        whole: whether they are integers.
    """

    lower: float
    upper: float
    grid: float | None
    whole: bool

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends, in steps of the grid if there is one; then they are whole."""
        if self.grid is None:
            return self.lower, self.upper
        # a bound that is a multiple of the step up to rounding is one
        slack = 1e-9
        return math.ceil(self.lower / self.grid - slack), math.floor(self.upper / self.grid + slack)

    @property
    def middle(self) -> float:
        """The number in the middle, on the grid."""
        low, high = self.ends
        return float(self.at(np.array([(low + high) / 2]))[0]) * (self.grid or 1.0)

    def at(self, numbers: Float) -> Float:
        """Numbers in units of `ends`, rounded to the grid and clamped."""
        steps = numbers if self.grid is None else np.round(numbers)
        clamped: Float = np.clip(steps, *self.ends)
        return clamped

    def of(self, steps: Float) -> NDArray[Any]:
        """The numbers at some steps, in the declared form."""
        if self.grid is None:
            return steps
        if self.whole:
            return np.asarray(steps, dtype=np.int64) * int(self.grid)
        return np.round(steps * self.grid, decimals(self.grid))

    @classmethod
    def declared(cls, table: Table, column: str, bounds: Bounds | None = None) -> Self:
        """The declared domain of a column.

        Args:
            table: with the column.
            column: the column.
            bounds: in place of the declared ones.

        Raises:
            TableError: it is not declared to hold numbers, or has no bounds, or they hold no range.
        """
        given = table.schema.of(column)
        if not given.is_number:
            raise TableError(
                f"Column {column!r} is not declared to hold numbers, and cells must not decide the noise.",
                f'Write below [columns]: {key_of(column)} = {{ type = "integer", bounds = [0, 120] }}, '
                "not taken from the data.",
            )
        lower, upper = (given.lower, given.upper) if bounds is None else bounds
        if lower is None or upper is None:
            raise TableError(
                f"Column {column!r} has no bounds.",
                "Write bounds = [lower, upper] in its declaration, not taken from the data.",
            )
        if not (math.isfinite(lower) and math.isfinite(upper)):
            raise TableError(f"The bounds of column {column!r} are not finite.", "Write two numbers.")
        domain = cls(float(lower), float(upper), given.grid, given.kind == "integer")
        low, high = domain.ends
        if not low < high:
            raise TableError(
                f"The bounds of column {column!r} hold no range.", "Write a smaller and a larger one."
            )
        return domain

    def cells(self, table: Table, column: str) -> Float:
        """The cells of a column in units of `ends`, rounded to the grid and clamped, shape (n,).

        Raises:
            TableError: a cell is missing or not a number, and the column is not declared to be imputed.
        """
        numbers = declared_numbers(table, column)
        gaps = np.isnan(numbers)
        if gaps.any():
            if table.schema.of(column).missing != "impute":
                raise TableError(
                    f"Column {column!r} has {int(gaps.sum())} cells that are missing or no numbers, the "
                    f"first in row {int(np.flatnonzero(gaps)[0]) + 1}.",
                    'Declare missing = "impute" for it: such cells become the middle of the bounds.',
                )
            numbers[gaps] = self.middle
        return self.at(numbers / (self.grid or 1.0))
