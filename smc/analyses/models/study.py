"""Regression models over rows of both, each side with the same columns, without noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from typing_extensions import override

from smc.analyses.derived.study import with_derived
from smc.analyses.disclosure.audit import ShownTables
from smc.analyses.disclosure.fits import MAX_FIT_OPENINGS
from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.models.design import Design, check_alike
from smc.analyses.models.matched_parameters import LAYOUT, is_vertical, parse_matched
from smc.analyses.models.matched_study import MatchedModelsStudy
from smc.analyses.models.outcome import SINGLE_ROWS, outcome_of
from smc.analyses.models.parameters import COX, LINEAR, ModelsParameters, parse
from smc.analyses.models.reference import fit_plainly
from smc.analyses.models.run import USUAL_OPENINGS, Sizes, fit_model
from smc.analyses.models.stated import stated_tables
from smc.analyses.studies.brief import Brief, count_of
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.facts import Asked, ExactFigures, Facts, RowBounds, Stated, Whom
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.memory import Pace
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.study import Leakage, Study
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.exchange.row_counts import exchange_counts
from smc.protocols.session import Session

SETTLED: Final = (
    "of the other side whether its limits let each model be fitted to its rows, one bit: not where few of "
    "its persons stand behind a covariate or an outcome, one of them decides a coefficient, or earlier exact "
    "figures stand against it"
)
CHOSEN: Final = (
    "by rows of its choice: how the other side's rows move the coefficients; from several jobs figures that "
    "can be solved for sums over them"
)


@dataclass(frozen=True, slots=True)
class ModelsStudy(Study):
    """A job.

    Attributes:
        parameters: of the job.
        traced_openings: how often a run over shapes opens the coefficients of a model. Data decide of a run.
    """

    parameters: ModelsParameters
    traced_openings: int = USUAL_OPENINGS
    gives = "models"
    pace = Pace(0.05, byte=6e-9, round=1.05e-3, row=1.6e-5)

    @property
    @override
    def depends_on_rounding(self) -> bool:
        """Each side's derivatives are exponentials, products of matrices and solutions of its own rows."""
        return True

    @property
    @override
    def longest(self) -> Study | None:
        """Of the most openings; where more than the usual ones are taken, each step is as dear as these."""
        return replace(self, traced_openings=MAX_FIT_OPENINGS)

    @property
    @override
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """The columns that the models name, the same for both."""
        return dict.fromkeys(Role, self.parameters.columns)

    @override
    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        for role, schemas in zip(Role, (alice, bob), strict=True):
            self.check_side(schemas, role)
        for model in self.parameters.models:
            check_alike(model, alice, bob)

    @override
    def check_side(self, schemas: Mapping[str, Schema], role: Role) -> None:
        Study.check_side(self, schemas, role)
        for model in self.parameters.models:
            Design.of(model, schemas)

    @override
    def check_recipients(self, recipients: frozenset[Role]) -> None:
        """Both: each takes its sums at coefficients that were opened, which are nearly the result."""
        if recipients != frozenset(Role):
            raise UsageError(
                "Both sides receive models: each computes on at the coefficients of the step before.",
                'Write recipients = ["alice", "bob"].',
            )

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        models = self.parameters.models
        stated = [Stated.BOUNDS] if any(model.ranges for model in models) else []
        return Facts(
            pairs_by_position=False,
            matches=False,
            lpn=False,
            row_results=bool(recipients),
            comparison_type=None,
            exact=ExactFigures(len(models), Whom.FITS),
            sorts_by=frozenset(),
            keeps_missing=frozenset(),
            loss=Loss(),
            bounds=RowBounds(),
            asked=Asked(queries=frozenset(model.kind for model in models), states=frozenset(stated)),
        )

    @override
    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        gets = []
        for model in self.parameters.models:
            steps = (
                f"coefficients of the steps to it, {MAX_FIT_OPENINGS} at most and {USUAL_OPENINGS} as a rule"
            )
            rest = " and the sum of squared residuals" if model.kind == LINEAR else ""
            baseline = "; baselines stay closed" if model.kind == COX else ""
            gets.append(
                f'the exact {model.kind} model "{model.name}": {steps}, their standard errors{rest}, rounded'
                f"{baseline}"
            )
            if model.report:
                gets.append(
                    f'of "{model.name}" how many rows have the outcome, and its AUC, rounded so that as many '
                    "persons as the policies limit groups to move it by one unit at most; by chosen rows of "
                    "its own whether at most so many persons of the other side with the outcome are above a "
                    "score, both of its choice and also fewer than a smallest group, as one bit of each job"
                )
            gets.append(
                f'whether "{model.name}" can be computed, one bit: not where a covariate follows from others '
                "or nearly so"
            )
        return Leakage.to(recipients, (*gets, SETTLED, CHOSEN, SINGLE_ROWS), self._public)

    @property
    def _public(self) -> tuple[str, ...]:
        ranges = (
            f"that {name} goes from {float(lower):g} to {float(upper):g} in {model.name!r}"
            for model in self.parameters.models
            for name, (lower, upper) in model.ranges.items()
        )
        return ("the models and their covariates", *ranges, "the number of rows of each side")

    @override
    def brief(self, recipients: frozenset[Role]) -> Brief:
        names = tuple(model.name for model in self.parameters.models)
        models = count_of(len(names), "exact model")
        gets = (f"coefficients and standard errors of {models}", "whether each can be computed")
        hides = "the rows themselves, and sums over the rows of one side"
        return Brief.to(recipients, f"fit {models} to the rows of both", gets, hides, figures=names)

    @override
    def look(self, data: Data, role: Role, limits: Limits, peer: Mapping[str, Schema] | None) -> None:
        """Check that rows fit the models; whether limits stand against a part is settled in the run."""
        for model in self.parameters.models:
            schemas = {name: data[name].schema for name in model.columns}
            Design.of(model, schemas).rows(data)
            if peer is not None and set(model.columns) <= set(peer):
                check_alike(model, schemas, peer)

    @override
    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        """The joint run, one side.

        Raises:
            UsageError: the local columns do not fit; nothing was sent.
            DisclosureRefused: a side's limits stand against a model; nothing more was opened.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        schemas = {name: data[name].schema for name in self.parameters.columns}
        designs = [Design.of(model, schemas) for model in self.parameters.models]
        local = [design.rows(data) if session.has_data else design.no_rows for design in designs]
        own = len(data[self.parameters.columns[0]])
        (peer,) = exchange_counts(session, [own])
        fits = []
        for design, rows in zip(designs, local, strict=True):
            sizes = Sizes.of(design, (own, int(peer)))
            stated = stated_tables(design, data) if session.has_data else ShownTables(())
            total, traced = own + int(peer), self.traced_openings
            fits.append((design, fit_model(session, design, rows, stated, sizes, release, total, traced)))
        return outcome_of(fits)

    @override
    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        schemas = {name: alice[name].schema for name in self.parameters.columns}
        fits = []
        for model in self.parameters.models:
            design = Design.of(model, schemas)
            sides = [design.rows(data) for data in (alice, bob)]
            fits.append(
                (design, fit_plainly(design, sides, Sizes.of(design, (len(sides[0]), len(sides[1])))))
            )
        found = outcome_of(fits)
        return found, found


class Models:
    """The analysis `models`; see `smc.analyses.studies.study.Analysis`."""

    name: Final = "models"
    always_matches: Final = False

    def parse(self, parameters: Mapping[str, Any]) -> Study:
        """Check the `[parameters]` of a job, see `smc.analyses.models.parameters`.

        Columns may be derived, see `smc.analyses.derived.columns`.
        """
        return with_derived(parameters, _study)


def _study(given: Mapping[str, Any]) -> Study:
    if is_vertical(given):
        return MatchedModelsStudy(parse_matched(given))
    return ModelsStudy(parse({key: value for key, value in given.items() if key != LAYOUT}))


MODELS: Final = Models()
"""The analysis, for the registry."""
