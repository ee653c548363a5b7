"""Synthetic tables: rows that are nobody's, drawn from what was measured with differential privacy.

The columns, their domains and the bins of numbers are declared; the original is asked through a `Budget` and
nothing else. What it has answered is a distribution, from which as many rows are drawn as it was measured
that there are, or as are asked for. So a second transformation costs nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final, Protocol

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import TableError
from anonymizer.methods.contract.method import Method
from anonymizer.methods.contract.parameters import parameters
from anonymizer.releases.composition import PrivacyLoss
from anonymizer.releases.guarantee import Guarantee, checked_budget
from anonymizer.synthetic.budget import Budget
from anonymizer.synthetic.counting import Coded
from anonymizer.synthetic.domains import MAX_BINS, domains_of
from anonymizer.tables.provenance import COUNT, Dependence, TableProvenance
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

MIN_ROWS: Final = 10
MAX_ROWS: Final = 10_000_000

Cuts = Mapping[str, tuple[float, ...]]


class Learned(Protocol):
    """What a method has learned: a distribution over cells, and how many rows there are about."""

    @property
    def total(self) -> float:
        """The number of rows as it was measured."""

    def draw(self, rows: int, randomness: Randomness) -> NDArray[np.int64]:
        """Draw rows of cells, shape (rows, columns)."""


@parameters
class Synthesis(Method):
    """A synthetic table with differential privacy; subclasses say how it is learned.

    Args:
        epsilon: of the whole table, in [1e-6, 100].
        delta: in [1e-30, 0.1], well below 1 / rows; or 0, where the method can do without.
        columns: to synthesize; all but the identifiers if None. Others are not in the release.
        bins: numbers are put in so many bins of equal width between their bounds, in [1, 10000].
        cuts: of some columns the edges of bins between the bounds, in place of these.
        rows: to be drawn; as many as it was measured that there are, if None. Taken from knowledge other than
            the table, since the guarantee does not cover it.
        random_state: a seed, for trials: there is no guarantee then. None is the operating system's
            randomness.

    Attributes:
        domains_: of each column, in order.
        spent_: epsilon and delta as OpenDP accounts for what was asked.
    """

    needs_columns: ClassVar[bool] = True
    applies_to: ClassVar[str] = "The table has no columns beside identifiers"
    needs_delta: ClassVar[bool] = False
    """Whether it works with delta above 0 only."""
    random: ClassVar[bool] = True
    keeps_rows: ClassVar[bool] = False
    keeps_classes: ClassVar[bool] = False
    example: ClassVar[Mapping[str, Any]] = {
        "columns": ("age", "city", "illness"),
        "rows": 30,
        "bins": 4,
        "epsilon": 50.0,
    }

    epsilon: float = 1.0
    delta: float = 1e-6
    columns: tuple[str, ...] | None = None
    bins: int = 32
    cuts: Cuts | None = None
    rows: int | None = None
    random_state: int | None = None

    @override
    def check(self) -> None:
        super().check()
        checked_budget(self.epsilon, self.delta)
        if self.needs_delta and not self.delta:
            raise TableError(
                f"delta is 0, and {self.name} needs one.", "Choose one well below 1 / records, such as 1e-6."
            )
        if not 1 <= self.bins <= MAX_BINS:
            raise TableError(f"bins is {self.bins}, outside [1, {MAX_BINS:,}].", "Choose, for example, 32.")
        if self.rows is not None and not 1 <= self.rows <= MAX_ROWS:
            raise TableError(f"rows is {self.rows}, outside [1, {MAX_ROWS:,}].", "Leave it out.")

    @property
    @override
    def declared_loss(self) -> PrivacyLoss:
        """The budget of a record."""
        return PrivacyLoss(self.epsilon, self.delta, "add-remove")

    @override
    def _usual(self, table: Table) -> tuple[str, ...]:
        """All but the identifiers."""
        return tuple(name for name in table.names if name not in table.roles.identifiers)

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """Cells, gaps and the number of rows come from what was measured with noise."""
        columns, given = self.columns_of(table), table.provenance
        read = given.content(*columns) | given.rows | Dependence.on((COUNT,), "own")
        measured = self._behind_noise(table, read).spread()
        for name in columns:
            measured |= given[name].domain
        found = {name: replace(given[name], cells=measured, gaps=measured) for name in columns}
        return TableProvenance(found, measured)

    @property
    @override
    def discretisation(self) -> Mapping[str, Any]:
        """Of each column its categories, or the edges of its bins."""
        return {one.name: one.to_document() for one in self.domains_}

    @property
    @override
    def notes(self) -> tuple[str, ...]:
        """What the steward should know of the parameters."""
        found = []
        if self.seeded:
            found.append(
                f"{self.name} drew from a seed: for trials only, no differential privacy is promised."
            )
        if self.delta * self.count_ > 1:
            found.append(
                f"delta {self.delta:g} is above 1 / records: a release of some records whole could fulfil it."
            )
        return tuple(found)

    @override
    def guarantees(self, table: Table) -> tuple[Guarantee, ...]:
        """Differential privacy of one row, by what was spent."""
        epsilon, delta = self.spent_
        condition = "A person has one row. " if table.persons is None else ""
        condition += (
            "Whether there is a release tells that no cell is missing or outside of its declared categories, "
            f"and that there are {MIN_ROWS} rows."
        )
        if self.rows is not None:
            condition += " The number of rows was given, and is not covered."
        return (
            Guarantee(
                "dp",
                {"epsilon": epsilon, "delta": delta},
                "record",
                tuple(one.name for one in self.domains_),
                "add-remove",
                condition,
                self.name,
            ),
        )

    @override
    def _fit(self, table: Table) -> None:
        columns = self.columns_of(table)
        for name in columns:
            if name in table.roles.identifiers:
                raise TableError(f"Column {name!r} is an identifier.", "Leave it out of columns.")
            if columns.count(name) > 1:
                raise TableError(f"Column {name!r} is named twice.", "Name it once.")
        self.domains_ = domains_of(table, columns, bins=self.bins, cuts=self.cuts)
        if len(table) < MIN_ROWS:
            raise TableError(
                f"The table has {len(table)} rows, too few to tell from noise.",
                f"Give at least {MIN_ROWS}; thousands for a release of use.",
            )
        codes = np.stack([one.codes(table) for one in self.domains_], axis=1)
        data = Coded(codes, tuple(one.size for one in self.domains_), columns)
        trial = Randomness(self.random_state, f"{self.name} noise") if self.seeded else None
        budget = Budget(self.epsilon, self.delta, trial)
        self.learned_ = self._learn(data, budget, Randomness(self.random_state, f"{self.name} choices"))
        self.spent_ = budget.loss
        self.count_ = len(table)

    @override
    def _transform(self, table: Table) -> Table:
        """Rows from what was learned; of the table only its kind of frame is used."""
        rows = max(1, round(self.learned_.total)) if self.rows is None else self.rows
        randomness = Randomness(self.random_state, f"{self.name} rows")
        codes = self.learned_.draw(min(rows, MAX_ROWS), randomness)
        space = table.frame.implementation
        names = [one.name for one in self.domains_]
        series = [
            _series(one.name, one.cells(codes[:, place], randomness), space)
            for place, one in enumerate(self.domains_)
        ]
        frame = nw.concat([one.to_frame() for one in series], how="horizontal")
        return Table.of(
            frame.to_native(),
            table.roles.among(names),
            {name: one for name, one in table.hierarchies.items() if name in names},
            table.schema.among(names),
        )

    @abstractmethod
    def _learn(self, data: Coded, budget: Budget, randomness: Randomness) -> Learned:
        """Spend the budget.

        Args:
            data: the original.
            budget: to be spent.
            randomness: for choices that do not look at the data.
        """


def _series(name: str, cells: Any, space: Any) -> nw.Series[Any]:
    """Cells in the library's own type, None being a missing one."""
    if isinstance(cells, np.ndarray):
        return nw.new_series(name, cells, backend=space)
    known = [cell for cell in cells if cell is not None]
    text = not known or isinstance(known[0], str)
    return nw.new_series(name, cells, nw.String if text else None, backend=space)
