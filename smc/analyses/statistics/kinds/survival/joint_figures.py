"""What is opened of joint curves, in how many digits, and the figures that recipients make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class FigureDigits:
    """In how many digits the figures of a query open.

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
        at_points = [
            (Shows.LEAVERS, curves.at_risk.ints),
            (Shows.EVENTS, self.by_rows.round(curves.survival, CHANCE)),
            (Shows.EVENTS, self.by_rows.round(curves.variance, VARIANCE)),
            *((Shows.KINDS, self.by_rows.round(each, CHANCE)) for each in curves.incidence),
        ]
        if test is None:
            return at_points, []
        return at_points, [
            test.observed.ints,
            self.by_events.round(test.expected.reshape(1, -1), NUMBER),
            self.by_events.round(test.covariance.reshape(1, -1), NUMBER),
        ]

    def figures(self, statistic: Survival, shown: Mask, values: Sequence[Ints]) -> SurvivalFigures:
        """The figures of what opened, at a recipient.

        Args:
            statistic: the query, resolved.
            shown: where figures are known, of each kind of `Shows`, shape (kinds, groups, points + 1).
            values: as `rounded` has them, one after the other.
        """
        kinds = statistic.layout.endings.kinds - 2
        at_risk_there, survival, variance, *others = values[: 3 + kinds]
        rows = at_risk_there[:, 0]
        parts = [self.by_rows.read(each, CHANCE, rows) for each in (survival, *others)]
        variances = self.by_rows.read(variance, VARIANCE, rows)
        found = [
            OpenedGroup(
                shown[:, group],
                at_risk_there[group].astype(np.float64),
                parts[0][group],
                variances[group],
                np.array([part[group] for part in parts[1:]]).reshape(len(others), shown.shape[2]),
            )
            for group in range(shown.shape[1])
        ]
        return figures_of(statistic, found, self._comparison(values[3 + kinds :]))

    def _comparison(self, values: Sequence[Ints]) -> LogRank | None:
        if not values:
            return None
        observed, total = values[0].astype(np.float64), values[0].sum(keepdims=True)
        expected, covariance = (self.by_events.read(each, NUMBER, total).reshape(-1) for each in values[1:])
        return comparison_of(observed, expected, covariance)


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
