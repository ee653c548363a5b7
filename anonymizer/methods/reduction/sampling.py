"""Simple random sampling without replacement."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from typing_extensions import override

from anonymizer.errors import TableError
from anonymizer.methods.conditions.groups import groups_of
from anonymizer.methods.contract.method import Method
from anonymizer.methods.contract.parameters import parameters
from anonymizer.risk.simulator import CellsKept
from anonymizer.tables.provenance import COUNT, Dependence, TableProvenance
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table


@parameters
class Sampling(CellsKept, Method):
    """Keeps a random part of the rows, in their order.

    Args:
        rate: the part, in (0, 1]; round(rate * n) rows are kept, at least one.
        together: a column whose equal values are kept or left out together, such as a household; a missing
            cell is a row alone. The rate is then that of the groups.
        random_state: a seed, or None for the operating system's randomness.

    Reference: thesis, sections 2.2.3 and 4.2.2.
    """

    name: ClassVar[str] = "sampling"
    keeps_classes: ClassVar[bool] = True
    needs_columns: ClassVar[bool] = False
    random: ClassVar[bool] = True
    keeps_rows: ClassVar[bool] = False

    rate: float = 0.8
    together: str | None = None
    random_state: int | None = None

    @override
    def columns_of(self, table: Table) -> tuple[str, ...]:
        """None."""
        return ()

    @override
    def check(self) -> None:
        super().check()
        if not 0 < self.rate <= 1:
            raise TableError(
                f"The sampling rate {self.rate} lies outside (0, 1].",
                "Choose above 0 and up to 1, such as 0.8.",
            )

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """Which rows are drawn depends on how many there are, and on their groups.

        A row more takes the place of another one, so that noise for one row does not account for it.
        """
        together = () if self.together is None else (self.together,)
        read = table.provenance.content(*together) | Dependence.on((COUNT,), "all")
        return table.provenance.with_rows(read.spread())

    @override
    def _transform(self, table: Table) -> Table:
        groups, count = groups_of(table, self.together)
        chosen = Randomness(self.random_state).sample(count, max(1, round(self.rate * count)))
        drawn = np.zeros(count, dtype=np.bool_)
        drawn[chosen] = True
        return table.take(np.flatnonzero(drawn[groups]))

    @property
    @override
    def sampling_rate(self) -> float:
        """The rate."""
        return self.rate
