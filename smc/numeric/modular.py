"""Modular arithmetic in batches, spread over an executor.

Powers and products of numbers of thousands of bits are where the ciphers spend their time. Every function
here cuts its batch into `PIECES`, whatever the machine, and runs the pieces on the caller's executor with
gmpy2, which releases the interpreter lock: threads are enough. The pieces are functions of this package and
numbers, so that the executor may as well be that of other machines. Running times depend on the numbers:
neither gmpy2 nor Python is constant-time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future
from functools import lru_cache
from itertools import pairwise
from threading import Lock
from typing import Any, TypeAlias, TypeVar

import gmpy2
import numpy as np
from gmpy2 import mpz
from numpy.typing import NDArray
from typing_extensions import override

from smc.errors import DomainError, UsageError
from smc.pieces import check_cancelled, each

T = TypeVar("T")

Integer: TypeAlias = int | mpz
"""What the functions of this module take; they return `mpz`."""

PIECES = 8
"""Tasks that a batch is cut into at least; enough for eight cores, few enough to cost nothing on one."""

POWERS = 16
"""Most powers of a task, of which each takes up to 30 ms; between two tasks the work can be given up."""

PRODUCTS = 1 << 12
"""Most products of two numbers of a task."""

_INLINE = 2
_ASK_SECONDS = 1.0  # a piece takes half of it, but one that other machines have to do may never come back
_KEPT_TABLES = 4
_RELEASE_BITS = 2048  # measured: below, handing the lock over costs more than one product


def powers(
    bases: Sequence[Integer], exponents: Sequence[Integer] | Integer, modulus: Integer, executor: Executor
) -> list[mpz]:
    """`bases[i] ** exponents[i] % modulus` for every i.

    Args:
        bases: the bases, of any size.
        exponents: one non-negative exponent per base, or one for all.
        modulus: positive.
        executor: where the work is done.

    Raises:
        UsageError: the lengths differ, or an exponent is negative.
    """
    if isinstance(exponents, int | mpz):
        if exponents < 0:
            raise UsageError(
                "An exponent is negative.", "Invert the base, and give the exponent without its sign."
            )
        fixed = mpz(exponents), mpz(modulus)
        return spread(_powers_of_one_exponent, len(bases), executor, (bases,), fixed, POWERS)
    _same_length(bases, exponents)
    if any(exponent < 0 for exponent in exponents):
        raise UsageError(
            "An exponent is negative.", "Invert the base, and give the exponent without its sign."
        )
    return spread(_powers, len(bases), executor, (bases, exponents), (mpz(modulus),), POWERS)


def products(
    left: Sequence[Integer], right: Sequence[Integer], modulus: Integer, executor: Executor
) -> list[mpz]:
    """`left[i] * right[i] % modulus` for every i.

    Raises:
        UsageError: the lengths differ.
    """
    _same_length(left, right)
    return spread(_products, len(left), executor, (left, right), (mpz(modulus),), PRODUCTS)


def inverses(values: Sequence[Integer], modulus: Integer, executor: Executor) -> list[mpz]:
    """The inverses modulo `modulus`, with one inversion per piece (Montgomery's trick).

    Raises:
        DomainError: a value has no inverse.
    """
    return spread(_inverses, len(values), executor, (values,), (mpz(modulus),), PRODUCTS)


class FixedBases:
    """Tables for products of powers of fixed bases, `prod(base[j] ** e[j])` modulo one modulus.

    An exponent is a row of digits in base 2**window, the least significant first; a product costs one
    multiplication per digit and no squaring (Brickell, Gordon, McCurley, Wilson: Fast exponentiation with
    precomputation, Eurocrypt 1992). The table takes `len(bases) * digits * 2**window` residues. Another
    process is sent the bases instead, and computes its table once.

    Args:
        bases: the bases.
        modulus: positive.
        digits: digits per exponent, at least 1.
        window: bits per digit, 1 to 8.
        executor: where the tables are computed; None for the calling thread.

    Raises:
        UsageError: no bases, no digits, or a window outside 1 to 8.
    """

    def __init__(
        self, bases: Sequence[Integer], modulus: Integer, digits: int, window: int, executor: Executor | None
    ) -> None:
        if not bases or digits < 1 or not 1 <= window <= 8:
            raise UsageError(
                f"A table cannot have {len(bases)} bases, {digits} digits and a window of {window} bits.",
                "Give at least one base and one digit, and a window of 1 to 8 bits.",
            )
        self.modulus = mpz(modulus)
        self.window = window
        self._recipe = tuple(bases), self.modulus, digits, window
        fixed = digits, window, self.modulus
        tables: list[list[list[mpz]]] = (
            _tables(bases, *fixed)
            if executor is None
            else spread(_tables, len(bases), executor, (bases,), fixed)
        )
        self.rows = [row for table in tables for row in table]

    @override
    def __repr__(self) -> str:
        bits = self.modulus.bit_length()
        return f"FixedBases(rows={self.width}, window={self.window}, modulus={bits} bits)"

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        return _kept_table, self._recipe

    @property
    def width(self) -> int:
        """Digits that a product takes: those of the first base's exponent, then the second's, and so on."""
        return len(self.rows)

    def combine(self, digits: NDArray[np.uint8], executor: Executor) -> list[mpz]:
        """One product of powers per row of digits.

        Args:
            digits: shape (count, width), each digit below 2**window.
            executor: where the work is done.

        Raises:
            UsageError: the shape does not fit.
            DomainError: a digit is too large.
        """
        if digits.ndim != 2 or digits.shape[1] != self.width:
            raise UsageError(
                f"An array of shape {digits.shape} does not hold rows of {self.width} digits.",
                "Give a two-dimensional array with one column for each digit.",
            )
        if digits.size and int(digits.max()) >> self.window:
            raise DomainError(
                f"A digit has more than {self.window} bits.",
                "Split the exponents into digits of the table's window.",
            )
        lines = [line.tobytes() for line in digits]
        return spread(_combine, len(lines), executor, (lines,), (self,))


class FixedBase:
    """Powers of one base, see `FixedBases`.

    Args:
        base: the base.
        modulus: positive.
        exponent_bits: bit bound of the exponents, at least 1.
        window: bits per digit, 1 to 8.
        executor: where the table is computed.
    """

    def __init__(
        self, base: Integer, modulus: Integer, exponent_bits: int, window: int, executor: Executor
    ) -> None:
        self._bits = exponent_bits
        self._table = FixedBases([base], modulus, -(-exponent_bits // window), window, executor)

    def power(self, exponents: Sequence[Integer], executor: Executor) -> list[mpz]:
        """`base ** exponent % modulus` for every exponent.

        Raises:
            DomainError: an exponent is outside [0, 2**exponent_bits).
        """
        if any(exponent < 0 or exponent.bit_length() > self._bits for exponent in exponents):
            raise DomainError(
                f"An exponent is outside [0, 2**{self._bits}).",
                "Reduce it modulo the order first, or make a wider table.",
            )
        return self._table.combine(self._digits(exponents), executor)

    def _digits(self, exponents: Sequence[Integer]) -> NDArray[np.uint8]:
        window, width = self._table.window, self._table.width
        size = (window * width + 7) // 8
        data = b"".join(int(exponent).to_bytes(size, "little") for exponent in exponents)
        packed = np.frombuffer(data, dtype=np.uint8).reshape(len(exponents), size)
        bits = np.unpackbits(packed, axis=1, count=window * width, bitorder="little")
        digits = np.packbits(bits.reshape(-1, window), axis=1, bitorder="little")
        return digits.reshape(len(exponents), width)


def _same_length(left: Sequence[Any], right: Sequence[Any]) -> None:
    if len(left) != len(right):
        raise UsageError(
            f"The two batches have different lengths, {len(left)} and {len(right)}.",
            "Give as many numbers in both.",
        )


def spread(
    work: Callable[..., list[T]],
    count: int,
    executor: Executor,
    batches: Iterable[Sequence[Any]],
    fixed: tuple[Any, ...],
    most: int = 64,
) -> list[T]:
    """Run `work` on pieces of the batches, in order; small batches stay in the calling thread.

    Args:
        work: from a piece of each batch, and what is fixed, to as many results.
        count: the length of the batches.
        executor: where it is done.
        batches: what is cut.
        fixed: what is not.
        most: of a piece; before the results of each it is asked whether the work is still wanted.
    """
    if count <= _INLINE:
        return work(*batches, *fixed)
    pieces = min(max(PIECES, -(-count // most)), count)
    ends = [count * piece // pieces for piece in range(pieces + 1)]
    tasks = [
        executor.submit(work, *(batch[start:stop] for batch in batches), *fixed)
        for start, stop in pairwise(ends)
    ]
    try:
        return [result for task in each(tasks, 1) for result in _result(task)]
    finally:
        for task in tasks:
            task.cancel()


def _result(task: Future[list[T]]) -> list[T]:
    while True:
        try:
            return task.result(_ASK_SECONDS)
        except TimeoutError:
            if task.done():  # it is the task's own
                raise
            check_cancelled()


_building = Lock()


def _kept_table(*recipe: Any) -> FixedBases:
    """The table of a recipe, computed once in a process whose tasks all bring the recipe."""
    with _building:
        return _made_table(*recipe)


@lru_cache(_KEPT_TABLES)
def _made_table(bases: tuple[Integer, ...], modulus: Integer, digits: int, window: int) -> FixedBases:
    return FixedBases(bases, modulus, digits, window, None)


def _release_lock(modulus: mpz) -> Any:
    """A gmpy2 context for the calling thread; it releases the interpreter lock where that pays."""
    return gmpy2.context(gmpy2.get_context(), allow_release_gil=modulus.bit_length() >= _RELEASE_BITS)


def _powers_of_one_exponent(bases: Sequence[Integer], exponent: mpz, modulus: mpz) -> list[mpz]:
    found: list[mpz] = gmpy2.powmod_base_list([mpz(base) for base in bases], exponent, modulus)
    return found


def _powers(bases: Sequence[Integer], exponents: Sequence[Integer], modulus: mpz) -> list[mpz]:
    with gmpy2.context(gmpy2.get_context(), allow_release_gil=True):
        return [gmpy2.powmod(base, power, modulus) for base, power in zip(bases, exponents, strict=True)]


def _products(left: Sequence[Integer], right: Sequence[Integer], modulus: mpz) -> list[mpz]:
    with _release_lock(modulus):
        return [mpz(a) * b % modulus for a, b in zip(left, right, strict=True)]


def _inverses(values: Sequence[Integer], modulus: mpz) -> list[mpz]:
    if not values:
        return []
    with _release_lock(modulus):
        running = [mpz(1)]
        for value in values:
            running.append(running[-1] * value % modulus)
        try:
            inverse = gmpy2.invert(running.pop(), modulus)
        except ZeroDivisionError:
            raise DomainError(
                "A number has no inverse, because it shares a factor with the modulus.",
                "Give numbers that are coprime to the modulus.",
            ) from None
        found = []
        for value in reversed(values):
            found.append(inverse * running.pop() % modulus)
            inverse = inverse * value % modulus
    return found[::-1]


def _tables(bases: Sequence[Integer], digits: int, window: int, modulus: mpz) -> list[list[list[mpz]]]:
    with _release_lock(modulus):
        return [_table(mpz(base) % modulus, digits, window, modulus) for base in bases]


def _table(base: mpz, digits: int, window: int, modulus: mpz) -> list[list[mpz]]:
    rows = []
    for _ in range(digits):
        row = [mpz(1) % modulus]
        for _ in range((1 << window) - 1):
            row.append(row[-1] * base % modulus)
        base = row[-1] * base % modulus
        rows.append(row)
    return rows


def _combine(lines: Sequence[bytes], table: FixedBases) -> list[mpz]:
    rows, modulus = table.rows, table.modulus
    found = []
    with _release_lock(modulus):
        for line in lines:
            product = rows[0][line[0]]
            for row, digit in zip(rows[1:], line[1:], strict=True):
                product = product * row[digit] % modulus
            found.append(product)
    return found
