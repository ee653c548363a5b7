"""Batches of Paillier ciphertexts, and the rule of what may leave.

Freshness is a type. Results of homomorphic work are `Ciphertexts` and cannot be encoded; encrypting and
refreshing make `Fresh` ones, which can. Every single fresh ciphertext leaves at most once: slices, permuted
copies and concatenations of a batch share its marks, so whichever of them is encoded first spends the
ciphertexts in it for all of them. Computing with fresh ciphertexts is free and gives `Ciphertexts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, Self

import gmpy2
from gmpy2 import mpz

from smc.ciphers.keys import PublicKey
from smc.errors import FreshnessError, KeyMaterialError, ProtocolViolation, UsageError


class Ciphertexts:
    """Ciphertexts under one key, which may not leave.

    Args:
        key: the key.
        values: integers modulo n**2, taken as valid; `ExpectedCiphertexts` and `valid` check foreign ones.
    """

    __slots__ = ("_key", "_values")

    def __init__(self, key: PublicKey, values: Sequence[mpz]) -> None:
        self._key = key
        self._values = tuple(values)

    @property
    def key(self) -> PublicKey:
        """The key they are encrypted under."""
        return self._key

    @property
    def values(self) -> tuple[mpz, ...]:
        """The integers modulo n**2, for homomorphic work."""
        return self._values

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} under key {self._key.fingerprint[:16]})"

    def __getitem__(self, part: slice) -> Self:
        return self.take(range(len(self))[part])

    def take(self, rows: Sequence[int]) -> Self:
        """The ciphertexts at `rows`, in that order: to permute or select.

        Raises:
            UsageError: a row does not exist.
        """
        if any(not 0 <= row < len(self) for row in rows):
            raise UsageError(f"A row outside a batch of {len(self)} ciphertexts was asked for.")
        return self._at(rows)

    @classmethod
    def concat(cls, parts: Sequence[Self]) -> Self:
        """One batch of all parts, in order; `Fresh.concat` takes fresh parts only.

        Raises:
            UsageError: there are no parts.
            KeyMaterialError: they are under different keys.
        """
        if not parts:
            raise UsageError("No ciphertexts to concatenate.")
        key = parts[0].key
        if any(part.key != key for part in parts):
            raise KeyMaterialError("Ciphertexts under different keys do not go together.")
        return cls._join(parts)

    def _at(self, rows: Sequence[int]) -> Self:
        return type(self)(self._key, [self._values[row] for row in rows])

    @classmethod
    def _join(cls, parts: Sequence[Self]) -> Self:
        return cls(parts[0].key, [value for part in parts for value in part.values])

    if not TYPE_CHECKING:  # a type checker finds the missing method, a run gets the reason

        def encode(self) -> NoReturn:
            """Refuse.

            Raises:
                FreshnessError: always.
            """
            raise FreshnessError("Ciphertexts that are not re-randomised may not leave.", "Refresh them.")


class _Mark:
    """Whether one fresh ciphertext has left."""

    __slots__ = ("spent",)

    def __init__(self) -> None:
        self.spent = False


class Fresh(Ciphertexts):
    """Freshly randomised ciphertexts, each of which may leave once; `Paillier` makes them, nobody else."""

    __slots__ = ("_marks",)
    _marks: tuple[_Mark, ...]

    def __init__(self, key: PublicKey, values: Sequence[mpz]) -> None:
        super().__init__(key, values)
        raise FreshnessError("Fresh ciphertexts come from encrypt and refresh only.", "Refresh them.")

    def encode(self) -> bytes:
        """Big-endian integers of `key.ciphertext_bytes` bytes each; spends the ciphertexts.

        Raises:
            FreshnessError: one of them left already.
        """
        width = self.key.ciphertext_bytes
        return b"".join(int(value).to_bytes(width, "big") for value in self.release())

    def release(self) -> tuple[mpz, ...]:
        """The integers themselves, to leave in another encoding; spends the ciphertexts.

        Raises:
            FreshnessError: one of them left already.
        """
        for mark in self._marks:
            if mark.spent:
                raise FreshnessError("A ciphertext was about to leave for the second time.", "Refresh it.")
            mark.spent = True
        return self.values

    def _at(self, rows: Sequence[int]) -> Self:
        return self._marked([self.values[row] for row in rows], [self._marks[row] for row in rows])

    def _marked(self, values: Sequence[mpz], marks: Sequence[_Mark]) -> Self:
        made = type(self).__new__(type(self))
        Ciphertexts.__init__(made, self.key, values)
        made._marks = tuple(marks)
        return made

    @classmethod
    def _join(cls, parts: Sequence[Self]) -> Self:
        if not all(isinstance(part, Fresh) for part in parts):
            raise FreshnessError("A part of a batch that should be fresh is not.", "Refresh it.")
        values = [value for part in parts for value in part.values]
        return parts[0]._marked(values, [mark for part in parts for mark in part._marks])


def declare_fresh(key: PublicKey, values: Sequence[mpz]) -> Fresh:
    """Fresh ciphertexts of integers that a uniform mask was just multiplied into; for `Paillier` only."""
    made = Fresh.__new__(Fresh)
    Ciphertexts.__init__(made, key, values)
    made._marks = tuple(_Mark() for _ in made.values)
    return made


def valid(key: PublicKey, values: Sequence[mpz]) -> bool:
    """Whether all integers are in (0, n**2) and prime to n, as every ciphertext is."""
    if not all(0 < value < key.n_squared for value in values):
        return False
    running = mpz(1)
    for value in values:
        running = running * value % key.n
    return bool(gmpy2.gcd(running, key.n) == 1)


@dataclass(frozen=True, slots=True)
class ExpectedCiphertexts:
    """Demands `count` ciphertexts under `key` from the peer."""

    key: PublicKey
    count: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.count * self.key.ciphertext_bytes

    def decode(self, data: bytes) -> Ciphertexts:
        """Parse and check.

        Raises:
            ProtocolViolation: the size is wrong, or an integer is no ciphertext under the key.
        """
        if len(data) != self.size:
            raise ProtocolViolation(f"{self.size} bytes of ciphertexts were due, {len(data)} came.")
        width = self.key.ciphertext_bytes
        values = [mpz(int.from_bytes(data[i : i + width], "big")) for i in range(0, len(data), width)]
        if not valid(self.key, values):
            raise ProtocolViolation("A number from the peer is no ciphertext under the agreed key.")
        return Ciphertexts(self.key, values)
