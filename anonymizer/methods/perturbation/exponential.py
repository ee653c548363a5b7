"""Categories changed at random, near ones more likely: the exponential mechanism over a hierarchy.

The thesis (section 4.3.1) takes Pr[r] proportional to e^(epsilon H / 2), H being the distance by edges of
the tree between r and the median of the column. As printed, far values would be likelier; here quality is
minus the distance. `around` says what it is taken from: the median of the column, as the text says, which
makes all records alike, or the record's own value, which keeps more of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import HierarchyError, TableError
from anonymizer.methods.contract.method import Method
from anonymizer.methods.contract.parameters import parameters
from anonymizer.methods.perturbation.transition import (
    domain,
    domain_provenance,
    draw_values,
    loss,
    of_one_cell,
    simulated_labels,
)
from anonymizer.releases.guarantee import Guarantee, checked_budget
from anonymizer.risk.candidates import Candidates
from anonymizer.tables.provenance import TableProvenance
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table
from commons.errors import near

Int = NDArray[np.int64]
Float = NDArray[np.float64]

AROUND: Final = ("value", "median")


@parameters
class ExponentialMechanism(Method):
    """Replaces each value by one drawn with probability proportional to e^(-epsilon d / 2).

    d is the number of edges between the two values in the tree of the hierarchy. With `around = "value"` one
    cell is epsilon D-locally differentially private for D the largest distance: epsilon D / 2 from the
    weights and as much from their sums, which differ from value to value. The exact loss is the largest log
    ratio in the matrix, `losses_`; it is promised where the categories are declared and the hierarchy is
    written down, since otherwise the cells of others decide which values there are and how far apart.

    Args:
        epsilon: in [1e-6, 100].
        columns: columns with hierarchies; the quasi-identifiers that have one if None.
        around: `value` or `median`.
        confidence: T; the likeliest outcomes that reach this probability are candidates with high confidence.
        random_state: a seed, or None for the operating system's randomness.

    Attributes:
        transitions_: of each column its values and the matrix that was used, shape (d,) and (d, d).
        losses_: of each column the epsilon of one cell.

    Reference: McSherry and Talwar, Mechanism design via differential privacy, FOCS 2007; thesis, 4.3.1.
    """

    name: ClassVar[str] = "exponential-mechanism"
    keeps_rows: ClassVar[bool] = True
    random: ClassVar[bool] = True
    keeps_classes: ClassVar[bool] = False
    example: ClassVar[Mapping[str, Any]] = {"columns": ("city",)}

    epsilon: float = 1.0
    columns: tuple[str, ...] | None = None
    around: str = "value"
    confidence: float = 0.9
    random_state: int | None = None

    @override
    def _usual(self, table: Table) -> tuple[str, ...]:
        """The quasi-identifiers with a hierarchy that hold categories."""
        return tuple(
            name
            for name in table.roles.quasi_identifiers
            if name in table.hierarchies and table.is_categorical(name)
        )

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """A cell is drawn by its value or the median, over the domain, by distances in the hierarchy."""
        cells = {}
        for column in self.columns_of(table):
            one = table.provenance[column]
            read = one.content if self.around == "value" else one.content.spread()
            cells[column] = self._behind_noise(
                table, read | domain_provenance(table, column) | one.hierarchy, column
            )
        return table.provenance.recode(cells, gaps="none")

    @override
    def check(self) -> None:
        super().check()
        checked_budget(self.epsilon)
        if self.around not in AROUND:
            raise TableError(f"around = {self.around!r} is not a choice.", near(self.around, AROUND))

    @override
    def _fit(self, table: Table) -> None:
        table.complete(self.columns_of(table))
        self.transitions_: dict[str, tuple[NDArray[Any], Float]] = {}
        for column in self.columns_of(table):
            hierarchy = table.hierarchies.get(column)
            if hierarchy is None:
                raise HierarchyError(
                    f"Column {column!r} has no hierarchy.",
                    "Write one below [hierarchies]; distances are measured by it.",
                )
            values, counts = domain(table, column)
            groups = np.stack([level.groups for level in hierarchy.bind(values, column)])
            weights = np.exp(-self.epsilon * self._distances(groups, counts) / 2)
            self.transitions_[column] = (values, weights / weights.sum(axis=1, keepdims=True))
        self.losses_ = {column: loss(matrix) for column, (_, matrix) in self.transitions_.items()}

    @override
    def guarantees(self, table: Table) -> tuple[Guarantee, ...]:
        """Local differential privacy of one cell, if no cell has made the matrix; see `provenance`."""
        found = self.transitions_.items()
        return tuple(one for column, (_, matrix) in found for one in of_one_cell(column, matrix, self.name))

    def _distances(self, groups: Int, counts: Int) -> Float:
        distances = edges(groups)
        if self.around == "value":
            return distances
        median = int(np.argmin(distances @ counts))
        return np.broadcast_to(distances[median], distances.shape)

    @override
    def _transform(self, table: Table) -> Table:
        random = Randomness(self.random_state)
        table.complete(tuple(self.transitions_))
        replaced = {
            column: draw_values(table, column, values, matrix, random)
            for column, (values, matrix) in self.transitions_.items()
        }
        return table.replace(replaced)

    def simulate(self, column: str, candidates: Candidates) -> Candidates:
        """The likeliest outcomes up to T with high confidence, all others with low."""
        if column not in self.transitions_:
            return candidates
        return simulated_labels(candidates, *self.transitions_[column], self.confidence)


def edges(groups: Int) -> Float:
    """Distances in the tree of a hierarchy: twice the lowest level at which two values have one label.

    Args:
        groups: of each level, the places of the labels of d values, shape (levels, d).

    Returns:
        Shape (d, d); values that share no label are twice the number of levels apart.
    """
    levels, count = groups.shape
    distances = np.full((count, count), 2.0 * levels)
    for level in range(levels - 1, -1, -1):
        distances[groups[level][:, None] == groups[level][None, :]] = 2.0 * level
    return distances
