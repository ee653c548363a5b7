"""Numbers rounded to multiples: a method that is not part of duetto."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from anonymizer.errors import TableError
from anonymizer.methods.contract.method import Method
from anonymizer.methods.contract.parameters import parameters
from anonymizer.risk.candidates import Candidates, IntervalCandidates, LabelCandidates
from anonymizer.tables.provenance import TableProvenance
from anonymizer.tables.table import Table


@parameters
class Rounding(Method):
    """Rounds numbers to the nearest multiple, halves upwards.

    Args:
        to: numbers become multiples of it, above 0.
        columns: columns of numbers; the quasi-identifiers of numbers if None.
    """

    name: ClassVar[str] = "rounding"
    example: ClassVar[Mapping[str, Any]] = {"to": 5.0, "columns": ("age",)}
    random: ClassVar[bool] = False
    keeps_rows: ClassVar[bool] = True
    keeps_classes: ClassVar[bool] = True

    to: float = 10.0
    columns: tuple[str, ...] | None = None

    def check(self) -> None:
        """Check the parameters.

        Raises:
            TableError: `to` is not above 0.
        """
        super().check()
        if not 0 < self.to < float("inf"):
            raise TableError(f"to is {self.to}.", "Choose a number above 0, such as 10.")

    def _usual(self, table: Table) -> tuple[str, ...]:
        return tuple(name for name in table.roles.quasi_identifiers if table.is_numeric(name))

    def provenance(self, table: Table) -> TableProvenance:
        """A rounded cell depends on its own row; empty cells stay empty."""
        cells = {name: table.provenance.content(name) for name in self.columns_of(table)}
        return table.provenance.recode(cells, gaps="stay")

    def _fit(self, table: Table) -> None:
        self.columns_ = self.columns_of(table)

    def _transform(self, table: Table) -> Table:
        return table.replace({name: self._rounded(table, name) for name in self.columns_})

    def _rounded(self, table: Table, name: str) -> Any:
        table.numbers(name)  # refuses cells that are not numbers
        cells = table.series(name)
        return ((cells + self.to / 2) // self.to * self.to).cast(cells.dtype)

    def simulate(self, column: str, candidates: Candidates) -> Candidates:
        """What numbers may become: rounding keeps their order, so that the ends of intervals are rounded."""
        if column not in self.columns_ or isinstance(candidates, LabelCandidates):
            return candidates
        ends = (candidates.high, candidates.low)
        return IntervalCandidates(*(np.floor((one + self.to / 2) / self.to) * self.to for one in ends))
