"""SPLU-Gen: sensitive values drawn from decoys, so that large counts can be estimated and small ones cannot.

Reference: Fu, Wang, Wong, Wang and Jiang, Small sum privacy and large sum utility in data publishing, Journal
of Biomedical Informatics 2014, sections 3.1 and 5.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from anonymizer.errors import TableError
from anonymizer.methods.contract.method import Method
from anonymizer.methods.contract.parameters import parameters
from anonymizer.releases.guarantee import Guarantee
from anonymizer.risk.simulator import CellsKept
from anonymizer.splu import guarantees
from anonymizer.splu.generation import check_eligible, check_gamma, draw_from_groups, partition
from anonymizer.tables.provenance import COUNT, Dependence, TableProvenance
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table


@parameters
class SpluGen(CellsKept, Method):
    """Publishes for each row a sensitive value drawn from a group of gamma different ones; shuffles the rows.

    Each sensitive column is treated by itself. All others stay as they are, so that what identifies a person
    must be coarsened before. The groups depend on the table and the order of its rows only and are not
    released; where n is not a multiple of gamma, the last rows, fewer than gamma, are left out. In a pipeline
    it comes last: counts are estimated from its release (`duetto query`) as it made it.

    It keeps small counts from being estimated well. That is neither a membership nor an attribute guarantee
    for a person, see `anonymizer.splu.guarantees.NOT_PROMISED`.

    Args:
        gamma: the size of decoy groups, 2 or more; the paper advises 5 to 10. No value may be in more than
            one of gamma rows.
        columns: to be treated; the sensitive ones if None.
        e: the relative error that the guarantee speaks of, in (0, 1].
        alpha: the largest count that the guarantee protects, 1 or more.
        random_state: a seed, or None for the operating system's randomness.
    """

    name: ClassVar[str] = "splu-gen"
    last: ClassVar[bool] = True
    counts_persons: ClassVar[bool] = False
    applies_to: ClassVar[str] = "The table has no sensitive columns"
    random: ClassVar[bool] = True
    keeps_rows: ClassVar[bool] = False
    keeps_classes: ClassVar[bool] = False
    example: ClassVar[Mapping[str, Any]] = {"gamma": 2}

    gamma: int = 5
    columns: tuple[str, ...] | None = None
    e: float = 0.3
    alpha: int = 3
    random_state: int | None = None

    @override
    def check(self) -> None:
        super().check()
        check_gamma(self.gamma)
        guarantees.small_sum(self.gamma, self.e, self.alpha)

    @override
    def _usual(self, table: Table) -> tuple[str, ...]:
        """The sensitive columns."""
        return table.roles.sensitive

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """A cell is one of a group of its column; the last rows go where groups do not come out even."""
        cells = {name: table.provenance.content(name).spread() for name in self.columns_of(table)}
        found = table.provenance.recode(cells, gaps="none")
        return found.with_rows(Dependence.on((COUNT,), "all"))

    @override
    def guarantees(self, table: Table) -> tuple[Guarantee, ...]:
        """Small-sum privacy: T_P by Lemma 2 and Theorem 4 of the paper."""
        return (
            Guarantee(
                "small-sum-privacy",
                {
                    "gamma": self.gamma,
                    "e": self.e,
                    "alpha": self.alpha,
                    "T_P": guarantees.small_sum(self.gamma, self.e, self.alpha),
                },
                columns=self.columns_of(table),
                condition=guarantees.NOT_PROMISED,
                method=self.name,
            ),
        )

    @override
    def _fit(self, table: Table) -> None:
        self._check(table)

    def _check(self, table: Table) -> None:
        columns = self.columns_of(table)
        both = sorted(set(columns) & set(table.roles.quasi_identifiers))
        if both:
            raise TableError(
                f"Column {both[0]!r} is a quasi-identifier: counts by it are asked as it is.",
                "Give it the role sensitive, or leave it out of columns.",
            )
        table.complete(columns)
        for column in columns:
            check_eligible(table.codes(column), self.gamma, column)

    @override
    def _transform(self, table: Table) -> Table:
        self._check(table)
        random = Randomness(self.random_state)
        kept = table.take(np.arange(len(table) - len(table) % self.gamma))
        moved = {}
        for column in self.columns_of(table):
            # one stream for all releases of a table, so that their decoy groups are the same
            groups = partition(kept.codes(column).codes, self.gamma, Randomness(0, f"decoys of {column}"))
            moved[column] = draw_from_groups(groups, random)
        return kept.permuted(moved).take(random.permutation(len(kept)))
