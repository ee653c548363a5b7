"""Holdings in parts, and their checks against what a plan says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from smc.errors import DomainError
from smc.forms import Form, Role
from smc.values import Encrypted, KeyHolder, Nothing, Plain, Share, Value, check_kind, of_array


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
            return Plain(_join([piece.values for piece in parts if isinstance(piece, Plain)]))
        case Share(_, modulus):
            return Share(_join([piece.values for piece in parts if isinstance(piece, Share)]), modulus)
        case Encrypted(ciphertexts):
            vectors = [piece.ciphertexts for piece in parts if isinstance(piece, Encrypted)]
            return Encrypted(type(ciphertexts).concat(vectors))
        case KeyHolder() | Nothing():
            return type(first)(sum(len(piece) for piece in parts))


def _join(parts: Sequence[Sequence[int]]) -> Sequence[int]:
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    if len(arrays) == len(parts):
        return of_array(np.concatenate(arrays))
    return [value for part in parts for value in part]


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
