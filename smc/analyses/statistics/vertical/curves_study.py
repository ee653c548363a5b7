"""Survival without noise over matched rows: times at one side, groups at the other, or as the columns are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from smc.analyses.disclosure.limits import ASKED, Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.records.joint_keys import ALIGNED_MEMORY
from smc.analyses.statistics.plans.curves import ROUNDED, curves_outcome, curves_text
from smc.analyses.statistics.plans.outcome import EXACT_DETAILS, conditions_text, kept_from
from smc.analyses.statistics.vertical.checks import MAX_PRODUCTS, check_brought
from smc.analyses.statistics.vertical.curves_run import (
    MatchedCurves,
    plain_matched_curves,
    run_matched_curves,
)
from smc.analyses.statistics.vertical.run import Brought
from smc.analyses.statistics.vertical.study import VerticalStudy
from smc.analyses.studies.brief import LEAST_MATCHES, Brief
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.facts import ExactFigures, Facts, RowBounds, Whom
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.memory import Memory, Pace
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Leakage, Preview
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.session import Session

_CELL_MEMORY: Final = 1500
_ROW_MEMORY: Final = 1000

_WITHHELD: Final = (
    "of each group and point which figures are withheld: where too few matched persons have an event, an "
    "event of each kind, or leave without one, between it and the point before, or are followed further"
)
_HOLD: Final = (
    "whether the limits of disclosure hold, one bit, where the policies set any that apply: not where there "
    "are too few matches, more than a quarter of the points, or all, would be withheld, or a tested group "
    f"has too few persons or events; {ASKED}"
)
_CLASSES: Final = (
    f"{ROUNDED}, numbers of persons and of events to a power of two of the smallest group or more; between "
    "which powers of two the persons of each group lie, and the events of all"
)
CHOSEN: Final = (
    "by keys of persons whom it knows or chosen values of its own columns, which put the border between two "
    "units: whether at most k of single rows of its choice match and have no event, k of its choice; and by "
    "own values what the other side has of them, as far as limits let so few persons be shown"
)


@dataclass(frozen=True, slots=True)
class MatchedCurvesStudy(VerticalStudy):
    """A job: one query."""

    route = "rows aligned in secret by their keys; curves of secret counts; opened as far as limits allow"
    pace = Pace(0.07, byte=2.5e-8, round=0.4e-3, numpy=2.2)

    @override
    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check keys and columns of both sides, that the query fits, and how many cells there are."""
        for role, schemas in zip(Role, (alice, bob), strict=True):
            check_brought(self.vertical, schemas, role)
        asked = self._resolve(alice, bob)
        if len(asked.wanted) > MAX_PRODUCTS:
            raise UsageError(
                f"The query asks for more than {MAX_PRODUCTS} sums over matched rows.",
                "Set a longer step, or compare fewer groups.",
            )

    def _resolve(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> MatchedCurves:
        schemas = {name: alice[name] for name in self.vertical.alice}
        schemas |= {name: bob[name] for name in self.vertical.bob}
        return MatchedCurves.of(self.parameters, self.vertical, schemas)

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        """Exact figures about the persons that both sides have, whom nobody knows."""
        return Facts(
            pairs_by_position=False,
            matches=True,
            lpn=True,
            row_results=bool(recipients),
            comparison_type=None,
            exact=ExactFigures(1, Whom.MATCHES),
            sorts_by=self.parameters.sorts_by,
            keeps_missing=frozenset(),
            loss=Loss(),
            bounds=RowBounds(self.parameters.maximum_rows),
            asked=self.parameters.asked,
        )

    @override
    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        gets = (*curves_text(self.parameters), _CLASSES, _WITHHELD)
        alice, bob = (
            (
                *(gets if role in recipients else ()),
                *((CHOSEN,) if role in recipients else ()),
                _HOLD,
            )
            for role in Role
        )
        return Leakage(alice, bob, self._public)

    @property
    def _public(self) -> tuple[str, ...]:
        names = ", ".join((*self.vertical.alice, *self.vertical.bob))
        return (
            "the number of rows of each side",
            "the query, its points and steps, and how keys are matched",
            *conditions_text(self.parameters),
            f"the declarations of {names}",
        )

    @override
    def brief(self, recipients: frozenset[Role]) -> Brief:
        gets = ("survival curves without noise, at the points of the job", "which points limits withhold")
        chosen = ("by chosen or known values: which of its own rows match",)
        does = "match the rows of both by their keys, and compute survival over the matches"
        hides = "the rows themselves, single times and events, and withheld points"
        alice, bob = (
            (
                *(gets if role in recipients else ()),
                *(chosen if role in recipients else ()),
                LEAST_MATCHES,
            )
            for role in Role
        )
        return Brief(does, alice, bob, hides, self.parameters.names)

    @override
    def look(self, data: Data, role: Role, limits: Limits, peer: Mapping[str, Schema] | None) -> Preview:
        """Check keys and sets, and that the query fits as far as the columns are known."""
        schemas = {name: column.schema for name, column in data.items()}
        check_brought(self.vertical, schemas, role)
        count = len(Brought.of(self.parameters, self.vertical, data, role).keyed)
        limits.check_sets(count, count)
        limits.check_persons(count)
        if peer is not None and set(self.vertical.values(role.other)) <= set(peer):
            self._resolve(*((schemas, peer) if role is Role.ALICE else (peer, schemas)))
        return Preview()

    @override
    def memory(self, schemas: Mapping[str, Schema], setting: RunSetting) -> int:
        """Measured: by rows, and by groups, strata and steps."""
        asked = MatchedCurves.of(self.parameters, self.vertical, dict(schemas))
        rows = Memory(ALIGNED_MEMORY.fixed, ALIGNED_MEMORY.row + _ROW_MEMORY).at(max(setting.rows))
        return rows + _CELL_MEMORY * asked.layout.size

    @override
    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        """The joint run, one side; raises as `run_matched_curves`."""
        statistic, figures = run_matched_curves(
            session, self.parameters, self.vertical, data, recipients, release
        )
        if figures is None:
            return kept_from(EXACT_DETAILS)
        return curves_outcome(self.parameters, statistic, figures, rounded=release.indistinct > 0)

    @override
    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """The figures of all matches, without limits."""
        statistic, figures = plain_matched_curves(self.parameters, self.vertical, alice, bob)
        outcome = curves_outcome(self.parameters, statistic, figures, rounded=False)
        to_alice, to_bob = (outcome if role in recipients else kept_from(EXACT_DETAILS) for role in Role)
        return to_alice, to_bob
