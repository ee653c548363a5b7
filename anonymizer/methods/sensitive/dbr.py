"""Distribution-based randomization: sensitive values drawn anew from all of the column.

A yardstick for SPLU-Gen.

Reference: Fu et al., Small sum privacy and large sum utility in data publishing, 2014, sections 3 and
    6.2.3.3.
"""

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override

from anonymizer.errors import TableError
from anonymizer.methods.contract.method import Method
from anonymizer.methods.contract.parameters import parameters
from anonymizer.risk.simulator import CellsKept
from anonymizer.splu.generation import drawn_anywhere
from anonymizer.tables.provenance import TableProvenance
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table


@parameters
class DistributionRandomization(CellsKept, Method):
    """Publishes for each row the sensitive value of a row drawn at random from the whole table.

    Counts of single values can be estimated; what the column has to do with others is lost. It promises
    nothing.

    Args:
        columns: to be treated, each by itself; the sensitive ones if None.
        random_state: a seed, or None for the operating system's randomness.
    """

    name: ClassVar[str] = "dbr"
    keeps_rows: ClassVar[bool] = True
    applies_to: ClassVar[str] = "The table has no sensitive columns"
    random: ClassVar[bool] = True
    keeps_classes: ClassVar[bool] = False

    columns: tuple[str, ...] | None = None
    random_state: int | None = None

    @override
    def _usual(self, table: Table) -> tuple[str, ...]:
        """The sensitive columns."""
        return table.roles.sensitive

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """A cell is one of any row of the column."""
        cells = {name: table.provenance.content(name).spread() for name in self.columns_of(table)}
        return table.provenance.recode(cells, gaps="none")

    @override
    def _fit(self, table: Table) -> None:
        self._check_columns(table)

    def _check_columns(self, table: Table) -> tuple[str, ...]:
        columns = self.columns_of(table)
        both = sorted(set(columns) & set(table.roles.quasi_identifiers))
        if both:
            raise TableError(
                f"Column {both[0]!r} is a quasi-identifier.", "Give it the role sensitive, or leave it out."
            )
        table.complete(columns)
        return columns

    @override
    def _transform(self, table: Table) -> Table:
        columns = self._check_columns(table)
        random = Randomness(self.random_state)
        return table.permuted({column: drawn_anywhere(len(table), random) for column in columns})
