"""A route as a value: printable, hashable, priced."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from typing_extensions import override

from smc.forms import ComparisonType, Form, Role
from smc.moduli import Modulus, mirrored_modulus
from smc.oblivious.cost import Unchecked
from smc.planning.registry import spec_named
from smc.protocols.against import Against, weakest
from smc.protocols.engines import Engine
from smc.protocols.flights import Flight
from smc.protocols.spec import Cost, Parameters, Setup, Spec
from smc.protocols.transfer_costs import SILENT_TRANSFERS, cost_of

DIGEST_BYTES: Final = 32

_CHUNK_BYTES = 48 << 20
_NO_ENGINE = Engine("none")


@dataclass(frozen=True, slots=True)
class State:
    """A form with what belongs to it.

    Attributes:
        form: the form.
        modulus: of the shares, if the form is SS.
        bitwise: encrypted bit by bit.
    """

    form: Form
    modulus: Modulus | None = None
    bitwise: bool = False

    @property
    def mirror(self) -> State:
        """The state with Alice and Bob exchanged."""
        return State(self.form.mirror, mirrored_modulus(self.modulus), self.bitwise)


@dataclass(frozen=True, slots=True)
class Step:
    """One conversion, or the comparison itself.

    Attributes:
        name: of the protocol.
        mirrored: Alice does Bob's part and Bob does Alice's.
        modulus_in: of the shares that go in, if any do.
        modulus_out: of the shares that come out, if any do.
    """

    name: str
    mirrored: bool
    modulus_in: Modulus | None = None
    modulus_out: Modulus | None = None

    @property
    def spec(self) -> Spec:
        """The protocol's record."""
        return spec_named(self.name)

    def parameters(self, parameters: Parameters) -> Parameters:
        """What the protocol's own Alice and Bob are given, from parameters seen from the parties."""
        given = replace(parameters, modulus_in=self.modulus_in, modulus_out=self.modulus_out)
        return given.mirror if self.mirrored else given

    def cost(self, parameters: Parameters) -> Cost:
        """The step's own cost for parameters seen from the parties, not from the protocol."""
        cost = self.spec.cost(self.parameters(parameters))
        return cost.mirror if self.mirrored else cost

    def needs_check(self, parameters: Parameters) -> bool:
        """Whether transfers have to be checked before it: it sends something that no transfer hides."""
        return not self.spec.takes_transfers and bool(self.cost(parameters).flights)

    def describe(self) -> list[Any]:
        """The step as plain JSON values."""
        moduli = (
            modulus.value if isinstance(modulus, Role) else modulus and str(modulus)
            for modulus in (self.modulus_in, self.modulus_out)
        )
        return [self.name, self.mirrored, *moduli]

    @override
    def __str__(self) -> str:
        return f"{self.name}{'*' if self.mirrored else ''}"


@dataclass(slots=True)
class Transferred:
    """Which silent transfers of a session were not checked, as far as a plan's steps make them.

    Attributes:
        own: those of the session itself.
        lanes: those of its lanes.
    """

    own: Unchecked = field(default_factory=Unchecked)
    lanes: Unchecked = field(default_factory=Unchecked)

    def run(self, step: Step, parameters: Parameters) -> Cost:
        """The cost of a step."""
        cost = step.cost(parameters)
        if SILENT_TRANSFERS in step.spec.setups and cost.flights:
            if Flight.LANES in cost.flights:
                self.lanes = Unchecked(True, True)
            else:
                self.own = Unchecked(True, True)
        return cost

    def check_before(self, step: Step, parameters: Parameters) -> Cost:
        """The cost of the check before a step, see `Step.needs_check`."""
        return self.check(parameters) if step.needs_check(parameters) else Cost()

    def check(self, parameters: Parameters) -> Cost:
        """The cost of a check."""
        steps = self.own.check() + self.lanes.check(parameters.lanes)
        self.own = self.lanes = Unchecked()
        return cost_of(steps)


@dataclass(frozen=True, slots=True)
class Plan:
    """A route for one comparison type; an asterisk in its text marks a mirrored step.

    Attributes:
        type: the comparison type.
        bits: bit bound of x and y.
        x_steps: conversions of x.
        y_steps: conversions of y.
        comparison: the comparison itself.
        inner: the plan of what runs inside the comparison, in the comparison's own orientation.
        delta_steps: conversions of delta.
    """

    type: ComparisonType
    bits: int
    x_steps: tuple[Step, ...]
    y_steps: tuple[Step, ...]
    comparison: Step
    inner: Plan | None
    delta_steps: tuple[Step, ...]

    @property
    def engine(self) -> str:
        """The family of the comparison on plain values at the bottom; `none` where nothing is hidden."""
        engine = self.bottom.engine
        return engine.name if engine is not None else "none"

    @property
    def digest(self) -> str:
        """SHA-256 of all that the plan says, by which two parties see that they have the same."""
        text = json.dumps(self._describe(), separators=(",", ":"))
        return hashlib.sha256(b"duetto plan v2\0" + text.encode()).hexdigest()

    def _describe(self) -> list[Any]:
        x, y, delta = (
            [step.describe() for step in s] for s in (self.x_steps, self.y_steps, self.delta_steps)
        )
        inside = self.inner._describe() if self.inner is not None else None
        return [str(self.type), self.bits, x, y, self.comparison.describe(), inside, delta]

    @property
    def route(self) -> str:
        """The route in one line."""
        parts = [
            f"{name}: {_arrows(steps)}" for name, steps in (("x", self.x_steps), ("y", self.y_steps)) if steps
        ]
        inside = f" [{self.inner.route}]" if self.inner is not None else ""
        parts.append(f"{self.comparison}{inside}")
        if self.delta_steps:
            parts.append(f"delta: {_arrows(self.delta_steps)}")
        return "; ".join(parts)

    def steps(self) -> Iterator[Step]:
        """All steps, those inside the comparison included, in their own orientations."""
        yield from self.x_steps
        yield from self.y_steps
        yield self.comparison
        if self.inner is not None:
            yield from self.inner.steps()
        yield from self.delta_steps

    def once(self, parameters: Parameters) -> Cost:
        """The cost of one chunk of `parameters.count` comparisons, the first of a session."""
        return self._once(parameters, Transferred())

    def _once(self, parameters: Parameters, made: Transferred) -> Cost:
        """The cost of one chunk, with what was not checked before; changes that to what is not after it."""
        total = Cost()
        for step in (*self.x_steps, *self.y_steps):
            total += made.check_before(step, parameters) + made.run(step, parameters)
        subprotocol = self.comparison.spec.subprotocol
        total += made.check_before(self.comparison, parameters)
        total += made.run(self.comparison, parameters)
        if self.inner is not None and subprotocol is not None:
            inside = self.inner._once(subprotocol.parameters(self.comparison.parameters(parameters)), made)
            total += inside.mirror if self.comparison.mirrored else inside
            total += made.check(parameters)
        for step in self.delta_steps:
            given = replace(parameters, bits=1)
            total += made.check_before(step, given) + made.run(step, given)
        return total

    def chunk(self, parameters: Parameters) -> int:
        """How many comparisons run at once: what keeps one flight below about 48 MiB."""
        engine = self.bottom.engine or _NO_ENGINE
        some = self.once(replace(parameters, count=engine.sample))
        largest = max(some.alice_bytes, some.bob_bytes, 1)
        return max(1, min(engine.chunk, engine.sample * _CHUNK_BYTES // largest))

    def cost(self, parameters: Parameters) -> Cost:
        """The exact cost of `parameters.count` comparisons and the last check, without a session's set-up."""
        full, rest = divmod(parameters.count, size := self.chunk(parameters))
        made, whole = Transferred(), replace(parameters, count=size)
        total = self._once(whole, made) if full else Cost()
        if full > 1:
            # From the second chunk on each begins as the one before it.
            total += self._once(whole, made) * (full - 1)
        if rest:
            total += self._once(replace(parameters, count=rest), made)
        return total + made.check(parameters)

    @property
    def bottom(self) -> Spec:
        """The comparison inside which no other runs."""
        return self.inner.bottom if self.inner is not None else self.comparison.spec

    @property
    def setups(self) -> tuple[Setup, ...]:
        """What a session needs before the first comparison: each set-up of the steps once, in their order."""
        return tuple(dict.fromkeys(setup for step in self.steps() for setup in step.spec.setups))

    @property
    def against(self) -> Against:
        """What it holds against a peer that deviates, which is what its weakest step does."""
        return weakest(step.spec.level for step in self.steps())

    @property
    def setup(self) -> Cost:
        """What preparing a new session costs: comparing the plans, and each set-up."""
        return sum((setup.cost for setup in self.setups), Cost((Flight.BOTH,), DIGEST_BYTES, DIGEST_BYTES))

    @property
    def moduli(self) -> tuple[Modulus | None, Modulus | None, Modulus | None]:
        """The moduli of x, y and delta, each None where it is not shared."""
        x, y = ((*steps, self.comparison)[0] for steps in (self.x_steps, self.y_steps))
        last = (self.comparison, *self.delta_steps)[-1]
        return (
            x.modulus_in if self.type.x is Form.SS else None,
            y.modulus_in if self.type.y is Form.SS else None,
            last.modulus_out if self.type.delta is Form.SS else None,
        )


def _arrows(steps: tuple[Step, ...]) -> str:
    return " > ".join(str(step) for step in steps)
