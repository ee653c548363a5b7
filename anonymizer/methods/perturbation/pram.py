"""The post-randomization method (PRAM): categories changed at random by a published matrix.

Reference: Gouweleeuw, Kooiman, Willenborg, de Wolf, Post randomisation for statistical disclosure control:
theory and implementation, Journal of Official Statistics 14, 1998.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.methods.contract.method import Method
from anonymizer.methods.contract.parameters import parameters
from anonymizer.methods.perturbation.transition import (
    domain,
    domain_provenance,
    draw_values,
    of_one_cell,
    simulated_labels,
)
from anonymizer.releases.guarantee import Guarantee
from anonymizer.risk.candidates import Candidates
from anonymizer.tables.provenance import TableProvenance
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table
from commons.errors import near

Float = NDArray[np.float64]
Matrix = Mapping[str, Mapping[str, float]]


@parameters
class PRAM(Method):
    """Replaces each value by one drawn with the probabilities of a matrix, cell by cell.

    With `retention` r a value stays with probability r and becomes each of the d - 1 others with probability
    (1 - r) / (d - 1). Who knows the matrix P can undo the change on average: frequencies t become P^T t. With
    `invariant` a second change follows, back by Bayes' rule, so that frequencies stay on average as they are;
    fewer values stay then.

    Args:
        retention: the probability that a value stays, in [0, 1], where `matrices` says nothing.
        matrices: by column and value, the probability of what it becomes; what is not named has none.
        columns: columns of categories; the quasi-identifiers of texts or whole numbers if None, but those
            that are declared as integers, floats or dates.
        invariant: whether to keep frequencies.
        confidence: T; the likeliest outcomes that reach this probability are candidates with high confidence.
        random_state: a seed, or None for the operating system's randomness.

    Attributes:
        transitions_: of each column its values and the matrix that was used, shape (d,) and (d, d).
    """

    name: ClassVar[str] = "pram"
    keeps_rows: ClassVar[bool] = True
    random: ClassVar[bool] = True
    keeps_classes: ClassVar[bool] = False

    retention: float = 0.8
    matrices: Mapping[str, Matrix] | None = None
    columns: tuple[str, ...] | None = None
    invariant: bool = False
    confidence: float = 0.9
    random_state: int | None = None

    @override
    def _usual(self, table: Table) -> tuple[str, ...]:
        """The quasi-identifiers that hold categories, which codes of whole numbers are."""
        return tuple(name for name in table.roles.quasi_identifiers if table.is_categorical(name))

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """A cell is drawn by its own value and the matrix, which is about the domain and may be invariant."""
        cells = {}
        for column in self.columns_of(table):
            content = table.provenance.content(column)
            read = content.spread() if self.invariant else content
            cells[column] = self._behind_noise(table, read | domain_provenance(table, column), column)
        return table.provenance.recode(cells, gaps="none")

    @override
    def check(self) -> None:
        super().check()
        if not 0 <= self.retention <= 1:
            raise TableError(
                f"The retention {self.retention} lies outside [0, 1].", "Choose from 0 to 1, such as 0.8."
            )

    @override
    def _fit(self, table: Table) -> None:
        columns = self.columns_of(table)
        table.complete(columns)
        for column in self.matrices or {}:
            if column not in columns:
                raise TableError(
                    f"There is a matrix for {column!r}, which is not changed.", near(column, columns)
                )
        self.transitions_: dict[str, tuple[NDArray[Any], Float]] = {}
        for column in columns:
            values, counts = domain(table, column)
            matrix = self._matrix(column, values)
            self.transitions_[column] = (values, invariant(matrix, counts) if self.invariant else matrix)

    @override
    def guarantees(self, table: Table) -> tuple[Guarantee, ...]:
        """Local differential privacy of one cell, if no cell has made the matrix; see `provenance`."""
        found = self.transitions_.items()
        return tuple(one for column, (_, matrix) in found for one in of_one_cell(column, matrix, self.name))

    def _matrix(self, column: str, values: NDArray[Any]) -> Float:
        if column in (self.matrices or {}):
            return parse_matrix((self.matrices or {})[column], values, column)
        count = len(values)
        if count == 1:
            return np.ones((1, 1))
        matrix = np.full((count, count), (1 - self.retention) / (count - 1))
        np.fill_diagonal(matrix, self.retention)
        return matrix

    @override
    def _transform(self, table: Table) -> Table:
        table.complete(tuple(self.transitions_))
        random = Randomness(self.random_state)
        replaced = {
            column: draw_values(table, column, values, matrix, random)
            for column, (values, matrix) in self.transitions_.items()
        }
        return table.replace(replaced)

    def simulate(self, column: str, candidates: Candidates) -> Candidates:
        """The likeliest outcomes up to T with high confidence, other possible ones with low."""
        if column not in self.transitions_:
            return candidates
        return simulated_labels(candidates, *self.transitions_[column], self.confidence)


def parse_matrix(matrix: Matrix, values: NDArray[Any], column: str) -> Float:
    """A matrix as numbers.

    Args:
        matrix: by value the probability of what it becomes.
        values: those of the column, shape (d,).
        column: its name, for errors.

    Returns:
        Shape (d, d).

    Raises:
        TableError: a value has no row or a row does not add up to 1; or it leads to a value that the column
            does not have.
    """
    places = {text_of(value): place for place, value in enumerate(values.tolist())}
    found = np.zeros((len(places), len(places)))
    for text, row in places.items():
        if text not in matrix:
            raise TableError(
                f"The matrix of column {column!r} has no row for {text!r}.",
                "Write one: its probabilities of all values, which add up to 1.",
            )
        for result, probability in matrix[text].items():
            if result not in places:
                raise TableError(
                    f"The matrix of column {column!r} has {result!r} for {text!r}, which the column lacks.",
                    near(result, tuple(places)),
                )
            found[row, places[result]] = probability
        if not (found[row] >= 0).all() or abs(found[row].sum() - 1) > 1e-9:
            raise TableError(
                f"The row of {text!r} in the matrix of column {column!r} does not add up to 1.",
                "Correct its probabilities.",
            )
    return found


def invariant(matrix: Float, counts: NDArray[np.int64]) -> Float:
    """A matrix that keeps frequencies t on average: P Q, where Q_kl = t_l P_lk / (t^T P)_k.

    Args:
        matrix: P, shape (d, d), rows add up to 1.
        counts: proportional to t, positive, shape (d,).

    Returns:
        Shape (d, d), rows add up to 1, and t^T R = t^T.
    """
    joint = matrix * counts[:, None]
    back = np.divide(
        joint.T, joint.sum(axis=0)[:, None], out=np.zeros_like(joint), where=joint.sum(axis=0)[:, None] > 0
    )
    result: Float = matrix @ back
    return result
