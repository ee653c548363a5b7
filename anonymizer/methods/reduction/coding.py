"""Top and bottom coding: values beyond a bound become the bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from anonymizer.errors import TableError
from anonymizer.methods.contract.method import Method
from anonymizer.methods.contract.parameters import parameters
from anonymizer.risk.candidates import Candidates, IntervalCandidates, LabelCandidates
from anonymizer.tables.provenance import TableProvenance
from anonymizer.tables.table import Table


@parameters
class TopBottomCoding(Method):
    """Clips numbers.

    Args:
        bounds: of each column its lower and upper bound, None for none.
        quantiles: for columns without bounds: the quantiles of their values that become the bounds.
        columns: the columns that quantiles are taken of; the numeric quasi-identifiers if None.

    Reference: thesis, section 2.2.1.
    """

    name: ClassVar[str] = "top-bottom-coding"
    random: ClassVar[bool] = False
    keeps_rows: ClassVar[bool] = True
    keeps_classes: ClassVar[bool] = True

    bounds: Mapping[str, tuple[float | None, float | None]] | None = None
    quantiles: tuple[float, float] = (0.01, 0.99)
    columns: tuple[str, ...] | None = None

    @override
    def columns_of(self, table: Table) -> tuple[str, ...]:
        """Those with bounds, and those of `columns`."""
        stated = tuple(self.bounds or ())
        if self.columns is not None:
            return tuple(dict.fromkeys((*stated, *self.columns)))
        if stated:
            return stated
        return tuple(name for name in table.roles.quasi_identifiers if table.is_numeric(name))

    @override
    def check(self) -> None:
        super().check()
        lower, upper = self.quantiles
        if not 0 <= lower < upper <= 1:
            raise TableError(
                "The quantiles of top and bottom coding do not increase within [0, 1].",
                "Write two numbers, the smaller one first, such as [0.01, 0.99].",
            )
        for column, stated in (self.bounds or {}).items():
            _ends(column, stated)

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """With stated bounds a cell depends on itself; quantiles are of the whole table."""
        read = {name: table.provenance.content(name) for name in self.columns_of(table)}
        cells = {name: one if name in (self.bounds or {}) else one.spread() for name, one in read.items()}
        return table.provenance.recode(cells, gaps="stay")

    @override
    def _fit(self, table: Table) -> None:
        lower, upper = self.quantiles
        self.bounds_: dict[str, tuple[float, float]] = {}
        for column in self.columns_of(table):
            stated = (self.bounds or {}).get(column)
            if stated is None:
                numbers = table.numbers(column)
                if np.isnan(numbers).all():
                    raise TableError(
                        f"Column {column!r} has no numbers to take quantiles of.",
                        "Write bounds = { age = [18, 90] } in the step.",
                    )
                found = np.nanquantile(numbers, [lower, upper], method="closest_observation")
                self.bounds_[column] = (float(found[0]), float(found[1]))
            else:
                self.bounds_[column] = _ends(column, stated)

    @override
    def _transform(self, table: Table) -> Table:
        return table.replace({column: self._clip(table, column) for column in self.bounds_})

    def _clip(self, table: Table, column: str) -> Any:
        table.numbers(column)
        low, high = self.bounds_[column]
        return table.series(column).clip(
            None if np.isneginf(low) else _like(low), None if np.isposinf(high) else _like(high)
        )

    def simulate(self, column: str, candidates: Candidates) -> Candidates:
        """Intervals are clipped."""
        if column not in self.bounds_ or isinstance(candidates, LabelCandidates):
            return candidates
        return IntervalCandidates(
            *(np.clip(ends, *self.bounds_[column]) for ends in (candidates.high, candidates.low))
        )


def _like(bound: float) -> float | int:
    return int(bound) if bound.is_integer() else bound


def _ends(column: str, stated: tuple[float | None, float | None]) -> tuple[float, float]:
    low, high = stated
    ends = (-np.inf if low is None else float(low), np.inf if high is None else float(high))
    if np.isnan(ends).any() or ends[0] == np.inf or ends[1] == -np.inf or not ends[0] <= ends[1]:
        raise TableError(
            f"The bounds of column {column!r} hold no number, or are the wrong way round.",
            "Write the smaller one first.",
        )
    return ends
