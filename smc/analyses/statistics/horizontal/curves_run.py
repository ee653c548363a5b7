"""The run of survival without noise over the rows of both, one side, and its reference in the clear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.audit import Members
from smc.analyses.disclosure.curves import CurvesPart, Shows
from smc.analyses.disclosure.release import Release
from smc.analyses.statistics.horizontal.digits import CHANCE, NUMBER, VARIANCE, KeptDigits
from smc.analyses.statistics.horizontal.joint_curves import JointTables, pairs
from smc.analyses.statistics.kinds.survival.at_points import OpenedGroup, group_figures
from smc.analyses.statistics.kinds.survival.figures import LogRank, SurvivalFigures
from smc.analyses.statistics.kinds.survival.layout import EVENT, SurvivalCells
from smc.analyses.statistics.kinds.survival.life_table import at_risk, incidence, kaplan_meier, log_rank
from smc.analyses.statistics.kinds.survival.statistic import Survival
from smc.analyses.statistics.plans.plan import conditions, resolve
from smc.analyses.statistics.queries.parameters import StatisticsParameters
from smc.analyses.statistics.queries.rows import Ints, LocalRows
from smc.analyses.studies.columns import PERSONS, Data
from smc.errors import DomainError, UsageError
from smc.forms import Role
from smc.protocols.session import Session

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LocalCurves:
    """One side's rows of a query about survival.

    Attributes:
        statistic: the query, resolved.
        cells: rows by cell, shape (cells,).
        part: what its limits are about.
    """

    statistic: Survival
    cells: Ints
    part: CurvesPart

    @classmethod
    def of(cls, parameters: StatisticsParameters, data: Data) -> LocalCurves:
        """Count the rows.

        Raises:
            UsageError: the query does not fit the columns.
            DomainError: there are more rows than the job allows, or several of one person.
        """
        schemas = {name: column.schema for name, column in data.items()}
        (query,) = parameters.queries
        statistic = resolve(query, parameters, schemas)
        if not isinstance(statistic, Survival):
            raise UsageError("The query is not about survival.", "Report it as a defect of the planning.")
        rows = LocalRows.of(parameters, data, conditions(query, schemas))
        if PERSONS in data and len(np.unique(rows.persons)) < rows.count:
            raise DomainError(
                "A person has several rows; survival without noise takes one row of each.",
                "Use a data set with one row of a person, or add noise, which takes the first row of each.",
            )
        layout = statistic.layout
        return cls(statistic, layout.count(rows), part_of(layout, rows, tested=query.test))

    @property
    def layout(self) -> SurvivalCells:
        """Of the cells."""
        return self.statistic.layout


def part_of(layout: SurvivalCells, rows: LocalRows, *, tested: bool) -> CurvesPart:
    """What limits are about: rows by group, stratum, interval between points and ending."""
    apart = layout.coarser(layout.stride)
    cells = apart.count(rows).reshape(len(apart.groups), len(apart.strata), apart.width)
    return CurvesPart(cells, apart.endings.kinds, Members(rows.persons, apart.places(rows)), tested)


def run_curves(
    session: Session, own: LocalCurves, most: int, recipients: frozenset[Role], release: Release
) -> SurvivalFigures | None:
    """Compute the curves, and the test if it is asked, and open what the limits of both let be shown.

    Args:
        session: this side of the run.
        own: the local rows.
        most: rows of a side at most; public.
        recipients: who gets the figures.
        release: opens them.

    Returns:
        The figures; None for a party that is not a recipient.

    Raises:
        DisclosureRefused: a side does not let its part be opened; no figure was.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    statistic, groups = own.statistic, len(own.layout.groups)
    curves, test = JointTables(session, own.layout, own.cells, most).figures(test=statistic.query.test)
    ended = own.layout.split(own.cells)[0]
    persons = own.cells.reshape(groups, -1).sum(axis=1)
    by_rows = KeptDigits(session, persons, most, recipients, release.indistinct)
    at_points = [
        (Shows.LEAVERS, curves.at_risk.ints),
        (Shows.EVENTS, by_rows.round(curves.survival, CHANCE)),
        (Shows.EVENTS, by_rows.round(curves.variance, VARIANCE)),
        *((Shows.KINDS, by_rows.round(each, CHANCE)) for each in curves.incidence),
    ]
    of_all = []
    events = ended[:, :, EVENT].sum(keepdims=True).reshape(1)
    by_events = KeptDigits(session, events, most, recipients, release.indistinct)
    if test is not None:
        of_all = [
            test.observed.ints,
            by_events.round(test.expected.reshape(1, -1), NUMBER),
            by_events.round(test.covariance.reshape(1, -1), NUMBER),
        ]
    opened = release.curves(own.part, at_points, of_all, recipients)
    if opened is None:
        return None
    shown, values = opened
    at_risk_there, survival, variance, *others = values[: len(at_points)]
    rows = at_risk_there[:, 0]
    parts = [by_rows.read(each, CHANCE, rows) for each in (survival, *others)]
    variances = by_rows.read(variance, VARIANCE, rows)
    found = [
        OpenedGroup(
            shown[:, group],
            at_risk_there[group].astype(np.float64),
            parts[0][group],
            variances[group],
            np.array([part[group] for part in parts[1:]]).reshape(len(others), len(shown[0][group])),
        )
        for group in range(groups)
    ]
    comparison = None
    if test is not None:
        observed = values[-3].astype(np.float64)
        total = values[-3].sum(keepdims=True)
        expected, covariance = (
            by_events.read(each, unit, total).reshape(-1)
            for each, unit in ((values[-2], NUMBER), (values[-1], NUMBER))
        )
        comparison = comparison_of(observed, expected, covariance)
    return figures_of(statistic, found, comparison)


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
