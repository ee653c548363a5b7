"""Mean and standard deviation of a column from the same sums, for a table one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from typing_extensions import override

from smc.analyses.records.intervals import Interval
from smc.analyses.statistics.kinds.moments import Deviation, Mean, Moments, Monomial, Variance
from smc.analyses.statistics.kinds.statistic import Result
from smc.numeric.random import Randomness
from smc.secret.noise.distribution import Distribution


class Summary(Variance):
    """Mean and sample standard deviation, from the same sums."""

    __slots__ = ()

    @property
    @override
    def unit(self) -> str:
        """Of the column."""
        return self.schemas[0].unit

    @override
    def derived(self, sums: dict[Monomial, Fraction], ranges: dict[Monomial, Interval]) -> Result:
        """Both in a table of their own; their intervals hold together."""
        common = (self.query, self.schemas, self.changes, self.clamps)
        both = [kind(*common).derived(sums, ranges) for kind in (Mean, Deviation)]
        return Result(
            table={
                "term": ["mean", "sd"],
                "value": [each.value for each in both],
                "lower_95": [each.lower for each in both],
                "upper_95": [each.upper for each in both],
            }
        )

    @override
    def result(
        self, entries: Sequence[int], distributions: Sequence[Distribution], random: Randomness
    ) -> Result:
        """As of every statistic of this kind; without noise the intervals are the values."""
        found = Moments.result(self, entries, distributions, random)
        if distributions or found.table is None:
            return found
        values = found.table["value"]
        return replace(found, table={**found.table, "lower_95": values, "upper_95": values})
