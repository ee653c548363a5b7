"""Survival without noise over the rows of both: computed in secret, shown at points as the limits allow.

A side chooses its own rows, and so when an event of the other's weighs much, and on which side of a border
between two rounded values a curve comes to lie. So such jobs count as giving results about single rows.

Each side counts its rows in a table by group, stratum, ending and unit of time; `joint_curves` works on the
sum of both, which nobody sees. What opens are figures at the points of the curves, where both sides' limits
let them be shown (`smc.analyses.disclosure.curves`), and of a test the events of each group, how many were
expected, and their covariances; all of them, under limits, in few digits (`digits`). Bands, medians,
restricted means and the test itself are worked out from these by the recipients.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from typing_extensions import override

from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.statistics.horizontal.curves_run import LocalCurves, run_curves
from smc.analyses.statistics.horizontal.study import ExactStudy, HorizontalStudy
from smc.analyses.statistics.kinds.survival.joint_figures import plain_figures
from smc.analyses.statistics.kinds.survival.statistic import Survival
from smc.analyses.statistics.plans.curves import (
    ROUNDED,
    WITHIN_SIDES,
    asked_of,
    curves_outcome,
    curves_text,
)
from smc.analyses.statistics.plans.outcome import EXACT_DETAILS, kept_from
from smc.analyses.statistics.plans.plan import check_alike, resolve
from smc.analyses.studies.brief import Brief
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.facts import Facts
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


_FITTED: Final = (
    "by chosen rows of its own: of each group whether at most so many persons of the other side have an "
    "event after a day, both of its choice and also fewer than a smallest group, as one bit of each job"
)


@dataclass(frozen=True, slots=True)
class ExactCurvesStudy(ExactStudy):
    """A job about survival without noise: one query."""

    pace = Pace(0.015, byte=2.5e-8, round=0.4e-3, numpy=2.2)
    route = "curves and tests computed from shared tables; figures at points opened as far as limits allow"

    @override
    def memory(self, schemas: Mapping[str, Schema], setting: RunSetting) -> int:
        """Measured: by rows, and by groups, strata and steps."""
        query, _ = asked_of(self.parameters)
        found = resolve(query, self.parameters, schemas)
        cells = found.layout.size if isinstance(found, Survival) else 0
        return HorizontalStudy.memory(self, schemas, setting) + _CELL_MEMORY * cells

    @override
    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check that both sides' columns fit each other and the query, and that counts fit their words."""
        query, _ = asked_of(self.parameters)
        check_alike(query, alice, bob, noisy=False)
        for schemas in (alice, bob):
            resolve(query, self.parameters, schemas)
        if self.parameters.maximum_rows > MAX_ROWS:
            raise UsageError(
                f"Query {query.name!r}: survival without noise takes at most {MAX_ROWS} rows of a side.",
                "Lower maximum_rows.",
            )

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        """As of other exact figures, but that they tell of single rows."""
        return replace(ExactStudy.facts(self, recipients), row_results=bool(recipients))

    @override
    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        gets, tested = curves_text(self.parameters), asked_of(self.parameters)[0].test
        rounded = (ROUNDED, WITHIN_SIDES) if tested else (ROUNDED,)
        return self.describe_learnt(recipients, (*gets, *rounded, _WITHHELD, _FITTED), _GOES_ON)

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
        rounded = release.indistinct > 0
        return curves_outcome(self.parameters, own.statistic, figures, rounded=rounded, within_sides=rounded)

    @override
    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """The figures of all rows, without limits."""
        sides = [LocalCurves.of(self.parameters, data) for data in (alice, bob)]
        figures = plain_figures(sides[0].statistic, sides[0].cells + sides[1].cells)
        outcome = curves_outcome(self.parameters, sides[0].statistic, figures, rounded=False)
        to_alice, to_bob = (outcome if role in recipients else kept_from(EXACT_DETAILS) for role in Role)
        return to_alice, to_bob
