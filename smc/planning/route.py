"""The search for a route: every native comparison, reached by the cheapest allowed conversions.

An edge may be taken only if it shows nobody a value that the type's forms do not show already: a conversion
of x may open x only to parties whom the form of x names, and whatever opens delta only to those whom the form
of delta names. This is a filter on records, not a matter of review.

Of the routes that are left, one that is private against a peer that deviates goes before all that are not,
whatever it takes; the cheapest goes before others of its kind. Only of types with ciphertexts, whose
conversions are semi-honest, there is none.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import count as counter
from itertools import product

from smc.errors import DomainError, NoRouteError, UsageError
from smc.forms import ComparisonType, Form, Role
from smc.moduli import Modulus, mirrored_modulus
from smc.network import LAN, Network
from smc.planning.cost import agreed_seconds
from smc.planning.plan import Plan, State, Step
from smc.planning.registry import (
    AUTO,
    BY_NAME_ONLY,
    COMPARISONS,
    CONVERSIONS,
    DEFAULT_ENGINE,
    ENGINES,
    REFERENCE_ENGINES,
)
from smc.protocols.against import Against
from smc.protocols.engines import Engine
from smc.protocols.spec import Parameters, Setup, Sharing, Spec

MAX_BITS = 128

_XOR = 2

Steps = tuple[Step, ...]
Needs = frozenset[Setup | Against]
"""The set-ups of steps, and semi-honest if one of them is no more."""

Paths = dict[State, list[Steps]]
"""Conversions from one state to others; each sequence has other needs."""


def plan_comparison(
    kind: ComparisonType,
    parameters: Parameters,
    *,
    engine: str = DEFAULT_ENGINE,
    network: Network = LAN,
    x_modulus: Modulus = Role.ALICE,
    y_modulus: Modulus = Role.ALICE,
    delta_modulus: Modulus = _XOR,
) -> Plan:
    """The cheapest allowed route, of those that are private if one is.

    Args:
        kind: the comparison type.
        parameters: count, bits and key sizes; its moduli are not used.
        engine: one of `ENGINES`.
        network: the link, for the price.
        x_modulus: modulus of the shares of x, if x is shared: a number, or whose Paillier N.
        y_modulus: the same for y.
        delta_modulus: modulus of the shares of delta, if it is to be shared; 2 is XOR.

    Raises:
        UsageError: no such engine.
        DomainError: bits are not in [1, 128].
        NoRouteError: the moduli and the engine leave no route.
    """
    if engine not in ENGINES:
        raise UsageError(f"There is no engine {engine!r}.", f"Choose one of {', '.join(ENGINES)}.")
    if not 1 <= parameters.bits <= MAX_BITS:
        raise DomainError(
            f"Numbers of {parameters.bits} bits cannot be compared.", f"Use 1 to {MAX_BITS} bits."
        )
    search = _Search(kind, parameters, engine, network)
    return search.best(
        State(kind.x, x_modulus if kind.x is Form.SS else None, kind.bitwise),
        State(kind.y, y_modulus if kind.y is Form.SS else None),
        State(kind.delta, delta_modulus if kind.delta is Form.SS else None),
    )


class _Search:
    """Looks for plans; a `nested` search, for what runs inside, stays with comparisons of plain values."""

    def __init__(
        self,
        kind: ComparisonType,
        parameters: Parameters,
        engine: str,
        network: Network,
        *,
        nested: bool = False,
    ) -> None:
        self._kind = kind
        self._nested = nested
        self._parameters = replace(parameters, modulus_in=None, modulus_out=None)
        self._engine = engine
        self._network = network
        self._improved = engine not in REFERENCE_ENGINES

    def best(self, x: State, y: State, delta: State) -> Plan:
        plans = list(self._plans(x, y, delta))
        if not plans:
            raise NoRouteError(
                f"{self._kind} with {self._parameters.bits} bits has no route with engine {self._engine!r} "
                "and these share moduli.",
                "Shares of x and y need one common modulus, either a party's Paillier N or a number from "
                f"2**{self._parameters.bits} to 2**256; engines such as 'oblivious' also take two different "
                f"ones, each a party's N or at least 2**{self._parameters.bits + 1}.",
            )
        # Ties go by rounds, by bytes and then by name, so that both parties find the same plan.
        return min(plans, key=self._price)

    def _price(self, plan: Plan) -> tuple[bool, float, int, int, str]:
        cost = plan.cost(self._parameters) + plan.setup
        seconds = agreed_seconds(cost, self._parameters, self._network)
        promises_nothing = plan.against is Against.SEMI_HONEST
        return promises_nothing, seconds, cost.rounds, cost.alice_bytes + cost.bob_bytes, plan.route

    def _plans(self, x: State, y: State, delta: State) -> Iterator[Plan]:
        bits = self._parameters.bits
        moduli = {s.modulus for s in (x, y, delta) if s.modulus is not None} | {_XOR}
        if self._improved and not self._nested:
            moduli.add(2 << bits)  # the smallest in which shares can be compared
        if not all(s.modulus is None or _holds(s.modulus, bits) for s in (x, y)):
            return
        x_paths = self._paths(x, bits, moduli, x.form.sees)
        y_paths = self._paths(y, bits, moduli, y.form.sees)
        delta_paths: dict[State, Paths] = {}
        # Every native comparison between what x and y can become and what can become delta.
        for step in self._natives(moduli):
            spec = step.spec
            first, second = (_state(form, step.mirrored, step.modulus_in) for form in spec.inputs)
            result = _state(spec.output, step.mirrored, step.modulus_out)
            if first not in x_paths or second not in y_paths:
                continue
            if not _roles(spec, step.mirrored) <= delta.form.sees:
                continue
            # Many natives end in the same state; its way to delta is looked for once.
            if result not in delta_paths:
                delta_paths[result] = self._paths(result, 1, moduli, delta.form.sees)
            if delta not in delta_paths[result]:
                continue
            try:
                inner = self._inner(step)
            except NoRouteError:  # the engine cannot compare what this would have to compare inside
                continue
            for x_steps, y_steps, delta_steps in product(
                x_paths[first], y_paths[second], delta_paths[result][delta]
            ):
                yield Plan(self._kind, bits, x_steps, y_steps, step, inner, delta_steps)

    def _is_wanted(self, engine: Engine) -> bool:
        return engine.name == self._engine or (self._engine == AUTO and engine.name not in BY_NAME_ONLY)

    def _natives(self, moduli: set[Modulus]) -> Iterator[Step]:
        for spec in COMPARISONS:
            if spec.engine is not None and not self._is_wanted(spec.engine):
                continue
            if spec.improves and not self._improved:
                continue
            # Inside, only what compares plain values: the search ends there.
            if self._nested and spec.subprotocol is not None:
                continue
            for mirrored in (False, True):
                taken = _allowed_moduli(spec.takes, mirrored, moduli)
                for modulus_in, modulus_out in product(taken, _allowed_moduli(spec.gives, mirrored, moduli)):
                    step = Step(spec.name, mirrored, modulus_in, modulus_out)
                    if spec.applies(step.parameters(self._parameters)):
                        yield step

    def _inner(self, step: Step) -> Plan | None:
        """The best plan for what runs inside, as the comparison's own Alice and Bob see it."""
        subprotocol = step.spec.subprotocol
        if subprotocol is None:
            return None
        inside = subprotocol.parameters(step.parameters(self._parameters))
        return _plan_inside(subprotocol.type, inside, self._engine, self._network)

    def _paths(self, start: State, bits: int, moduli: set[Modulus], sees: frozenset[Role]) -> Paths:
        """The cheapest allowed conversions from `start` to every state that can be reached (Dijkstra).

        What a session sets up is paid once for all steps of a plan, so it is not part of a path's price; nor
        is what one semi-honest step takes from a plan. A state keeps one path for each collection of these
        that a cheaper path does not get by with.
        """
        parameters = replace(self._parameters, bits=bits)
        order = counter()
        done: Paths = {}
        needs: dict[State, list[Needs]] = {}
        none: Needs = frozenset()
        heap: list[tuple[float, int, int, State, Needs, Steps]] = [(0.0, 0, next(order), start, none, ())]
        while heap:
            price, length, _, state, needed, steps = heapq.heappop(heap)
            # A cheaper path was here that has no more than this one needs.
            if any(fewer <= needed for fewer in needs.setdefault(state, [])):
                continue
            needs[state].append(needed)
            done.setdefault(state, []).append(steps)
            for step, after in self._edges(state, parameters, moduli, sees):
                seconds = price + agreed_seconds(step.cost(parameters), parameters, self._network)
                weak = {Against.SEMI_HONEST} & {step.spec.level}
                entry = (seconds, length + 1, next(order), after, needed | weak | set(step.spec.setups))
                heapq.heappush(heap, (*entry, (*steps, step)))
        return done

    def _edges(
        self, state: State, parameters: Parameters, moduli: set[Modulus], sees: frozenset[Role]
    ) -> Iterator[tuple[Step, State]]:
        seen_by = ((False, state), (True, state.mirror))
        for spec in CONVERSIONS:
            if spec.improves and not self._improved:
                continue
            for mirrored, seen in seen_by:
                if seen.form is not spec.inputs[0] or seen.bitwise is not spec.bitwise:
                    continue
                # Nothing may open a value to a party that its form does not show it to, however cheap.
                if not _roles(spec, mirrored) <= sees:
                    continue
                if spec.takes is not None and (seen.modulus is None or not spec.takes.allows(seen.modulus)):
                    continue
                for modulus in _allowed_moduli(spec.gives, mirrored, moduli):
                    if modulus is not None and not _holds(modulus, parameters.bits):
                        continue
                    step = Step(spec.name, mirrored, state.modulus, modulus)
                    if spec.applies(step.parameters(parameters)):
                        yield step, _state(spec.output, mirrored, modulus)


@lru_cache(maxsize=256)
def _plan_inside(kind: ComparisonType, parameters: Parameters, engine: str, network: Network) -> Plan:
    """The best plan for what runs inside a comparison; the many candidates around it ask for the same few."""
    search = _Search(kind, parameters, engine, network, nested=True)
    return search.best(
        State(kind.x), State(kind.y), State(kind.delta, _XOR if kind.delta is Form.SS else None)
    )


def _state(form: Form, mirrored: bool, modulus: Modulus | None) -> State:
    """A protocol's end as the parties see it; the modulus is theirs already."""
    return State(form.mirror if mirrored else form, modulus if form is Form.SS else None)


def _allowed_moduli(sharing: Sharing | None, mirrored: bool, moduli: set[Modulus]) -> list[Modulus | None]:
    """The moduli, as the parties see them, of shares that a protocol takes or gives; None if it has none."""
    if sharing is None:
        return [None]
    seen = {modulus: mirrored_modulus(modulus) if mirrored else modulus for modulus in moduli}
    # Sorted, because the order of a set may differ between the parties.
    return [m for m in sorted(moduli, key=str) if (own := seen[m]) is not None and sharing.allows(own)]


def _roles(spec: Spec, mirrored: bool) -> frozenset[Role]:
    return frozenset(role.other for role in spec.opens) if mirrored else spec.opens


def _holds(modulus: Modulus, bits: int) -> bool:
    """Whether shares of that modulus keep all of a value; a Paillier N does."""
    return isinstance(modulus, Role) or modulus >= 1 << bits
