"""The run of survival without noise over the rows of both, one side, and its reference in the clear."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smc.analyses.disclosure.audit import Members
from smc.analyses.disclosure.curves import CurvesFigure, CurvesPart
from smc.analyses.disclosure.release import Release
from smc.analyses.statistics.kinds.survival.digits import KeptDigits
from smc.analyses.statistics.kinds.survival.figures import SurvivalFigures
from smc.analyses.statistics.kinds.survival.joint_curves import JointTables, JointTest
from smc.analyses.statistics.kinds.survival.joint_figures import FigureDigits
from smc.analyses.statistics.kinds.survival.layout import EVENT, SurvivalCells
from smc.analyses.statistics.kinds.survival.life_table import at_risk
from smc.analyses.statistics.kinds.survival.statistic import Survival
from smc.analyses.statistics.plans.plan import conditions, resolve
from smc.analyses.statistics.queries.parameters import StatisticsParameters
from smc.analyses.statistics.queries.rows import Ints, LocalRows
from smc.analyses.studies.columns import PERSONS, Data
from smc.errors import DomainError, UsageError
from smc.forms import Role
from smc.protocols.session import Session


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
    statistic, layout, asked = own.statistic, own.layout, (most, recipients, release.indistinct)
    is_tested = statistic.query.test
    tables = JointTables.of_both(session, own.cells, layout, most)
    curves, test = tables.figures(test=is_tested and not release.indistinct)
    if is_tested and test is None:
        test = JointTest.within_sides(session, own.cells, layout, most)
    ended, beyond = layout.split(own.cells)
    left = at_risk(ended.sum(axis=1), beyond.sum(axis=1))[:, :: layout.stride]
    events = ended[:, :, EVENT].sum(keepdims=True).reshape(1)
    digits = FigureDigits(
        KeptDigits.of_sides(session, left.reshape(-1).astype(np.int64), *asked),
        KeptDigits.of_sides(session, events, *asked),
    )
    opened = release.exact(CurvesFigure(own.part, *digits.rounded(curves, test)), recipients)
    return None if opened is None else digits.figures(statistic, *opened)
