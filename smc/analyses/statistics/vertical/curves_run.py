"""Survival without noise over matched rows: the run, one side, and its reference in the clear.

    each side       rows with keys, and the features of cells that follow from its own columns
    in secret       rows by cell, as sums over the matches of products of two features (`sums.py`)
                    curves and test of these (`joint_curves`), and where limits let them be shown
    opened          figures at points, and of the test; to the recipients

The slots are of the side whose features are many, which is the one with the times: what the other one brings
travels by row, and is then a group or two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from smc.analyses.disclosure.matched_curves import MatchedCurvesFigure, MatchedCurvesPart
from smc.analyses.disclosure.release import Release
from smc.analyses.records.held_conditions import Where, rows_meeting
from smc.analyses.records.matched_columns import Vertical
from smc.analyses.statistics.kinds.survival.figures import SurvivalFigures
from smc.analyses.statistics.kinds.survival.joint_curves import JointTables
from smc.analyses.statistics.kinds.survival.joint_figures import MatchedDigits, plain_figures
from smc.analyses.statistics.kinds.survival.layout import EVENT, SurvivalCells
from smc.analyses.statistics.kinds.survival.statistic import Survival
from smc.analyses.statistics.plans.plan import conditions, resolve
from smc.analyses.statistics.plans.planned import Planned
from smc.analyses.statistics.queries.parameters import StatisticsParameters
from smc.analyses.statistics.queries.rows import Ints, LocalRows
from smc.analyses.statistics.vertical import sums as vertical_sums
from smc.analyses.statistics.vertical.reference import joined_rows
from smc.analyses.statistics.vertical.run import Met
from smc.analyses.statistics.vertical.terms import Pair, pairs
from smc.analyses.studies.columns import Data, Schema
from smc.errors import UsageError
from smc.forms import Role
from smc.numeric.shapes import of_shape, shape_array
from smc.protocols.session import Session
from smc.secret.ints import SecretInts
from smc.secret.sharing.bounds import Bounds

_SIZE: Pair = ((), ())
"""A pair of features whose sum is the number of matches."""


@dataclass(frozen=True, slots=True)
class MatchedCurves:
    """A query about survival over matched rows.

    Attributes:
        statistic: the query, resolved.
        wanted: the features whose products are added up for each cell, and last for the number of matches.
        where: conditions on the rows.
        sides: whose each column is.
    """

    statistic: Survival
    wanted: tuple[Pair, ...]
    where: Where
    sides: Mapping[str, Role]

    @classmethod
    def of(
        cls, parameters: StatisticsParameters, vertical: Vertical, schemas: dict[str, Schema]
    ) -> MatchedCurves:
        """By the declared columns of both sides.

        Raises:
            UsageError: the query does not fit them.
        """
        (query,) = parameters.queries
        statistic = resolve(query, parameters, schemas)
        if not isinstance(statistic, Survival):
            raise UsageError("The query is not about survival.", "Report it as a defect of the planning.")
        where = conditions(query, schemas)
        planned = Planned(query, statistic, (None,), ((),), None, Fraction(0), where=where)
        sides = {name: role for role in Role for name in vertical.values(role)}
        return cls(statistic, (*pairs(planned, vertical.alice), _SIZE), where, sides)

    @property
    def layout(self) -> SurvivalCells:
        """Of the cells."""
        return self.statistic.layout

    @property
    def owner(self) -> Role | None:
        """Whose rows lie in the slots: of the side of which the other one has fewer features.

        None where both have as many.
        """
        alice, bob = (len(self._features(role).other) for role in Role)
        return None if alice == bob else Role.ALICE if alice < bob else Role.BOB

    def group_of(self, owner: Role) -> vertical_sums.GroupOf | None:
        """Which of the features of a side is 1 in each of its rows; None where it does not know the cells.

        Args:
            owner: the side.
        """
        layout, sides = self.layout, self.sides
        if sides[layout.time] is not owner or sides[layout.event] is not owner:
            return None
        features = {feature: place for place, feature in enumerate(self._features(owner).own)}
        place = list(Role).index(owner)
        of_cells = np.array([features[pair[place]] for pair in self.wanted[:-1]], dtype=np.int64)
        where = tuple(condition for condition in self.where if sides[condition.column] is owner)

        @of_shape(lambda columns: shape_array(len(columns[layout.time]), np.int64))
        def group_of(columns: Mapping[str, Ints]) -> Ints:
            count = len(columns[layout.time])
            # A feature of this side is the same whatever the labels of the other one are.
            known = {name: columns.get(name, np.zeros(count, dtype=np.int64)) for name in sides}
            found = of_cells[layout.places(LocalRows(known, np.arange(count), count))]
            return np.where(rows_meeting(where, columns, count), found, -1) if where else found

        return group_of

    def _features(self, owner: Role) -> vertical_sums.FeatureLayout:
        return vertical_sums.FeatureLayout.of(self.wanted, owner)


def run_matched_curves(
    session: Session,
    parameters: StatisticsParameters,
    vertical: Vertical,
    data: Data,
    recipients: frozenset[Role],
    release: Release,
) -> tuple[Survival, SurvivalFigures | None]:
    """Compute the curves, and the test if it is asked, and open what the limits of both let be shown.

    Args:
        session: this side of the run.
        parameters: of the job.
        vertical: how rows are matched.
        data: the local columns.
        recipients: who gets the figures.
        release: opens them.

    Returns:
        The query, resolved; and the figures, None for a party that is not a recipient.

    Raises:
        DomainError: the local data do not fit; nothing was sent.
        DisclosureRefused: a limit stands against the result, at both sides; no figure was opened.
        UsageError: the columns of both sides do not fit the query.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    met = Met.of(session, parameters, vertical, data, release)
    asked = MatchedCurves.of(parameters, vertical, dict(met.schemas))
    statistic, layout = asked.statistic, asked.layout
    most = min(len(met.brought.keyed), int(met.peer_count))
    owner = asked.owner
    words = vertical_sums.sums(
        session,
        asked.wanted,
        met.brought.columns,
        met.keys(session),
        met.peer_count,
        owner,
        None if owner is None else asked.group_of(owner),
    )
    counts = SecretInts.from_shares(session, words, Bounds(0, most))
    size, cells = counts[-1:], counts[:-1]
    release.intersection(lambda: (size,))
    curves, test = JointTables(cells, layout, most).figures(test=statistic.query.test)
    events = _events(cells, layout, most)
    digits = MatchedDigits.of(curves.at_risk.ints, events, most, release.indistinct)
    part = MatchedCurvesPart(
        _between_points(cells, layout), len(layout.groups), layout.endings.kinds, statistic.query.test
    )
    opened = release.exact(MatchedCurvesFigure(part, *digits.rounded(curves, test)), recipients)
    return statistic, None if opened is None else digits.figures(statistic, *opened)


def plain_matched_curves(
    parameters: StatisticsParameters, vertical: Vertical, alice: Data, bob: Data
) -> tuple[Survival, SurvivalFigures]:
    """What would open of all matches without limits.

    Raises:
        UsageError: the query does not fit the columns.
        DomainError: the rows of a side cannot be matched.
    """
    schemas = {
        name: data[name].schema
        for data, names in ((alice, vertical.alice), (bob, vertical.bob))
        for name in names
    }
    asked = MatchedCurves.of(parameters, vertical, schemas)
    (query,) = parameters.queries
    rows = joined_rows(parameters, vertical, alice, bob).meeting(conditions(query, schemas))
    return asked.statistic, plain_figures(asked.statistic, asked.layout.count(rows))


def _events(cells: SecretInts, layout: SurvivalCells, most: int) -> SecretInts:
    """The first kind of event in all cells, one number; local."""
    shaped = cells.shares.reshape(-1, layout.width)[:, :-1].reshape(-1, layout.endings.kinds)
    total = shaped[:, EVENT].sum(dtype=np.uint64, keepdims=True)
    return SecretInts.from_shares(cells.session, total, Bounds(0, most))


def _between_points(cells: SecretInts, layout: SurvivalCells) -> SecretInts:
    """Rows by group and stratum, and by interval between points and ending; local."""
    merged: Sequence[int] = (len(layout.groups) * len(layout.strata), -1)
    shares = layout.merge(cells.shares.view(np.int64), layout.stride).view(np.uint64).reshape(*merged)
    return SecretInts.from_shares(cells.session, shares, cells.bounds)
