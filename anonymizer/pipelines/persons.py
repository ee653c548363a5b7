"""How many rows of a person are released: a bound that holds before the first step sees the table."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from typing_extensions import override

from anonymizer.methods.contract.method import Method
from anonymizer.methods.contract.parameters import parameters
from anonymizer.risk.simulator import CellsKept
from anonymizer.tables.provenance import Dependence, TableProvenance
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table


@parameters
class LimitRows(CellsKept, Method):
    """Leaves rows of persons out who have more than `rows_per_person` of the roles, drawn at random.

    Which rows of a person stay depends on no cell, and on no other person: who is there with all rows or not
    at all changes so many released rows at most.

    Args:
        random_state: a seed, for trials; None is the operating system's randomness.

    Attributes:
        persons_cut_: after a transformation, how many persons have lost rows.
        rows_cut_: how many rows those were.
    """

    name: ClassVar[str] = "limit-rows"
    random: ClassVar[bool] = True
    needs_columns: ClassVar[bool] = False
    keeps_rows: ClassVar[bool] = False
    keeps_classes: ClassVar[bool] = True
    ensures: ClassVar[bool] = True

    random_state: int | None = None

    @override
    def columns_of(self, table: Table) -> tuple[str, ...]:
        """None: rows go, and cells stay as they are."""
        return ()

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """A row is there or not by how many rows its person has."""
        roles = table.roles
        if roles.person is None or roles.rows_per_person is None:
            return table.provenance
        return table.provenance.with_rows(Dependence.on((roles.person,), "all"))

    @override
    def _transform(self, table: Table) -> Table:
        self.persons_cut_ = self.rows_cut_ = 0
        persons = table.persons
        if persons is None or persons.most is None:
            return table
        excess = persons.rows - persons.most
        self.persons_cut_ = int((excess > 0).sum())
        self.rows_cut_ = int(excess[excess > 0].sum())
        if not self.rows_cut_:
            return table
        drawn = Randomness(self.random_state, "rows of a person").permutation(len(table))
        drawn = drawn[np.argsort(persons.codes[drawn], kind="stable")]
        starts = np.cumsum(persons.rows) - persons.rows
        rank = np.arange(len(drawn)) - starts[persons.codes[drawn]]
        return table.take(np.sort(drawn[rank < persons.most]))

    @property
    @override
    def notes(self) -> tuple[str, ...]:
        """How many rows were left out."""
        if not getattr(self, "rows_cut_", 0):
            return ()
        return (
            f"{self.rows_cut_:,} rows of {self.persons_cut_:,} persons were left out, drawn at random, since "
            "they have more than rows_per_person.",
        )
