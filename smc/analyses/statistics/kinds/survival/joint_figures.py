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
from smc.analyses.statistics.kinds.survival.joint_curves import JointCurves, JointTest, pairs
from smc.analyses.statistics.kinds.survival.layout import EVENT
from smc.analyses.statistics.kinds.survival.life_table import at_risk, incidence, kaplan_meier, log_rank
from smc.analyses.statistics.kinds.survival.statistic import Survival
from smc.analyses.statistics.queries.rows import Ints
from smc.secret.ints import SecretInts
from smc.secret.reals.reals import SecretReals

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class FigureDigits:
    """In how many digits the figures of a query over the rows of both open.

    Attributes:
        by_rows: by the rows of each group.
        by_events: by all events together.
    """

    by_rows: KeptDigits
    by_events: KeptDigits

    def rounded(
        self, curves: JointCurves, test: JointTest | None
    ) -> tuple[list[tuple[Shows, SecretInts]], list[SecretInts]]:
        """Held integers to be opened: at points, and of all points together."""
        at_points = [(Shows.LEAVERS, curves.at_risk.ints), *self._curves(curves)]
        if test is None:
            return at_points, []
        expected, covariance = (each.reshape(1, -1) for each in (test.expected, test.covariance))
        return at_points, [
            test.observed.ints,
            *(self.by_events.round(each, NUMBER) for each in (expected, covariance)),
        ]

    def figures(self, statistic: Survival, shown: Mask, values: Sequence[Ints]) -> SurvivalFigures:
        """The figures of what opened, at a recipient.

        Args:
            statistic: the query, resolved.
            shown: where figures are known, of each kind of `Shows`, shape (kinds, groups, points + 1).
            values: as `rounded` has them, one after the other.
        """
        count = 1 + self._figures_at_points(statistic)
        at_risk_there, *others = values[:count]
        groups = self._groups(shown, at_risk_there, at_risk_there[:, 0], others)
        comparison = None
        if values[count:]:
            observed, total = values[count].astype(np.float64), values[count].sum(keepdims=True)
            expected, covariance = (
                self.by_events.read(each, NUMBER, total).reshape(-1) for each in values[count + 1 :]
            )
            comparison = comparison_of(observed, expected, covariance)
        return figures_of(statistic, groups, comparison)

    def _curves(self, curves: JointCurves) -> list[tuple[Shows, SecretInts]]:
        return [
            (Shows.EVENTS, self.by_rows.round(curves.survival, CHANCE)),
            (Shows.EVENTS, self.by_rows.round(curves.variance, VARIANCE)),
            *((Shows.KINDS, self.by_rows.round(each, CHANCE)) for each in curves.incidence),
        ]

    @staticmethod
    def _figures_at_points(statistic: Survival) -> int:
        """How many `_curves` has."""
        return statistic.layout.endings.kinds

    def _groups(
        self, shown: Mask, at_risk_there: Ints, known: Ints, values: Sequence[Ints]
    ) -> list[OpenedGroup]:
        """What opened of each group.

        Args:
            shown: as of `figures`.
            at_risk_there: shape (groups, points + 1).
            known: by which figures are read, see `KeptDigits.read`, shape (groups,).
            values: those of `_curves`.
        """
        survival, variance, *others = values
        parts = [self.by_rows.read(each, CHANCE, known) for each in (survival, *others)]
        variances = self.by_rows.read(variance, VARIANCE, known)
        return [
            OpenedGroup(
                shown[:, group],
                at_risk_there[group].astype(np.float64),
                parts[0][group],
                variances[group],
                np.array([part[group] for part in parts[1:]]).reshape(len(others), shown.shape[2]),
            )
            for group in range(shown.shape[1])
        ]


@dataclass(frozen=True, slots=True)
class MatchedDigits(FigureDigits):
    """The same over matched rows, where no history holds one job against another.

    Two jobs whose points lie a day apart would differ by the persons of that day. So numbers of persons are
    rounded as well, to a unit of the smallest group or more; the test opens as what was observed above what
    was expected, which keeps its digits. What recipients read figures by, the classes of the numbers, opens
    beside them.

    Attributes:
        shift: persons are counted in units of 2**shift.
    """

    shift: int

    @classmethod
    def of(cls, rows: SecretInts, events: SecretInts, most: int, indistinct: int) -> MatchedDigits:
        """By numbers of matches.

        Args:
            rows: of each group, shape (groups,).
            events: all together, shape (1,).
            most: matches at most; public.
            indistinct: as of `KeptDigits`.
        """
        by_rows, by_events = (KeptDigits.of_matches(each, most, indistinct) for each in (rows, events))
        return cls(by_rows, by_events, max(0, indistinct - 1).bit_length())

    @override
    def rounded(
        self, curves: JointCurves, test: JointTest | None
    ) -> tuple[list[tuple[Shows, SecretInts]], list[SecretInts]]:
        at_risk_there = curves.at_risk.ints
        groups, width = at_risk_there.shape
        classes = self.by_rows.classes(groups, at_risk_there)
        shares = np.repeat(classes.shares.reshape(-1, 1), width, axis=1)
        repeated = SecretInts.from_shares(classes.session, shares, classes.bounds)
        at_points = [
            (Shows.LEAVERS, self._in_units(curves.at_risk)),
            (Shows.EVENTS, repeated),
            *self._curves(curves),
        ]
        if test is None:
            return at_points, []
        excess, covariance = (
            each.reshape(1, -1) for each in (test.observed[1:] - test.expected, test.covariance)
        )
        return at_points, [
            self._in_units(test.observed),
            self.by_events.classes(1, test.observed.ints),
            *(self.by_events.round(each, NUMBER) for each in (excess, covariance)),
        ]

    @override
    def figures(self, statistic: Survival, shown: Mask, values: Sequence[Ints]) -> SurvivalFigures:
        count = 2 + self._figures_at_points(statistic)
        at_risk_there, classes, *others = values[:count]
        groups = self._groups(shown, at_risk_there << self.shift, classes[:, 0], others)
        comparison = None
        if values[count:]:
            observed, events_class, *rest = values[count:]
            excess, covariance = (
                self.by_events.read(each, NUMBER, events_class).reshape(-1) for each in rest
            )
            held = (observed << self.shift).astype(np.float64)
            comparison = comparison_of(held, held[1:] - excess, covariance)
        return figures_of(statistic, groups, comparison)

    def _in_units(self, persons: SecretReals) -> SecretInts:
        """Numbers of persons in units, to the nearest."""
        ints = persons.ints
        scaled = SecretInts.from_shares(ints.session, ints.shares, ints.bounds, self.shift)
        return SecretReals(scaled).rescale(0).ints


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
        events = ended[:, :, EVENT].reshape(len(groups), -1)
        excess, covariance = log_rank(events, at_risk(ended, beyond)[..., :-1].reshape(len(groups), -1))
        observed = events.sum(axis=1)
        entries = np.array([covariance[one - 1, other - 1] for one, other in pairs(len(groups))])
        comparison = comparison_of(observed, observed[1:] - excess, entries)
    return figures_of(statistic, groups, comparison)
