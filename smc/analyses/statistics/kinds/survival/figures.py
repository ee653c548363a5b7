"""The figures about survival that a result shows, whichever way they came about, and the tables they make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Final

import numpy as np

from smc.analyses.statistics.kinds.chi_square import survival as tail
from smc.analyses.statistics.kinds.statistic import Result
from smc.analyses.statistics.kinds.survival.layout import SurvivalCells
from smc.analyses.statistics.kinds.survival.life_table import NORMAL_95, Floats, band, quadratic
from smc.analyses.statistics.queries.asked import Query
from smc.analyses.studies.columns import Schema
from smc.analyses.studies.outcome import STEPS

ALL: Final = "all rows"

Columns = dict[str, list[Any]]
Interval = tuple[float | None, float | None, float | None]


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """Of one group, at the start and at each point; NaN where a point is not shown.

    Attributes:
        rows: of the group.
        at_risk: rows that are followed beyond the point, shape (points + 1,).
        survival: the part without any event by then.
        variance: of `survival`.
        noise: the part of that variance which noise causes; None where there is none.
        incidence: the part with an event of each kind, the others being possible, shape (kinds, points + 1).
        incidence_variance: of `incidence`.
        mean: the restricted mean in steps and its variance; None where it is not asked, or not to be had.
    """

    rows: int
    at_risk: Floats
    survival: Floats
    variance: Floats
    noise: Floats | None
    incidence: Floats
    incidence_variance: Floats
    mean: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class LogRank:
    """Of the log-rank test.

    Attributes:
        excess: events less expected ones, of all groups but the first, shape (groups - 1,).
        covariance: shape (groups - 1, groups - 1).
        observed: events by group, shape (groups,).
        expected: shape (groups,).
    """

    excess: Floats
    covariance: Floats
    observed: Floats
    expected: Floats


@dataclass(frozen=True, slots=True)
class SurvivalFigures:
    """Of a query.

    Attributes:
        query: about survival.
        schema: of the times.
        layout: of the cells.
        groups: of each the figures; None where they are withheld.
        comparison: of the groups; None where it was not asked, or cannot be computed.
    """

    query: Query
    schema: Schema
    layout: SurvivalCells
    groups: Sequence[GroupFigures | None]
    comparison: LogRank | None

    @property
    def withheld(self) -> int:
        """Points of curves that are not shown."""
        points = self.layout.points + 1
        hidden = (points if each is None else int(np.isnan(each.survival).sum()) for each in self.groups)
        return sum(hidden)

    def result(self, notes: tuple[str, ...]) -> Result:
        """Tables of curves, groups, incidences and the test; the p-value of the test stands by itself."""
        further = {"groups": self._columns(self._groups())}
        asked = self.query.follow_up
        if asked is not None and asked.competing:
            further["incidence"] = self._columns(self._incidence())
        found = self.comparison
        statistic = None if found is None else quadratic(found.excess, found.covariance)
        p_value = None
        if found is not None and statistic is not None:
            freedom = len(found.excess)
            p_value = tail(statistic, freedom)
            described = {"chi_square": statistic, "degrees_of_freedom": freedom, "p_value": p_value}
            further["log-rank"] = {"quantity": [*described], "value": [*described.values()]}
        elif self.query.test:
            notes += (f"{self.query.name}: the log-rank test cannot be computed: too few rows are left.",)
        return Result(
            table=self._columns(self._curves()),
            kinds={"time": STEPS},
            further=further,
            further_kinds={"incidence": {"time": STEPS}},
            notes=notes,
            p_value=p_value,
        )

    def _columns(self, rows: Iterator[Mapping[str, Any]]) -> Columns:
        found: Columns = {}
        for row in rows:
            for name, cell in row.items():
                found.setdefault(name, []).append(cell)
        return found

    def _times(self) -> list[float | int]:
        unit = 10**self.schema.scale
        held = [self.layout.step * self.layout.stride * point for point in range(self.layout.points + 1)]
        return [time // unit if time % unit == 0 else time / unit for time in held]

    def _names(self, group: int) -> dict[str, Any]:
        name = self.layout.groups.names[group]
        return {} if name is None else {"group": name}

    def _curves(self) -> Iterator[Mapping[str, Any]]:
        for place, group in enumerate(self.groups):
            ends = () if group is None else band(group.survival, group.variance)
            for point, time in enumerate(self._times()):
                row: dict[str, Any] = {**self._names(place), "time": time, "at_risk": None}
                value = lower = upper = noise = None
                if group is not None and np.isfinite(group.survival[point]):
                    value, lower, upper = (float(x[point]) for x in (group.survival, *ends))
                    at_risk = group.at_risk[point]
                    row["at_risk"] = round(float(at_risk)) if np.isfinite(at_risk) else None
                    if group.noise is not None:
                        noise = NORMAL_95 * sqrt(max(float(group.noise[point]), 0.0))
                row |= {"survival": value, "lower_95": lower, "upper_95": upper}
                if any(each is not None and each.noise is not None for each in self.groups):
                    row["noise_alone"] = noise
                yield row

    def _incidence(self) -> Iterator[Mapping[str, Any]]:
        asked = self.query.follow_up
        kinds = () if asked is None else (", ".join(asked.events), *asked.competing)
        for (number, kind), (place, group) in (
            (k, g) for k in enumerate(kinds) for g in enumerate(self.groups)
        ):
            for point, time in enumerate(self._times()):
                cells: Interval = (None, None, None)
                if group is not None and np.isfinite(group.incidence[number, point]):
                    cells = _interval(group.incidence[number, point], group.incidence_variance[number, point])
                named = dict(zip(("incidence", "lower_95", "upper_95"), cells, strict=True))
                yield {"event": kind, **self._names(place), "time": time, **named}

    def _groups(self) -> Iterator[Mapping[str, Any]]:
        means = [None if group is None else group.mean for group in self.groups]
        for place, (group, mean) in enumerate(zip(self.groups, means, strict=True)):
            row: dict[str, Any] = {"group": self.layout.groups.names[place] or ALL}
            row["rows"] = None if group is None else group.rows
            row |= _with_ends("median", self._median(group))
            if self.query.follow_up is not None and self.query.follow_up.restricted_mean is not None:
                row |= _with_ends("restricted_mean", self._time(mean))
                if len(self.groups) > 1:
                    first, apart = means[0], None
                    if place and mean is not None and first is not None:
                        apart = (mean[0] - first[0], mean[1] + first[1])
                    row |= _with_ends("beyond_first_group", self._time(apart))
            if self.query.test:
                for name in ("observed", "expected"):
                    numbers = getattr(self.comparison, name, None)
                    row[name] = None if numbers is None else round(float(numbers[place]), 3)
            yield row

    def _time(self, mean: tuple[float, float] | None) -> Interval:
        if mean is None:
            return None, None, None
        unit = self.layout.step / 10**self.schema.scale
        reach = NORMAL_95 * sqrt(max(mean[1], 0.0))
        return mean[0] * unit, (mean[0] - reach) * unit, (mean[0] + reach) * unit

    def _median(self, group: GroupFigures | None) -> Interval:
        """The first points at which half have had an event: of the curve, and of the ends of its band."""
        if group is None:
            return None, None, None
        lower, upper = band(group.survival, group.variance)
        times = self._times()

        def first(heights: Floats) -> float | None:
            below = np.flatnonzero(np.nan_to_num(heights, nan=1.0) <= 0.5)
            return times[int(below[0])] if len(below) else None

        return first(group.survival), first(lower), first(upper)


def _interval(value: float, variance: float) -> Interval:
    lower, upper = band(np.array([value]), np.array([variance]))
    return float(value), float(lower[0]), float(upper[0])


def _with_ends(name: str, cells: Interval) -> dict[str, Any]:
    return {name: cells[0], f"{name}_lower_95": cells[1], f"{name}_upper_95": cells[2]}
