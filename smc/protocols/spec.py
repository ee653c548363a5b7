"""A protocol as a record: what it costs and needs, and by what the planner finds it.

`Record` is what all of them declare. A `Spec` adds the forms by which the planner finds its way and the code
of both roles; a `Procedure` is called by its function. Who learns what, assumptions and sources are sections
of the module's text, and said there only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import groupby
from typing import Any, Final, TypeVar

from smc.channel.vectors import residues_bytes
from smc.errors import UsageError
from smc.forms import ComparisonType, Form, Role
from smc.moduli import Modulus, mirrored_modulus
from smc.protocols.against import Against, weakest
from smc.protocols.engines import Engine
from smc.protocols.flights import Flight, Flights

T = TypeVar("T")


def _as_number(modulus: Modulus | None) -> int:
    if not isinstance(modulus, int):
        raise UsageError(
            "This step needs the share modulus as a number.",
            "Replace 'alice' or 'bob' by the N of that party's Paillier key first.",
        )
    return modulus


@dataclass(frozen=True, slots=True)
class Parameters:
    """The public parameters of a step, on which every cost depends and nothing else does.

    Attributes:
        count: values in the batch.
        bits: bit bound of the values that go in, 1 to 128; 1 for delta.
        alice_key_bits: size of Alice's Paillier key.
        bob_key_bits: size of Bob's Paillier key.
        modulus_in: modulus of the shares that go in, or None where none do.
        modulus_out: modulus of the shares that come out, or None where none do.
        lanes: into how many parts large batches of oblivious transfer are cut.
    """

    count: int
    bits: int
    alice_key_bits: int
    bob_key_bits: int
    modulus_in: Modulus | None = None
    modulus_out: Modulus | None = None
    lanes: int = 1

    @property
    def mirror(self) -> Parameters:
        """The same step with Alice and Bob exchanged."""
        return Parameters(
            self.count,
            self.bits,
            self.bob_key_bits,
            self.alice_key_bits,
            mirrored_modulus(self.modulus_in),
            mirrored_modulus(self.modulus_out),
            self.lanes,
        )

    def check_pairs(self, *lengths: int) -> None:
        """Check that x and y have as many values as were declared.

        Raises:
            UsageError: one has not.
        """
        if any(length != self.count for length in lengths):
            raise UsageError(
                f"The batch was declared with {self.count} pairs; x and y have {lengths}.",
                "Give x and y the declared length.",
            )

    @property
    def number_in(self) -> int:
        """The modulus of the shares that go in, as a number.

        Raises:
            UsageError: none go in, or it still stands for a party's key.
        """
        return _as_number(self.modulus_in)

    @property
    def number_out(self) -> int:
        """The modulus of the shares that come out, as a number.

        Raises:
            UsageError: none come out, or it still stands for a party's key.
        """
        return _as_number(self.modulus_out)

    @property
    def bytes_in(self) -> int:
        """Bytes of one party's shares that go in."""
        return self.share_bytes(self.modulus_in, self.count)

    @property
    def bytes_out(self) -> int:
        """Bytes of one party's shares that come out."""
        return self.share_bytes(self.modulus_out, self.count)

    def modulus_bits(self, modulus: Modulus | None) -> int:
        """Bits of the largest residue; of a party's N those of its key."""
        if isinstance(modulus, Role):
            return self.alice_key_bits if modulus is Role.ALICE else self.bob_key_bits
        return (_as_number(modulus) - 1).bit_length()

    def share_bytes(self, modulus: Modulus | None, count: int) -> int:
        """Bytes of so many residues."""
        if isinstance(modulus, Role):
            return (self.modulus_bits(modulus) + 7) // 8 * count
        return residues_bytes(_as_number(modulus), count)

    @property
    def alice_ciphertext_bytes(self) -> int:
        """Bytes of one ciphertext under Alice's key."""
        return 2 * ((self.alice_key_bits + 7) // 8)

    @property
    def bob_ciphertext_bytes(self) -> int:
        """Bytes of one ciphertext under Bob's key."""
        return 2 * ((self.bob_key_bits + 7) // 8)


def _sum(first: Mapping[str, int], second: Mapping[str, int]) -> Mapping[str, int]:
    """Counts by name, without those of 0; costs are sums of thousands, for which a `Counter` is too slow."""
    found = {name: count for name, count in first.items() if count}
    for name, count in second.items():
        if count:
            found[name] = found.get(name, 0) + count
    return found


@dataclass(frozen=True, slots=True, init=False)
class Cost:
    """What a step costs, exactly.

    Attributes:
        flights: the messages in their order.
        alice_bytes: bytes of message bodies from Alice to Bob.
        bob_bytes: bytes from Bob to Alice.
        alice_operations: group operations of Alice by name, as the ciphers count them.
        bob_operations: the same for Bob.
    """

    flights: Flights
    alice_bytes: int
    bob_bytes: int
    alice_operations: Mapping[str, int]
    bob_operations: Mapping[str, int]

    def __init__(
        self,
        flights: Flights | Iterable[Flight] = (),
        alice_bytes: int = 0,
        bob_bytes: int = 0,
        alice_operations: Mapping[str, int] | None = None,
        bob_operations: Mapping[str, int] | None = None,
    ) -> None:
        order = flights if isinstance(flights, Flights) else Flights.of(flights)
        object.__setattr__(self, "flights", order)
        object.__setattr__(self, "alice_bytes", alice_bytes)
        object.__setattr__(self, "bob_bytes", bob_bytes)
        object.__setattr__(self, "alice_operations", alice_operations or {})
        object.__setattr__(self, "bob_operations", bob_operations or {})

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.flights + other.flights,
            self.alice_bytes + other.alice_bytes,
            self.bob_bytes + other.bob_bytes,
            _sum(self.alice_operations, other.alice_operations),
            _sum(self.bob_operations, other.bob_operations),
        )

    def __mul__(self, times: int) -> Cost:
        """The cost of the same again and again, so many times."""
        return Cost(
            self.flights * times,
            self.alice_bytes * times,
            self.bob_bytes * times,
            {name: count * times for name, count in self.alice_operations.items()},
            {name: count * times for name, count in self.bob_operations.items()},
        )

    @property
    def mirror(self) -> Cost:
        """The cost with Alice and Bob exchanged."""
        return Cost(
            self.flights.mirror,
            self.bob_bytes,
            self.alice_bytes,
            self.bob_operations,
            self.alice_operations,
        )

    @property
    def rounds(self) -> int:
        """The longest chain of dependent messages, see `Flights`."""
        return self.flights.rounds


def cost_each(steps: Iterable[T], price: Callable[[T], Cost]) -> Cost:
    """The cost of steps one after the other, of which alike ones that follow each other are priced once."""
    return sum((price(step) * len(list(alike)) for step, alike in groupby(steps)), Cost())


def lengths(parts: Iterable[slice]) -> Iterator[int]:
    """How long slices are."""
    return (part.stop - part.start for part in parts)


@dataclass(frozen=True, slots=True)
class Setup:
    """What a session makes once for all steps that need it; both parties make it at the same place.

    Attributes:
        name: unique; two steps that list the same one share it.
        run: `run(session)` makes it, unless the session has it.
        cost: of making it; neither role gives more than the other.
        against: what it holds, and what is made out of it.
    """

    name: str
    run: Callable[[Any], None] = field(repr=False, compare=False)
    cost: Cost = field(repr=False, compare=False)
    against: Against = Against.SEMI_HONEST


TRANSFERS_NAME: Final = "transfers"
"""The set-up of whatever takes oblivious transfers."""

RoleCode = Callable[..., Any]
"""`alice(session, parameters, *holdings)` or `bob(...)`: own holdings in, own holding out.

A comparison with a subprotocol gets one more argument, `inner(parameters, x, y)`, which runs it."""


class Sharing(Enum):
    """Which share moduli a protocol takes or gives; `Spec.applies` may narrow it further."""

    ANY = "any modulus"
    NUMBER = "a number"
    ALICE_KEY = "the N of Alice's key"
    XOR = "modulus 2"

    def allows(self, modulus: Modulus) -> bool:
        """Whether shares of this modulus are meant, as the protocol's own Alice and Bob see it."""
        match self:
            case Sharing.ANY:
                return True
            case Sharing.NUMBER:
                return isinstance(modulus, int)
            case Sharing.ALICE_KEY:
                return modulus is Role.ALICE
            case Sharing.XOR:
                return modulus == 2


@dataclass(frozen=True, slots=True)
class Subprotocol:
    """The comparison that a protocol is given to run inside.

    Attributes:
        type: its forms.
        parameters: its public parameters, from those of the protocol around it.
    """

    type: ComparisonType
    parameters: Callable[[Parameters], Parameters] = field(repr=False)


def _always(parameters: Parameters) -> bool:
    del parameters
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What every protocol declares.

    Attributes:
        name: unique and stable.
        cost: the exact cost as a function of public sizes, without that of set-ups and subprotocols.
        setups: what a session needs before the protocol runs, in this order.
        against: what its own messages hold, if its set-ups and subprotocols hold as much.
    """

    name: str
    cost: Callable[..., Cost] = field(repr=False)
    setups: tuple[Setup, ...] = ()
    against: Against = Against.SEMI_HONEST

    @property
    def level(self) -> Against:
        """What it holds with its set-ups."""
        return weakest((self.against, *(setup.against for setup in self.setups)))

    @property
    def takes_transfers(self) -> bool:
        """Whether it takes oblivious transfers."""
        return any(setup.name == TRANSFERS_NAME for setup in self.setups)


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure(Record):
    """A protocol that is called by its function, and not routed by forms.

    Attributes:
        module: the module whose text has the figure and all sections.
        example: sizes, by the names that `cost` gives them, for which its cost is shown and tested.
    """

    module: str
    example: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec(Record):
    """A comparison protocol (two inputs) or a conversion (one input).

    Attributes:
        inputs: the forms of x and y for a comparison, of the one value for a conversion.
        output: the form of the result.
        alice: Alice's code.
        bob: Bob's code.
        opens: the parties that newly see the plain value of the result.
        takes: which moduli the shares may have that go in; None exactly where no input is shared. Inputs that
            are both shared have one modulus.
        gives: which moduli the shares may have that come out; None exactly where the result is not shared.
        engine: the family of a comparison that works on plain values; None for all others.
        subprotocol: the comparison that runs inside, if any.
        bitwise: the input is encrypted bit by bit.
        improves: the protocol of a paper that this one improves on, to which reference engines keep; empty if
            none.
        applies: whether the parameters, the moduli among them, allow the protocol.
        arrays: the code takes plain values and shares as arrays too, and may return them so.
    """

    inputs: tuple[Form, ...]
    output: Form
    alice: RoleCode = field(repr=False)
    bob: RoleCode = field(repr=False)
    opens: frozenset[Role] = frozenset()
    takes: Sharing | None = None
    gives: Sharing | None = None
    engine: Engine | None = None
    subprotocol: Subprotocol | None = None
    bitwise: bool = False
    improves: str = ""
    applies: Callable[[Parameters], bool] = field(default=_always, repr=False)
    arrays: bool = False

    def __post_init__(self) -> None:
        """Refuse a record that does not say what becomes of the moduli of shares.

        Raises:
            UsageError: shares go in or come out, and `takes` or `gives` is missing, or the reverse.
        """
        for shared, said, name in (
            (Form.SS in self.inputs, self.takes, "takes"),
            (self.output is Form.SS, self.gives, "gives"),
        ):
            if shared is not (said is not None):
                raise UsageError(
                    f"The record of {self.name} and its forms disagree about {name}.",
                    f"Set {name} if shares go in (takes) or come out (gives), and leave it out otherwise.",
                )

    @property
    def module(self) -> str:
        """The module whose text has the figure and all sections."""
        return str(self.alice.__module__)
