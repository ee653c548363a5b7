"""What is done with missing cells before the first step, as the columns are declared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import TableError, UnreachableError
from anonymizer.methods.contract.method import Method
from anonymizer.risk.simulator import CellsKept
from anonymizer.schema.columns import Column
from anonymizer.tables.declared import declared_numbers, gaps
from anonymizer.tables.provenance import TableProvenance
from anonymizer.tables.table import Table


class MissingCells(CellsKept, Method):
    """Leaves rows out, or fills cells, of columns with `missing = "drop"` or `missing = "impute"`.

    A number becomes the middle of the declared bounds on the declared grid, which says nothing of other
    records, or the median where there are none; any other cell becomes the commonest value of its column.

    Attributes:
        fills_: by column, what its missing cells become.
    """

    name: ClassVar[str] = "missing-cells"
    random: ClassVar[bool] = False
    needs_columns: ClassVar[bool] = False
    keeps_classes: ClassVar[bool] = True
    ensures: ClassVar[bool] = True

    @override
    def columns_of(self, table: Table) -> tuple[str, ...]:
        """The columns that are declared so."""
        return tuple(name for name in table.names if table.schema.of(name).missing in ("drop", "impute"))

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """A row goes by its own gaps; a gap is filled by the declared middle, or by the cells of all rows."""
        given = table.provenance
        columns = self.columns_of(table)
        cells = {}
        for name in columns:
            declared = table.schema.of(name)
            own = declared.missing == "drop" or _middle(declared) is not None
            cells[name] = given.content(name) if own else given.content(name).spread()
        dropped = [name for name in columns if table.schema.of(name).missing == "drop"]
        return given.recode(cells, gaps="none").with_rows(given.gaps(*dropped))

    @override
    def _fit(self, table: Table) -> None:
        self.fills_: Mapping[str, Any] = {
            name: _fill(table, name)
            for name in self.columns_of(table)
            if table.schema.of(name).missing == "impute" and gaps(table, name).any()
        }

    @override
    def _transform(self, table: Table) -> Table:
        lost = np.zeros(len(table), dtype=np.bool_)
        for name in self.columns_of(table):
            if table.schema.of(name).missing == "drop":
                lost |= gaps(table, name)
        if lost.all():
            raise UnreachableError(
                'Every row misses a cell of a column that is declared with missing = "drop".',
                'Declare missing = "value" or missing = "impute".',
            )
        found = table.take(np.flatnonzero(~lost)) if lost.any() else table
        return found.replace({name: _fill_column(found, name, value) for name, value in self.fills_.items()})


def _middle(column: Column) -> float | None:
    """The middle of the bounds of a column that is to be filled with it; else None."""
    if column.missing != "impute" or column.lower is None or column.upper is None:
        return None
    middle = (column.lower + column.upper) / 2
    return middle if column.grid is None else round(middle / column.grid) * column.grid


def _fill(table: Table, name: str) -> Any:
    declared = table.schema.of(name)
    middle = _middle(declared)
    if declared.is_number or table.is_numeric(name):
        if middle is not None:
            return middle
        numbers = declared_numbers(table, name)
        if np.isnan(numbers).all():
            raise TableError(f"Column {name!r} has no numbers to fill gaps by.", "Declare its bounds.")
        return float(np.nanquantile(numbers, 0.5, method="closest_observation"))
    codes = table.codes(name)
    if not len(codes.values):
        raise TableError(f"Column {name!r} has no values to fill gaps by.", 'Declare missing = "drop".')
    return codes.values[np.bincount(codes.codes[codes.codes >= 0]).argmax()]


def _fill_column(table: Table, name: str, value: Any) -> NDArray[Any]:
    if table.schema.of(name).is_number or table.is_numeric(name):
        numbers = declared_numbers(table, name)
        numbers[np.isnan(numbers)] = value
        whole = bool((numbers == np.round(numbers)).all())
        return numbers.astype(np.int64) if whole else numbers
    codes = table.codes(name)
    cells = np.empty(len(codes.values) + 1, dtype=object)
    cells[:] = [*codes.values.tolist(), value]
    return cells[codes.codes]
