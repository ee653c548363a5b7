"""What is opened of joint curves, in how many digits, and the figures that recipients make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.analyses.disclosure.curves import Shows
from smc.analyses.statistics.kinds.survival.at_points import OpenedGroup, group_figures
from smc.analyses.statistics.kinds.survival.digits import CHANCE, NUMBER, VARIANCE, KeptDigits
from smc.analyses.statistics.kinds.survival.figures import LogRank, SurvivalFigures
from smc.analyses.statistics.kinds.survival.joint_curves import JointCurves, JointTest, log_rank_sums, pairs
from smc.analyses.statistics.kinds.survival.life_table import incidence, kaplan_meier
from smc.analyses.statistics.kinds.survival.statistic import Survival
from smc.analyses.statistics.queries.rows import Ints
from smc.secret.ints import SecretInts
from smc.secret.reals.reals import SecretReals

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class FigureDigits:
    """In how many digits the figures of a query open.

    Recipients read them by the classes of the numbers, which open beside them.

    Attributes:
        by_rows: by those followed beyond the start and each point of each group, one after the other.
        by_events: by all events together.
    """

    by_rows: KeptDigits
    by_events: KeptDigits

    def rounded(
        self, curves: JointCurves, test: JointTest | None
    ) -> tuple[list[tuple[Shows, SecretInts]], list[SecretInts]]:
        """Held integers to be opened: at points, and of all points together."""
        left = curves.at_risk
        classes = self.by_rows.classes(left.shape[0] * left.shape[1], left.ints)
        at_points = [(Shows.LEAVERS, self._persons(left)), (Shows.EVENTS, classes), *self._curves(curves)]
        if test is None:
            return at_points, []
        sums = [each.reshape(1, -1) for each in (self._sums(test), test.covariance)]
        return at_points, [
            self._persons(test.observed),
            self.by_events.classes(1, test.observed.ints),
            *(self.by_events.round(each, NUMBER) for each in sums),
        ]

    def figures(self, statistic: Survival, shown: Mask, values: Sequence[Ints]) -> SurvivalFigures:
        """The figures of what opened, at a recipient.

        Args:
            statistic: the query, resolved.
            shown: where figures are known, of each kind of `Shows`, shape (kinds, groups, points + 1).
            values: as `rounded` has them, one after the other.
        """
        count = 2 + statistic.layout.endings.kinds
        groups = self._groups(shown, *values[:count])
        comparison = None
        if values[count:]:
            observed, events_class, *rest = values[count:]
            sums, covariance = (self.by_events.read(each, NUMBER, events_class).reshape(-1) for each in rest)
            held = self._counted(observed).astype(np.float64)
            comparison = comparison_of(held, self._expected(held, sums), covariance)
        return figures_of(statistic, groups, comparison)

    def _persons(self, numbers: SecretReals) -> SecretInts:
        """Numbers of persons as they open."""
        return numbers.ints

    def _counted(self, held: Ints) -> Ints:
        """Numbers of persons, of what opened."""
        return held

    def _sums(self, test: JointTest) -> SecretReals:
        """What opens of a test beside covariances."""
        return test.expected

    def _expected(self, observed: Floats, sums: Floats) -> Floats:
        """Expected events of all groups but the first, of what opened."""
        del observed
        return sums

    def _curves(self, curves: JointCurves) -> list[tuple[Shows, SecretInts]]:
        rows = [curves.survival, curves.variance, *curves.incidence]
        units = [CHANCE, VARIANCE, *(CHANCE for _ in curves.incidence)]
        shows = [Shows.EVENTS, Shows.EVENTS, *(Shows.KINDS for _ in curves.incidence)]
        return [
            (kind, self.by_rows.round(each.reshape(-1, 1), unit))
            for kind, each, unit in zip(shows, rows, units, strict=True)
        ]

    def _groups(self, shown: Mask, left: Ints, classes: Ints, *values: Ints) -> list[OpenedGroup]:
        """What opened of each group: as `rounded` has it, `values` being those of `_curves`."""
        units = [CHANCE, VARIANCE, *(CHANCE for _ in values[2:])]
        survival, variance, *others = (
            self.by_rows.read(each, unit, classes).reshape(shown.shape[1:])
            for each, unit in zip(values, units, strict=True)
        )
        persons = self._counted(left).astype(np.float64)
        return [
            OpenedGroup(
                shown[:, group],
                persons[group],
                survival[group],
                variance[group],
                np.array([part[group] for part in others]).reshape(len(others), shown.shape[2]),
            )
            for group in range(shown.shape[1])
        ]


@dataclass(frozen=True, slots=True)
class MatchedDigits(FigureDigits):
    """The same over matched rows, where no history holds one job against another.

    Two jobs whose points lie a day apart would differ by the persons of that day. So numbers of persons are
    rounded as well, to a unit of the smallest group or more; the test opens as what was observed above what
    was expected, which keeps its digits.

    Attributes:
        shift: persons are counted in units of 2**shift.
    """

    shift: int

    @classmethod
    def of(cls, left: SecretInts, events: SecretInts, most: int, indistinct: int) -> MatchedDigits:
        """By numbers of matches.

        Args:
            left: followed beyond the start and each point of each group, shape (groups, points + 1).
            events: all together, shape (1,).
            most: matches at most; public.
            indistinct: as of `KeptDigits`.
        """
        by_rows, by_events = (
            KeptDigits.of_matches(each.reshape(-1), most, indistinct) for each in (left, events)
        )
        return cls(by_rows, by_events, max(0, indistinct - 1).bit_length())

    @override
    def _persons(self, numbers: SecretReals) -> SecretInts:
        """In units, to the nearest."""
        ints = numbers.ints
        scaled = SecretInts.from_shares(ints.session, ints.shares, ints.bounds, self.shift)
        return SecretReals(scaled).rescale(0).ints

    @override
    def _counted(self, held: Ints) -> Ints:
        return held << self.shift

    @override
    def _sums(self, test: JointTest) -> SecretReals:
        return test.observed[1:] - test.expected

    @override
    def _expected(self, observed: Floats, sums: Floats) -> Floats:
        return observed[1:] - sums


def figures_of(
    statistic: Survival, groups: Sequence[OpenedGroup], comparison: LogRank | None
) -> SurvivalFigures:
    """The figures of a query, from those at points."""
    layout = statistic.layout
    mean_points = statistic.mean_steps // layout.stride
    found = [group_figures(group, mean_points, layout.stride) for group in groups]
    return SurvivalFigures(statistic.query, statistic.schemas[0], layout, found, comparison)


def comparison_of(observed: Floats, expected: Floats, covariance: Floats) -> LogRank:
    """The test, from events of all groups, expected ones of all but the first, and covariances by pair."""
    size = len(observed) - 1
    square = np.zeros((size, size))
    for (one, other), value in zip(pairs(size + 1), covariance.tolist(), strict=True):
        square[one - 1, other - 1] = square[other - 1, one - 1] = value
    first = observed.sum() - expected.sum()
    return LogRank(observed[1:] - expected, square, observed, np.concatenate([[first], expected]))


def plain_figures(statistic: Survival, cells: Ints) -> SurvivalFigures:
    """What would open without limits, from the rows of both sides by cell."""
    layout = statistic.layout
    ended, beyond = layout.split(cells.astype(np.float64))
    together = ended.sum(axis=1), beyond.sum(axis=1)
    curve, chances = kaplan_meier(*together), incidence(*together)[0]
    at = slice(None, None, layout.stride)
    everywhere = np.ones((len(Shows), layout.points + 1), dtype=np.bool_)
    groups = [
        OpenedGroup(
            everywhere,
            curve.at_risk[group, at],
            curve.survival[group, at],
            curve.variance[group, at],
            chances[group, 1:, at],
        )
        for group in range(len(layout.groups))
    ]
    comparison = None
    if statistic.query.test:
        comparison = comparison_of(*log_rank_sums(cells, layout))
    return figures_of(statistic, groups, comparison)
