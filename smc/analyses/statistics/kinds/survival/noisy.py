"""What noise in the cells does to curves and tests, by drawing it again.

    noisy cells + further noise of the same distribution, some hundred times      the same figures of each

Their variances about the figures without further noise are those of the noise; they are added to the
variances of sampling. So an interval speaks of both, and a test divides by a standard error that counts both,
as the t-test of this package does. The draws follow from a public seed (`draws.py`).

Curves end, and tests stop, before the rows at risk are so few that noise could account for a good part of
them: with fewer than ten deviations of the noise in their number a quotient says little, and is not near
normal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.statistics.kinds.draws import noise_like
from smc.analyses.statistics.kinds.survival.figures import GroupFigures, LogRank
from smc.analyses.statistics.kinds.survival.layout import EVENT, SurvivalCells
from smc.analyses.statistics.kinds.survival.life_table import (
    Floats,
    at_risk,
    falling,
    incidence,
    kaplan_meier,
    log_rank,
    restricted_mean,
)
from smc.numeric.random import Randomness
from smc.secret.noise.distribution import Distribution

MOST_DRAWN: Final = 1 << 19
DRAWS: Final = (200, 1000)
"""Numbers drawn for one query, and the least and most of the tables."""

DEVIATIONS: Final = 10
"""Rows at risk are looked at while they are so many deviations of their noise."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Redrawn:
    """The cells of a query with noise drawn again and again.

    Attributes:
        layout: of the cells.
        cells: as they were opened, shape (size,).
        drawn: with further noise, shape (draws, size).
        deviation: of the noise of a cell; 0 if there is none.
    """

    layout: SurvivalCells
    cells: Floats
    drawn: Floats
    deviation: float

    @classmethod
    def of(
        cls, layout: SurvivalCells, cells: Floats, noise: Distribution | None, random: Randomness
    ) -> Redrawn:
        """Draw; nothing is drawn where there is no noise."""
        if noise is None:
            return cls(layout, cells, cells[None], 0.0)
        count = min(max(MOST_DRAWN // layout.size, DRAWS[0]), DRAWS[1])
        further = noise_like(noise, count * layout.size, random).reshape(count, layout.size)
        return cls(layout, cells, cells + further, noise.deviation)

    def count_trusted(self, risk: Floats, sums: int) -> int:
        """How many of the first steps have enough rows at risk.

        Args:
            risk: rows at risk, shape (steps,).
            sums: as many cells of each ending and step were added up.
        """
        left = np.arange(self.layout.steps, 0, -1) * self.layout.endings.kinds + 1
        least = np.maximum(DEVIATIONS * self.deviation * np.sqrt(sums * left), 1)
        enough: NDArray[np.bool_] = risk >= least
        return int(np.argmin(enough)) if not enough.all() else len(enough)

    def figures(self, group: int, rows: int, mean_steps: int) -> GroupFigures:
        """The figures of a group.

        Args:
            group: its place.
            rows: how many it has.
            mean_steps: those of the restricted mean; 0 where it is not asked.
        """
        layout = self.layout
        risk = at_risk(*self._group(self.cells, group, layout.steps))
        steps = self.count_trusted(risk[:-1], len(layout.strata))
        ended, beyond = self._group(self.cells, group, steps)
        curve, drawn = kaplan_meier(ended, beyond, layout.missed), self._group(self.drawn, group, steps)
        again = kaplan_meier(*drawn, layout.missed)
        noise = again.survival.var(axis=0)
        sampling = curve.survival**2 * np.maximum.accumulate(np.maximum(curve.variance, 0))
        chances, spread = incidence(ended, beyond, layout.missed)
        spread = np.maximum(spread, 0) + incidence(*drawn, layout.missed)[0].var(axis=0)
        mean = None
        if 0 < mean_steps <= steps:
            value, variance = restricted_mean(curve, mean_steps, layout.missed)
            noise_of_mean = restricted_mean(again, mean_steps, layout.missed)[0].var()
            mean = float(value), max(float(variance), 0.0) + float(noise_of_mean)
        height = falling(curve.survival)
        return GroupFigures(
            rows,
            self._at_points(curve.at_risk),
            self._at_points(height),
            self._at_points(sampling + noise),
            self._at_points(noise) if self.deviation else None,
            self._at_points(np.clip(chances, 0, 1)),
            self._at_points(spread),
            mean,
        )

    def _at_points(self, values: Floats) -> Floats:
        """Values at the start and the end of each step, at the points that are shown; NaN beyond."""
        missing = np.full((*values.shape[:-1], self.layout.steps + 1 - values.shape[-1]), np.nan)
        found: Floats = np.concatenate([values, missing], axis=-1)[..., :: self.layout.stride]
        return found

    def _group(self, cells: Floats, group: int, steps: int) -> tuple[Floats, Floats]:
        """A group's rows by ending and step, and beyond the steps looked at; strata added up."""
        ended, beyond = self.layout.split(cells)
        inside, outside = ended[..., group, :, :, :].sum(axis=-3), beyond[..., group, :].sum(axis=-1)
        return inside[..., :steps], outside + inside[..., steps:].sum(axis=(-2, -1))

    def compare(self) -> LogRank | None:
        """What the test compares, the covariances of the noise included; None where too few are at risk."""
        events, risk = self._events_and_risk(self.cells)
        kept = np.zeros((len(self.layout.strata), self.layout.steps), dtype=np.bool_)
        for place, marks in enumerate(kept):
            marks[: self.count_trusted(risk[:, place].sum(axis=0), len(self.layout.groups))] = True
        if not kept.any():
            return None
        excess, covariance = log_rank(events[..., kept], risk[..., kept])
        further = self._events_and_risk(self.drawn)
        again = log_rank(*(each[..., kept] for each in further))[0] - excess
        noise = again.T @ again / len(again) if self.deviation else np.zeros_like(covariance)
        risks = risk[:, kept]
        expected = (events[:, kept].sum(axis=0) * risks / np.maximum(risks.sum(axis=0), 1)).sum(axis=-1)
        return LogRank(excess, covariance + noise, events[:, kept].sum(axis=-1), expected)

    def _events_and_risk(self, cells: Floats) -> tuple[Floats, Floats]:
        """By group, stratum and step; competing events end the follow-up."""
        ended, beyond = self.layout.split(cells)
        events = ended[..., EVENT, :]
        others = ended.sum(axis=-2) - events
        return events, at_risk(ended, beyond)[..., :-1] - self.layout.missed * others
