"""Categories changed at random, near ones more likely: the exponential mechanism over a hierarchy.

The thesis (section 4.3.1) takes Pr[r] proportional to e^(epsilon H / 2), H being the distance by edges of
the tree between r and the median of the column. As printed, far values would be likelier; here quality is
minus the distance. `around` says what it is taken from: the median of the column, as the text says, which
makes all records alike, or the record's own value, which keeps more of it.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import HierarchyError, TableError
from anonymizer.models.method import Method
from anonymizer.models.transition import drawn, spread_labels
from anonymizer.risk.candidates import Sets
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import near
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]

AROUND: Final = ("value", "median")


class ExponentialMechanism(Method):
    """Replaces each value by one drawn with probability proportional to e^(-epsilon d / 2).

    d is the number of edges between the two values in the tree of the hierarchy. With `around = "value"` one
    cell is epsilon D / 2-locally differentially private for D the largest distance, in exact arithmetic; the
    drawing is in double precision, so no such claim is made.

    Args:
        epsilon: positive.
        columns: columns with hierarchies; the quasi-identifiers that have one if None.
        around: `value` or `median`.
        confidence: T; the likeliest outcomes that reach this probability are candidates with high confidence.
        random_state: a seed, or None for the operating system's randomness.

    Reference: McSherry and Talwar, Mechanism design via differential privacy, FOCS 2007; thesis, 4.3.1.
    """

    word: ClassVar[str] = "exponential-mechanism"

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        columns: tuple[str, ...] | None = None,
        around: str = "value",
        confidence: float = 0.9,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.columns = columns
        self.around = around
        self.confidence = confidence
        self.random_state = random_state

    def columns_of(self, table: Table) -> tuple[str, ...]:
        """Those named, or the quasi-identifiers with a hierarchy that hold no numbers."""
        if self.columns is not None:
            return tuple(self.columns)
        return tuple(
            name
            for name in table.roles.quasi_identifiers
            if name in table.hierarchies and not table.is_numeric(name)
        )

    def _fit(self, table: Table) -> None:
        if not self.epsilon > 0:
            raise TableError(
                "The epsilon of the exponential mechanism is not positive.", "Write such as 1.0."
            )
        if self.around not in AROUND:
            raise TableError(
                f"There is nothing called {self.around!r} to be around.", near(self.around, AROUND)
            )
        table.complete(self.columns_of(table))
        self.laws_: dict[str, tuple[NDArray[Any], Float]] = {}
        for column in self.columns_of(table):
            hierarchy = table.hierarchies.get(column)
            if hierarchy is None:
                raise HierarchyError(
                    f"Column {column!r} has no hierarchy.", "Give one to measure distances by."
                )
            codes = table.codes(column)
            groups = np.stack([level.groups for level in hierarchy.bind(codes.values, column)])
            weights = np.exp(-self.epsilon * self._distances(groups, codes.codes) / 2)
            self.laws_[column] = (codes.values, weights / weights.sum(axis=1, keepdims=True))

    def _distances(self, groups: Int, codes: Int) -> Float:
        distances = edges(groups)
        if self.around == "value":
            return distances
        counts = np.bincount(codes, minlength=groups.shape[1])
        median = int(np.argmin(distances @ counts))
        return np.broadcast_to(distances[median], distances.shape)

    def _transform(self, table: Table) -> Table:
        random = Randomness(self.random_state)
        table.complete(tuple(self.laws_))
        replaced = {
            column: drawn(table, column, values, law, random) for column, (values, law) in self.laws_.items()
        }
        return table.replaced(replaced) if replaced else table

    def spread(self, column: str, sets: Sets) -> Sets:
        """The likeliest outcomes up to T with high confidence, all others with low."""
        if column not in self.laws_:
            return sets
        return spread_labels(sets, *self.laws_[column], self.confidence)


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
