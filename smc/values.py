"""What one party holds of a batch of values.

A value in form XX is two holdings, Alice's and Bob's; a protocol takes the own holding and returns the own
holding. Integers are Python integers, so 128-bit values and residues modulo a Paillier N live side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self, TypeAlias

from smc.errors import DomainError
from smc.forms import Form, Holding, Role


class CipherVector(Protocol):
    """A batch of ciphertexts under one key."""

    def __len__(self) -> int:
        """How many."""
        ...

    def __getitem__(self, part: slice, /) -> Self:
        """The ciphertexts of a part of the batch."""
        ...

    @classmethod
    def concat(cls, parts: Sequence[Self], /) -> Self:
        """One batch of all parts, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Plain:
    """The values themselves, integers in [0, 2**bits) of the run."""

    values: Sequence[int] = field(repr=False)

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, slots=True)
class Share:
    """Additive shares: own + other's = value (mod `modulus`); modulus 2 is XOR (erratum 6)."""

    values: Sequence[int] = field(repr=False)
    modulus: int

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, slots=True)
class Encrypted:
    """Ciphertexts under the other party's key."""

    ciphertexts: CipherVector = field(repr=False)

    def __len__(self) -> int:
        return len(self.ciphertexts)


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """Nothing but the secret key of `count` ciphertexts that the other party holds."""

    count: int

    def __len__(self) -> int:
        return self.count


@dataclass(frozen=True, slots=True)
class Nothing:
    """Nothing: `count` values lie with the other party."""

    count: int

    def __len__(self) -> int:
        return self.count


Value: TypeAlias = Plain | Share | Encrypted | KeyHolder | Nothing


def part_of(value: Value, part: slice) -> Value:
    """What the holding says of a part of the batch; `part` has a start and a stop."""
    match value:
        case Plain(values):
            return Plain(values[part])
        case Share(values, modulus):
            return Share(values[part], modulus)
        case Encrypted(ciphertexts):
            return Encrypted(ciphertexts[part])
        case KeyHolder() | Nothing():
            return type(value)(part.stop - part.start)


def join(parts: Sequence[Value]) -> Value:
    """One holding from the holdings of consecutive parts, which are all of one kind."""
    first = parts[0]
    match first:
        case Plain():
            return Plain([v for piece in parts if isinstance(piece, Plain) for v in piece.values])
        case Share(_, modulus):
            return Share([v for piece in parts if isinstance(piece, Share) for v in piece.values], modulus)
        case Encrypted(ciphertexts):
            vectors = [piece.ciphertexts for piece in parts if isinstance(piece, Encrypted)]
            return Encrypted(type(ciphertexts).concat(vectors))
        case KeyHolder() | Nothing():
            return type(first)(sum(len(piece) for piece in parts))


_TYPES = {
    Holding.PLAIN: Plain,
    Holding.SHARE: Share,
    Holding.CIPHERTEXT: Encrypted,
    Holding.SECRET_KEY: KeyHolder,
    Holding.NOTHING: Nothing,
}


def check_value(value: Value, form: Form, role: Role, bits: int, name: str) -> None:
    """Check that `value` is what `role` holds in `form`, and that plain values and shares fit.

    Args:
        value: the own holding.
        form: the form that the type names.
        role: the own role.
        bits: bit bound of the plain values.
        name: how error messages call the value, such as `x`.

    Raises:
        DomainError: the holding is of another kind, or a number lies outside its bound.
    """
    wanted = _TYPES[form.holding(role)]
    if not isinstance(value, wanted):
        raise DomainError(
            f"{name} in form {form.value} is for {role.value} {form.holding(role).value}, "
            f"not {type(value).__name__}.",
            "Correct the type or the input.",
        )
    bound = None
    if isinstance(value, Plain):
        bound, kind, meaning = 1 << bits, "number", f"2**{bits}"
    elif isinstance(value, Share):
        bound, kind, meaning = value.modulus, "share", "modulus"
    if bound is not None and isinstance(value, Plain | Share):
        for row, number in enumerate(value.values):
            if not 0 <= number < bound:
                raise DomainError(
                    f"{name}, entry {row}: a {kind} is outside [0, {meaning}).",
                    "Widen the bound or correct the data.",
                )
