"""Several studies as one job: one approval, one loss, and exact figures that are judged together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from typing_extensions import override

from commons.errors import near
from commons.settings.reader import Tables
from commons.settings.shapes import Document
from smc.analyses.derived.study import with_derived
from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.disclosure.together import run_together
from smc.analyses.models.study import MODELS
from smc.analyses.plan.joining import (
    joined_facts,
    joined_outcomes,
    joined_pace,
    joined_previews,
    joined_texts,
)
from smc.analyses.plan.parameters import PartParameters, PlanParameters
from smc.analyses.plan.part import PlanPart
from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.studies.brief import Brief, count_of
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.facts import Facts
from smc.analyses.studies.memory import Pace
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.parameters import read_parameters
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Analysis, Leakage, Preview, Study
from smc.analyses.validation.study import VALIDATION
from smc.errors import DuettoError, UsageError
from smc.forms import Role
from smc.protocols.session import Session

JOINED: Final[Mapping[str, Analysis]] = {each.name: each for each in (STATISTICS, MODELS, VALIDATION)}
"""The analyses of parts: what they open, they open once all that can be refused has been stated."""

_ALONE: Final = (
    "Exact clusters show lines between persons, scores and comparisons tell of single rows, matching opens "
    "sizes on its way: nothing holds such figures against others before one is opened."
)
_SETTLED: Final = (
    "whether the limits of both let all figures without noise be opened, before one is: one bit for all of "
    "them together, of each side or of both, in which are those that are named of single parts"
)


@dataclass(frozen=True, slots=True)
class PlanStudy(Study):
    """A job.

    Attributes:
        parts: in the job's order, which is that of the run.
    """

    parts: tuple[PlanPart, ...]
    gives = "results"
    route = "part by part up to what is opened; judged together; then opened"

    @property
    @override
    def pace(self) -> Pace:
        return joined_pace([part.study.pace for part in self.parts])

    @property
    @override
    def least_rows(self) -> int:
        return max(part.study.least_rows for part in self.parts)

    @property
    @override
    def depends_on_rounding(self) -> bool:
        return any(part.study.depends_on_rounding for part in self.parts)

    @property
    @override
    def longest(self) -> Study | None:
        """With the longest runs of those parts whose data decide it."""
        if all(part.study.longest is None for part in self.parts):
            return None
        return replace(
            self,
            parts=tuple(replace(part, study=part.study.longest or part.study) for part in self.parts),
        )

    @property
    @override
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """Those of all parts, each once."""
        return {
            role: tuple(dict.fromkeys(name for part in self.parts for name in part.columns(role)))
            for role in Role
        }

    @override
    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        for part in self.parts:
            with part.name_errors():
                part.study.check(part.inside(alice, Role.ALICE), part.inside(bob, Role.BOB))

    @override
    def check_side(self, schemas: Mapping[str, Schema], role: Role) -> None:
        for part in self.parts:
            with part.name_errors():
                part.study.check_side(part.inside(schemas, role), role)

    @override
    def check_recipients(self, recipients: frozenset[Role]) -> None:
        Study.check_recipients(self, recipients)
        for part in self.parts:
            with part.name_errors():
                part.study.check_recipients(recipients)

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        return joined_facts(self.parts, recipients)

    @override
    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        each = [(part.name, part.study.leakage(recipients)) for part in self.parts]
        exact = self.facts(recipients).exact is not None
        alice = joined_texts([(name, leakage.alice) for name, leakage in each])
        bob = joined_texts([(name, leakage.bob) for name, leakage in each])
        public = joined_texts([(name, leakage.public) for name, leakage in each])
        parts = f"that the results are parts of one job: {', '.join(name for name, _ in each)}"
        first, second = (
            (*learnt, _SETTLED) if exact and role in recipients else learnt
            for role, learnt in zip(Role, (alice, bob), strict=True)
        )
        return Leakage(first, second, (*public, parts))

    @override
    def brief(self, recipients: frozenset[Role]) -> Brief:
        each = [(part.name, part.study.brief(recipients)) for part in self.parts]
        alice = joined_texts([(name, brief.alice) for name, brief in each])
        bob = joined_texts([(name, brief.bob) for name, brief in each])
        does = "; ".join(f"{name}: {brief.does}" for name, brief in each)
        figures = tuple(
            f"{name}: {figure}" for name, brief in each for figure in (brief.figures or (brief.does,))
        )
        hides = "; ".join(dict.fromkeys(brief.hides for _, brief in each if brief.hides))
        return Brief(f"run {count_of(len(each), 'part')} together: {does}", alice, bob, hides, figures)

    @override
    def look(self, data: Data, role: Role, limits: Limits, peer: Mapping[str, Schema] | None) -> Preview:
        """Make the checks of all parts; what limits say of them together is settled in the run."""
        found = []
        for part in self.parts:
            with part.name_errors():
                theirs = None if peer is None else part.inside(peer, role.other)
                preview = part.study.preview(part.data(data, role), role, limits, theirs)
                preview.require()
            found.append((part, preview))
        return joined_previews(found)

    @override
    def likely(self, schemas: Mapping[str, Schema]) -> Mapping[str, Schema]:
        found = dict(schemas)
        for part in self.parts:
            found = part.likely(found) | found
        return found

    @override
    def memory(self, schemas: Mapping[str, Schema], setting: RunSetting) -> int | None:
        """The sum: each part holds what it has computed until all are settled."""
        each = [part.study.memory(part.inside(schemas), setting) for part in self.parts]
        known = [found for found in each if found is not None]
        return sum(known) if len(known) == len(each) else None

    @override
    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        """The joint run, one side.

        Raises:
            DisclosureRefused: a limit stands against a part, or all of them together; nothing was opened.
            DuettoError: what a part raises.
        """
        programs = [
            (part.study.facts(recipients).scope, _program(part, session, data, recipients))
            for part in self.parts
        ]
        return self._outcome(run_together(release, programs), recipients)

    @override
    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        both = [
            part.study.reference(part.data(alice, Role.ALICE), part.data(bob, Role.BOB), recipients)
            for part in self.parts
        ]
        first, second = zip(*both, strict=True)
        return self._outcome(first, recipients), self._outcome(second, recipients)

    def _outcome(self, outcomes: tuple[Outcome, ...] | list[Outcome], recipients: frozenset[Role]) -> Outcome:
        return joined_outcomes(self.parts, outcomes, self.route, self.facts(recipients).loss)


def _program(
    part: PlanPart, session: Session, data: Data, recipients: frozenset[Role]
) -> Callable[[Release], Outcome]:
    def run(release: Release) -> Outcome:
        with part.name_errors():
            return part.study.run(session, part.data(data, session.role), recipients, release)

    return run


class PlanAnalysis:
    """The analysis `plan`; see `smc.analyses.studies.study.Analysis`."""

    name: Final = "plan"
    always_matches: Final = False

    def parse(self, parameters: Mapping[str, Any]) -> Study:
        """Check the `[parameters]` of a job, see `smc.analyses.plan.parameters`.

        Columns may be derived (`smc.analyses.derived.columns`): for all parts, or in the parameters of one.
        """
        return with_derived(parameters, _study)

    @property
    def schema(self) -> Document:
        """The JSON Schema of its parameters, without derived columns; those of parts may hold anything."""
        return Tables(PlanParameters).schema


def _study(given: Mapping[str, Any]) -> Study:
    read = read_parameters(PlanParameters, given)
    parts = tuple(_part(each) for each in read.parts)
    _check_missing(parts)
    return PlanStudy(parts)


def _part(given: PartParameters) -> PlanPart:
    """A part, of which all that it opens is stated before.

    Raises:
        UsageError: it cannot be one; names it.
    """
    place = f"Part {given.name!r}"
    if given.analysis not in JOINED:
        raise UsageError(
            f"{place}: {given.analysis!r} cannot be part of a plan. {_ALONE}",
            f"Submit it as a job of its own. {near(given.analysis, sorted(JOINED))}",
        )
    try:
        study = JOINED[given.analysis].parse(given.parameters)
    except DuettoError as error:
        error.what = f"{place}: {error.what}"
        raise
    exact = study.facts(frozenset(Role)).exact
    if exact is not None and exact.count > 1:
        raise UsageError(
            f"{place} holds {exact.count} exact figures, which it would open one after the other.",
            "Give each exact query or model a part of its own.",
        )
    return PlanPart(given.name, given.analysis, study, given.columns)


def _check_missing(parts: tuple[PlanPart, ...]) -> None:
    """Check that no part takes for values what another one counts as missing.

    Raises:
        UsageError: one does; names it and the column.
    """
    keeping = [(part, {*part.outside(part.study.facts(frozenset(Role)).keeps_missing)}) for part in parts]
    kept = set().union(*(names for _, names in keeping))
    for part, own in keeping:
        used = {name for role in Role for name in part.columns(role)}
        if strange := sorted((kept - own) & used):
            raise UsageError(
                f"Part {part.name!r} takes values of {strange[0]!r}, of which another part counts missing "
                "cells: their rows would be kept.",
                "Put one of them into a job of its own.",
            )


PLAN: Final = PlanAnalysis()
"""The analysis, for the registry."""
