"""Histograms and cross tables: row counts by bin; one row is in at most one cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from typing_extensions import override

from smc.analyses.statistics.kinds.bins import Bins
from smc.analyses.statistics.kinds.chi_square import exact_test, noisy_test
from smc.analyses.statistics.kinds.statistic import MISS, Part, Result, Statistic
from smc.analyses.statistics.queries.rows import Ints, LocalRows
from smc.numeric.random import Randomness
from smc.secret.noise.distribution import Distribution


@dataclass(frozen=True, slots=True)
class Cells(Statistic):
    """Row counts by the bins of one or two columns.

    Attributes:
        bins: of the query's columns; the cells are in the order of rows, then columns.
    """

    bins: tuple[Bins, ...]

    @property
    @override
    def parts(self) -> tuple[Part, ...]:
        """One entry per cell; one row changes one of them by 1."""
        return (Part(prod(len(bins.labels) for bins in self.bins), 1, Fraction(1)),)

    @property
    @override
    def counts(self) -> tuple[int, ...]:
        """Each cell counts its own rows."""
        return tuple(range(self.parts[0].size))

    @property
    @override
    def unit(self) -> str:
        """Rows."""
        return "rows"

    @property
    def has_margins(self) -> bool:
        """Whether totals are opened with exact cells."""
        return True

    def places(self, rows: LocalRows) -> Ints:
        """The cell of each row, -1 for those in none."""
        found = np.zeros(rows.count, dtype=np.int64)
        outside = np.zeros(rows.count, dtype=np.bool_)
        for name, bins in zip(self.query.columns, self.bins, strict=True):
            places = bins.places(rows.columns[name])
            outside |= places < 0
            found = found * len(bins.labels) + places
        return np.where(outside, -1, found)

    @override
    def local(self, rows: LocalRows) -> Ints:
        """The local counts; rows outside all bins are in none."""
        return np.bincount(self.places(rows) + 1, minlength=self.parts[0].size + 1)[1:].astype(np.int64)

    def labels(self) -> dict[str, Sequence[Any]]:
        """The columns of a result table that name the cells."""
        names = ("bin",) if len(self.bins) == 1 else self.query.columns
        grids = np.meshgrid(*(np.arange(len(bins.labels)) for bins in self.bins), indexing="ij")
        return {
            name: [bins.labels[place] for place in grid.reshape(-1)]
            for name, bins, grid in zip(names, self.bins, grids, strict=True)
        }

    @override
    def result(
        self, entries: Sequence[int | None], distributions: Sequence[Distribution], random: Randomness
    ) -> Result:
        """Nothing in the common table: the counts have their own, each interval for its own cell.

        Entries that are None were withheld.
        """
        width = distributions[0].half_width(MISS) if distributions else 0
        table = {
            **self.labels(),
            "count": list(entries),
            "lower_95": [None if entry is None else entry - width for entry in entries],
            "upper_95": [None if entry is None else entry + width for entry in entries],
        }
        return Result(table=table)


class CrossTable(Cells):
    """Counts by the bins of two columns, with a test of their independence if the query asks for it."""

    __slots__ = ()

    @property
    @override
    def simulates(self) -> bool:
        """The p-value."""
        return self.query.test

    @override
    def result(
        self, entries: Sequence[int | None], distributions: Sequence[Distribution], random: Randomness
    ) -> Result:
        """The counts; in the common table the p-value of the test."""
        # not super(): a dataclass with slots is another class than the one the body saw
        counts = Cells.result(self, entries, distributions, random)
        if not self.query.test:
            return counts
        if None in entries:
            note = f"{self.query.name}: no test, as cells are withheld."
            return Result(table=counts.table, notes=(note,))
        shape = (len(self.bins[0].labels), len(self.bins[1].labels))
        table = np.array(entries, dtype=np.float64).reshape(shape)
        value = noisy_test(table, distributions[0], random) if distributions else exact_test(table)
        how = (
            "its distribution under independence simulated with the noise"
            if distributions
            else "from the chi-square distribution"
        )
        note = f"{self.query.name}: the p-value is of a chi-square test of independence, {how}."
        if value is None:
            note = (
                f"{self.query.name}: no test, as fewer than two rows or columns of the table hold anything."
            )
        return Result(p_value=value, table=counts.table, notes=(note,))
