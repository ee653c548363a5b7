"""Additive lattice encryption of slots: words of 64 bits times known words, one by one, over the integers.

    key holder (words y_k, k < T)                       evaluator (words x_k)
      secret s, ternary
      a_k, a' from a seed                 -- seed -->
      b_k = -a_k s + e_k + S Y_k          -- b -->
                                                        u ternary
                                          <-- c1 --       c1 = sum_k X_k a_k + a' u + e''
      round(c1 s / S)                                     round((sum_k X_k b_k + b' u) / S)

X and Y are polynomials modulo t whose slots are x and y modulo the two primes of t
(`smc.ciphers.slot_transform`), once for each of three groups of primes, and both results are shares modulo t
of sum_k X_k Y_k, so their slots are shares modulo each prime of sum_k x_k y_k. By the primes together they
are shares modulo the product P of all: integers e and f in [0, P). Words are taken for integers in
[-2**63, 2**63), so that the sum v is at most T 2**126 in size; v = e + f - P then, but with probability
|v| / P, less than T / 2**65, because f is uniform. So e - P and f modulo 2**64 are shares of v modulo 2**64.

S is q / t for t that does not divide q: the multiple of t's inverse modulo q that stands for Y is
(q Y + m) / t with |m| <= t / 2, so exact but for half a unit, which is counted with the noise. X has
coefficients up to 2**63; they are cut into digits of 9 bits, four and four of which are added up in the
frequency domain.

A coefficient is off by one, which spoils its block of 8,192 products, with probability 2**-57 at most, and so
any of 2**25 products with probability 2**-30 (three groups of 2**12 blocks of 2**13 coefficients).

Where sums are small, one group does, and each of its primes has sums of its own: a block holds 16,384, and
what comes out are shares modulo primes just below 2**32. Such a sum is off with probability 2**-30 for
any of 2**24. The evaluator may answer a block several times, by other words and with fresh randomness each
time, as all that is sent for one answer is uniform.

Security: that of `smc.ciphers.lattice`, with one secret, and public polynomials for each ciphertext alone.
The secret is drawn among the units of the ring, half of all ternary polynomials, so that c1 s is as uniform
as c1.

Reference: as there, with Brakerski, Gentry and Vaikuntanathan, ITCS 2012, for the odd modulus of plaintexts;
`smc.ciphers.slot_transform` for the slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.ciphers.lattice import (
    SEED_BYTES,
    SIGMA,
    LatticeParameters,
    errors,
    ternary,
    uniform_limbs,
)
from smc.ciphers.lattice_inner import DIGIT_BITS, balanced_digits
from smc.ciphers.lattice_ring import (
    LIMB_BITS,
    Spectrum,
    Whole,
    Word,
    backward,
    balance,
    carry,
    forward,
    highest_limbs,
    limb_count,
    transform_error,
)
from smc.ciphers.slot_transform import DEGREE, GROUPS, Group, groups, lowest_word, modulus
from smc.errors import UsageError
from smc.numeric.random import Randomness
from smc.numeric.shapes import of_shape, shape_array

_WIDTH: Final = 64
_COEFFICIENTS: Final = 1 << 27
"""Any of so many coefficients is off by one with probability 2**-30 at most."""

_NARROW_COEFFICIENTS: Final = 1 << 23
"""The same of narrow sums, of which a run has fewer."""

MOST_NARROW_TERMS: Final = 24
"""Of more, transforms would not be exact enough."""

_SHARE_LIMBS: Final = 8
"""Limbs of a product that are rounded to a share: what is below is less than 2**-57 of S."""

_DIGITS: Final = 8
_PARTS: Final = 4
_PURPOSE: Final = "lattice slots"


@dataclass(frozen=True, slots=True)
class SlotParameters:
    """The public sizes of a run.

    Attributes:
        lattice: ring and responses; its width is that of t.
        blocks: how many times 8192 products there are.
        terms: T, products that are added up in each.
        groups: how many groups of primes a product takes; of narrow sums half a one.
    """

    lattice: LatticeParameters
    blocks: int
    terms: int
    groups: int = GROUPS

    @classmethod
    def of(cls, count: int, terms: int) -> SlotParameters:
        """Of a call.

        Args:
            count: products in all.
            terms: T, 1 or 2.
        """
        return cls(_lattice(terms, _COEFFICIENTS), -(-count // DEGREE), terms)

    @classmethod
    def narrow(cls, count: int, terms: int) -> SlotParameters:
        """Of a call for sums that are shared modulo primes just below 2**32, see `block_primes`.

        Args:
            count: sums in all.
            terms: T, at most `MOST_NARROW_TERMS`.
        """
        lattice = _lattice(terms, _NARROW_COEFFICIENTS)
        return cls(lattice, -(-count // (2 * DEGREE)), terms, 1)

    @property
    def block_size(self) -> int:
        """Sums of a block."""
        return DEGREE if self.groups == GROUPS else 2 * DEGREE

    @property
    def error(self) -> float:
        """What a coefficient may be off by before it is rounded."""
        sums = sqrt(_PARTS * self.terms * DEGREE + DEGREE)
        return transform_error(DEGREE, sums * (1 << (DIGIT_BITS - 1)), sums * (1 << (LIMB_BITS - 1)))


def block_primes() -> Word:
    """The prime of each sum of a narrow block, shape (2 N,)."""
    group = groups()[0]
    return np.repeat(np.array([group.low.prime, group.high.prime], dtype=np.uint64), DEGREE)


@cache
def _lattice(terms: int, coefficients: int) -> LatticeParameters:
    """Ring and responses for sums of T products.

    Raises:
        UsageError: no secure ring is exact.
    """
    bound, entries = 1 << (_WIDTH - 1), terms * DEGREE
    noise = SIGMA * bound * sqrt(entries) + bound * entries / 2
    found = LatticeParameters.exact(DEGREE, _WIDTH, noise, coefficients)
    # S is not a multiple of a power of two: no slot may be idle.
    if found is None or found.idle_bits:
        raise UsageError(f"No lattice is exact for sums of {terms} products.", "Add up fewer.")
    return found


@cache
def _inverse_band(limbs: int, group: Group) -> NDArray[np.float64]:
    """Times 1 / t modulo q: from the four limbs of m to those of the product."""
    inverse = pow(group.modulus, -1, 1 << (LIMB_BITS * limbs))
    return _band(inverse, limbs, _PARTS)


def _band(factor: int, rows: int, columns: int) -> NDArray[np.float64]:
    """The matrix that multiplies limbs by a constant."""
    mask = (1 << LIMB_BITS) - 1
    band = np.zeros((rows, columns))
    for row in range(rows):
        for column in range(min(columns, row + 1)):
            band[row, column] = factor >> (LIMB_BITS * (row - column)) & mask
    return band


def _scale(limbs: int, group: Group, slots: Sequence[Word]) -> Whole:
    """S times the polynomial of slots, as limbs with carries left, shape (L, N)."""
    away = group.polynomials([part[:, None] for part in slots], -(1 << (LIMB_BITS * limbs)))[:, 0]
    whole = _centre(away, group)
    parts = [whole >> np.int64(LIMB_BITS * place) for place in range(_PARTS)]
    mask = np.int64((1 << LIMB_BITS) - 1)
    cut = np.stack([*(part & mask for part in parts[:-1]), parts[-1]]).astype(np.float64)
    # Sums of four products of 18 bits are exact.
    return np.rint(_inverse_band(limbs, group) @ cut).astype(np.int64)


def _centre(coefficients: Word, group: Group) -> Whole:
    """Residues modulo t in [-t / 2, t / 2)."""
    less = coefficients - np.uint64(group.modulus)
    return np.where(coefficients > np.uint64(group.modulus // 2), less, coefficients).view(np.int64)


def _residues(group: Group, words: Word) -> tuple[Word, Word]:
    """The words of a block modulo both primes: the same ones, or of a narrow block one half each."""
    low, high = (words[:DEGREE], words[DEGREE:]) if len(words) > DEGREE else (words, words)
    return group.low.reduce_signed(low), group.high.reduce_signed(high)


@of_shape(lambda found: shape_array(DEGREE if len(found) == GROUPS else 2 * DEGREE, np.uint64))
def _shares(found: Sequence[Whole]) -> Word:
    """What sums round to: modulo 2**64 by all primes together, or of a narrow block modulo its prime.

    Args:
        found: of each group limbs with carries left, shape (L', N).
    """
    rests = [_unscale(limbs, group) for limbs, group in zip(found, groups(), strict=False)]
    return lowest_word(rests) if len(found) == GROUPS else np.concatenate(rests[0])


def _unscale(limbs: Whole, group: Group) -> tuple[Word, Word]:
    """The slots of what the highest limbs are S times of, rounded."""
    carried = carry(limbs)[-_SHARE_LIMBS:].astype(np.float64)
    band = _band(group.modulus, len(carried) + _PARTS, len(carried))
    # The highest limb is modulo q: so the product is modulo t.
    found = np.rint(band @ carried).astype(np.int64)
    found[len(carried) - 1] += 1 << (LIMB_BITS - 1)
    for place in range(len(found) - 1):
        found[place + 1] += found[place] >> LIMB_BITS
        found[place] &= (1 << LIMB_BITS) - 1
    value = np.zeros(limbs.shape[1], dtype=np.uint64)
    for place in range(_PARTS):
        value += found[len(carried) + place].astype(np.uint64) << np.uint64(LIMB_BITS * place)
    # Rounded up, it can be t, which is 0.
    value = np.where(value >= np.uint64(group.modulus), value - np.uint64(group.modulus), value)
    low, high = group.slots(value[:, None])
    return low[:, 0], high[:, 0]


@of_shape(lambda random: shape_array(DEGREE, np.int64))
def _unit(random: Randomness) -> Whole:
    """A uniform ternary polynomial with an odd number of terms: those are the units modulo a power of two."""
    while True:
        found = ternary(random, DEGREE)
        if np.count_nonzero(found) % 2:
            return found


@of_shape(lambda parameters, seed, part: shape_array((parameters.lattice.limbs, DEGREE // 2), np.complex128))
def _public(parameters: SlotParameters, seed: bytes, part: str) -> Spectrum:
    limbs = parameters.lattice.limbs
    drawn = uniform_limbs(Randomness.from_seed(seed, f"{_PURPOSE} {part}"), limbs * DEGREE)
    return forward(balance(drawn.reshape(limbs, DEGREE)))


class OwnSlots:
    """The side that holds the secret of one run. It serves one evaluator and one seed.

    Args:
        parameters: the public sizes.
        random: of this party.
    """

    def __init__(self, parameters: SlotParameters, random: Randomness) -> None:
        self._parameters, self._random = parameters, random
        self.seed = random.bytes(SEED_BYTES)
        self._secret = forward(_unit(random))
        self._next = 0

    @override
    def __repr__(self) -> str:
        return f"OwnSlots({self._parameters})"

    def zeros(self) -> Word:
        """An encryption of zero, b', as limbs, shape (L, N)."""
        return carry(self._errors("zero")).astype(np.uint64)

    def _query(self, block: int, words: Sequence[Word]) -> Word:
        """The shape of a block."""
        del block
        given = self._parameters
        return shape_array((given.groups, len(words), given.lattice.limbs, DEGREE), np.uint64)

    @of_shape(_query)
    def encrypt(self, block: int, words: Sequence[Word]) -> Word:
        """The first components of a block.

        Args:
            block: its number; in their order, each once: the difference of two plaintexts would show.
            words: y_k, T of them, shape (`block_size`,) each.

        Returns:
            Limbs, shape (groups, T, L, N).

        Raises:
            UsageError: it is another block's turn.
        """
        if block != self._next:
            raise UsageError(
                f"Block {block} is not the next one to be encrypted.", "Encrypt each once, in their order."
            )
        self._next += 1
        limbs, count = self._parameters.lattice.limbs, self._parameters.groups
        result = np.empty((count, len(words), limbs, DEGREE), dtype=np.uint64)
        for place, group in enumerate(groups()[:count]):
            for term, own in enumerate(words):
                plain = _scale(limbs, group, _residues(group, own))
                result[place, term] = carry(plain + self._errors(f"{block} {place} {term}"))
        return result

    @of_shape(lambda self, second: shape_array(self._parameters.block_size, np.uint64))
    def decrypt(self, second: Whole) -> Word:
        """Shares of sums of products.

        Args:
            second: the highest limbs of c1, shape (S, groups, N), each in [0, 2**18).

        Returns:
            Modulo 2**64, shape (N,); of a narrow block modulo `block_primes`, shape (2 N,).
        """
        limbs = forward(balance(second.copy()))
        count = self._parameters.groups
        return _shares([backward(limbs[:, place] * self._secret) for place in range(count)])

    def _errors(self, part: str) -> Whole:
        """Errors less a s, with carries left, shape (L, N)."""
        limbs = np.negative(backward(_public(self._parameters, self.seed, part) * self._secret))
        limbs[0] += errors(self._parameters.lattice, self._random, DEGREE)
        return limbs


class PeerSlots:
    """The side that computes on the peer's slots.

    Args:
        parameters: the public sizes.
        seed: of the public polynomials, from the key holder.
        zeros: its encryption of zero, limbs, shape (L, N), each in [0, 2**18).
        random: of this party.
    """

    def __init__(self, parameters: SlotParameters, seed: bytes, zeros: Word, random: Randomness) -> None:
        self._parameters, self._seed, self._random = parameters, seed, random
        self._zeros = forward(balance(zeros.astype(np.int64)))
        self._zero_public = _public(parameters, seed, "zero")
        self._next = 0

    @of_shape(
        lambda self, limbs, sums: (
            shape_array(
                (limb_count(self._parameters.lattice.second_bits), len(sums), len(limbs), DEGREE), np.int64
            ),
            shape_array((len(sums), self._parameters.block_size), np.uint64),
        )
    )
    def respond(self, limbs: Word, sums: Sequence[Sequence[Word]]) -> tuple[Whole, Word]:
        """What is sent for the next block, and the local shares of it.

        Args:
            limbs: of `OwnSlots.encrypt`, shape (groups, T, L, N), each in [0, 2**18).
            sums: for each sum that is wanted of the block x_k, T of them, shape (`block_size`,) each.

        Returns:
            The highest limbs of c1, shape (S, sums, groups, N), each in [0, 2**18); shares modulo 2**64,
            shape (sums, N), of a narrow block modulo `block_primes`, shape (sums, 2 N).
        """
        count = self._parameters.groups
        found = [
            self._products(place, group, limbs[place], sums) for place, group in enumerate(groups()[:count])
        ]
        self._next += 1
        bits = self._parameters.lattice.second_bits
        sent = [
            highest_limbs(np.stack([of_group[each][0] for of_group in found], axis=1), bits)
            for each in range(len(sums))
        ]
        shares = np.stack([_shares([of_group[each][1] for of_group in found]) for each in range(len(sums))])
        if count == GROUPS:
            shares -= np.uint64(modulus() % (1 << _WIDTH))
        return np.stack(sent, axis=1), shares

    def _products(
        self, place: int, group: Group, limbs: Word, sums: Sequence[Sequence[Word]]
    ) -> list[tuple[Whole, Whole]]:
        """c1 and the sums of products of a group, as limbs with carries left, shape (L, N) each."""
        count = self._parameters.lattice.limbs
        totals = np.zeros((len(sums), 2, 2, count, DEGREE // 2), dtype=np.complex128)
        for total in totals:
            fresh = forward(ternary(self._random, DEGREE))
            total[0, 0], total[1, 0] = self._zero_public * fresh, self._zeros * fresh
        for term in range(self._parameters.terms):
            public = _public(self._parameters, self._seed, f"{self._next} {place} {term}")
            peer = forward(balance(limbs[term].astype(np.int64)))
            for total, words in zip(totals, sums, strict=True):
                slots = [part[:, None] for part in _residues(group, words[term])]
                whole = _centre(group.polynomials(slots)[:, 0], group)
                digits = forward(balanced_digits(whole, _DIGITS))
                for side, factor in enumerate((public, peer)):
                    for number, digit in enumerate(digits):
                        away, odd = divmod(number, 2)
                        total[side, odd, away:] += digit * factor[: count - away]
        result = []
        for total in totals:
            found = backward(total)
            second, first = found[:, 0] + (found[:, 1] << DIGIT_BITS)
            second[0] += errors(self._parameters.lattice, self._random, DEGREE)
            result.append((second, first))
        return result
