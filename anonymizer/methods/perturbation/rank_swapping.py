"""Rank swapping: values are exchanged with values of near rank.

The values of a column stay as they are, all together, and none moves far.

Reference: Moore, Controlled data-swapping techniques for masking public use microdata sets, U.S. Bureau of
the Census 1996; thesis, sections 2.2.1 and 4.2.2.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import TableError
from anonymizer.methods.contract.method import Method
from anonymizer.methods.contract.parameters import parameters
from anonymizer.risk.candidates import Candidates, IntervalCandidates, LabelCandidates, compose_steps
from anonymizer.tables.provenance import TableProvenance
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]


@parameters
class RankSwapping(Method):
    """Each value is exchanged with one whose rank differs by at most p percent of the number of records.

    Ranks are shifted by uniform random amounts up to p percent and neighbours in the shifted order are
    exchanged, so that near ranks are likelier partners; a pair that is too far apart stays as it is. This
    does for all records at once what Moore's procedure does for one after another.

    Args:
        percent: p, in (0, 100].
        columns: columns with an order; the numeric quasi-identifiers if None.
        confidence: T; an attacker is confident of ranks within this quantile of the shift.
        random_state: a seed, or None for the operating system's randomness.
    """

    name: ClassVar[str] = "rank-swapping"
    keeps_rows: ClassVar[bool] = True
    random: ClassVar[bool] = True
    keeps_classes: ClassVar[bool] = False

    percent: float = 5.0
    columns: tuple[str, ...] | None = None
    confidence: float = 0.9
    random_state: int | None = None

    @override
    def _usual(self, table: Table) -> tuple[str, ...]:
        """The numeric quasi-identifiers."""
        return tuple(name for name in table.roles.quasi_identifiers if table.is_numeric(name))

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """A cell becomes one of another row of the column; empty ones stay empty."""
        cells = {name: table.provenance.content(name).spread() for name in self.columns_of(table)}
        return table.provenance.recode(cells, gaps="stay")

    @override
    def check(self) -> None:
        super().check()
        if not 0 < self.percent <= 100:
            raise TableError(
                f"A rank distance of {self.percent} % lies outside (0, 100].",
                "Choose above 0 and up to 100, such as 5.",
            )

    @override
    def _transform(self, table: Table) -> Table:
        orders: dict[str, Int] = {}
        self.ranks_: dict[str, tuple[NDArray[Any], Int, int]] = {}
        for column in self.columns_of(table):
            random = Randomness(self.random_state, f"rank swapping {column}")
            codes = table.codes(column)
            here = np.flatnonzero(codes.codes >= 0)
            # equal values get their ranks at random
            rows = here[np.lexsort((random.words(len(here)), codes.codes[here]))]
            window = max(1, int(self.percent * len(here) / 100))
            order = np.arange(len(table))
            order[rows] = rows[swap_ranks(len(rows), window, random)]
            orders[column] = order
            counts = np.bincount(codes.codes[here], minlength=len(codes.values))
            self.ranks_[column] = (codes.values, np.concatenate(([0], np.cumsum(counts))), window)
        return table.permuted(orders) if orders else table

    def simulate(self, column: str, candidates: Candidates) -> Candidates:
        """High: values of ranks within the quantile at T of the shift; low: within p percent.

        The difference of two uniform shifts up to w is within w (1 - sqrt(1 - T)) with probability T.
        """
        if column not in self.ranks_:
            return candidates
        values, starts, window = self.ranks_[column]
        reaches = (int(np.ceil(window * (1 - np.sqrt(1 - self.confidence)))), window)
        if isinstance(candidates, IntervalCandidates):
            return IntervalCandidates(
                *(
                    _reach(ends, values, starts, reach)
                    for ends, reach in zip((candidates.high, candidates.low), reaches, strict=True)
                )
            )
        places = {value: place for place, value in enumerate(values.tolist())}
        own = np.zeros((len(candidates.labels), len(values)), dtype=np.bool_)
        for row, label in enumerate(candidates.labels.tolist()):
            if label in places:
                own[row, places[label]] = True
        high, low = (compose_steps(own, _within(starts, reach)) for reach in reaches)
        return LabelCandidates(
            values, compose_steps(candidates.high, high), compose_steps(candidates.low, low)
        )


def swap_ranks(count: int, window: int, random: Randomness) -> Int:
    """An order of ranks 0 .. count - 1 in which pairs at most `window` apart have changed places."""
    line = np.argsort(np.arange(count) + window * random.uniform(count), kind="stable")
    line = line[int(random.integers(2, 1)[0]) :]
    left, right = line[: len(line) // 2 * 2].reshape(-1, 2).T
    near = np.abs(left - right) <= window
    order = np.arange(count)
    order[left[near]], order[right[near]] = right[near], left[near]
    return order


def _reach(ends: Float, values: NDArray[Any], starts: Int, reach: int) -> Float:
    """Of each interval the least and the largest value of ranks near those in it; nothing if none is."""
    low = np.searchsorted(values, ends[:, 0])
    high = np.searchsorted(values, ends[:, 1], side="right")
    some = high > low
    result = np.broadcast_to(np.array([np.inf, -np.inf]), ends.shape).copy()
    least = np.maximum(starts[low[some]] - reach, 0)
    largest = np.minimum(starts[high[some]] - 1 + reach, starts[-1] - 1)
    for place, ranks in enumerate((least, largest)):
        result[some, place] = values[np.searchsorted(starts, ranks, side="right") - 1]
    return result


def _within(starts: Int, reach: int) -> NDArray[np.bool_]:
    """Which values have ranks at most `reach` apart, shape (d, d)."""
    first, last = starts[:-1], starts[1:] - 1
    near = (first[None, :] - last[:, None] <= reach) & (first[:, None] - last[None, :] <= reach)
    return np.asarray(near)
