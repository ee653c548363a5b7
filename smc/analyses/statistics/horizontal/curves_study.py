"""Survival without noise over the rows of both: computed in secret, shown at points as the limits allow.

Each side counts its rows in a table by group, stratum, ending and unit of time; `joint_curves` works on the
sum of both, which nobody sees. What opens are figures at the points of the curves, where both sides' limits
let them be shown (`smc.analyses.disclosure.curves`), and of a test the events of each group, how many were
expected, and their covariances; all of them, under limits, in few digits (`digits`). Bands, medians,
restricted means and the test itself are worked out from these by the recipients.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.statistics.horizontal.curves_run import LocalCurves, run_curves
from smc.analyses.statistics.horizontal.study import ExactStudy, HorizontalStudy
from smc.analyses.statistics.kinds.survival.figures import SurvivalFigures
from smc.analyses.statistics.kinds.survival.joint_figures import plain_figures
from smc.analyses.statistics.kinds.survival.statistic import Survival
from smc.analyses.statistics.plans.outcome import EXACT_DETAILS, kept_from, outcome_of
from smc.analyses.statistics.plans.plan import check_alike, resolve
from smc.analyses.statistics.queries.asked import Query
from smc.analyses.statistics.queries.follow_up import FollowUp
from smc.analyses.studies.brief import Brief
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.memory import Pace
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Leakage
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.session import Session

MAX_ROWS: Final = (1 << 25) - 1
"""Rows of a side at most: of both together there are reciprocals."""

_CELL_MEMORY: Final = 1500

_WITHHELD: Final = (
    "of each group and point which figures are withheld: where too few of a side's persons have an event, an "
    "event of each kind, or leave without one, between it and the point before, or are followed further"
)
_GOES_ON: Final = (
    "of {other}'s part whether {other} lets it be opened, one bit: not where more than a quarter of the "
    "points, or all, would be withheld, a tested group has too few persons or events, or earlier exact "
    "figures stand against it"
)
_ROUNDED: Final = "where the policies limit groups, these figures are rounded by the number of persons"


@dataclass(frozen=True, slots=True)
class ExactCurvesStudy(ExactStudy):
    """A job about survival without noise: one query."""

    pace = Pace(0.015, byte=2.5e-8, round=0.4e-3, numpy=2.2)
    route = "curves and tests computed from shared tables; figures at points opened as far as limits allow"

    @override
    def memory(self, schemas: Mapping[str, Schema], setting: RunSetting) -> int:
        """Measured: by rows, and by groups, strata and steps."""
        query, _ = self._asked
        found = resolve(query, self.parameters, schemas)
        cells = found.layout.size if isinstance(found, Survival) else 0
        return HorizontalStudy.memory(self, schemas, setting) + _CELL_MEMORY * cells

    @property
    def _asked(self) -> tuple[Query, FollowUp]:
        (query,) = self.parameters.queries
        if query.follow_up is None:
            raise UsageError("The query is not about survival.", "Report it as a defect of the planning.")
        return query, query.follow_up

    @override
    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check that both sides' columns fit each other and the query, and that counts fit their words."""
        query, _ = self._asked
        check_alike(query, alice, bob, noisy=False)
        for schemas in (alice, bob):
            resolve(query, self.parameters, schemas)
        if self.parameters.maximum_rows > MAX_ROWS:
            raise UsageError(
                f"Query {query.name!r}: survival without noise takes at most {MAX_ROWS} rows of a side.",
                "Lower maximum_rows.",
            )

    @override
    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        query, asked = self._asked
        by = f", by {', '.join(asked.by)}" if asked.by else ""
        kinds = "".join(f", the part with {label}" for label in asked.competing)
        gets = [
            f'of "{query.name}" at the start and every {asked.every} of {asked.time} up to {asked.until}{by}'
            f": the part without an event and the variance of its logarithm{kinds}, and how many rows are "
            "followed further"
        ]
        if query.test:
            within = f", within {', '.join(asked.strata)}" if asked.strata else ""
            gets.append(
                f"of all times up to {asked.until} together: the events of each group, how many of them were "
                f"expected if survival were equal{within}, and the covariances of these numbers"
            )
        return self.learnt(recipients, (*gets, _ROUNDED, _WITHHELD), _GOES_ON)

    @override
    def brief(self, recipients: frozenset[Role]) -> Brief:
        names = self.parameters.names
        gets = ("survival curves without noise, at the points of the job", "which points limits withhold")
        does = "compute survival over the rows of both"
        hides = "the rows themselves, single times and events, and withheld points"
        return Brief.to(recipients, does, gets, hides, figures=names)

    @override
    def look(self, data: Data, role: Role, limits: Limits, peer: Mapping[str, Schema] | None) -> None:
        """Check that rows fit the query.

        What is withheld of the local part, or whether all of it is, is settled in the run, as with tables.
        """
        LocalCurves.of(self.parameters, data)

    @override
    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        """The joint run, one side.

        Raises:
            UsageError: the local columns do not fit; nothing was sent.
            DomainError: the local data do not; nothing was sent.
            DisclosureRefused: a side does not let its part be opened; no figure of it was.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        own = LocalCurves.of(self.parameters, data)
        figures = run_curves(session, own, self.parameters.maximum_rows, recipients, release)
        if figures is None:
            return kept_from(EXACT_DETAILS)
        return self._outcome(own, figures, rounded=release.indistinct > 0)

    @override
    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """The figures of all rows, without limits."""
        sides = [LocalCurves.of(self.parameters, data) for data in (alice, bob)]
        figures = plain_figures(sides[0].statistic, sides[0].cells + sides[1].cells)
        outcome = self._outcome(sides[0], figures, rounded=False)
        to_alice, to_bob = (outcome if role in recipients else kept_from(EXACT_DETAILS) for role in Role)
        return to_alice, to_bob

    def _outcome(self, own: LocalCurves, figures: SurvivalFigures, *, rounded: bool) -> Outcome:
        (query,) = self.parameters.queries
        result = figures.result(self._notes(own, figures, rounded=rounded))
        reported = [(query, own.statistic, None, result)]
        return outcome_of(self.parameters, reported, EXACT_DETAILS, noisy=False)

    def _notes(self, own: LocalCurves, figures: SurvivalFigures, *, rounded: bool) -> tuple[str, ...]:
        query, asked = self._asked
        unit = own.statistic.schemas[0].unit
        notes = [
            f"{query.name}: intervals and p-value speak of sampling; those of curves are symmetrical on the "
            "scale of log(-log S)."
        ]
        if unit:
            notes.append(f"{query.name}: medians and restricted means are in {unit}.")
        if asked.restricted_mean is not None or asked.competing:
            notes.append(
                f"{query.name}: restricted means, and intervals of incidences, follow from the points that "
                "are shown, by straight lines between them."
            )
        if rounded:
            notes.append(
                f"{query.name}: as limits ask, figures are rounded, the more the fewer persons there are."
            )
        if figures.withheld:
            notes.append(
                f"{query.name}: {figures.withheld} points are withheld, where too few have an event between "
                "a point and the one before, or are followed further; a curve goes on at its next point."
            )
        return tuple(notes)
