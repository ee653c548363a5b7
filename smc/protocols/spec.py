"""A protocol as a record: forms in and out, what it costs, who learns what, and the code of both roles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from smc.forms import Form, Role


class Flight(Enum):
    """Who sends a message: one party, or both without waiting for each other."""

    ALICE = "A"
    BOB = "B"
    BOTH = "AB"

    @property
    def senders(self) -> tuple[Role, ...]:
        """The parties that send."""
        return tuple(role for role in Role if role.name[0] in self.value)

    @property
    def mirror(self) -> Flight:
        """The flight with Alice and Bob exchanged."""
        return {Flight.ALICE: Flight.BOB, Flight.BOB: Flight.ALICE}.get(self, self)


def count_rounds(flights: Iterable[Flight]) -> int:
    """The longest chain of dependent messages when `flights` happen in this order.

    Flights in the same direction with none between them need not wait for each other. `Channel` measures
    rounds in the same way, with a logical clock.
    """
    clock = {Role.ALICE: 0, Role.BOB: 0}
    longest = 0
    for flight in flights:
        stamps = {role: clock[role] + 1 for role in flight.senders}
        for sender, stamp in stamps.items():
            clock[sender.other] = max(clock[sender.other], stamp)
            longest = max(longest, stamp)
    return longest


@dataclass(frozen=True, slots=True)
class Parameters:
    """The public parameters of a run, on which every cost depends and nothing else does.

    Attributes:
        count: values in the batch.
        bits: bit bound of x and y, 1 to 128.
        key_bits: size of the Paillier keys.
        modulus: modulus of the shares of x and y, or None where none are shared; the Paillier N of a
            party is a modulus like any other.
    """

    count: int
    bits: int
    key_bits: int
    modulus: int | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """What a step costs, exactly.

    Attributes:
        flights: the messages in their order.
        alice_bytes: bytes of message bodies from Alice to Bob.
        bob_bytes: bytes from Bob to Alice.
        alice_operations: group operations of Alice by name, as the ciphers count them.
        bob_operations: the same for Bob.
    """

    flights: tuple[Flight, ...] = ()
    alice_bytes: int = 0
    bob_bytes: int = 0
    alice_operations: Mapping[str, int] = field(default_factory=dict)
    bob_operations: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.flights + other.flights,
            self.alice_bytes + other.alice_bytes,
            self.bob_bytes + other.bob_bytes,
            Counter(self.alice_operations) + Counter(other.alice_operations),
            Counter(self.bob_operations) + Counter(other.bob_operations),
        )

    @property
    def mirror(self) -> Cost:
        """The cost with Alice and Bob exchanged."""
        return Cost(
            tuple(flight.mirror for flight in self.flights),
            self.bob_bytes,
            self.alice_bytes,
            self.bob_operations,
            self.alice_operations,
        )

    @property
    def rounds(self) -> int:
        """Rounds, see `count_rounds`."""
        return count_rounds(self.flights)


RoleCode = Callable[..., Any]
"""`alice(session, parameters, *holdings)` or `bob(...)`: own holdings in, own holding out."""


@dataclass(frozen=True, slots=True)
class Spec:
    """A protocol or conversion.

    Attributes:
        name: unique and stable.
        inputs: the forms of x and y for a comparison, of the one value for a conversion.
        output: the form of the result.
        alice: Alice's code.
        bob: Bob's code.
        cost: the exact cost for given parameters.
        opens: the parties that newly see the plain value of the result.
        learns: who learns what, one sentence.
        security: assumption and adversary.
        reference: paper, section, errata.
        engine: the family a comparison belongs to; empty for conversions and what every engine may use.
        subprotocol: the input forms and output of the comparison that this one is given to run inside, if any.
    """

    name: str
    inputs: tuple[Form, ...]
    output: Form
    alice: RoleCode = field(repr=False)
    bob: RoleCode = field(repr=False)
    cost: Callable[[Parameters], Cost] = field(repr=False)
    learns: str
    security: str
    reference: str
    opens: frozenset[Role] = frozenset()
    engine: str = ""
    subprotocol: Sequence[Form] = ()
