"""The risk of an event in two groups, with difference and ratios: four counts, and what follows from them.

The four counts are opened like those of a cross table; all else follows from them. With noise intervals come
of simulation (`simulated_figures.py`) and speak of the rows that both have; beside them stand those that
speak of sampling too, and so of the population (`proportions.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from typing_extensions import override

from smc.analyses.statistics.kinds.chi_square import noisy_test
from smc.analyses.statistics.kinds.counted_cells import CountedCells
from smc.analyses.statistics.kinds.figure_rows import FigureRow, figure_table
from smc.analyses.statistics.kinds.proportions import (
    RANGES,
    RATIOS,
    RISK_RATIO,
    figures,
    mid_p,
    sampling_ends,
)
from smc.analyses.statistics.kinds.simulated_figures import CountedFigures
from smc.analyses.statistics.kinds.statistic import Result
from smc.numeric.random import Randomness
from smc.secret.noise.distribution import Distribution


class Risks(CountedCells):
    """The risk of an event in two groups.

    The bins of the first column are the groups, those of the second the event and its absence.
    """

    __slots__ = ()

    figures_called = "risks"

    @override
    def count_names(self) -> list[str]:
        groups, events = (bins.labels for bins in self.bins)
        return [f"{group}: {event}" for group in groups for event in events]

    @override
    def result_of(
        self,
        counts: list[FigureRow],
        entries: Sequence[int],
        distributions: Sequence[Distribution],
        random: Randomness,
    ) -> Result:
        """The risk ratio."""
        groups, name = self.bins[0].labels, self.query.name
        terms = [f"risk of {group}" for group in groups] + list(RANGES)[2:]
        found = _FIGURES.rows(entries, distributions, random)
        p_value, how = self._test(entries, distributions, random)
        notes = (
            f"{name}: the value is the risk ratio of {groups[0]} to {groups[1]}.",
            f"{name}: the p-value is of {how}.",
        )
        rows = [replace(figure, term=term) for term, figure in zip(terms, found.values(), strict=True)]
        main = found[RISK_RATIO]
        table = figure_table([*counts, *rows])
        return Result(main.value, *main.noise, table, notes, p_value=p_value, sampled=main.sampled)

    def _test(
        self, entries: Sequence[int], distributions: Sequence[Distribution], random: Randomness
    ) -> tuple[float | None, str]:
        if not distributions:
            return mid_p(entries), "Fisher's exact test of equal risks, as mid-p"
        table = np.array(entries, dtype=np.float64).reshape(2, 2)
        how = "a chi-square test of equal risks, its distribution simulated with the noise"
        return noisy_test(table, distributions[0], random), how


_FIGURES: Final = CountedFigures(figures, RANGES, sampling_ends, RATIOS)
