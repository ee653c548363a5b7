"""What methods that change numbers share: which columns, their cells as a matrix, clamping and rounding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import TableError
from anonymizer.methods.contract.method import Method
from anonymizer.risk.candidates import Candidates, IntervalCandidates, LabelCandidates
from anonymizer.tables.declared import decimals
from anonymizer.tables.provenance import TableProvenance
from anonymizer.tables.table import Table

Float = NDArray[np.float64]
Bounds = Mapping[str, tuple[float, float]]

_LARGEST: Final = 2.0**53
_DIGITS: Final = 6


class NumericMethod(Method):
    """Changes numbers.

    Attributes:
        columns: numeric columns; the numeric quasi-identifiers if None.
        digits: digits after the point that released numbers are rounded to; None for the step of the column
            itself, declared or found, see `step_of`: digits beyond it tell of the number below the noise.
        bounds: of some columns the ends that released numbers are clamped to.
    """

    applies_to: ClassVar[str] = "No quasi-identifier holds numbers"
    keeps_classes: ClassVar[bool] = False
    columns: tuple[str, ...] | None = None
    digits: int | None = None
    bounds: Bounds | None = None

    @override
    def fit_table(self, table: Table) -> None:
        """`fit` of a table.

        Raises:
            TableError: as `Method.fit_table`; or bounds name an unknown column, or are the wrong way round.
        """
        for column, (lower, upper) in (self.bounds or {}).items():
            table.require(column)
            if not lower <= upper:
                raise TableError(
                    f"The bounds of column {column!r} are the wrong way round.",
                    "Write the smaller one first.",
                )
        super().fit_table(table)
        self.steps_ = {column: step_of(table, column) for column in self.columns_of(table)}

    @override
    def _usual(self, table: Table) -> tuple[str, ...]:
        """The numeric quasi-identifiers."""
        return tuple(name for name in table.roles.quasi_identifiers if table.is_numeric(name))

    @property
    def _together(self) -> bool:
        """Whether the cells of one column decide about those of others."""
        return False

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """Noise and steps are found in the whole of a column, or of all columns together."""
        columns = self.columns_of(table)
        given = table.provenance
        everything = given.content(*columns).spread()
        return given.recode(
            {name: everything if self._together else given.content(name).spread() for name in columns},
            gaps="stay",
        )

    def _numbers(self, table: Table) -> Float:
        """The columns as a matrix of shape (n, d); missing cells are NaN."""
        columns = self.columns_of(table)
        return (
            np.stack([table.numbers(name) for name in columns], axis=1)
            if columns
            else np.zeros((len(table), 0))
        )

    def _write(self, table: Table, numbers: Float) -> Table:
        """The table with these numbers, clamped and then rounded."""
        cells = {}
        for place, column in enumerate(self.columns_of(table)):
            found = numbers[:, place]
            if self.bounds and column in self.bounds:
                found = np.clip(found, *self.bounds[column])
            rounded = self._on_grid(column, found)
            # whole numbers stay whole: 69 and not 69.0
            digits = self.steps_[column] >= 1 if self.digits is None else self.digits <= 0
            whole = digits and table.series(column).dtype.is_integer()
            fits = whole and bool((np.abs(rounded) < _LARGEST).all())
            cells[column] = rounded.astype(np.int64) if fits else rounded
        return table.replace(cells) if cells else table

    def _widen(self, column: str, candidates: Candidates, high: Float, low: Float) -> Candidates:
        """Intervals made wider by what noise can do; clamped and rounded as the cells are.

        Args:
            column: the column.
            candidates: before.
            high: lower and upper ends with high confidence, shape (u, 2).
            low: the same of all that is possible.
        """
        ends = [high, low]
        if self.bounds and column in self.bounds:
            ends = [np.clip(one, *self.bounds[column]) for one in ends]
        return self._round(column, candidates, *ends)

    def _round(self, column: str, candidates: Candidates, high: Float, low: Float) -> Candidates:
        """Intervals rounded as the cells are, which keeps the order of numbers; as `_widen`."""
        if isinstance(candidates, LabelCandidates):
            raise TableError(
                f"Column {column!r} holds no numbers when noise is put on it.", "Generalize after the noise."
            )
        return IntervalCandidates(self._on_grid(column, high), self._on_grid(column, low))

    def _on_grid(self, column: str, numbers: Float) -> Float:
        """Numbers rounded to the digits, or to the step of the column."""
        if self.digits is not None:
            return np.round(numbers, self.digits)
        step = self.steps_[column]
        return np.round(np.round(numbers / step) * step, decimals(step)) if step else numbers


def step_of(table: Table, column: str) -> float:
    """The distance between neighbouring numbers of a column.

    Returns:
        The declared step; else 1 for whole numbers, a power of ten for numbers of at most six digits after
        the point; 0 if there are more.
    """
    declared = table.schema.of(column)
    if declared.grid is not None:
        return declared.grid
    if not table.is_numeric(column):
        return 0.0
    numbers = table.numbers(column)
    numbers = np.unique(numbers[~np.isnan(numbers)])
    for digits in range(_DIGITS + 1):
        if np.array_equal(np.round(numbers, digits), numbers):
            return 10.0**-digits
    return 0.0
