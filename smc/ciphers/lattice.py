"""Additive lattice encryption: sums of ciphertexts times known polynomials, and nothing else.

    key holder (polynomials m_dj, d < D, j < K)               evaluator (polynomials x_d)
      secrets s_1, ..., s_K, ternary
      a_0, ..., a_(D-1), a' from a seed            -- seed -->
      b_dj = -a_d s_j + e_dj + S m_dj              -- b -->
      b'_j = -a' s_j + e'_j
                                                              u ternary
                                                              c1 = sum_d x_d a_d + a' u + e''
                                                   <-- c1 --
      round(c1 s_j / S)                                       round((sum_d x_d b_dj + b'_j u) / S)

All in the ring of `smc.ciphers.lattice_ring` modulo q, with S = q / 2**w. Both numbers together are
sum_d x_d m_dj modulo 2**w: they are shares of it, and no first component is sent. All secrets share the a_d,
so one second component c1 serves all K. Of c1 only the highest bits are sent.

What the key holder gets is c1, which follows from the seed and the evaluator's own draws: nothing that it has
encrypted, well or badly, goes into it. Under the ring's learning-with-errors problem c1 is uniform to it.

The shares are off by one if the noise sum_d x_d e_dj + e'_j u + e'' s_j, with what the rounding of c1 adds,
lifts c1 s_j over an odd multiple of S / 2. A coefficient of c1 s_j is as good as uniform, so the probability
is that of (size of the noise) / S. `LatticeParameters.of` takes S so large that of M coefficients any is off
with probability 2**-30 at most. docs/proofs/lattice-masks.md has both arguments in full.

Security: c1 is one sample of the ring's learning-with-errors problem for each response, under one a' (a
hybrid argument over R responses loses a factor R), and the key holder's b are D + 1 samples for each of K
secrets under common a's (a factor K: log2 K bits of 128 or less). The a's are draws of a random oracle, so
whoever tries T seeds gains a factor T at most. Secrets are ternary, errors centred binomial with standard
deviation 3.24, and N and q are at or below the 128-bit row of the guidelines of 2024 (log2 q <= 106 for
N = 4096, 214 for N = 8192), where q is longer with as many idle bits. Own estimates of the primal attack at
these sizes give 131 and 132 bits by the costs of BDGL16, 126 and 127 by those of MATZOV; most runs have 198
bits or fewer at N = 8192, which is 137 and more.
An evaluator that answers with another c1 makes the key holder's share another function of its secrets and of
m: it learns nothing of this before shares are opened.

Reference: Lyubashevsky, Peikert and Regev, EUROCRYPT 2010; Brakerski, CRYPTO 2012, and Fan and Vercauteren,
ePrint 2012/144, for the scale; Peikert, Vaikuntanathan and Waters, CRYPTO 2008, for the shared randomness;
Dodis, Halevi, Rothblum and Wichs, CRYPTO 2016, and Boyle, Kohl and Scholl, EUROCRYPT 2019, for shares by
rounding; Bossuat et al., Security Guidelines for Implementing Homomorphic Encryption, ePrint 2024/463,
table 5.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, floor, log2, prod, sqrt
from typing import Final

import numpy as np
from typing_extensions import override

from smc.ciphers.lattice_ring import (
    LIMB_BITS,
    Spectrum,
    Whole,
    Word,
    backward,
    balance,
    carry,
    fold_products,
    forward,
    highest,
    highest_limbs,
    shift_words,
    transform_error,
)
from smc.errors import UsageError
from smc.numeric.random import Randomness
from smc.numeric.shapes import contiguous, of_shape, shape_array

SEED_BYTES: Final = 32
EXACT_BITS: Final = 30
"""Minus the binary logarithm of how likely any of the coefficients is off by one that parameters are for."""

DEGREES: Final = {4096: 106, 8192: 214}
"""Degrees of the ring, and the most bits that its modulus may have for 128 bits of security."""

MAX_WIDTH: Final = 64
"""Most bits of a plaintext coefficient."""

_BINOMIAL: Final = 21
SIGMA: Final = sqrt(_BINOMIAL / 2)
"""Standard deviation of the errors."""

_TAIL: Final = 14
"""Standard deviations that sums of errors times ternary factors exceed with probability 2**-120 at most."""

MAX_ERROR: Final = 0.125
"""How far off a coefficient may be before it is rounded."""

_PURPOSE: Final = "lattice"


@dataclass(frozen=True, slots=True)
class LatticeParameters:
    """The public sizes of ring, plaintext and responses.

    Attributes:
        degree: N.
        limbs: q is 2**(18 limbs).
        width: w; a plaintext coefficient is an integer modulo 2**w.
        second_bits: bits that are sent of a coefficient of c1, the highest.
    """

    degree: int
    limbs: int
    width: int
    second_bits: int

    @classmethod
    def of(
        cls, degree: int, width: int, bound: int, entries: int, factors: int, coefficients: int
    ) -> LatticeParameters | None:
        """The smallest q that is exact, or None where no secure one is.

        Args:
            degree: N, one of `DEGREES`.
            width: w.
            bound: of the size of the evaluator's coefficients.
            entries: how many coefficients of x_1, ..., x_D together are not zero, at most.
            factors: D.
            coefficients: how many are wanted in all, M; one more is off by one with probability 2**-30 / M.
        """
        found = cls.exact(degree, width, SIGMA * bound * sqrt(entries), coefficients)
        limb = float(1 << (LIMB_BITS - 1))
        error = transform_error(
            degree, sqrt(bound * bound * entries + degree), limb * sqrt((factors + 1) * degree)
        )
        return found if width <= MAX_WIDTH and error <= MAX_ERROR else None

    @classmethod
    def exact(cls, degree: int, width: int, noise: float, coefficients: int) -> LatticeParameters | None:
        """The smallest q, and the fewest bits of c1, for products with so much noise.

        Args:
            degree: N.
            width: w.
            noise: the mean size of the products' noise, sum_d x_d e_dj, for errors of one unit.
            coefficients: M.
        """
        # The noise of the encryption of zero is bounded, not averaged: see the proof.
        whole = noise + _TAIL * SIGMA * sqrt(4 * degree / 3)
        for limbs in range(1, ceil(DEGREES[degree] / LIMB_BITS) + 1):
            full = cls(degree, limbs, width, LIMB_BITS * limbs)
            room = 2.0 ** (full.scale - EXACT_BITS) / coefficients - whole * 2.0**full.idle_bits
            if room > 0:
                # Rounding errors of c1 times a secret, and the distance of two rounded values.
                low = floor(log2(room / (sqrt(degree / 12) + 1)))
                return replace(full, second_bits=full.modulus_bits - max(low, full.idle_bits))
        return None

    @property
    def idle_bits(self) -> int:
        """Lowest bits that are 0 in public polynomials, errors and plaintexts, and so in ciphertexts.

        Limbs are whole, and q can be longer than is secure: all is a multiple of 2**idle_bits then, which is
        the ring modulo q / 2**idle_bits, with errors of one unit there.
        """
        return max(0, self.modulus_bits - DEGREES[self.degree])

    @property
    def modulus_bits(self) -> int:
        """Bits of q."""
        return LIMB_BITS * self.limbs

    @property
    def scale(self) -> int:
        """The binary logarithm of q / 2**w."""
        return self.modulus_bits - self.width


@of_shape(
    lambda parameters, seed, factors: shape_array(
        (factors + 1, parameters.limbs, parameters.degree // 2), np.complex128
    )
)
def _public(parameters: LatticeParameters, seed: bytes, factors: int) -> Spectrum:
    """a_0, ..., a_(D-1), a' in the frequency domain, shape (D + 1, L, N / 2)."""
    shape = (factors + 1, parameters.limbs, parameters.degree)
    drawn = uniform_limbs(Randomness.from_seed(seed, _PURPOSE), int(np.prod(shape)))
    limbs = without_idle(parameters, np.moveaxis(drawn.reshape(shape), 1, 0))
    return forward(np.moveaxis(balance(contiguous(limbs)), 0, 1))


def without_idle(parameters: LatticeParameters, limbs: Whole) -> Whole:
    """Limbs, shape (L, ...), with 0 in the idle bits, which are of the lowest."""
    limbs[0] &= -1 << parameters.idle_bits
    return limbs


def uniform_limbs(random: Randomness, count: int) -> Whole:
    """Uniform draws from [0, 2**18)."""
    drawn = np.frombuffer(random.bytes(4 * count), dtype="<u4")
    return (drawn & np.uint32((1 << LIMB_BITS) - 1)).astype(np.int64)


@of_shape(lambda random, count: shape_array(count, np.int64))
def ternary(random: Randomness, count: int) -> Whole:
    """Uniform draws from -1, 0, 1."""
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < count:
        # Five draws are the base-3 digits of an octet below 243; the others are drawn again.
        octets = np.frombuffer(random.bytes(count // 4 + 64), dtype=np.uint8)
        digits = octets[octets < 3**5].astype(np.int64)[:, None] // 3 ** np.arange(5)
        drawn = np.concatenate([drawn, (digits % 3 - 1).reshape(-1)])
    return drawn[:count]


@of_shape(lambda parameters, random, *shape: shape_array(shape, np.int64))
def errors(parameters: LatticeParameters, random: Randomness, *shape: int) -> Whole:
    """Centred binomial draws, in units of the lowest bit that is not idle."""
    words = random.words(prod(shape)).reshape(shape)
    mask = np.uint64((1 << _BINOMIAL) - 1)
    ones: Whole = np.bitwise_count(words & mask).astype(np.int64)
    ones -= np.bitwise_count((words >> np.uint64(_BINOMIAL)) & mask)
    return ones << np.int64(parameters.idle_bits)


class OwnLattice:
    """The side that holds the secrets of one run. They serve one evaluator and one seed.

    Args:
        parameters: the public sizes.
        secrets: K.
        factors: D.
        random: of this party.
    """

    def __init__(self, parameters: LatticeParameters, secrets: int, factors: int, random: Randomness) -> None:
        self._parameters, self._factors, self._random = parameters, factors, random
        self.seed = random.bytes(SEED_BYTES)
        self._public = _public(parameters, self.seed, factors)
        degree = parameters.degree
        self._secrets = forward(ternary(random, secrets * degree).reshape(secrets, degree))
        self._used: set[int] = set()

    @override
    def __repr__(self) -> str:
        return f"OwnLattice({self._parameters})"

    def encrypt(self, number: int, plain: Word) -> Word:
        """The first components of all ciphertexts under one secret, and of the encryption of zero.

        Args:
            number: of the secret, 0 to K - 1. Of each there is one call: the difference of the plaintexts of
                two would show.
            plain: shape (D, N), modulo 2**w.

        Returns:
            Limbs, shape (L, D + 1, N).

        Raises:
            UsageError: the secret has been used.
        """
        if number in self._used:
            raise UsageError(
                f"Secret {number} has encrypted before.", "Make new secrets for other plaintexts."
            )
        self._used.add(number)
        parameters = self._parameters
        products = backward(self._public * self._secrets[number])
        limbs = contiguous(np.moveaxis(np.negative(products), 1, 0))
        limbs[0] += errors(parameters, self._random, *limbs[0].shape)
        limbs[:, : self._factors] += shift_words(plain, parameters.scale, parameters.limbs)
        return carry(limbs).astype(np.uint64)

    def decrypt(self, second: Whole, every: int, wanted: Callable[[Whole], Whole]) -> Word:
        """Shares of the wanted coefficients.

        Args:
            second: highest limbs of components c1 as they came, shape (S, R, N), each in [0, 2**18).
            every: which coefficients may be wanted.
            wanted: as that of `PeerLattice.respond`.

        Returns:
            Modulo 2**w, shape (n,).
        """
        limbs = forward(balance(second.copy()))
        half = self._parameters.degree // 2
        products = backward(fold_products(limbs.reshape(-1, 1, half), self._secrets[None], every))
        parts = products.reshape(*second.shape[:2], len(self._secrets), -1)
        return highest(np.stack([wanted(part) for part in parts]), self._parameters.width)


class PeerLattice:
    """The side that computes on the peer's ciphertexts.

    Args:
        parameters: the public sizes.
        seed: of the public polynomials, from the key holder.
        secrets: K.
        factors: D.
        random: of this party.
    """

    def __init__(
        self, parameters: LatticeParameters, seed: bytes, secrets: int, factors: int, random: Randomness
    ) -> None:
        self._parameters, self._factors, self._random = parameters, factors, random
        self._public = _public(parameters, seed, factors)
        shape = (factors + 1, secrets, parameters.limbs, parameters.degree // 2)
        self._first = np.empty(shape, dtype=np.complex128, like=self._public)

    def take(self, number: int, limbs: Word) -> None:
        """Keep the ciphertexts under one secret.

        Args:
            number: of the secret.
            limbs: of `OwnLattice.encrypt`, shape (L, D + 1, N), each in [0, 2**18).
        """
        self._first[:, number] = forward(np.moveaxis(balance(limbs.astype(np.int64)), 0, 1))

    def respond(self, factors: Whole, every: int, wanted: Callable[[Whole], Whole]) -> tuple[Whole, Word]:
        """What is sent for so many sums of products, and the local shares of them.

        Args:
            factors: x_0, ..., x_(D-1) of each response, shape (R, D, N).
            every: which coefficients may be wanted.
            wanted: takes those of all responses, shape (R, K, N / every), and gives the ones that are shared,
                shape (n,).

        Returns:
            The highest limbs of c1, rounded to `second_bits`, shape (S, R, N); shares modulo 2**w, of shape
            (n,).
        """
        second, first = self._products(factors, every)
        shares = highest(np.stack([wanted(limb) for limb in first]), self._parameters.width)
        return highest_limbs(second, self._parameters.second_bits), shares

    def _products(self, factors: Whole, every: int) -> tuple[Whole, Whole]:
        """The limbs of c1, shape (L, R, N), and those of the products, shape (L, R, K, N / every)."""
        parameters, count = self._parameters, len(factors)
        fresh = ternary(self._random, count * parameters.degree).reshape(count, 1, -1)
        left = np.concatenate([forward(factors), forward(fresh)], axis=1)
        second = np.moveaxis(backward(fold_products(left, self._public, 1)), 1, 0)
        second = contiguous(second)
        second[0] += errors(parameters, self._random, *second[0].shape)
        secrets = self._first.shape[1]
        right = self._first.reshape(self._factors + 1, secrets * parameters.limbs, -1)
        first = backward(fold_products(left, right, every)).reshape(count, secrets, parameters.limbs, -1)
        return second, contiguous(np.moveaxis(first, 2, 0))
