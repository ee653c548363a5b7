"""What one party holds of a batch of values.

A value in form XX is two holdings, Alice's and Bob's; a protocol takes the local one and returns the local
one. Integers are Python integers, so 128-bit values and residues modulo a Paillier N live side by side.

Where all of them are below 2**64, an array of unsigned integers may stand in their place (`of_array`):
protocols whose record says `arrays` work on it as it is, all others are given a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

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


Array: TypeAlias = NDArray[np.uint64] | NDArray[np.uint8]


def of_array(values: Array) -> Sequence[int]:
    """An array of unsigned integers, shape (n,), in the place of a sequence of Python integers."""
    return cast(Sequence[int], values)


def is_array(value: Value) -> bool:
    """Whether the holding's integers are an array."""
    return isinstance(value, Plain | Share) and isinstance(value.values, np.ndarray)


def with_python_integers(value: Value) -> Value:
    """The same holding, its integers Python integers."""
    if isinstance(value, Plain | Share) and isinstance(value.values, np.ndarray):
        values: list[int] = value.values.tolist()
        return Plain(values) if isinstance(value, Plain) else Share(values, value.modulus)
    return value


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
            return Plain(_joined([piece.values for piece in parts if isinstance(piece, Plain)]))
        case Share(_, modulus):
            return Share(_joined([piece.values for piece in parts if isinstance(piece, Share)]), modulus)
        case Encrypted(ciphertexts):
            vectors = [piece.ciphertexts for piece in parts if isinstance(piece, Encrypted)]
            return Encrypted(type(ciphertexts).concat(vectors))
        case KeyHolder() | Nothing():
            return type(first)(sum(len(piece) for piece in parts))


def _joined(parts: Sequence[Sequence[int]]) -> Sequence[int]:
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    if len(arrays) == len(parts):
        return of_array(np.concatenate(arrays))
    return [value for part in parts for value in part]


_TYPES = {
    Holding.PLAIN: Plain,
    Holding.SHARE: Share,
    Holding.CIPHERTEXT: Encrypted,
    Holding.SECRET_KEY: KeyHolder,
    Holding.NOTHING: Nothing,
}


def check_kind(value: Value, form: Form, role: Role, name: str) -> None:
    """Check that `value` is of the kind that `role` holds in `form`; arguments as of `check_holding`.

    Raises:
        DomainError: the holding is of another kind.
    """
    wanted = _TYPES[form.holding(role)]
    if not isinstance(value, wanted):
        raise DomainError(
            f"{name} in form {form.value} is for {role.value} {form.holding(role).value}, "
            f"not {type(value).__name__}.",
            "Correct the type or the input.",
        )


def check_holding(value: Value, form: Form, role: Role, modulus: int | None, name: str) -> None:
    """Check that `value` is what `role` holds in `form`, and that shares are modulo what they should be.

    Args:
        value: the local holding.
        form: the form it should have.
        role: this side's role.
        modulus: of the shares, if the form is SS.
        name: how error messages call the value, such as `x`.

    Raises:
        DomainError: the holding is of another kind, or shared modulo another number.
    """
    check_kind(value, form, role, name)
    if isinstance(value, Share) and value.modulus != modulus:
        raise DomainError(
            f"{name} is shared modulo another number than the plan says.",
            "Plan with the modulus that the shares have, or share the values again.",
        )


def check_range(value: Value, bits: int, name: str) -> None:
    """Check that plain values and shares lie in their bounds.

    Args:
        value: the local holding.
        bits: bit bound of plain values.
        name: how error messages call the value, such as `x`.

    Raises:
        DomainError: a number lies outside its bound.
    """
    if isinstance(value, Plain):
        bound, kind, meaning = 1 << bits, "number", f"2**{bits}"
    elif isinstance(value, Share):
        bound, kind, meaning = value.modulus, "share", "modulus"
    else:
        return
    row = _first_outside(value.values, bound)
    if row is not None:
        raise DomainError(
            f"{name}, entry {row}: a {kind} is outside [0, {meaning}).",
            "Declare a wider bound, or correct the data.",
        )


def _first_outside(values: Sequence[int], bound: int) -> int | None:
    """The first place whose integer is not in [0, bound)."""
    if isinstance(values, np.ndarray):
        if values.dtype not in (np.uint64, np.uint8) or values.ndim != 1:
            raise DomainError(
                f"An array of type {values.dtype} with {values.ndim} dimensions is not a batch of values.",
                "Give a one-dimensional array of uint64 or uint8.",
            )
        if not len(values) or int(values.max()) < bound:
            return None
        return int(np.argmax(values >= values.dtype.type(bound)))
    return next((row for row, number in enumerate(values) if not 0 <= number < bound), None)
