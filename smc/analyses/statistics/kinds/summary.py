"""Mean and standard deviation of a column from the same sums, for a table one."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import sqrt
from typing import Any

from typing_extensions import override

from smc.analyses.statistics.kinds.moments import Deviation, Mean, Variance
from smc.analyses.statistics.kinds.noisy_sums import Monomial, NoisySums
from smc.analyses.statistics.kinds.proportions import Ends, join
from smc.analyses.statistics.kinds.statistic import MISS, Result
from smc.analyses.statistics.kinds.ttest_student import critical


class Summary(Variance):
    """Mean and sample standard deviation, from the same sums."""

    __slots__ = ()

    @property
    @override
    def unit(self) -> str:
        """Of the column."""
        return self.schemas[0].unit

    @override
    def derive(self, sums: Mapping[Monomial, Fraction], noisy: NoisySums | None) -> Result:
        """Both in a table of their own; each interval holds alone."""
        common = (self.query, self.schemas, self.changes, self.clamps)
        both = [kind(*common).derive(sums, noisy) for kind in (Mean, Deviation)]
        table: dict[str, list[Any]] = {
            "term": ["mean", "sd"],
            "value": [each.value for each in both],
            "lower_95": [each.lower for each in both],
            "upper_95": [each.upper for each in both],
        }
        return Result(table=table, sampled=_sampling_interval(float(sums[()]), *both))


def _sampling_interval(count: float, mean: Result, deviation: Result) -> Ends | None:
    """The interval of the mean with sampling, by Student's distribution; None where there is none."""
    value, low, high, spread = (
        float(x) if x is not None else None for x in (mean.value, mean.lower, mean.upper, deviation.value)
    )
    if value is None or low is None or high is None or spread is None or count <= 1:
        return None
    width = critical(float(MISS), count - 1) * spread / sqrt(count)
    return join(value, (low, high), (value - width, value + width), ratio=False)
