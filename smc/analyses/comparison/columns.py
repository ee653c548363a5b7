"""From columns to holdings, and from holdings to result tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from gmpy2 import mpz

from smc.analyses.comparison.parameters import ComparisonParameters
from smc.analyses.studies.columns import Column
from smc.analyses.studies.outcome import Table
from smc.ciphers.ciphertexts import Ciphertexts, valid
from smc.errors import DomainError, KeyMaterialError, UsageError
from smc.forms import Form, Holding, Role
from smc.protocols.session import Session
from smc.protocols.spec import parse_modulus
from smc.values import Encrypted, KeyHolder, Nothing, Plain, Share, Value, of_array, with_python_integers

_WORD: Final = 1 << 64


def agreed_rows(name: str, own: int, peer: int) -> int:
    """The number of rows of x or y, of which either party may hold a part.

    Raises:
        DomainError: both hold a part, of different lengths.
    """
    if own and peer and own != peer:
        raise DomainError(
            f"{name} has {own} rows here and {peer} at the peer, though both hold a part of every row.",
            "Use the same rows in the same order on both sides.",
        )
    return max(own, peer)


def stretch(values: Sequence[int], count: int) -> Sequence[int]:
    """A single value repeated, or the column as it is."""
    return list(values) * count if len(values) == 1 else values


def holding_of(
    session: Session, parameters: ComparisonParameters, name: str, column: Column | None, count: int
) -> Value:
    """The local holding of x or y, `count` entries long.

    Raises:
        DomainError: a ciphertext is none.
        KeyMaterialError: shares modulo a key that the session does not have.
    """
    holding = parameters.form(name).holding(session.role)
    if name in parameters.constants:
        return Plain(_words(parameters.constants[name] - parameters.offset, count))
    if holding is Holding.SECRET_KEY:
        return KeyHolder(count)
    if column is None:
        return Nothing(count)
    if holding is Holding.CIPHERTEXT:
        repeats = count // len(column) if len(column) else 0
        values = list(column.integers) * repeats
        return Encrypted(_read_ciphertexts(session, values))
    if holding is Holding.PLAIN:
        return Plain(_shifted(column, parameters.offset, count))
    modulus = parse_modulus(column.schema.modulus)
    return Share(
        _shifted(column, 0, count), modulus if isinstance(modulus, int) else _key_modulus(session, modulus)
    )


def _shifted(column: Column, offset: int, count: int) -> Sequence[int]:
    """The values less an offset, `count` of them: an array of words where they fit, exact integers else."""
    if len(column) == 1 or not isinstance(column.values, np.ndarray):
        values = [value - offset for value in column.integers]
        return _words(values[0], count) if len(values) == 1 else _packed(values)
    if not len(column) or int(column.values.min()) < offset or not -_WORD // 2 <= offset < _WORD // 2:
        return [value - offset for value in column.integers]
    # Modulo 2**64, which a difference of two of 63 bits and sign does not reach.
    return of_array(column.values.astype(np.uint64) - np.uint64(offset % _WORD))


def _words(value: int, count: int) -> Sequence[int]:
    """One value many times."""
    return of_array(np.full(count, value, np.uint64)) if 0 <= value < _WORD else [value] * count


def _packed(values: list[int]) -> Sequence[int]:
    """Integers as words if all of them fit."""
    return of_array(np.array(values, np.uint64)) if all(0 <= one < _WORD for one in values) else values


def _read_ciphertexts(session: Session, values: Sequence[int]) -> Ciphertexts:
    """Ciphertexts under the peer's key, read from a file and checked like those from a message.

    Raises:
        DomainError: one is not a valid ciphertext under that key.
    """
    key = session.peer.public
    ciphertexts = [mpz(value) for value in values]
    if not valid(key, ciphertexts):
        raise DomainError(
            "A ciphertext column holds something that is not a valid ciphertext under the peer's key.",
            "Check which key the column was encrypted under.",
        )
    return Ciphertexts(key, ciphertexts)


def _key_modulus(session: Session, role: Role) -> int:
    key = session.peer_key
    if role is session.role:
        key = session.own_key.public if session.own_key is not None else None
    if key is None:
        raise KeyMaterialError(
            f"Shares modulo {role.value}'s key need that key.", "Give the session both keys."
        )
    return int(key.n)


def plain_values(
    parameters: ComparisonParameters, name: str, alice: Column | None, bob: Column | None
) -> list[int]:
    """X or y in the clear, for the reference.

    Raises:
        UsageError: the column is encrypted, or shared modulo a key.
    """
    if name in parameters.constants:
        return [parameters.constants[name]]
    if parameters.form(name) is Form.SS and alice is not None and bob is not None:
        modulus = parse_modulus(alice.schema.modulus)
        if isinstance(modulus, int):
            return [(a + b) % modulus for a, b in zip(alice.values, bob.values, strict=True)]
    column = alice if alice is not None else bob
    if column is None or column.schema.kind in ("share", "ciphertext"):
        raise UsageError(f"The reference cannot open column {name}.", "Use plain columns.")
    return list(column.values)


def _rows(count: int) -> list[int]:
    return list(range(1, count + 1))


def plain_tables(delta: Value) -> tuple[Table, ...]:
    """The table of a result that is not encrypted; none for a party that holds nothing of it."""
    match with_python_integers(delta):
        case Plain(values):
            columns: dict[str, Sequence[Any]] = {"row": _rows(len(values)), "delta": list(values)}
        case Share(values, modulus):
            shares: Sequence[Any] = list(values) if modulus < 1 << 53 else [str(v) for v in values]
            columns = {"row": _rows(len(values)), "share": shares}
        case _:
            return ()
    return (Table("comparison", columns),)


def tables(session: Session, delta: Value) -> tuple[Table, ...]:
    """The table of a result; ciphertexts in it are re-randomised (erratum 3)."""
    if not isinstance(delta, Encrypted) or not isinstance(delta.ciphertexts, Ciphertexts):
        return plain_tables(delta)
    fresh = session.peer.refresh(delta.ciphertexts)
    texts = [f"{int(value):x}" for value in fresh.values]
    return (Table("comparison", {"row": _rows(len(texts)), "ciphertext": texts}),)


def notes(delta: Value) -> tuple[str, ...]:
    """What the reader of the table should know."""
    match delta:
        case Plain():
            return ("delta is 1 where x >= y, else 0",)
        case Share(_, modulus):
            name = "XOR" if modulus == 2 else f"a sum modulo a number of {modulus.bit_length()} bits"
            return (f"shares of delta; the result is {name} of both parties' shares",)
        case Encrypted():
            return ("delta encrypted under the peer's Paillier key, re-randomised",)
        case _:
            return ("the result is with the other party, as the type says",)
