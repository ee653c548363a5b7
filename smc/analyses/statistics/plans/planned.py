"""A query with its statistic and its noise."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from smc.analyses.records.held_conditions import Where
from smc.analyses.statistics.kinds.statistic import Statistic, delta_of
from smc.analyses.statistics.queries.asked import Query
from smc.analyses.studies.loss import Loss
from smc.secret.noise.distribution import Distribution

COUNT_WEIGHT: Final = Fraction(1, 10)
"""The part of a query's loss that an extra count of its rows takes."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A query with its statistic, the groups that it is computed for, and its noise.

    Attributes:
        query: as asked.
        statistic: its loss is the query's, less what the extra count costs.
        groups: labels of the groups; one None without `by`.
        codes: for each group the held values of its labels in the columns of `by`.
        count_distribution: of the noise of a count of each group's rows, which is opened beside a statistic
            without one so that small groups can be withheld; None if there is none.
        epsilon: for which the guarantee is stated: the query's; under Gaussian noise, which composes as a
            whole, the job's at the least delta. A statement for a larger delta has a smaller epsilon.
        where: conditions on the rows that it is about.
    """

    query: Query
    statistic: Statistic
    groups: tuple[str | None, ...]
    codes: tuple[tuple[int, ...], ...]
    count_distribution: Distribution | None
    epsilon: Fraction
    where: Where = ()

    @property
    def distributions(self) -> tuple[Distribution, ...]:
        """Of all noise in the order of drawing: the groups' statistics, then their extra counts."""
        extra = () if self.count_distribution is None else (self.count_distribution,) * len(self.groups)
        return self.statistic.distributions * len(self.groups) + extra

    @property
    def words(self) -> int:
        """Numbers that are opened."""
        return (self.statistic.size + (self.count_distribution is not None)) * len(self.groups)

    @property
    def delta(self) -> Decimal:
        """What drawing all noise from 64-bit words adds to delta."""
        groups = len(self.groups)
        found = self.statistic.delta(groups, self.epsilon)
        if self.count_distribution is not None:
            touched = min(groups, self.statistic.changes)
            found += delta_of(self.epsilon, touched * self.count_distribution.distance)
        return found

    @property
    def spent(self) -> Loss:
        """What its noise is drawn for: the loss of the statistic, and that of the extra count."""
        if self.count_distribution is None:
            return self.statistic.query.loss
        count = Loss(self.query.loss.epsilon * COUNT_WEIGHT, rho=self.query.loss.rho * COUNT_WEIGHT)
        return self.statistic.query.loss + count
