"""From columns to holdings, and from holdings to result tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from smc.analyses.comparison.question import Question, Router
from smc.analyses.studies.columns import Column
from smc.analyses.studies.outcome import Table
from smc.errors import DomainError
from smc.forms import Holding, Role
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


def holding_of(
    role: Role, question: Question, router: Router, name: str, column: Column | None, count: int
) -> Value:
    """The local holding of x or y, `count` entries long.

    Args:
        role: this side's role.
        question: what is compared.
        router: reads ciphertexts, and knows the moduli that are keys.
        name: x or y.
        column: the local column, or None.
        count: entries.

    Raises:
        DomainError: a ciphertext is none.
        KeyMaterialError: shares modulo a key that the session does not have.
    """
    holding = question.form(name).holding(role)
    if name in question.constants:
        return Plain(_words(question.constants[name] - question.offset, count))
    if holding is Holding.SECRET_KEY:
        return KeyHolder(count)
    if column is None:
        return Nothing(count)
    if holding is Holding.CIPHERTEXT:
        repeats = count // len(column) if len(column) else 0
        return Encrypted(router.read_ciphertexts(list(column.integers) * repeats))
    if holding is Holding.PLAIN:
        return Plain(_shift(column, question.offset, count))
    return Share(_shift(column, 0, count), router.modulus(column.schema.modulus))


def _shift(column: Column, offset: int, count: int) -> Sequence[int]:
    """The values less an offset, `count` of them: an array of words where they fit, exact integers else."""
    if len(column) == 1 or not isinstance(column.values, np.ndarray):
        values = [value - offset for value in column.integers]
        return _words(values[0], count) if len(values) == 1 else _pack(values)
    if not len(column) or int(column.values.min()) < offset or not -_WORD // 2 <= offset < _WORD // 2:
        return [value - offset for value in column.integers]
    # Modulo 2**64, which a difference of two of 63 bits and sign does not reach.
    return of_array(column.values.astype(np.uint64) - np.uint64(offset % _WORD))


def _words(value: int, count: int) -> Sequence[int]:
    """One value many times."""
    return of_array(np.full(count, value, np.uint64)) if 0 <= value < _WORD else [value] * count


def _pack(values: list[int]) -> Sequence[int]:
    """Integers as words if all of them fit."""
    return of_array(np.array(values, np.uint64)) if all(0 <= one < _WORD for one in values) else values


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


def tables(router: Router, delta: Value) -> tuple[Table, ...]:
    """The table of a result; ciphertexts in it are re-randomised (erratum 3)."""
    if not isinstance(delta, Encrypted):
        return plain_tables(delta)
    texts = router.write_ciphertexts(delta.ciphertexts)
    return (Table("comparison", {"row": _rows(len(texts)), "ciphertext": texts}),)


def notes(delta: Value) -> tuple[str, ...]:
    """What the reader of the table should know."""
    match delta:
        case Plain():
            return ("1 where x >= y, else 0; files and --details call this column delta",)
        case Share(_, modulus):
            name = "XOR" if modulus == 2 else f"a sum modulo a number of {modulus.bit_length()} bits"
            return (f"shares of whether x >= y; the result is {name} of both parties' shares",)
        case Encrypted():
            return ("whether x >= y, encrypted under the peer's Paillier key, re-randomised",)
        case _:
            return ("the result is with the other party, as the type says",)
