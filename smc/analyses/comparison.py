"""The analysis `comparison`: columns or single values of the two sides, in any of the 216 types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from smc.analyses.base import Column, Data, Estimate, Gate, Leakage, Outcome, Schema, Table, open_gate
from smc.analyses.parameters import reject_unknown, take
from smc.ciphers.ciphertexts import Ciphertexts, valid
from smc.errors import DomainError, KeyMaterialError, UsageError
from smc.forms import ComparisonType, Form, Holding, Role
from smc.planning.cost import estimate_seconds
from smc.planning.plan import Plan
from smc.planning.registry import DEFAULT_ENGINE, ENGINES
from smc.planning.route import MOST_BITS, plan_comparison
from smc.planning.run import run_plan, session_parameters
from smc.protocols.session import Session
from smc.protocols.sizes import exchange_counts
from smc.protocols.spec import Modulus, Parameters
from smc.values import Encrypted, KeyHolder, Nothing, Plain, Share, Value

_PLACE = "[parameters]"
_KEYS = ("type", "bits", "engine", "offset", "x", "y", "delta_modulus")
_NUMBERS = ("integer", "decimal", "date")


@dataclass(frozen=True, slots=True)
class ComparisonParameters:
    """Parsed parameters of a comparison job.

    Attributes:
        type: one of the 216 types, or type 8.
        bits: numbers are in [offset, offset + 2**bits), in held units.
        engine: the planner's engine.
        offset: what is taken off plain numbers before they are compared.
        constants: public values for x or y in form PP, in held units.
        delta_modulus: modulus of shared results; 2 is XOR.
    """

    type: ComparisonType
    bits: int
    engine: str
    offset: int
    constants: Mapping[str, int]
    delta_modulus: Modulus

    def form(self, name: str) -> Form:
        """The form of x or y."""
        return self.type.x if name == "x" else self.type.y


class Comparison:
    """See the module; fulfils `smc.analyses.base.Analysis`."""

    name = "comparison"

    def parse(self, parameters: Mapping[str, Any]) -> ComparisonParameters:
        """Check the parameters: type, bits, engine, offset, x, y, delta_modulus.

        Raises:
            UsageError: with the key that is wrong.
        """
        reject_unknown(parameters, _KEYS, _PLACE)
        kind = ComparisonType.parse(take(parameters, "type", str, _PLACE))
        bits = take(parameters, "bits", int, _PLACE, 32)
        if not 1 <= bits <= MOST_BITS:
            raise UsageError(f"{_PLACE}, bits = {bits} is out of range.", f"Use 1 to {MOST_BITS}.")
        engine = take(parameters, "engine", str, _PLACE, DEFAULT_ENGINE)
        if engine not in ENGINES:
            raise UsageError(f"{_PLACE}, engine {engine!r} is unknown.", f"Use one of {', '.join(ENGINES)}.")
        offset = take(parameters, "offset", int, _PLACE, 0)
        plain = {Form.PN, Form.NP, Form.PP}
        if offset and not {kind.x, kind.y} <= plain:
            raise UsageError(
                f"{_PLACE}, offset can only be taken off plain numbers, and {kind} has shared or encrypted ones.",
                "Leave offset out and hold non-negative numbers.",
            )
        constants: dict[str, int] = {}
        for name, form in (("x", kind.x), ("y", kind.y)):
            if name in parameters:
                if form is not Form.PP:
                    raise UsageError(
                        f"{_PLACE}, {name} is a public number, but its form is {form.value}.",
                        "Use form PP for public numbers, or a column.",
                    )
                constants[name] = take(parameters, name, int, _PLACE)
        if len(constants) == 2:
            raise UsageError(f"{_PLACE}: both x and y are public numbers.", "Compare at least one column.")
        modulus = parse_modulus(take(parameters, "delta_modulus", str, _PLACE, "2"))
        result = ComparisonParameters(kind, bits, engine, offset, constants, modulus)
        for name, value in constants.items():
            if not 0 <= value - offset < 1 << bits:
                raise UsageError(f"{_PLACE}, {name} does not fit into {bits} bits.", "Raise bits or set offset.")
        return result

    def columns(self, parameters: ComparisonParameters, role: Role) -> tuple[str, ...]:
        """x, y, or both: what the party holds of them besides keys and constants."""
        names = [
            name
            for name in ("x", "y")
            if name not in parameters.constants
            and parameters.form(name).holding(role) in (Holding.PLAIN, Holding.SHARE, Holding.CIPHERTEXT)
        ]
        return tuple(names)

    def check_schema(
        self, parameters: ComparisonParameters, alice: Mapping[str, Schema], bob: Mapping[str, Schema]
    ) -> None:
        """Check kinds, scales, bounds and share moduli.

        Raises:
            UsageError: names the side and the column.
        """
        scales: dict[tuple[str, int], str] = {}
        for role, schemas in ((Role.ALICE, alice), (Role.BOB, bob)):
            for name in self.columns(parameters, role):
                schema = schemas[name]
                place = f"{role.value}'s column {name}"
                _check_kind(schema, parameters.form(name).holding(role), place)
                if schema.kind in _NUMBERS:
                    _check_bounds(schema, parameters, place)
                    scales[("date" if schema.kind == "date" else "number", schema.scale)] = place
        if len(scales) > 1:
            raise UsageError(
                f"{' and '.join(scales.values())} hold different kinds of numbers or different numbers of "
                "digits after the point.",
                "Declare both columns with the same type and scale.",
            )
        for name in ("x", "y"):
            if parameters.form(name) is Form.SS and alice[name].modulus != bob[name].modulus:
                raise UsageError(
                    f"Column {name} is shared modulo {alice[name].modulus} at alice, {bob[name].modulus} at bob.",
                    "Declare the same modulus on both sides.",
                )
        moduli = [parse_modulus(alice[n].modulus) for n in ("x", "y") if parameters.form(n) is Form.SS]
        self._plan(parameters, Parameters(1, parameters.bits, 2048, 2048), moduli)

    def check_recipients(self, parameters: ComparisonParameters, recipients: frozenset[Role]) -> None:
        """Recipients are those who hold a part of delta by its form, and nobody else.

        Raises:
            UsageError: says who they must be.
        """
        form = parameters.type.delta
        holders = frozenset(
            role for role in Role if form.holding(role) not in (Holding.NOTHING, Holding.SECRET_KEY)
        )
        if recipients != holders:
            names = ", ".join(f'"{role.value}"' for role in Role if role in holders)
            raise UsageError(
                f"A result in form {form.value} goes to {names}, and the job names other recipients.",
                f"Write recipients = [{names}], or choose another form.",
            )

    def epsilon(self, parameters: ComparisonParameters) -> Fraction:
        """0: comparison releases exact results, and only to whom the type says."""
        del parameters
        return Fraction(0)

    def leakage(self, parameters: ComparisonParameters, recipients: frozenset[Role]) -> Leakage:
        """Who learns what."""
        del recipients
        learns = {
            role: (f"whether x >= y, row by row, because the result has form {parameters.type.delta.value}",)
            if role in parameters.type.delta.sees
            else ()
            for role in Role
        }
        public = ("the number of rows of x and of y", f"type {parameters.type}, {parameters.bits} bits")
        return Leakage(learns[Role.ALICE], learns[Role.BOB], public)

    def estimate(self, parameters: ComparisonParameters, rows: int, key_bits: int) -> Estimate:
        """The exact bytes and rounds of the route, one round for the row counts, and the likely time."""
        given = Parameters(max(1, rows), parameters.bits, key_bits, key_bits)
        plan = self._plan(parameters, given, ())
        cost = plan.setup + plan.cost(given)
        return Estimate(
            cost.rounds + 1,
            cost.alice_bytes,
            cost.bob_bytes,
            estimate_seconds(cost, given),
            plan.route,
        )

    def run(
        self,
        session: Session,
        parameters: ComparisonParameters,
        data: Data,
        recipients: frozenset[Role],
        gate: Gate = open_gate,
    ) -> Outcome:
        """The joint run, one side; both sides' columns have the same number of rows, or one has a single row.

        Raises:
            DomainError: the numbers of rows do not fit.
        """
        self.check_recipients(parameters, recipients)
        own = [len(data[name]) if name in data else 0 for name in ("x", "y")]
        peer = exchange_counts(session, own)
        width = parameters.bits if parameters.type.bitwise else 1
        rows = [_agree(n, a, b) for n, a, b in zip(("x", "y"), own, peer, strict=True)]
        count_x, rest = divmod(rows[0], width)
        if rest:
            raise DomainError(f"x has {rows[0]} encrypted bits, not a multiple of {width}.")
        count = max(count_x, rows[1])
        for name, one in (("x", count_x), ("y", rows[1])):
            if one not in (1, count) and name not in parameters.constants:
                raise DomainError(
                    f"x has {count_x} rows and y has {rows[1]}.",
                    "Compare columns of the same length, or a column with a single value.",
                )
        holdings = {
            name: _holding(session, parameters, name, data.get(name), count * (width if name == "x" else 1))
            for name in ("x", "y")
        }
        moduli = [parse_modulus(data[n].schema.modulus) for n in ("x", "y") if parameters.form(n) is Form.SS]
        given = session_parameters(session, count, parameters.bits)
        plan = self._plan(parameters, given, moduli)
        gate(session.channel)
        delta = run_plan(plan, session, holdings["x"], holdings["y"])
        return Outcome(
            _tables(session, delta),
            _notes(delta),
            {"route": plan.route, "engine": plan.engine, "type": str(plan.type), "plan": plan.digest},
        )

    def run_plain(
        self, parameters: ComparisonParameters, alice: Data, bob: Data, recipients: frozenset[Role]
    ) -> tuple[Outcome, Outcome]:
        """The plain twin, for columns that are plain or shared modulo a number.

        Raises:
            UsageError: a column is encrypted or shared modulo a key, which nobody can open here.
        """
        self.check_recipients(parameters, recipients)
        x, y = (_opened(parameters, name, alice.get(name), bob.get(name)) for name in ("x", "y"))
        count = max(len(x), len(y))
        pairs = zip(_stretched(x, count), _stretched(y, count), strict=True)
        delta = [int(a >= b) for a, b in pairs]
        form = parameters.type.delta
        if form in (Form.ES, Form.SE):
            raise UsageError("The plain twin has no keys to encrypt under.", "Choose a shared or plain result.")
        zeros = Share([0] * count, 2)
        values = {
            Holding.PLAIN: (Plain(delta), Plain(delta)),
            Holding.SHARE: (Share(delta, 2), zeros),
            Holding.NOTHING: (Nothing(count), Nothing(count)),
        }
        results = [values[form.holding(role)][i] for i, role in enumerate(Role)]
        first, second = (Outcome(_plain_tables(result), _notes(result)) for result in results)
        return first, second

    def _plan(
        self, parameters: ComparisonParameters, given: Parameters, moduli: Sequence[Modulus]
    ) -> Plan:
        first = moduli[0] if moduli else Role.ALICE
        last = moduli[-1] if moduli else Role.ALICE
        return plan_comparison(
            parameters.type,
            given,
            engine=parameters.engine,
            x_modulus=first,
            y_modulus=last,
            delta_modulus=parameters.delta_modulus,
        )


COMPARISON = Comparison()
"""The analysis, as the registry lists it."""


def parse_modulus(text: str) -> Modulus:
    """A share modulus: `alice`, `bob`, a decimal number, or `2^k`.

    Raises:
        UsageError: the text is none of these.
    """
    wanted = text.strip().lower()
    for role in Role:
        if wanted == role.value:
            return role
    base, power, exponent = wanted.partition("^")
    if base.isascii() and base.isdigit() and (not power or (exponent.isascii() and exponent.isdigit())):
        if len(base) <= 80 and len(exponent) <= 3:
            number = int(base) ** (int(exponent) if power else 1)
            if 2 <= number <= 1 << 256:
                return number
    raise UsageError(
        f"{text!r} is not a share modulus.", 'Write "2^64", a number from 2 to 2^256, "alice" or "bob".'
    )


def _check_kind(schema: Schema, holding: Holding, place: str) -> None:
    allowed = {
        Holding.PLAIN: _NUMBERS,
        Holding.SHARE: ("share",),
        Holding.CIPHERTEXT: ("ciphertext",),
    }[holding]
    if schema.kind not in allowed:
        raise UsageError(
            f"{place} is declared as {schema.kind}, but the type needs {' or '.join(allowed)}.",
            "Choose another column or another comparison type.",
        )


def _check_bounds(schema: Schema, parameters: ComparisonParameters, place: str) -> None:
    if schema.lower is None or schema.upper is None:
        raise UsageError(f"{place} has no declared bounds.", "Declare lower and upper in the catalog.")
    if schema.lower < parameters.offset or schema.upper - parameters.offset >= 1 << parameters.bits:
        raise UsageError(
            f"{place}: its bounds do not fit into {parameters.bits} bits above offset {parameters.offset}.",
            "Raise bits, or set offset to the least lower bound (in units of the last digit).",
        )


def _agree(name: str, own: int, peer: int) -> int:
    if own and peer and own != peer:
        raise DomainError(
            f"{name} has {own} rows here and {peer} at the peer, though both hold a part of every row.",
            "Use the same rows in the same order on both sides.",
        )
    return max(own, peer)


def _stretched(values: Sequence[int], count: int) -> Sequence[int]:
    return list(values) * count if len(values) == 1 else values


def _holding(
    session: Session, parameters: ComparisonParameters, name: str, column: Column | None, count: int
) -> Value:
    holding = parameters.form(name).holding(session.role)
    if name in parameters.constants:
        return Plain([parameters.constants[name] - parameters.offset] * count)
    if holding is Holding.SECRET_KEY:
        return KeyHolder(count)
    if column is None:
        return Nothing(count)
    if holding is Holding.CIPHERTEXT:
        repeats = count // len(column) if len(column) else 0
        values = list(column.values) * repeats
        return Encrypted(received_ciphertexts(session, values))
    values = list(_stretched(column.values, count))
    if holding is Holding.PLAIN:
        return Plain([value - parameters.offset for value in values])
    modulus = parse_modulus(column.schema.modulus)
    return Share(values, modulus if isinstance(modulus, int) else _key_modulus(session, modulus))


def received_ciphertexts(session: Session, values: Sequence[int]) -> Ciphertexts:
    """Ciphertexts under the peer's key, read from a file and checked like those from a message.

    Raises:
        DomainError: one is no ciphertext under that key.
    """
    key = session.peer.public
    ciphertexts = [mpz(value) for value in values]
    if not valid(key, ciphertexts):
        raise DomainError(
            "A ciphertext column holds something that is no ciphertext under the peer's key.",
            "Check which key the column was encrypted under.",
        )
    return Ciphertexts(key, ciphertexts)


def _key_modulus(session: Session, role: Role) -> int:
    key = session.peer_key
    if role is session.role:
        key = session.own_key.public if session.own_key is not None else None
    if key is None:
        raise KeyMaterialError(f"Shares modulo {role.value}'s key need that key.", "Give the session both keys.")
    return int(key.n)


def _opened(
    parameters: ComparisonParameters, name: str, alice: Column | None, bob: Column | None
) -> list[int]:
    if name in parameters.constants:
        return [parameters.constants[name]]
    if parameters.form(name) is Form.SS and alice is not None and bob is not None:
        modulus = parse_modulus(alice.schema.modulus)
        if isinstance(modulus, int):
            return [(a + b) % modulus for a, b in zip(alice.values, bob.values, strict=True)]
    column = alice if alice is not None else bob
    if column is None or column.schema.kind in ("share", "ciphertext"):
        raise UsageError(f"The plain twin cannot open column {name}.", "Use plain columns.")
    return list(column.values)


def _rows(count: int) -> list[int]:
    return list(range(1, count + 1))


def _plain_tables(delta: Value) -> tuple[Table, ...]:
    match delta:
        case Plain(values):
            columns: dict[str, Sequence[Any]] = {"row": _rows(len(values)), "delta": list(values)}
        case Share(values, modulus):
            shares: Sequence[Any] = list(values) if modulus < 1 << 53 else [str(v) for v in values]
            columns = {"row": _rows(len(values)), "share": shares}
        case _:
            return ()
    return (Table("comparison", columns),)


def _tables(session: Session, delta: Value) -> tuple[Table, ...]:
    if not isinstance(delta, Encrypted) or not isinstance(delta.ciphertexts, Ciphertexts):
        return _plain_tables(delta)
    fresh = session.peer.refresh(delta.ciphertexts)
    texts = [f"{int(value):x}" for value in fresh.values]
    return (Table("comparison", {"row": _rows(len(texts)), "ciphertext": texts}),)


def _notes(delta: Value) -> tuple[str, ...]:
    match delta:
        case Plain():
            return ("delta is 1 where x >= y, else 0",)
        case Share(_, modulus):
            name = "XOR" if modulus == 2 else f"a sum modulo a number of {modulus.bit_length()} bits"
            return (f"shares of delta; the result is {name} of both parties' shares",)
        case Encrypted():
            return ("delta encrypted under the peer's Paillier key, re-randomised",)
        case _:
            return ("the result is with the other party, as the type says",)
