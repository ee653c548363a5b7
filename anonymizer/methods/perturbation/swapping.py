"""Data swapping: records of a random part exchange cells.

The values of a column stay as they are, all together; what they stand beside changes.

References: Dalenius and Reiss, Data-swapping: a technique for disclosure control, Journal of Statistical
Planning and Inference 6, 1982; thesis, sections 2.2.1 and 4.2.2.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import TableError
from anonymizer.methods.contract.method import Method
from anonymizer.methods.contract.parameters import parameters
from anonymizer.methods.perturbation.transition import checked_size, simulated_labels
from anonymizer.risk.candidates import Candidates, IntervalCandidates, LabelCandidates
from anonymizer.tables.provenance import TableProvenance
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]


@parameters
class Swapping(Method):
    """A random part of the records exchange their cells in pairs.

    Args:
        rate: the part of the records that is chosen, in (0, 1], for each column anew; one that finds no
            partner keeps its cell.
        columns: whose cells are exchanged; the quasi-identifiers if None.
        within: columns in which partners agree, so that what they have to do with the exchanged ones stays.
        together: whether the columns are exchanged as one, so that they keep what they have to do with each
            other.
        confidence: T; the likeliest outcomes that reach this probability are candidates with high confidence.
        random_state: a seed, or None for the operating system's randomness.
    """

    name: ClassVar[str] = "swapping"
    keeps_rows: ClassVar[bool] = True
    random: ClassVar[bool] = True
    keeps_classes: ClassVar[bool] = False

    rate: float = 0.1
    columns: tuple[str, ...] | None = None
    within: tuple[str, ...] = ()
    together: bool = False
    confidence: float = 0.9
    random_state: int | None = None

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """A cell becomes one of another row, of those that agree with it; empty ones stay empty."""
        columns = self.columns_of(table)
        read = {name: (columns if self.together else (name,)) for name in columns}
        cells = {n: table.provenance.content(*one, *self.within).spread() for n, one in read.items()}
        return table.provenance.recode(cells, gaps="stay")

    @override
    def check(self) -> None:
        super().check()
        if not 0 < self.rate <= 1:
            raise TableError(
                f"The swapping rate {self.rate} lies outside (0, 1].",
                "Choose above 0 and up to 1, such as 0.1.",
            )

    @override
    def _fit(self, table: Table) -> None:
        for column in self.within:
            table.require(column)
            if column in self.columns_of(table):
                raise TableError(
                    f"Column {column!r} is exchanged, and partners should agree in it.",
                    "Take it out of columns or of within.",
                )

    @override
    def _transform(self, table: Table) -> Table:
        columns = self.columns_of(table)
        self.groups_: Int = classes(table, tuple(self.within))
        self.codes_ = {column: table.codes(column) for column in columns}
        orders: dict[str, Int] = {}
        for exchanged in [columns] if self.together else [(column,) for column in columns]:
            whole = np.ones(len(table), dtype=np.bool_)
            for column in exchanged:
                whole &= self.codes_[column].codes >= 0
            rows = np.flatnonzero(whole)
            # a stream for each: how much another column draws tells of its gaps
            random = Randomness(self.random_state, f"swapping {exchanged}")
            chosen = rows[random.sample(len(rows), round(self.rate * len(rows)))]
            orders |= dict.fromkeys(exchanged, swap_pairs(chosen, self.groups_, random))
        return table.permuted(orders) if orders else table

    def _matrix(self, column: str) -> Float:
        """Of each value the probabilities of what it becomes, partners drawn from the whole group."""
        codes = self.codes_[column].codes
        checked_size(column, len(self.codes_[column].values))
        here = np.flatnonzero(codes >= 0)
        joint = scipy.sparse.csr_array((np.ones(len(here)), (codes[here], self.groups_[here])))
        from_value = joint.multiply(1 / joint.sum(axis=1)[:, None])
        to_value = joint.multiply(1 / np.maximum(joint.sum(axis=0), 1)[None, :]).T
        matrix: Float = self.rate * (from_value @ to_value).toarray()
        np.fill_diagonal(matrix, matrix.diagonal() + 1 - matrix.sum(axis=1))
        return matrix

    def simulate(self, column: str, candidates: Candidates) -> Candidates:
        """Values stay with probability 1 - rate at least, or become one of the column.

        Of numbers, those that stay are candidates with high confidence if 1 - rate is T or more, otherwise
        all between the least and the largest are.
        """
        if column not in self.codes_:
            return candidates
        values = self.codes_[column].values
        if isinstance(candidates, LabelCandidates):
            return simulated_labels(candidates, values, self._matrix(column), self.confidence)
        values = values.astype(np.float64)
        least = np.minimum(candidates.low[:, 0], values.min(initial=np.inf))
        largest = np.maximum(candidates.low[:, 1], values.max(initial=-np.inf))
        low = np.stack([least, largest], axis=1)
        return IntervalCandidates(candidates.high if 1 - self.rate >= self.confidence else low, low)


def classes(table: Table, columns: tuple[str, ...]) -> Int:
    """Of each row the number of its class of rows alike in the columns, from 0, shape (n,)."""
    if not columns:
        return np.zeros(len(table), dtype=np.int64)
    cells = np.stack([table.codes(column).codes for column in columns], axis=1)
    return np.unique(cells, axis=0, return_inverse=True)[1].reshape(-1)


def swap_pairs(chosen: Int, groups: Int, random: Randomness) -> Int:
    """An order of the rows in which pairs of the chosen rows of one group have changed places.

    Args:
        chosen: different rows, shape (m,).
        groups: of all rows, shape (n,).
        random: where from.

    Returns:
        Shape (n,).
    """
    rows = chosen[np.lexsort((random.words(len(chosen)), groups[chosen]))]
    first = np.searchsorted(groups[rows], groups[rows])
    even = np.flatnonzero((np.arange(len(rows)) - first) % 2 == 0)
    even = even[even + 1 < len(rows)]
    even = even[groups[rows[even]] == groups[rows[even + 1]]]
    order = np.arange(len(groups))
    order[rows[even]], order[rows[even + 1]] = rows[even + 1], rows[even]
    return order
