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
