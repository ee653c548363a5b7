"""Additive lattice encryption of long columns: inner products with known integers, of any length.

    key holder (columns y_j of n words, j < K)          evaluator (integers X_r of n entries, r < R)
      secrets s_1, ..., s_K, ternary
      a_0, ..., a_(D-1), a' from a seed   -- seed -->
      b_j = -a s_j + e_j + S y_j          -- b -->
                                                        for each r: u ternary
                                          <-- c1 --       c1 = sum_d x_d a_d + a' u + e''
      round(<c1, s_j> / S)                                round((<X_r, b_j> + <u, b'_j>) / S)

Both are shares of <X_r, y_j> modulo 2**w. This is `smc.ciphers.lattice` for one wanted coefficient, the
lowest, which is an inner product: of a first component nothing has to be transformed. x_d has the entries
X_dN, ..., X_(dN+N-1) at X^0, -X^(N-1), ..., -X^1, so that coefficient 0 of x_d times a polynomial is the
inner product with its coefficients. Columns are encrypted once and serve any number of calls.

The evaluator's integers may have up to 64 bits. They are cut into digits of 9 bits from -256 to 255,
multiplied one after the other and put together as integers, which keeps the errors of the transform small;
the noise depends on the integers alone.

Security: that of `smc.ciphers.lattice`.

Reference: as there; coefficient 0 as an inner product: Huang, Lu, Hong and Ding, Cheetah, USENIX Security
2022, section 3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from operator import attrgetter
from typing import Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.ciphers.lattice import (
    DEGREES,
    MAX_ERROR,
    MAX_WIDTH,
    SEED_BYTES,
    SIGMA,
    LatticeParameters,
    errors,
    ternary,
    uniform_limbs,
    without_idle,
)
from smc.ciphers.lattice_ring import (
    LIMB_BITS,
    Spectrum,
    Whole,
    Word,
    backward,
    balance,
    carry,
    forward,
    highest,
    highest_limbs,
    limb_count,
    shift_words,
    transform_error,
)
from smc.errors import UsageError
from smc.numeric.random import Randomness
from smc.numeric.shapes import of_shape, shape_array

DIGIT_BITS: Final = 9
CHUNK_FACTORS: Final = 16
"""Polynomials whose products are added up before they are transformed back."""

_PURPOSE: Final = "lattice columns"
_ZERO: Final = "zero"


@dataclass(frozen=True, slots=True)
class ColumnParameters:
    """The public sizes of a run.

    Attributes:
        lattice: ring, plaintext and responses.
        length: n.
        columns: K.
        bound: of the size of the evaluator's integers.
        calls: how many rows of integers there will be, in all.
    """

    lattice: LatticeParameters
    length: int
    columns: int
    bound: int
    calls: int

    @classmethod
    def of(cls, length: int, columns: int, bound: int, calls: int, width: int) -> ColumnParameters | None:
        """Those that send least, or None where no secure ones are exact.

        Args:
            length: n.
            columns: K.
            bound: of the size of the evaluator's integers, below 2**64.
            calls: rows of integers in all.
            width: w, bits of the plaintexts.
        """
        if not (length and columns and calls) or width > MAX_WIDTH:
            return None
        found = []
        for degree in DEGREES:
            noise = SIGMA * bound * sqrt(length)
            lattice = LatticeParameters.exact(degree, width, noise, columns * calls)
            if lattice is not None:
                each = cls(lattice, length, columns, bound, calls)
                found += [each] if each.error <= MAX_ERROR else []
        return min(found, key=attrgetter("sent_bits"), default=None)

    @property
    def factors(self) -> int:
        """D, polynomials of a column."""
        return -(-self.length // self.lattice.degree)

    @property
    def digits(self) -> int:
        """Digits of the evaluator's integers; the highest one takes what is carried."""
        return (self.bound.bit_length() + 1) // DIGIT_BITS + 1

    @property
    def sent_bits(self) -> int:
        """Bits that are sent in all."""
        query = self.columns * (self.length + self.lattice.degree) * self.lattice.modulus_bits
        return query + self.calls * self.lattice.degree * self.lattice.second_bits

    @property
    def error(self) -> float:
        """What a coefficient of c1 may be off by before it is rounded."""
        factors = min(CHUNK_FACTORS, self.factors)
        entries = min(self.length, factors * self.lattice.degree) + self.lattice.degree
        return transform_error(
            self.lattice.degree,
            sqrt(entries) * (1 << (DIGIT_BITS - 1)),
            sqrt((factors + 1) * self.lattice.degree) * (1 << (LIMB_BITS - 1)),
        )

    def entries(self, factor: int) -> slice:
        """The entries of a column in a polynomial."""
        degree = self.lattice.degree
        return slice(factor * degree, min(self.length, (factor + 1) * degree))


@of_shape(
    lambda parameters, seed, part: shape_array((parameters.limbs, parameters.degree // 2), np.complex128)
)
def _public(parameters: LatticeParameters, seed: bytes, part: str) -> Spectrum:
    """A polynomial a_d or a' in the frequency domain, shape (L, N / 2)."""
    shape = (parameters.limbs, parameters.degree)
    drawn = uniform_limbs(Randomness.from_seed(seed, f"{_PURPOSE} {part}"), parameters.limbs * shape[1])
    return forward(balance(without_idle(parameters, drawn.reshape(shape))))


class OwnColumns:
    """The side that holds the secrets of one run. They serve one evaluator, one seed, and one set of columns.

    Args:
        parameters: the public sizes.
        random: of this party.
    """

    def __init__(self, parameters: ColumnParameters, random: Randomness) -> None:
        self._parameters, self._random = parameters, random
        self.seed = random.bytes(SEED_BYTES)
        shape = (parameters.columns, parameters.lattice.degree)
        self._secrets = ternary(random, shape[0] * shape[1]).reshape(shape)
        self._spectra = forward(self._secrets)
        self._next = 0

    @override
    def __repr__(self) -> str:
        return f"OwnColumns({self._parameters})"

    def zeros(self) -> Word:
        """Encryptions of zero, b', as limbs, shape (L, K, N)."""
        return carry(self._errors(_public(self._parameters.lattice, self.seed, _ZERO))).astype(np.uint64)

    def encrypt(self, factor: int, plain: Word) -> Word:
        """The first components of a polynomial of each column.

        Args:
            factor: the number of the polynomial; in their order, each once: the difference of two plaintexts
                would show.
            plain: the columns' entries in it, shape (n', K), modulo 2**w.

        Returns:
            Limbs, shape (L, K, n').

        Raises:
            UsageError: it is another one's turn.
        """
        if factor != self._next:
            raise UsageError(
                f"Polynomial {factor} is not the next one to be encrypted.",
                "Encrypt each once, in their order; make new secrets for other columns.",
            )
        self._next += 1
        lattice = self._parameters.lattice
        limbs = self._errors(_public(lattice, self.seed, str(factor)))[..., : len(plain)]
        return carry(limbs + shift_words(plain.T, lattice.scale, lattice.limbs)).astype(np.uint64)

    @of_shape(lambda self, second: shape_array((second.shape[1], self._parameters.columns), np.uint64))
    def decrypt(self, second: Whole) -> Word:
        """Shares of inner products.

        Args:
            second: the highest limbs of c1, shape (S, R, N), each in [0, 2**18).

        Returns:
            Modulo 2**w, shape (R, K).
        """
        limbs = balance(second.copy()).astype(np.float64)
        # Sums of N products below 2**17 are exact; coefficient 0 of c1 s is an inner product as well.
        total = np.rint(limbs @ _reverse(self._secrets).astype(np.float64).T).astype(np.int64)
        return highest(total, self._parameters.lattice.width)

    def _errors(self, public: Spectrum) -> Whole:
        """e_j - a s_j, shape (L, K, N)."""
        limbs = np.negative(backward(public[:, None] * self._spectra))
        limbs[0] += errors(self._parameters.lattice, self._random, *limbs[0].shape)
        return limbs


class PeerColumns:
    """The side that computes on the peer's columns.

    Args:
        parameters: the public sizes.
        seed: of the public polynomials, from the key holder.
        zeros: its encryptions of zero, limbs, shape (L, K, N), each in [0, 2**18).
        random: of this party.
    """

    def __init__(self, parameters: ColumnParameters, seed: bytes, zeros: Word, random: Randomness) -> None:
        self._parameters, self._seed, self._random = parameters, seed, random
        self._zeros = _narrow(zeros)
        self._columns: list[NDArray[np.int32]] = []

    def take(self, limbs: Word) -> None:
        """Keep the first components of the next polynomial, shape (L, K, n'), each in [0, 2**18)."""
        self._columns.append(_narrow(limbs))

    def _sizes(self, integers: Whole) -> tuple[Whole, Word]:
        """The shapes of a response."""
        given, rows = self._parameters, len(integers)
        limbs = limb_count(given.lattice.second_bits)
        return (
            shape_array((limbs, rows, given.lattice.degree), np.int64),
            shape_array((rows, given.columns), np.uint64),
        )

    @of_shape(_sizes)
    def respond(self, integers: Whole) -> tuple[Whole, Word]:
        """What is sent for rows of integers, and the local shares of their inner products.

        Args:
            integers: shape (R, n), none larger than the parameters say.

        Returns:
            The highest limbs of c1, shape (S, R, N), each in [0, 2**18); shares modulo 2**w, shape (R, K).

        Raises:
            UsageError: the rows are of another length or size.
        """
        given, lattice = self._parameters, self._parameters.lattice
        rows = len(integers)
        large = np.any(integers > given.bound) or np.any(integers < -given.bound)
        if integers.shape[1:] != (given.length,) or large:
            raise UsageError(
                f"The columns serve rows of {given.length} integers up to {given.bound}.",
                "Make them for the rows that there will be.",
            )
        fresh = ternary(self._random, rows * lattice.degree).reshape(rows, -1)
        second = np.zeros((lattice.limbs, rows, lattice.degree), dtype=np.int64)
        first = np.zeros((lattice.limbs, rows, given.columns), dtype=np.int64)
        self._add(second, first, [fresh[None]], [_ZERO], [self._zeros])
        for start in range(0, given.factors, CHUNK_FACTORS):
            chunk = range(start, min(given.factors, start + CHUNK_FACTORS))
            digits = (balanced_digits(integers[:, given.entries(factor)], given.digits) for factor in chunk)
            self._add(second, first, digits, map(str, chunk), self._columns[start : chunk.stop])
        second[0] += errors(lattice, self._random, *second[0].shape)
        return highest_limbs(second, lattice.second_bits), highest(first, lattice.width)

    def _add(
        self,
        second: Whole,
        first: Whole,
        digits: Iterable[Whole],
        parts: Iterable[str],
        columns: Iterable[NDArray[np.int32]],
    ) -> None:
        """Add integers times public polynomials to c1, and times columns to c0.

        Args:
            second: limbs of c1, shape (L, R, N); changed.
            first: limbs of c0, shape (L, R, K); changed.
            digits: of the integers of each polynomial, shape (T, R, n').
            parts: names of the public polynomials.
            columns: limbs of each polynomial, shape (L, K, n').
        """
        lattice = self._parameters.lattice
        spectra: list[Spectrum] = []
        for own, part, limbs in zip(digits, parts, columns, strict=True):
            padded = np.zeros((*own.shape[:2], lattice.degree), dtype=np.int64)
            padded[..., : own.shape[2]] = own
            public = _public(lattice, self._seed, part)
            for place, digit in enumerate(forward(_reverse(padded))):
                if place == len(spectra):
                    spectra.append(np.zeros((lattice.limbs, *digit.shape), dtype=np.complex128))
                for limb, polynomial in enumerate(public):
                    spectra[place][limb] += digit * polynomial
            # Digits of 9 bits times limbs of 18, over fewer than 2**26 entries, are exact.
            flat = limbs.reshape(-1, limbs.shape[-1]).astype(np.float64)
            sums = np.rint(flat @ own.reshape(-1, own.shape[2]).T.astype(np.float64)).astype(np.int64)
            found = sums.reshape(lattice.limbs, limbs.shape[1], len(own), -1).transpose(2, 0, 3, 1)
            for place, more in enumerate(found):
                shifted_add(first, more, place)
        for place, total in enumerate(spectra):
            shifted_add(second, backward(total), place)


def shifted_add(limbs: Whole, more: Whole, digit: int) -> None:
    """Add limbs times 2**(9 digit), modulo q."""
    away, odd = divmod(DIGIT_BITS * digit, LIMB_BITS)
    if away < len(limbs):
        limbs[away:] += more[: len(limbs) - away] << odd


def balanced_digits(integers: Whole, count: int) -> Whole:
    """Digits of integers, the least first, each from -256 to 255, shape (count, ...)."""
    half, rest = 1 << (DIGIT_BITS - 1), integers.copy()
    result = np.empty((count, *integers.shape), dtype=np.int64)
    for place in range(count):
        result[place] = (rest + half & (1 << DIGIT_BITS) - 1) - half
        rest = rest - result[place] >> DIGIT_BITS
    return result


def _reverse(coefficients: Whole) -> Whole:
    """The polynomials whose products have inner products with these coefficients at X^0: v(1 / X)."""
    result = np.empty_like(coefficients)
    result[..., 0] = coefficients[..., 0]
    result[..., 1:] = -coefficients[..., :0:-1]
    return result


@of_shape(lambda limbs: shape_array(limbs.shape, np.int32))
def _narrow(limbs: Word) -> NDArray[np.int32]:
    return balance(limbs.astype(np.int64)).astype(np.int32)
