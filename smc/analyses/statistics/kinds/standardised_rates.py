"""Directly standardised rates of two groups: rates by stratum, averaged by the weights of a standard.

Rows by group, event and stratum are opened like those of a cross table, without noise as a table under
limits. With sampling the variance of a rate is that of a weighted sum of proportions, sum w**2 p (1 - p) / n;
intervals of rates and of their difference are normal, that of their ratio is so for its logarithm. Those of
the noise come of simulation (`simulated_figures.py`).

Reference: Breslow and Day, Statistical methods in cancer research, volume II, 1987, section 2.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, inf, sqrt
from typing import Final

import numpy as np
from typing_extensions import override

from smc.analyses.statistics.kinds.counted_cells import CountedCells
from smc.analyses.statistics.kinds.draws import Floats
from smc.analyses.statistics.kinds.figure_rows import FigureRow, figure_table
from smc.analyses.statistics.kinds.proportions import Ends, Z
from smc.analyses.statistics.kinds.simulated_figures import CountedFigures
from smc.analyses.statistics.kinds.statistic import Result
from smc.numeric.random import Randomness
from smc.secret.noise.distribution import Distribution

FIRST: Final = "first rate"
SECOND: Final = "second rate"
DIFFERENCE: Final = "rate difference"
RATIO: Final = "rate ratio"

_RANGES: Final[Mapping[str, Ends]] = {
    FIRST: (0.0, 1.0),
    SECOND: (0.0, 1.0),
    DIFFERENCE: (-1.0, 1.0),
    RATIO: (0.0, inf),
}


@dataclass(frozen=True, slots=True)
class StandardisedRates(CountedCells):
    """The rates of two groups.

    The bins of the first column are the groups, those of the second the event and its absence, those of the
    third the strata.

    Attributes:
        weights: of the strata, which sum to 1.
    """

    weights: tuple[float, ...]

    figures_called = "rates"

    @override
    def count_names(self) -> list[str]:
        groups, events, strata = (bins.labels for bins in self.bins)
        return [f"{group}, {stratum}: {event}" for group in groups for event in events for stratum in strata]

    @override
    def result_of(
        self,
        counts: list[FigureRow],
        entries: Sequence[int],
        distributions: Sequence[Distribution],
        random: Randomness,
    ) -> Result:
        """The rate ratio."""
        groups, name = self.bins[0].labels, self.query.name
        figures = CountedFigures(self.figures, _RANGES, self.sampling, frozenset({RATIO}))
        found = figures.rows(entries, distributions, random)
        terms = [f"standardised rate of {group}" for group in groups] + list(_RANGES)[2:]
        rows = [replace(figure, term=term) for term, figure in zip(terms, found.values(), strict=True)]
        main = found[RATIO]
        note = (
            f"{name}: the value is the ratio of the standardised rate of {groups[0]} to that of {groups[1]}."
        )
        return Result(main.value, *main.noise, figure_table([*counts, *rows]), (note,), sampled=main.sampled)

    def figures(self, cells: Floats) -> dict[str, Floats]:
        """All figures of tables, see `CountedFigures.of`; NaN where a stratum that has a weight is empty."""
        events, others = self._split_by_event(cells)
        used = np.array(self.weights) > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = (events / (events + others))[:, used]
            first, second = np.einsum("s,gsn->gn", np.array(self.weights)[used], shares)
            values = (first, second, first - second, first / second)
        return dict(zip(_RANGES, values, strict=True))

    def sampling(self, cells: Sequence[float]) -> dict[str, Ends]:
        """The intervals for the population, of one table."""
        found = dict(_RANGES)
        table = np.array(cells)[:, None]
        values = {key: float(value[0]) for key, value in self.figures(table).items()}
        events, others = (part[:, :, 0] for part in self._split_by_event(table))
        rows = np.maximum(events + others, 1)
        variances = (np.square(self.weights) * events * others / rows**3).sum(axis=1)
        errors = {
            FIRST: sqrt(variances[0]),
            SECOND: sqrt(variances[1]),
            DIFFERENCE: sqrt(variances.sum()),
        }
        for key, error in errors.items():
            found[key] = (values[key] - Z * error, values[key] + Z * error)
        if min(values[FIRST], values[SECOND]) > 0:
            error = sqrt(variances[0] / values[FIRST] ** 2 + variances[1] / values[SECOND] ** 2)
            found[RATIO] = (values[RATIO] * exp(-Z * error), values[RATIO] * exp(Z * error))
        return found

    def _split_by_event(self, cells: Floats) -> tuple[Floats, Floats]:
        """Rows with the event and without it, shape (groups, strata, n) each."""
        parts = cells.reshape(2, 2, len(self.weights), -1)
        return parts[:, 0], parts[:, 1]
