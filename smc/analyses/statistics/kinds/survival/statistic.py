"""Survival with noise in the numbers of rows by group, stratum, step and ending; all else follows from them.

A row is in one cell, so the noise is that of one count, whatever is asked: curves with bands, cumulative
incidences of competing events, restricted means, medians, a log-rank test within strata. Nothing is computed
in secret but the cells, their noise and the rows of each group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from typing_extensions import override

from smc.analyses.statistics.kinds.statistic import Part, Result, Statistic, Word
from smc.analyses.statistics.kinds.survival.figures import GroupFigures, SurvivalFigures
from smc.analyses.statistics.kinds.survival.layout import SurvivalCells
from smc.analyses.statistics.kinds.survival.noisy import Redrawn
from smc.analyses.statistics.queries.rows import Ints, LocalRows
from smc.numeric.random import Randomness
from smc.protocols.session import Session
from smc.secret.noise.distribution import Distribution


@dataclass(frozen=True, slots=True)
class Survival(Statistic):
    """Curves and what belongs to them.

    Attributes:
        layout: of the cells.
    """

    layout: SurvivalCells

    @property
    @override
    def parts(self) -> tuple[Part, ...]:
        """One entry for each cell; one row changes one of them by 1."""
        return (Part(self.layout.size, 1, Fraction(1)),)

    @property
    @override
    def size(self) -> int:
        """The cells, and beside them the rows of each group, which are sums of cells."""
        return self.layout.size + len(self.layout.groups)

    @property
    @override
    def counts(self) -> tuple[int, ...]:
        """Each cell goes with the rows of its group."""
        groups = len(self.layout.groups)
        first = self.layout.size
        cells = [first + group for group in range(groups) for _ in range(first // groups)]
        return (*cells, *range(first, first + groups))

    @property
    @override
    def unit(self) -> str:
        """None: the figures are chances; times have their unit beside them."""
        return ""

    @property
    @override
    def simulates(self) -> bool:
        """The effect of the noise on curves and test."""
        return True

    @override
    def local(self, rows: LocalRows) -> Ints:
        """The rows of each cell."""
        return self.layout.count(rows)

    @override
    def combine(self, session: Session, own: Ints, noise: Word) -> Word:
        """The noisy cells, and sums of them."""
        del session
        found: Word = self._with_totals(own.view(np.uint64) + noise)
        return found

    @override
    def exact(self, entries: Ints) -> Ints:
        """The cells, and sums of them."""
        found: Ints = self._with_totals(entries)
        return found

    def _with_totals(self, cells: Any) -> Any:
        groups = cells.reshape(len(cells), len(self.layout.groups), -1)
        return np.concatenate([cells, groups.sum(axis=2, dtype=cells.dtype)], axis=1)

    @override
    def result(
        self, entries: Sequence[int], distributions: Sequence[Distribution], random: Randomness
    ) -> Result:
        """The curves as a table, further ones for what belongs to them, and the p-value of the test."""
        layout = self.layout
        cells = np.array(entries[: layout.size], dtype=np.float64)
        totals = entries[layout.size :]
        redrawn = Redrawn.of(layout, cells, distributions[0] if distributions else None, random)
        groups = [
            redrawn.figures(group, rows, self.mean_steps) if rows else None
            for group, rows in enumerate(totals)
        ]
        comparison = redrawn.compare() if self.query.test and all(totals) else None
        return SurvivalFigures(self.query, self.schemas[0], layout, groups, comparison).result(
            self._notes(groups, noisy=bool(distributions))
        )

    @property
    def mean_steps(self) -> int:
        """Steps of the restricted mean; 0 where it is not asked."""
        asked = self.query.follow_up
        if asked is None or asked.restricted_mean is None:
            return 0
        return int(asked.restricted_mean / asked.every) * self.layout.stride

    def _notes(self, groups: Sequence[GroupFigures | None], *, noisy: bool) -> tuple[str, ...]:
        name, both = self.query.name, " and of the noise together" if noisy else ""
        notes = [
            f"{name}: intervals and p-value speak of sampling{both}; "
            "those of curves are symmetrical on the scale of log(-log S)."
        ]
        if self.schemas[0].unit:
            notes.append(f"{name}: medians and restricted means are in {self.schemas[0].unit}.")
        if noisy:
            notes.append(
                f"{name}: noise_alone is half the 95 % interval that the noise by itself would cause."
            )
        if any(group is None or not np.isfinite(group.survival[-1]) for group in groups):
            notes.append(
                f"{name}: a curve ends where so few rows are at risk that the noise could account for a good "
                "part of them."
            )
        return tuple(notes)
