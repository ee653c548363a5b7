"""Batches of ciphertexts of any cipher, and the rule of what may leave.

Freshness is a type. Results of homomorphic work are `Batch`es and cannot be encoded; encrypting and
refreshing make `FreshBatch`es, which can. Every single fresh ciphertext leaves at most once: slices, permuted
copies and concatenations of a batch share its marks, so whichever of them is encoded first spends the
ciphertexts in it for all of them. Computing with fresh ciphertexts is free and gives a plain `Batch`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, NoReturn, Protocol, Self, TypeVar

from typing_extensions import override

from smc.errors import FreshnessError, KeyMaterialError, UsageError


class NamedKey(Protocol):
    """What a batch has to know of its key; keys are compared by `==`."""

    @property
    def fingerprint(self) -> str:
        """A name of the key, hexadecimal."""
        ...


K = TypeVar("K", bound=NamedKey)
V = TypeVar("V")


class Batch(Generic[K, V]):
    """Ciphertexts under one key, which may not leave.

    Args:
        key: the key.
        values: the ciphertexts, taken as valid.
    """

    __slots__ = ("_key", "_values")

    def __init__(self, key: K, values: Sequence[V]) -> None:
        self._key = key
        self._values = tuple(values)

    @property
    def key(self) -> K:
        """The key they are encrypted under."""
        return self._key

    @property
    def values(self) -> tuple[V, ...]:
        """The ciphertexts themselves, for homomorphic work."""
        return self._values

    def __len__(self) -> int:
        return len(self._values)

    @override
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
            raise UsageError(
                f"The batch of {len(self)} ciphertexts has no such row.",
                f"Ask for rows from 0 to {len(self) - 1}.",
            )
        return self._at(rows)

    @classmethod
    def concat(cls, parts: Sequence[Self]) -> Self:
        """One batch of all parts, in order; that of a fresh class takes fresh parts only.

        Raises:
            UsageError: there are no parts.
            KeyMaterialError: they are under different keys.
        """
        if not parts:
            raise UsageError("There is nothing to concatenate.", "Give at least one batch of ciphertexts.")
        key = parts[0].key
        if any(part.key != key for part in parts):
            raise KeyMaterialError(
                "Ciphertexts under different keys cannot be in one batch.",
                "Concatenate those of each key on their own.",
            )
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
            raise FreshnessError(
                "Ciphertexts that are not re-randomised cannot be sent: they could show what they come from.",
                "Call refresh on the cipher, and send what it returns.",
            )


class _Mark:
    """Whether one fresh ciphertext has left."""

    __slots__ = ("spent",)

    def __init__(self) -> None:
        self.spent = False


class FreshBatch(Batch[K, V]):
    """Freshly randomised ciphertexts, each of which may leave once; ciphers make them, nobody else."""

    __slots__ = ("_marks",)
    _marks: tuple[_Mark, ...]

    def __init__(self, key: K, values: Sequence[V]) -> None:
        super().__init__(key, values)
        raise FreshnessError(
            "Fresh ciphertexts come from encrypt and refresh only.",
            "Call refresh on the cipher, and use what it returns.",
        )

    @abstractmethod
    def _encode(self, values: Sequence[V]) -> bytes:
        """The bytes of ciphertexts that leave."""

    def encode(self) -> bytes:
        """As many bytes for every ciphertext as for any other; spends the ciphertexts.

        Raises:
            FreshnessError: one of them left already.
        """
        return self._encode(self.release())

    def release(self) -> tuple[V, ...]:
        """The ciphertexts themselves, to leave in another encoding; spends them.

        Raises:
            FreshnessError: one of them left already.
        """
        for mark in self._marks:
            if mark.spent:
                raise FreshnessError(
                    "A ciphertext was about to be sent twice, which would show that both are the same.",
                    "Call refresh on the cipher before you send it again.",
                )
            mark.spent = True
        return self.values

    @classmethod
    def declare(cls, key: K, values: Sequence[V]) -> Self:
        """Fresh ciphertexts of values that were just randomised; for ciphers only."""
        return cls._mark(key, values, [_Mark() for _ in values])

    @override
    def _at(self, rows: Sequence[int]) -> Self:
        return self._mark(self.key, [self.values[row] for row in rows], [self._marks[row] for row in rows])

    @classmethod
    def _mark(cls, key: K, values: Sequence[V], marks: Sequence[_Mark]) -> Self:
        made = cls.__new__(cls)
        Batch.__init__(made, key, values)
        made._marks = tuple(marks)
        return made

    @classmethod
    @override
    def _join(cls, parts: Sequence[Self]) -> Self:
        if not all(isinstance(part, FreshBatch) for part in parts):
            raise FreshnessError(
                "A part of a fresh batch is not re-randomised.",
                "Call refresh on the cipher for that part first.",
            )
        values = [value for part in parts for value in part.values]
        return cls._mark(parts[0].key, values, [mark for part in parts for mark in part._marks])
