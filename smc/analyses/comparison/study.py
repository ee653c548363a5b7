"""The analysis: checks, cost, the joint run and the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from smc.analyses.columns import Data, Schema
from smc.analyses.comparison.bisection import found, jobs_to_find
from smc.analyses.comparison.columns import (
    agreed_rows,
    holding_of,
    notes,
    plain_tables,
    plain_values,
    stretched,
    tables,
)
from smc.analyses.comparison.parameters import (
    NUMBERS,
    ComparisonParameters,
    check_bounds,
    check_kind,
    parse,
)
from smc.analyses.comparison.prepared import agreement_cost, use_prepared
from smc.analyses.disclosure.figures import Rows, Shares
from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.loss import Loss
from smc.analyses.memory import MEBI, Memory
from smc.analyses.outcome import Outcome
from smc.analyses.study import Estimate, Facts, Leakage, Preview
from smc.errors import DomainError, UsageError
from smc.forms import Form, Holding, Role
from smc.planning.cost import estimate_seconds
from smc.planning.plan import Plan
from smc.planning.route import plan_comparison
from smc.planning.run import prepare, session_parameters
from smc.protocols.exchange.row_counts import counts_cost, exchange_counts
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Modulus, Parameters, parse_modulus
from smc.values import Nothing, Plain, Share, Value

_MEMORY: Final = Memory(12 * MEBI, 105)


@dataclass(frozen=True, slots=True)
class ComparisonStudy:
    """A job; see `smc.analyses.study.Study` for what its methods say."""

    parameters: ComparisonParameters

    @property
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

    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check kinds, scales, bounds and share moduli.

        Raises:
            UsageError: names the side and the column.
        """
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
        self._plan(Parameters(1, parameters.bits, 2048, 2048), moduli)

    def check_recipients(self, recipients: frozenset[Role]) -> None:
        """Recipients are those who hold a part of delta by its form, and nobody else.

        Raises:
            UsageError: says who they must be.
        """
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

    def facts(self, recipients: frozenset[Role]) -> Facts:
        """Rows are paired by position; the result is about single rows, if anybody sees it."""
        del recipients  # the type says who sees the result
        return Facts(
            pairs_by_position=True,
            matches=False,
            row_results=bool(self.parameters.type.delta.sees),
            comparison_type=self.parameters.type,
            exact=False,
            sorts_by=frozenset(),
            loss=Loss(),
        )

    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        """Who learns what."""
        parameters = self.parameters
        del recipients
        learns = {role: _learns(parameters, role) for role in Role}
        public: tuple[str, ...] = (
            "the number of rows of x and of y",
            f"type {parameters.type}, {parameters.bits} bits",
        )
        if parameters.pool:
            public += ("random names of the pools that both keep for such comparisons",)
        return Leakage(learns[Role.ALICE], learns[Role.BOB], public)

    def preview(
        self,
        data: Data,
        role: Role,
        limits: Limits,
        peer: Mapping[str, Schema] | None = None,
    ) -> Preview:
        """Whether columns fit the parameters, and numbers of rows each other, if the peer brings the rest."""
        parameters = self.parameters
        del limits, peer
        own = [len(data[name]) if name in data else 0 for name in ("x", "y")]
        width = parameters.bits if parameters.type.bitwise else 1
        fitting = {"x": own[0] or own[1] * width, "y": own[1] or own[0] // width}
        theirs = self.columns[role.other]
        brought = [rows if name in theirs else 0 for name, rows in fitting.items()]

        def look() -> None:
            self._measures({name: column.schema for name, column in data.items()}, role)
            if any(name in data for name in ("x", "y")):
                _count(parameters, own, brought)

        return Preview.of(look)

    def cost(
        self,
        schemas: Mapping[str, Schema],
        recipients: frozenset[Role],
        rows: int,
        key_bits: int,
        limits: Limits,
    ) -> Estimate:
        """The exact bytes and rounds of the route and of telling the row counts, and the likely time.

        A job with `pool = true` is priced as if there were no pool in common.
        """
        parameters = self.parameters
        del recipients, limits
        given = Parameters(max(1, rows), parameters.bits, key_bits, key_bits)
        moduli = [
            parse_modulus(schemas[name].modulus) for name in ("x", "y") if parameters.form(name) is Form.SS
        ]
        plan = self._plan(given, moduli)
        looking = agreement_cost(plan) if parameters.pool else Cost()
        cost = counts_cost(2) + plan.setup + looking + plan.cost(given)
        return Estimate(
            cost.rounds,
            cost.alice_bytes,
            cost.bob_bytes,
            estimate_seconds(cost, given),
            plan.route,
            _MEMORY.at(rows) if _has_model(parameters, plan) else None,
        )

    def run(
        self,
        session: Session,
        data: Data,
        recipients: frozenset[Role],
        release: Release,
    ) -> Outcome:
        """The joint run, one side; both sides' columns have the same number of rows, or one has a single row.

        Raises:
            DomainError: the numbers of rows do not fit.
        """
        parameters = self.parameters
        self.check_recipients(recipients)
        own = [len(data[name]) if name in data else 0 for name in ("x", "y")]
        peer = exchange_counts(session, own)
        count = _count(parameters, own, peer)
        width = parameters.bits if parameters.type.bitwise else 1
        holdings = {
            name: holding_of(session, parameters, name, data.get(name), count * (width if name == "x" else 1))
            for name in ("x", "y")
        }
        moduli = [parse_modulus(data[n].schema.modulus) for n in ("x", "y") if parameters.form(n) is Form.SS]
        given = session_parameters(session, count, parameters.bits)
        plan = self._plan(given, moduli)
        ready = prepare(plan, session)
        about = Rows() if parameters.type.delta.sees else Shares()
        release.admit(about)
        prepared = (use_prepared(session, plan, given),) if parameters.pool else ()
        delta = release.protocol(about, ready.run, holdings["x"], holdings["y"])
        return Outcome(
            tables(session, delta),
            (*notes(delta), *prepared),
            {"route": plan.route, "engine": plan.engine, "type": str(plan.type), "plan": plan.digest},
        )

    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """The reference, for columns that are plain or shared modulo a number.

        Raises:
            UsageError: a column is encrypted or shared modulo a key, which nobody can open here.
        """
        self.check_recipients(recipients)
        x, y = (plain_values(self.parameters, name, alice.get(name), bob.get(name)) for name in ("x", "y"))
        count = max(len(x), len(y))
        pairs = zip(stretched(x, count), stretched(y, count), strict=True)
        delta = [int(a >= b) for a, b in pairs]
        form = self.parameters.type.delta
        if form in (Form.ES, Form.SE):
            raise UsageError(
                "The reference has no keys to encrypt under.", "Choose a shared or plain result."
            )
        values: dict[Holding, tuple[Value, Value]] = {
            Holding.PLAIN: (Plain(delta), Plain(delta)),
            Holding.SHARE: (Share(delta, 2), Share([0] * count, 2)),
            Holding.NOTHING: (Nothing(count), Nothing(count)),
        }
        results = [values[form.holding(role)][i] for i, role in enumerate(Role)]
        first, second = (Outcome(plain_tables(result), notes(result)) for result in results)
        return first, second

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

    def _plan(self, given: Parameters, moduli: Sequence[Modulus]) -> Plan:
        first = moduli[0] if moduli else Role.ALICE
        parameters = self.parameters
        last = moduli[-1] if moduli else Role.ALICE
        return plan_comparison(
            parameters.type,
            given,
            engine=parameters.engine,
            x_modulus=first,
            y_modulus=last,
            delta_modulus=parameters.delta_modulus,
        )


def _learns(parameters: ComparisonParameters, role: Role) -> tuple[str, ...]:
    """What a party learns from a run, and from as many as single out every value."""
    kind, bits = parameters.type, parameters.bits
    if role not in kind.delta.sees:
        return ()
    told = f"whether x >= y, row by row, because the result has form {kind.delta.value}"
    unknown = found(kind, role)
    if len(unknown) == 2:
        jobs = jobs_to_find(2 ** (bits + 1) - 1)
        return told, f"in at most {jobs} jobs in which it shifts its part: every difference of x and y"
    if not unknown:
        return (told,)
    (name,) = unknown
    other = "y" if name == "x" else "x"
    series = f"in at most {jobs_to_find(2**bits)} jobs with chosen values of {other}"
    if other in parameters.constants:
        every = f"in at most {jobs_to_find(2**bits, by_one=True)} jobs every value of {name}"
        return told, f"{series}: any one value of {name}; {every}"
    return told, f"{series}: every value of {name}"


def _count(parameters: ComparisonParameters, own: Sequence[int], peer: Sequence[int]) -> int:
    """The number of comparisons, from the rows of x and y on both sides; 0 where a side holds none.

    Raises:
        DomainError: they do not fit each other, or there are none.
    """
    width = parameters.bits if parameters.type.bitwise else 1
    rows = [agreed_rows(n, a, b) for n, a, b in zip(("x", "y"), own, peer, strict=True)]
    count_x, rest = divmod(rows[0], width)
    if rest:
        raise DomainError(
            f"x has {rows[0]} encrypted bits, not a multiple of {width}.",
            f"Bring {width} encrypted bits for each value, or state another number of bits.",
        )
    count = max(count_x, rows[1])
    if not count:
        raise DomainError("There is no row to compare.", "Bring at least one value.")
    for name, one in (("x", count_x), ("y", rows[1])):
        if one not in (1, count) and name not in parameters.constants:
            raise DomainError(
                f"x has {count_x} rows and y has {rows[1]}.",
                "Compare columns of the same length, or a column with a single value.",
            )
    return count


def _has_model(parameters: ComparisonParameters, plan: Plan) -> bool:
    """Whether memory was measured: of oblivious transfer without ciphertexts, by no pool."""
    kind = parameters.type
    encrypted = {Form.ES, Form.SE} & {kind.x, kind.y, kind.delta}
    return plan.engine == "oblivious" and not encrypted and not parameters.pool


class Comparison:
    """See the module; fulfils `smc.analyses.study.Analysis`."""

    name = "comparison"
    always_matches = False

    def parse(self, parameters: Mapping[str, Any]) -> ComparisonStudy:
        """See `smc.analyses.comparison.parameters.parse`."""
        return ComparisonStudy(parse(parameters))


COMPARISON = Comparison()
"""The analysis, as the registry lists it."""
