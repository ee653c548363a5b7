"""Ratios of two groups pooled over strata, after Mantel and Haenszel: in the clear, and how they read.

Of each stratum with a and b rows of the first group with and without the event, c and d of the second one,
and n in all,

    odds ratio      sum a d / n  over  sum b c / n; variance of its logarithm after Robins, Breslow, Greenland
    risk ratio      sum a (c + d) / n  over  sum c (a + b) / n; after Greenland and Robins
    chi-square      (sum a - E)**2 / sum V of Cochran, Mantel and Haenszel, without a correction of continuity

References: Mantel and Haenszel, JNCI 22, 1959; Robins, Breslow and Greenland, Biometrics 42, 1986; Greenland
and Robins, Biometrics 41, 1985; Cochran, Biometrics 10, 1954.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.analyses.statistics.kinds.bins import Bins
from smc.analyses.statistics.kinds.chi_square import survival
from smc.analyses.statistics.kinds.figure_rows import FigureRow, figure_table
from smc.analyses.statistics.kinds.proportions import Z
from smc.analyses.statistics.kinds.statistic import Part, Result, Statistic
from smc.analyses.statistics.queries.rows import Ints, LocalRows
from smc.numeric.random import Randomness
from smc.secret.noise.distribution import Distribution

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PooledFigures:
    """What is told of all strata together.

    Attributes:
        odds_ratio: of the first group to the second.
        odds_variance: of its logarithm.
        risk_ratio: likewise.
        risk_variance: of its logarithm.
        chi_square: of equal odds, with one degree of freedom.
    """

    odds_ratio: float
    odds_variance: float
    risk_ratio: float
    risk_variance: float
    chi_square: float

    @classmethod
    def of(cls, cells: Floats) -> PooledFigures | None:
        """In the clear; None where a ratio or the test does not exist.

        Args:
            cells: a, b, c and d of each stratum, shape (4, strata).
        """
        a, b, c, d = cells[:, cells.sum(axis=0) > 0]
        n = a + b + c + d
        r, s = a * d / n, b * c / n
        p = (a + d) / n
        first, second = (a + b) / n, (c + d) / n
        over, under = a * second, c * first
        if min(r.sum(), s.sum(), over.sum(), under.sum()) <= 0:
            return None
        x, y = (p * r).sum() / r.sum(), ((1 - p) * s).sum() / s.sum()
        spread = (first * second * (a + c) - a * c / n).sum()
        variance = (first * second * (a + c) * (b + d) / np.maximum(n - 1, 1)).sum()
        return cls(
            float(r.sum() / s.sum()),
            float(((x + 1 - y) / r.sum() + (y + 1 - x) / s.sum()) / 2),
            float(over.sum() / under.sum()),
            float(spread / over.sum() / under.sum()),
            float((a - first * (a + c)).sum() ** 2 / variance),
        )


@dataclass(frozen=True, slots=True)
class MantelHaenszel(Statistic):
    """Pooled ratios; computed in secret, so that no stratum is seen (`horizontal/pooled.py`).

    Attributes:
        groups: the bins of the first column.
        event: the bins of the second column: the event, and its absence.
        strata: of the further columns, each with all its labels.
    """

    groups: Bins
    event: Bins
    strata: tuple[Bins, ...]

    @property
    @override
    def parts(self) -> tuple[Part, ...]:
        """None: there is no noise."""
        return ()

    @property
    @override
    def noise_scale(self) -> float:
        """None."""
        return 0.0

    @property
    @override
    def unit(self) -> str:
        """None."""
        return ""

    @property
    def strata_count(self) -> int:
        """Combinations of labels."""
        return int(np.prod([len(bins.labels) for bins in self.strata]))

    def places(self, rows: LocalRows) -> Ints:
        """The place of each row in the cells, counted through shape (4, strata); -1 for those in none."""
        first, second, *others = self.query.columns
        group = self.groups.places(rows.columns[first])
        found = 2 * group + self.event.places(rows.columns[second])
        for name, bins in zip(others, self.strata, strict=True):
            found = found * len(bins.labels) + bins.places(rows.columns[name])
        return np.where(group < 0, -1, found)

    @override
    def local(self, rows: LocalRows) -> Ints:
        """The local counts of all strata, which no one else sees; shape (4 * strata,)."""
        size = 4 * self.strata_count
        return np.bincount(self.places(rows) + 1, minlength=size + 1)[1:].astype(np.int64)

    @override
    def result(
        self, entries: Sequence[int], distributions: Sequence[Distribution], random: Randomness
    ) -> Result:
        """Of counts in the clear."""
        del distributions, random
        return self.pooled(PooledFigures.of(np.array(entries, dtype=np.float64).reshape(4, -1)))

    def pooled(self, figures: PooledFigures | None) -> Result:
        """How figures read; None where there are none."""
        name = self.query.name
        if figures is None or min(figures.odds_ratio, figures.risk_ratio) <= 0:
            note = f"{name}: no ratios: there are no events, or a ratio is beyond 128 or below one over it."
            return Result(notes=(note,))
        rows = [
            _row("odds ratio", figures.odds_ratio, figures.odds_variance),
            _row("risk ratio", figures.risk_ratio, figures.risk_variance),
            FigureRow("chi-square", figures.chi_square, (figures.chi_square,) * 2),
        ]
        first, second = self.groups.labels
        notes = (
            f"{name}: the value is the odds ratio of {first} to {second}, pooled over {self.strata_count} "
            "strata after Mantel and Haenszel; the p-value is of Cochran's, Mantel's and Haenszel's test.",
        )
        main = rows[0]
        p_value = survival(figures.chi_square, 1)
        return Result(
            main.value, *main.noise, figure_table(rows), notes, p_value=p_value, sampled=main.sampled
        )


def _row(term: str, ratio: float, variance: float) -> FigureRow:
    middle, width = log(ratio), Z * sqrt(max(0.0, variance))
    return FigureRow(term, ratio, (ratio, ratio), (exp(middle - width), exp(middle + width)))
