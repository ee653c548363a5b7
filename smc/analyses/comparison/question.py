"""What a comparison job asks, and what plans and runs it, as the joint run sees both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from smc.forms import ComparisonType, Form
from smc.values import CipherVector, Value


@dataclass(frozen=True, slots=True)
class Question:
    """What is compared.

    Attributes:
        type: one of the 216 types, or type 8.
        bits: numbers are in [offset, offset + 2**bits), in held units.
        offset: what is taken off plain numbers before they are compared.
        constants: public values by the name of what they stand for, in held units.
    """

    type: ComparisonType
    bits: int
    offset: int
    constants: Mapping[str, int]

    @property
    def width(self) -> int:
        """Entries of x for each one of y: its bits, where x is encrypted bit by bit."""
        return self.bits if self.type.bitwise else 1

    def form(self, name: str) -> Form:
        """The form of x or y."""
        return self.type.x if name == "x" else self.type.y


class PreparedComparison(Protocol):
    """A comparison that both parties have planned alike, and for which the session has set up everything."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader of the result should know of the route."""
        ...

    @property
    def details(self) -> Mapping[str, str]:
        """The route, for the record of the job."""
        ...

    def run(self, x: Value, y: Value) -> Value:
        """The local holding of delta, from those of x and y.

        Raises:
            DomainError: a holding is not what the plan says, or a number is outside its bound.
            PeerError: of the kind that the failure has.
        """
        ...


class Router(Protocol):
    """Plans a comparison and knows the keys: `smc.analyses.comparison.routed` of a job."""

    def prepare(self, count: int, moduli: Sequence[str]) -> PreparedComparison:
        """Plan so many comparisons, compare the plans and set up; both parties call it.

        Args:
            count: comparisons.
            moduli: those of the columns that are shared, x before y.

        Raises:
            ProtocolViolation: the peer has another plan; nothing but its digest was sent.
        """
        ...

    def modulus(self, text: str) -> int:
        """A share modulus as a number.

        Raises:
            KeyMaterialError: it is that of a key that the session does not have.
        """
        ...

    def read_ciphertexts(self, values: Sequence[int]) -> CipherVector:
        """Ciphertexts under the peer's key, from a file, checked like those from a message.

        Raises:
            DomainError: one is not a valid ciphertext under that key.
        """
        ...

    def write_ciphertexts(self, ciphertexts: CipherVector) -> list[str]:
        """Ciphertexts for a file, re-randomised (erratum 3)."""
        ...
