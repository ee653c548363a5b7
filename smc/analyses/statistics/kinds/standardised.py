"""Standardised ratios: events that were observed, over those that public rates lead to expect.

With noise two sums are opened, the events and the rates of all rows. The exact ratio r of O and E fulfils
O - r E = 0, so its interval is that of a mean (`smc.analyses.records.noisy_means`). Without noise a sum of
rates, which the job chooses, could tell of every stratum; so the rows with and without the event are opened
by stratum, as a table under limits, and the ratio follows from these.

The interval that speaks of sampling takes the expected number as known, by Byar's approximation to the limits
of a Poisson count.

Reference: Breslow and Day, Statistical methods in cancer research, volume II, 1987, sections 2.3 and 2.7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, sqrt
from typing import Final

import numpy as np
from typing_extensions import override

from smc.analyses.records.noisy_means import Ends, mean_ends
from smc.analyses.statistics.kinds.bins import Bins
from smc.analyses.statistics.kinds.crosstabs import Cells
from smc.analyses.statistics.kinds.figure_rows import FigureRow, figure_table, open_ends
from smc.analyses.statistics.kinds.proportions import Z, join
from smc.analyses.statistics.kinds.statistic import MISS, Part, Result, Statistic
from smc.analyses.statistics.queries.rows import Ints, LocalRows
from smc.numeric.random import Randomness
from smc.secret.noise.distribution import Distribution
from smc.secret.noise.joint_law import JointLaw

RATE_DIGITS: Final = 9
"""Decimals of a rate at most."""

RATIO: Final = "standardised ratio"


@dataclass(frozen=True, slots=True)
class Rates:
    """Public rates of the labels of a column.

    Attributes:
        held: of each label in the order of its declaration, times 10**digits.
        digits: decimals.
    """

    held: tuple[int, ...]
    digits: int

    @property
    def unit(self) -> int:
        """Held units in a rate of 1."""
        return int(10**self.digits)

    def of(self, values: Ints) -> Ints:
        """The held rate of each value, 0 of those that are no label."""
        table = np.array([*self.held, 0], dtype=np.int64)
        inside = (values >= 0) & (values < len(self.held))
        found: Ints = table[np.where(inside, values, len(self.held))]
        return found


@dataclass(frozen=True, slots=True)
class StandardisedRatio(Statistic):
    """The ratio from two noisy sums.

    Attributes:
        event: the bins of the second column: the event, and its absence.
        rates: of the labels of the first column.
    """

    event: Bins
    rates: Rates

    @property
    @override
    def parts(self) -> tuple[Part, ...]:
        """The events and the rates of all rows."""
        half = Fraction(1, 2)
        return (Part(1, 1, half), Part(1, max(self.rates.held), half))

    @property
    @override
    def unit(self) -> str:
        """None."""
        return ""

    @override
    def local(self, rows: LocalRows) -> Ints:
        """The local sums."""
        strata, column = self.query.columns
        events = self.event.places(rows.columns[column]) == 0
        return np.array([events.sum(), self.rates.of(rows.columns[strata]).sum()], dtype=np.int64)

    @override
    def result(
        self, entries: Sequence[int], distributions: Sequence[Distribution], random: Randomness
    ) -> Result:
        """The ratio, with both numbers in a table of their own."""
        del random
        observed, expected = float(entries[0]), float(Fraction(entries[1], self.rates.unit))
        rows = []
        for term, value, held, unit in (
            ("observed", entries[0], 0, 1),
            ("expected", expected, 1, self.rates.unit),
        ):
            width = distributions[held].half_width(MISS) / unit if distributions else 0
            rows.append(FigureRow(term, value, (value - width, value + width)))
        noise = self._noise(entries, distributions) if distributions else None
        return ratio_result(self.query.name, observed, expected, noise, rows)

    def _noise(self, entries: Sequence[int], distributions: Sequence[Distribution]) -> Ends:
        of_observed, of_expected = distributions
        observed, expected = float(entries[0]), float(entries[1])
        least = expected - JointLaw.of([(1, of_expected)]).width(MISS)
        if least <= 0:
            return 0.0, inf
        most = (max(observed, 0) + 2 * JointLaw.of([(1, of_observed)]).width(MISS / 2)) / least + 1 / least
        ends = mean_ends(observed, expected, (of_observed, of_expected), MISS, (0.0, 2 * most))
        return ends[0] * self.rates.unit, ends[1] * self.rates.unit


@dataclass(frozen=True, slots=True)
class StandardisedCells(Cells):
    """The ratio from rows by stratum and event: the bins of the first column are the strata.

    Attributes:
        rates: of the strata.
    """

    rates: Rates

    @property
    @override
    def has_margins(self) -> bool:
        """Totals would tell nothing that the cells do not."""
        return False

    @property
    @override
    def unit(self) -> str:
        """None: of the common table's value, a ratio."""
        return ""

    @override
    def result(
        self, entries: Sequence[int | None], distributions: Sequence[Distribution], random: Randomness
    ) -> Result:
        """The ratio, with the cells in a table of their own. Entries that are None were withheld."""
        del distributions, random
        strata, events = (bins.labels for bins in self.bins)
        names = [f"{stratum}: {event}" for stratum in strata for event in events]
        rows = [FigureRow.of_count(term, entry, 0) for term, entry in zip(names, entries, strict=True)]
        known = [entry for entry in entries if entry is not None]
        name = self.query.name
        if len(known) < len(entries):
            return Result(table=figure_table(rows), notes=(f"{name}: no ratio, as counts are withheld.",))
        cells = np.array(known, dtype=np.float64).reshape(-1, 2)
        expected = float(cells.sum(axis=1) @ np.array(self.rates.held) / self.rates.unit)
        observed = float(cells[:, 0].sum())
        rows += [
            FigureRow(term, value, (value, value))
            for term, value in (("observed", int(observed)), ("expected", expected))
        ]
        return ratio_result(name, observed, expected, None, rows)


def ratio_result(
    name: str, observed: float, expected: float, noise: Ends | None, rows: Sequence[FigureRow]
) -> Result:
    """The ratio with its intervals.

    Args:
        name: of the query.
        observed: events.
        expected: of them.
        noise: the interval that speaks of the noise; None if there is none.
        rows: of the table, without the ratio.
    """
    if expected <= 0 or observed < 0:
        note = f"{name}: no ratio: with this much noise, the expected events cannot be told from none."
        row = FigureRow(RATIO, None, open_ends(noise or (-inf, inf)))
        return Result(table=figure_table([*rows, row]), notes=(note,))
    value = observed / expected
    ends = noise or (value, value)
    low, high = join(value, ends, _byar(observed, expected), ratio=True)
    if not observed:
        low, high = 0.0, max(ends[1], _byar(observed, expected)[1])
    row = FigureRow(RATIO, value, open_ends(ends), open_ends((low, high)))
    note = f"{name}: the value is the number of events over that which the rates lead to expect."
    return Result(value, *row.noise, figure_table([*rows, row]), (note,), sampled=row.sampled)


def _byar(observed: float, expected: float) -> Ends:
    more = observed + 1
    low = observed * max(0.0, 1 - 1 / (9 * observed) - Z / (3 * sqrt(observed))) ** 3 if observed else 0.0
    return low / expected, more * (1 - 1 / (9 * more) + Z / (3 * sqrt(more))) ** 3 / expected
