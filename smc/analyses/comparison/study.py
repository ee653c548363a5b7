"""Comparison jobs: what is checked, and who learns what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from smc.analyses.comparison.bisection import findable_values, jobs_to_find
from smc.analyses.comparison.cost import estimate, plan_route
from smc.analyses.comparison.parameters import NUMBERS, ComparisonParameters, check_bounds, check_kind
from smc.analyses.comparison.reference import reference
from smc.analyses.comparison.routed import SessionRouter
from smc.analyses.comparison.run import count_of, run
from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.studies.brief import Brief
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.declared_analysis import DeclaredAnalysis
from smc.analyses.studies.facts import Asked, Facts, RowBounds
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Estimate, Leakage, Study
from smc.errors import UsageError
from smc.forms import Form, Holding, Role
from smc.moduli import parse_modulus
from smc.planning.registry import AUTO
from smc.protocols.engines import SILENT
from smc.protocols.full_session import FullSession
from smc.protocols.session import Session
from smc.protocols.spec import Parameters


@dataclass(frozen=True, slots=True)
class ComparisonStudy(Study):
    """A job."""

    parameters: ComparisonParameters

    @property
    @override
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """x, y, or both: what the party holds of them besides keys and constants."""
        held = (Holding.PLAIN, Holding.SHARE, Holding.CIPHERTEXT)
        return {
            role: tuple(
                name
                for name in ("x", "y")
                if name not in self.parameters.constants and self.parameters.form(name).holding(role) in held
            )
            for role in Role
        }

    @property
    @override
    def takes_pool(self) -> bool:
        return self.parameters.pool

    @override
    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check kinds, scales, bounds and share moduli."""
        parameters = self.parameters
        measures: dict[tuple[int, str], str] = {}
        for role, schemas in ((Role.ALICE, alice), (Role.BOB, bob)):
            measures |= self._measures(schemas, role)
        if len(measures) > 1:
            raise UsageError(
                f"{' and '.join(measures.values())} have different units or different numbers of digits "
                "after the point.",
                "Declare both columns with the same type, scale and unit.",
            )
        for name in ("x", "y"):
            if parameters.form(name) is Form.SS and alice[name].modulus != bob[name].modulus:
                raise UsageError(
                    f"Column {name} is shared modulo {alice[name].modulus} at alice and "
                    f"{bob[name].modulus} at bob.",
                    "Declare the same modulus on both sides.",
                )
        moduli = [parse_modulus(alice[n].modulus) for n in ("x", "y") if parameters.form(n) is Form.SS]
        plan_route(parameters, Parameters(1, parameters.bits, 2048, 2048), moduli, None)

    @override
    def check_recipients(self, recipients: frozenset[Role]) -> None:
        """Recipients are those who hold a part of delta by its form, and nobody else."""
        form = self.parameters.type.delta
        holders = frozenset(
            role for role in Role if form.holding(role) not in (Holding.NOTHING, Holding.SECRET_KEY)
        )
        if recipients != holders:
            names = ", ".join(f'"{role.value}"' for role in Role if role in holders)
            raise UsageError(
                f"A result in form {form.value} goes to {names}, and the job names other recipients.",
                f"Write recipients = [{names}], or choose another form.",
            )

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        """Rows are paired by position; the type says who sees results, which are about single rows."""
        return Facts(
            pairs_by_position=True,
            matches=False,
            lpn=self.parameters.engine in {AUTO, SILENT.name},
            row_results=bool(self.parameters.type.delta.sees),
            comparison_type=self.parameters.type,
            exact=None,
            sorts_by=frozenset(),
            keeps_missing=frozenset(),
            loss=Loss(),
            bounds=RowBounds(),
            asked=Asked(),
        )

    @override
    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        parameters = self.parameters
        learns = {role: _learns(parameters, role) for role in Role}
        public: tuple[str, ...] = (
            "the number of rows of x and of y",
            f"type {parameters.type}, {parameters.bits} bits",
        )
        if parameters.pool:
            public += ("random names of the pools that both keep for such comparisons",)
        return Leakage(learns[Role.ALICE], learns[Role.BOB], public)

    @override
    def brief(self, recipients: frozenset[Role]) -> Brief:
        """The form of the result says who sees it, and not the recipients."""
        sees = self.parameters.type.delta.sees

        def learns(role: Role) -> tuple[str, ...]:
            if role not in sees:
                return ()
            found: tuple[str, ...] = ("whether x >= y, row by row",)
            if findable_values(self.parameters.type, role):
                found += ("with chosen values in many jobs: what the other side holds",)
            return found

        hides = "" if sees else "x, y, and which is larger: the result stays hidden"
        return Brief("compare x with y, row by row", learns(Role.ALICE), learns(Role.BOB), hides)

    @override
    def look(self, data: Data, role: Role, limits: Limits, peer: Mapping[str, Schema] | None) -> None:
        """Check columns by the parameters, and numbers of rows by each other, if the peer brings the rest."""
        parameters = self.parameters
        own = [len(data[name]) if name in data else 0 for name in ("x", "y")]
        width = parameters.bits if parameters.type.bitwise else 1
        fitting = {"x": own[0] or own[1] * width, "y": own[1] or own[0] // width}
        theirs = self.columns[role.other]
        brought = [rows if name in theirs else 0 for name, rows in fitting.items()]
        self._measures({name: column.schema for name, column in data.items()}, role)
        if any(name in data for name in ("x", "y")):
            count_of(parameters.question, own, brought)

    def cost(
        self, schemas: Mapping[str, Schema], recipients: frozenset[Role], setting: RunSetting
    ) -> Estimate:
        """See `smc.analyses.comparison.cost.estimate`."""
        del recipients  # the type says who sees the result
        return estimate(self.parameters, schemas, setting)

    @override
    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        router = SessionRouter(FullSession.check(session), self.parameters)
        return run(session, self.parameters.question, router, data, release)

    @override
    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        return reference(self.parameters, alice, bob)

    def _measures(self, schemas: Mapping[str, Schema], role: Role) -> dict[tuple[int, str], str]:
        """Scale and unit of a side's columns of numbers, which are checked by themselves."""
        measures: dict[tuple[int, str], str] = {}
        for name in self.columns[role]:
            schema = schemas[name]
            place = f"{role.value}'s column {name}"
            check_kind(schema, self.parameters.form(name).holding(role), place)
            if schema.kind in NUMBERS:
                check_bounds(schema, self.parameters, place)
                measures[schema.scale, schema.unit] = place
        return measures


def _learns(parameters: ComparisonParameters, role: Role) -> tuple[str, ...]:
    """What a party learns from a run, and from as many as single out every value."""
    kind, bits = parameters.type, parameters.bits
    if role not in kind.delta.sees:
        return ()
    always = f"whether x >= y, row by row, because the result has form {kind.delta.value}"
    unknown = findable_values(kind, role)
    if len(unknown) == 2:
        jobs = jobs_to_find(2 ** (bits + 1) - 1)
        return always, f"in at most {jobs} jobs in which it shifts its part: every difference of x and y"
    if not unknown:
        return (always,)
    (name,) = unknown
    other = "y" if name == "x" else "x"
    series = f"in at most {jobs_to_find(2**bits)} jobs with chosen values of {other}"
    if other in parameters.constants:
        every = f"in at most {jobs_to_find(2**bits, by_one=True)} jobs every value of {name}"
        return always, f"{series}: any one value of {name}; {every}"
    return always, f"{series}: every value of {name}"


COMPARISON: Final = DeclaredAnalysis("comparison", ComparisonStudy, ComparisonParameters)
"""The analysis, as the registry lists it."""
