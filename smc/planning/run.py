"""Running a plan: one side of it, chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from smc.errors import KeyMaterialError, UsageError
from smc.forms import Role
from smc.holdings import check_holding, check_range, join, part_of
from smc.moduli import Modulus, mirrored_modulus
from smc.pieces import chunks
from smc.planning.agreement import compare_plans
from smc.planning.plan import Plan, Step
from smc.protocols.full_session import FullSession
from smc.protocols.spec import Parameters
from smc.values import Value, is_array, with_python_integers

Inner = Callable[[Parameters, Value, Value], Value]


def session_parameters(session: FullSession, count: int, bits: int) -> Parameters:
    """The public parameters of a run in this session.

    Args:
        session: this side.
        count: comparisons.
        bits: bit bound of x and y.
    """
    own = session.own_key.public.bits if session.own_key is not None else 0
    peer = session.peer_key.bits if session.peer_key is not None else 0
    alice, bob = (own, peer) if session.role is Role.ALICE else (peer, own)
    return Parameters(count, bits, alice, bob)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A plan that both parties of a session have, and for which the session has set up everything.

    Attributes:
        plan: the plan.
        session: the local side.
    """

    plan: Plan
    session: FullSession

    def run(self, x: Value, y: Value) -> Value:
        """As `run_plan`, at exactly the plan's cost."""
        check_inputs(self.plan, self.session, x, y)
        return _run_chunks(self.plan, self.session, x, y)


def prepare(plan: Plan, session: FullSession) -> Prepared:
    """Compare the plans and set up, ahead of time, what the run needs; both parties call it.

    Costs `Plan.setup` in a new session; what a session has set up, it does not set up again.

    Raises:
        ProtocolViolation: the peer has another plan; nothing but its digest was sent.
        PeerError: of the kind that the failure has.
    """
    compare_plans(plan, session)
    return set_up(plan, session)


def set_up(plan: Plan, session: FullSession) -> Prepared:
    """The second half of `prepare`: for plans that were compared."""
    for setup in plan.setups:
        setup.run(session)
    return Prepared(plan, session)


def run_plan(plan: Plan, session: FullSession, x: Value, y: Value) -> Value:
    """Prepare a session for a plan and run one side of it.

    Args:
        plan: the same on both sides.
        session: the local side.
        x: the local holding of x, one entry per comparison (`bits` entries if x is encrypted bit by bit).
        y: the local holding of y.

    Returns:
        The local holding of delta; where x or y was given as an array, a plain value or share of delta may
        be one too.

    Raises:
        DomainError: a holding is not what the plan says, or a number is outside its bound; nothing was sent.
        UsageError: x and y differ in length; nothing was sent.
        ProtocolViolation: the peer has another plan; nothing but its digest was sent.
        PeerError: of the kind that the failure has.
        InconsistentTransfers: the peer's transfers fail the check, which no delta leaves without.
    """
    check_inputs(plan, session, x, y)
    prepare(plan, session)
    return _run_chunks(plan, session, x, y)


def check_inputs(plan: Plan, session: FullSession, x: Value, y: Value) -> None:
    """Check that x and y are what a plan takes.

    Raises:
        DomainError: a holding is not what the plan says, or a number is outside its bound.
        UsageError: x and y differ in length.
    """
    for name, value, form, modulus in zip(
        ("x", "y"), (x, y), (plan.type.x, plan.type.y), plan.moduli, strict=False
    ):
        check_holding(value, form, session.role, _resolve(session, modulus), name)
        check_range(value, plan.bits, name)
    width = plan.bits if plan.type.bitwise else 1
    if len(x) != width * len(y) or not len(y):
        raise UsageError(
            f"x has {len(x)} entries where {width * len(y)} are needed for {len(y)} of y.",
            "Give both sides the same number of values, at least one (of bits: that many times as many).",
        )


def _run_chunks(plan: Plan, session: FullSession, x: Value, y: Value) -> Value:
    parameters = session_parameters(session, len(y), plan.bits)
    width = plan.bits if plan.type.bitwise else 1
    size = plan.chunk(parameters)
    results: list[Value] = []
    for part in chunks(len(y), size):
        start, stop = part.start, part.stop
        holdings = part_of(x, slice(width * start, width * stop)), part_of(y, part)
        with _reporting(session, start, stop, len(y)):
            delta = _run(plan, session, replace(parameters, count=stop - start), *holdings, flipped=False)
        results.append(delta)
    session.verify()
    delta = join(results)
    return delta if is_array(x) or is_array(y) else with_python_integers(delta)


@contextmanager
def _reporting(session: FullSession, start: int, stop: int, total: int) -> Iterator[None]:
    """Let what a chunk reports count as its part of the whole."""
    whole = session.report

    def part(stage: str, done: int, of: int) -> None:
        whole(stage, start + (stop - start) * done // of, total)

    session.report = part
    part("compare", 0, 1)
    try:
        yield
        part("compare", 1, 1)
    finally:
        session.report = whole


def _run(
    plan: Plan, session: FullSession, parameters: Parameters, x: Value, y: Value, *, flipped: bool
) -> Value:
    """Run a plan whose Alice is Bob if `flipped`; parameters are in the plan's own orientation."""
    runner = _Runner(session, flipped)
    for step in plan.x_steps:
        x = runner.convert(step, parameters, x)
    for step in plan.y_steps:
        y = runner.convert(step, parameters, y)
    delta = runner.compare(plan, parameters, x, y)
    for step in plan.delta_steps:
        delta = runner.convert(step, replace(parameters, bits=1), delta)
    return delta


class _Runner:
    def __init__(self, session: FullSession, flipped: bool) -> None:
        self._session = session
        self._flipped = flipped

    def convert(self, step: Step, parameters: Parameters, value: Value) -> Value:
        return self._call(step, parameters, value)

    def compare(self, plan: Plan, parameters: Parameters, x: Value, y: Value) -> Value:
        inside = plan.inner
        if inside is None:
            return self._call(plan.comparison, parameters, x, y)
        flipped = self._flipped ^ plan.comparison.mirrored

        def inner(within: Parameters, inner_x: Value, inner_y: Value) -> Value:
            delta = _run(inside, self._session, within, inner_x, inner_y, flipped=flipped)
            self._session.oblivious.verify()
            return delta if plan.comparison.spec.arrays else with_python_integers(delta)

        return self._call(plan.comparison, parameters, x, y, inner)

    def _call(self, step: Step, parameters: Parameters, *arguments: Value | Inner) -> Value:
        modulus_out = self._resolve(step.modulus_out)
        given = replace(
            step.parameters(parameters), modulus_in=self._resolve(step.modulus_in), modulus_out=modulus_out
        )
        if not step.spec.arrays:
            arguments = tuple(
                value if callable(value) else with_python_integers(value) for value in arguments
            )
        if step.needs_check(parameters):
            self._session.oblivious.verify()
        plays_alice = (self._session.role is Role.ALICE) ^ self._flipped ^ step.mirrored
        code = step.spec.alice if plays_alice else step.spec.bob
        result: Value = code(self._session, given, *arguments)
        role = Role.ALICE if plays_alice else Role.BOB
        check_holding(result, step.spec.output, role, modulus_out, f"the result of {step.name}")
        return result

    def _resolve(self, modulus: Modulus | None) -> int | None:
        return _resolve(self._session, mirrored_modulus(modulus) if self._flipped else modulus)


def _resolve(session: FullSession, modulus: Modulus | None) -> int | None:
    """The modulus as a number: a party's N from the session's keys."""
    if not isinstance(modulus, Role):
        return modulus
    key = session.own_key.public if session.own_key is not None else None
    if modulus is not session.role:
        key = session.peer_key
    if key is None:
        raise KeyMaterialError(
            f"This run needs the Paillier key of {modulus.value}.", "Give the session both keys."
        )
    return int(key.n)
