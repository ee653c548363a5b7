"""Figures that follow from counts, with intervals by simulation of the noise and with sampling beside them.

Tables that could be the exact one are the noisy table less draws that are alike to its noise, at least 0; the
figures' quantiles among them end the intervals. The draws follow from a public seed (`draws.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Final

import numpy as np

from smc.analyses.statistics.kinds.draws import Floats, noise_like
from smc.analyses.statistics.kinds.figure_rows import FigureRow, open_ends
from smc.analyses.statistics.kinds.proportions import Ends, join
from smc.analyses.statistics.kinds.statistic import MISS
from smc.numeric.random import Randomness
from smc.secret.noise.distribution import Distribution

MOST_DRAWN: Final = 9_999
LEAST_DRAWN: Final = 999
"""Tables that are drawn for the intervals."""

_NUMBERS: Final = 1 << 21


@dataclass(frozen=True, slots=True)
class CountedFigures:
    """Figures of counts.

    Attributes:
        of: all figures of tables, from counts that are not negative, shape (size, n); shape (n,) each, NaN
            where a table does not have it.
        ranges: what each figure lies between.
        sampling: of one table the intervals for the population that its rows were drawn from.
        ratios: the figures whose distances are between logarithms.
    """

    of: Callable[[Floats], Mapping[str, Floats]]
    ranges: Mapping[str, Ends]
    sampling: Callable[[Sequence[float]], Mapping[str, Ends]]
    ratios: frozenset[str]

    def rows(
        self, entries: Sequence[int], distributions: Sequence[Distribution], random: Randomness
    ) -> dict[str, FigureRow]:
        """All figures with their intervals.

        Args:
            entries: the counts, exact or noisy.
            distributions: of their noise; none if they are exact.
            random: for the draws.
        """
        cells = np.maximum(np.array(entries, dtype=np.float64), 0)
        noise = self._noise(entries, distributions, random) if distributions else {}
        sampling = self.sampling(cells.tolist())
        found = {}
        for key, values in self.of(cells[:, None]).items():
            value = float(values[0])
            if not isfinite(value):
                found[key] = FigureRow(key, None, open_ends(noise.get(key, (-inf, inf))))
                continue
            ends = noise.get(key, (value, value))
            both = join(value, ends, sampling[key], ratio=key in self.ratios)
            low, high = self.ranges[key]
            sampled = open_ends((max(low, both[0]), min(high, both[1])))
            found[key] = FigureRow(key, value, open_ends(ends), sampled)
        return found

    def _noise(
        self, entries: Sequence[int], distributions: Sequence[Distribution], random: Randomness
    ) -> dict[str, Ends]:
        count = max(LEAST_DRAWN, min(MOST_DRAWN, _NUMBERS // len(entries)))
        drawn = np.array(
            [
                entry - noise_like(noise, count, random)
                for entry, noise in zip(entries, distributions, strict=True)
            ]
        )
        found = self.of(np.maximum(drawn, 0))
        return {key: _quantiles(values, self.ranges[key]) for key, values in found.items()}


def _quantiles(values: Floats, bounds: Ends) -> Ends:
    """The middle 95 %; a table that has no such figure could have any."""
    place = int(len(values) * MISS / 2)
    low, high = (np.sort(np.where(np.isnan(values), bound, values)) for bound in bounds)
    return float(low[place]), float(high[-1 - place])
