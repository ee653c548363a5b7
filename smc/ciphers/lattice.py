"""Additive lattice encryption: sums of ciphertexts times known polynomials, and nothing else.

    key holder (polynomials m_dj, d < D, j < K)               evaluator (polynomials x_d)
      secrets s_1, ..., s_K, ternary
      a_0, ..., a_(D-1), a' from a seed            -- seed -->
      b_dj = -a_d s_j + e_dj + D m_dj              -- b -->
      b'_j = -a' s_j + e'_j
                                                              u ternary
                                                              c1 = sum_d x_d a_d + a' u + e''
                                                   <-- c1 --  c0_j = sum_d x_d b_dj + b'_j u - D r_j + flood
                                                   <-- c0 --
      round((c0_j + c1 s_j) / D) = sum_d x_d m_dj - r_j modulo 2**w

All in the ring of `smc.ciphers.lattice_ring` modulo q, with D = q / 2**w. All secrets share the a_d, so one
second component c1 serves all K first components. Of c0 only the wanted coefficients are sent, and of both
only the highest bits: w + 3 of c0, w + 10 or w + 11 of c1.

What the key holder sees beside its masked result is the noise sum_d x_d e_dj + e'_j u + e'' s_j, drowned by a
flood that is the sum of four uniform draws from [0, 2**f). The density of the flood has Fisher information
3.116 / 4**f, so all M coefficients of a run are within 1/2 delta sqrt(3.116 M) / 2**f of a flood alone, for a
noise of root mean square delta. `LatticeParameters.of` takes the f that makes this 2**-40 for the whole run,
whatever the data, and the q that leaves room for it: the flood takes up to half of D / 2, the rounding of c0
and c1 the other half, the latter at more than 12 standard deviations of sums of uniform errors.

Security: without c0 the evaluator's a' u + e'' is one sample of the ring's learning-with-errors problem per
c1, and the key holder's b are D + 1 samples for each of K secrets under common a's (a hybrid argument loses a
factor K: log2 K bits of 128 or less). Secrets are ternary, errors centred binomial with standard deviation
3.24, and N and q are at or below the 128-bit row of the guidelines of 2024 (log2 q <= 106 for N = 4096, 214
for N = 8192), where q is longer with as many idle bits. Own estimates of the primal attack at these sizes
give 131 and 132 bits by the costs of BDGL16, 126 and 127 by those of MATZOV; most runs have 198 bits or
fewer at N = 8192, which is 137 and more.
Semi-honest only: a key holder that encrypts with large noise reads through the flood.

Reference: Lyubashevsky, Peikert and Regev, EUROCRYPT 2010; Brakerski, CRYPTO 2012, and Fan and Vercauteren,
ePrint 2012/144, for the scale; Peikert, Vaikuntanathan and Waters, CRYPTO 2008, for the shared randomness;
Bossuat et al., Security Guidelines for Implementing Homomorphic Encryption, ePrint 2024/463, table 5.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, log2, prod, sqrt
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
    shift_words,
    transform_error,
)
from smc.errors import UsageError
from smc.numeric.random import Randomness
from smc.numeric.shapes import contiguous, of_shape, shape_array
from smc.pieces import each

SEED_BYTES: Final = 32
FLOOD_SECURITY: Final = 40
"""Minus the binary logarithm of how far all that a run floods may be from its simulation."""

DEGREES: Final = {4096: 106, 8192: 214}
"""Degrees of the ring, and the most bits that its modulus may have for 128 bits of security."""

MAX_WIDTH: Final = 43
"""Most bits of a plaintext coefficient: of c1 at most 54 bits are read at once."""

ROOM_BITS: Final = 3
"""By how many bits q is longer than plaintext and flood together."""

_DRAWS: Final = 4
_FISHER: Final = 3.1158
"""Of the sum of four uniform draws from [0, 1), rounded up."""

_BINOMIAL: Final = 21
_SIGMA: Final = sqrt(_BINOMIAL / 2)
MAX_ERROR: Final = 0.125
"""How far off a coefficient may be before it is rounded."""

_PURPOSE: Final = "lattice"


@dataclass(frozen=True, slots=True)
class LatticeParameters:
    """The public sizes of ring, plaintext and flood.

    Attributes:
        degree: N.
        limbs: q is 2**(18 limbs).
        width: w; a plaintext coefficient is an integer modulo 2**w.
        flood_bits: f.
    """

    degree: int
    limbs: int
    width: int
    flood_bits: int

    @classmethod
    def of(
        cls, degree: int, width: int, bound: int, entries: int, factors: int, coefficients: int
    ) -> LatticeParameters | None:
        """The smallest q that is exact and floods enough for a run, or None where no secure one is.

        Args:
            degree: N, one of `DEGREES`.
            width: w.
            bound: of the size of the evaluator's coefficients.
            entries: how many coefficients of x_1, ..., x_D together are not zero, at most.
            factors: D.
            coefficients: how many of c0 are sent in the whole run, M.
        """
        flood_bits = needed_flood(degree, bound, entries, coefficients)
        found = cls.flooded(degree, width, flood_bits)
        limb = float(1 << (LIMB_BITS - 1))
        error = transform_error(
            degree, sqrt(bound * bound * entries + degree), limb * sqrt((factors + 1) * degree)
        )
        return found if width <= MAX_WIDTH and error <= MAX_ERROR else None

    @classmethod
    def flooded(cls, degree: int, width: int, flood_bits: int) -> LatticeParameters | None:
        """The smallest q for so many bits of flood on errors of one unit, or None where no secure one is."""
        needed = width + flood_bits + ROOM_BITS
        if needed > DEGREES[degree]:
            return None
        found = cls(degree, ceil(needed / LIMB_BITS), width, flood_bits)
        # Errors are in units of 2**idle_bits, and so is what has to drown them.
        return replace(found, flood_bits=flood_bits + found.idle_bits)

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
    def first_bits(self) -> int:
        """Bits that are sent of a coefficient of c0."""
        return self.width + 3

    @property
    def second_bits(self) -> int:
        """Bits that are sent of a coefficient of c1."""
        return self.width + (10 if self.degree <= min(DEGREES) else 11)

    @property
    def scale(self) -> int:
        """The binary logarithm of q / 2**w."""
        return self.modulus_bits - self.width


def needed_flood(degree: int, bound: int, entries: int, coefficients: int, beside: float = 0) -> int:
    """f, so that all coefficients of a run are within 2**-40 of a flood alone.

    Args:
        degree: N.
        bound: of the size of the evaluator's coefficients.
        entries: how many of them together are not zero, at most.
        coefficients: how many of c0 are sent in the whole run.
        beside: what the plaintexts' own rounding adds to the noise, at most.
    """
    noise = sqrt(_SIGMA**2 * (bound * bound * entries + 4 * degree / 3) + beside**2)
    shift = 0.5 * noise * sqrt(_FISHER * coefficients)
    return ceil(FLOOD_SECURITY + log2(shift))


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


@of_shape(lambda parameters, random, first, masks: None)
def flood_noise(parameters: LatticeParameters, random: Randomness, first: Whole, masks: Word) -> None:
    """Take masks off first components, and drown what they have of noise.

    Args:
        parameters: the public sizes.
        random: of the evaluator.
        first: limbs, shape (L, n); changed, carries are left where they are.
        masks: modulo 2**w, shape (n,).
    """
    first -= shift_words(masks, parameters.scale, parameters.limbs)
    drown(parameters, random, first)


@of_shape(lambda parameters, random, first: None)
def drown(parameters: LatticeParameters, random: Randomness, first: Whole) -> None:
    """Add the flood to first components, as `flood_noise`."""
    count = first.shape[1]
    for limb in range(ceil(parameters.flood_bits / LIMB_BITS)):
        bits = min(LIMB_BITS, parameters.flood_bits - LIMB_BITS * limb)
        for _ in each(range(_DRAWS), 1):
            drawn = np.frombuffer(random.bytes(4 * count), dtype="<u4")
            first[limb] += drawn & np.uint32((1 << bits) - 1)
    # The sum of four draws lies about 2**(f + 1).
    limb, bit = divmod(parameters.flood_bits + 1, LIMB_BITS)
    first[limb] -= 1 << bit


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

    def decrypt(self, second: Word, every: int) -> Word:
        """What has to be added to the first components, see `decode`.

        Args:
            second: components c1 as they came, shape (R, N).
            every: which coefficients are wanted.

        Returns:
            c1 s_j at the wanted coefficients in units of the last bit of c1, shape (R, K, N / every).
        """
        parameters = self._parameters
        pieces = ceil(parameters.second_bits / LIMB_BITS)
        limbs = forward(balance(shift_words(second, 0, pieces)))
        half = parameters.degree // 2
        products = fold_products(limbs.reshape(-1, 1, half), self._secrets[None], every)
        parts = backward(products).astype(np.uint64).reshape(pieces, len(second), len(self._secrets), -1)
        shifts = np.uint64(LIMB_BITS) * np.arange(pieces, dtype=np.uint64)
        result: Word = (parts << shifts[:, None, None, None]).sum(axis=0, dtype=np.uint64)
        return result


def decode(parameters: LatticeParameters, first: Word, products: Word) -> Word:
    """The plaintext coefficients of c0 and c1 s, modulo 2**w, in the shape of both."""
    second, width = np.uint64(parameters.second_bits), np.uint64(parameters.width)
    total = (first << (second - np.uint64(parameters.first_bits))) + products
    total += np.uint64(1) << (second - width - np.uint64(1))
    result: Word = (total >> (second - width)) & ((np.uint64(1) << width) - np.uint64(1))
    return result


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

    def respond(
        self, factors: Whole, every: int, wanted: Callable[[Whole], Whole]
    ) -> tuple[Word, Word, Word]:
        """What is sent for so many sums of products, and what masks them.

        Args:
            factors: x_0, ..., x_(D-1) of each response, shape (R, D, N).
            every: which coefficients of c0 may be wanted.
            wanted: takes those of all responses, shape (R, K, N / every), and gives the ones to be sent,
                shape (n,).

        Returns:
            c1 in `second_bits` each, shape (R, N); the wanted coefficients of c0, masked and flooded, in
            `first_bits` each, shape (n,); the masks, modulo 2**w, shape (n,).
        """
        second, limbs = self._products(factors, every)
        first = np.stack([wanted(limb) for limb in limbs])
        masks = self._random.words(first.shape[1]) & np.uint64((1 << self._parameters.width) - 1)
        return second, self._flooded(first, masks), masks

    def _products(self, factors: Whole, every: int) -> tuple[Word, Whole]:
        """c1 as it is sent, shape (R, N), and the limbs of c0, shape (L, R, K, N / every)."""
        parameters, count = self._parameters, len(factors)
        fresh = ternary(self._random, count * parameters.degree).reshape(count, 1, -1)
        left = np.concatenate([forward(factors), forward(fresh)], axis=1)
        second = np.moveaxis(backward(fold_products(left, self._public, 1)), 1, 0)
        second = contiguous(second)
        second[0] += errors(parameters, self._random, *second[0].shape)
        secrets = self._first.shape[1]
        right = self._first.reshape(self._factors + 1, secrets * parameters.limbs, -1)
        first = backward(fold_products(left, right, every)).reshape(count, secrets, parameters.limbs, -1)
        return highest(second, parameters.second_bits), contiguous(np.moveaxis(first, 2, 0))

    def _flooded(self, first: Whole, masks: Word) -> Word:
        """Wanted first components as they are sent, from limbs of shape (L, n), which change."""
        flood_noise(self._parameters, self._random, first, masks)
        return highest(first, self._parameters.first_bits)
