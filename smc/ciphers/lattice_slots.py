"""Additive lattice encryption of slots: words of 64 bits times known words, one by one, over the integers.

    key holder (words y_k, k < T)                       evaluator (words x_k)
      secret s, ternary
      a_k, a' from a seed                 -- seed -->
      b_k = -a_k s + e_k + D Y_k          -- b -->
                                                        u ternary, r uniform in [0, 2**191)
                                                          c1 = sum_k X_k a_k + a' u + e''
                                          <-- c1 --       c0 = sum_k X_k b_k + b' u + D R + flood
                                          <-- c0 --
      round((c0 + c1 s) / D) = sum_k X_k Y_k + R          slots: sum_k x_k y_k + r, exact

X, Y and R are polynomials modulo t whose slots are x, y and r modulo the two primes of t
(`smc.ciphers.slot_transform`), once for each of three groups of primes. Words are taken for integers in
[-2**63, 2**63), so that the sums are at most T 2**126 in size. With T 2**126 added to r, the integers
sum_k x_k y_k + r lie between 0 and the product of all primes and so are known from their residues; r hides
the sum within T / 2**65 each. A run has `RUN_PRODUCTS` products in all, which keeps it within 2**-40.

D is q / t for t that does not divide q: the multiple of t's inverse modulo q that stands for Y is
(q Y + m) / t with |m| <= t / 2, so exact but for half a unit, which is counted with the noise. X has
coefficients up to 2**63; they are cut into digits of 9 bits, four and four of which are added up in the
frequency domain.

Security: that of `smc.ciphers.lattice`, with one secret, and public polynomials for each ciphertext alone.

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
    LatticeParameters,
    drown,
    errors,
    needed_flood,
    ternary,
    uniform_limbs,
)
from smc.ciphers.lattice_inner import DIGIT_BITS, balanced_digits, highest_limbs
from smc.ciphers.lattice_ring import (
    LIMB_BITS,
    Spectrum,
    Whole,
    Word,
    backward,
    balance,
    carry,
    forward,
    transform_error,
)
from smc.ciphers.slot_transform import DEGREE, GROUPS, Group, groups, lowest_word, residues
from smc.errors import UsageError
from smc.numeric.random import Randomness
from smc.numeric.shapes import of_shape, shape_array

SECOND_LIMBS: Final = 5
FIRST_LIMBS: Final = 4
"""Limbs that are sent of a coefficient of c1 and of c0."""

_WIDTH: Final = 64
_MASK_WORDS: Final = 6
_MASK_TOP: Final = (1 << 31) - 1
_CENTRE_WORD: Final = 2
_CENTRE: Final = 1 << 30
"""What 2**126 is in that word of a mask."""

RUN_PRODUCTS: Final = 1 << 25
"""Products of two words that all calls of a run may have, T of each slot of all blocks counted: masks and
floods of as many are within 2**-40 of what hides everything."""

_DIGITS: Final = 8
_PARTS: Final = 4
_PURPOSE: Final = "lattice slots"


@dataclass(frozen=True, slots=True)
class SlotParameters:
    """The public sizes of a run.

    Attributes:
        lattice: ring and flood; its width is that of t.
        blocks: how many times 8192 products there are.
        terms: T, products that are added up in each.
    """

    lattice: LatticeParameters
    blocks: int
    terms: int

    @classmethod
    def of(cls, count: int, terms: int) -> SlotParameters | None:
        """Of a call, or None where a run has no room for so many.

        Args:
            count: products in all.
            terms: T, 1 or 2.
        """
        blocks = -(-count // DEGREE)
        if terms * blocks * DEGREE > RUN_PRODUCTS:
            return None
        bound, entries = 1 << (_WIDTH - 1), terms * DEGREE
        # Of all calls of a run together, which have as many coefficients at most.
        sent = RUN_PRODUCTS // terms * GROUPS
        flood = needed_flood(DEGREE, bound, entries, sent, bound * entries / 2)
        lattice = LatticeParameters.flooded(DEGREE, _WIDTH, flood)
        # D is no multiple of a power of two: nothing may be idle.
        return None if lattice is None or lattice.idle_bits else cls(lattice, blocks, terms)

    @property
    def products(self) -> int:
        """Of two words, those that fill the last block counted too."""
        return self.terms * self.blocks * DEGREE

    @property
    def error(self) -> float:
        """What a coefficient may be off by before it is rounded."""
        sums = sqrt(_PARTS * self.terms * DEGREE + DEGREE)
        return transform_error(DEGREE, sums * (1 << (DIGIT_BITS - 1)), sums * (1 << (LIMB_BITS - 1)))


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


def _scaled(limbs: int, group: Group, slots: Sequence[Word]) -> Whole:
    """D times the polynomial of slots, as limbs with carries left, shape (L, N)."""
    away = group.polynomials([part[:, None] for part in slots], -(1 << (LIMB_BITS * limbs)))[:, 0]
    whole = _centred(away, group)
    parts = [whole >> np.int64(LIMB_BITS * place) for place in range(_PARTS)]
    mask = np.int64((1 << LIMB_BITS) - 1)
    cut = np.stack([*(part & mask for part in parts[:-1]), parts[-1]]).astype(np.float64)
    # Sums of four products of 18 bits are exact.
    return np.rint(_inverse_band(limbs, group) @ cut).astype(np.int64)


def _centred(coefficients: Word, group: Group) -> Whole:
    """Residues modulo t in [-t / 2, t / 2)."""
    less = coefficients - np.uint64(group.modulus)
    return np.where(coefficients > np.uint64(group.modulus // 2), less, coefficients).view(np.int64)


def _unscaled(limbs: Whole, group: Group) -> tuple[Word, Word]:
    """The slots of what the highest five limbs are D times of, rounded."""
    band = _band(group.modulus, SECOND_LIMBS + _PARTS, SECOND_LIMBS)
    # The highest limb is modulo q: so the product is modulo t.
    found = np.rint(band @ carry(limbs).astype(np.float64)).astype(np.int64)
    found[SECOND_LIMBS - 1] += 1 << (LIMB_BITS - 1)
    for place in range(len(found) - 1):
        found[place + 1] += found[place] >> LIMB_BITS
        found[place] &= (1 << LIMB_BITS) - 1
    value = np.zeros(limbs.shape[1], dtype=np.uint64)
    for place in range(_PARTS):
        value += found[SECOND_LIMBS + place].astype(np.uint64) << np.uint64(LIMB_BITS * place)
    # Rounded up, it can be t, which is 0.
    value = np.where(value >= np.uint64(group.modulus), value - np.uint64(group.modulus), value)
    low, high = group.slots(value[:, None])
    return low[:, 0], high[:, 0]


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
        self._secret = forward(ternary(random, DEGREE))
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
        return shape_array((GROUPS, len(words), self._parameters.lattice.limbs, DEGREE), np.uint64)

    @of_shape(_query)
    def encrypt(self, block: int, words: Sequence[Word]) -> Word:
        """The first components of a block.

        Args:
            block: its number; in their order, each once: the difference of two plaintexts would show.
            words: y_k, T of them, shape (N,) each.

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
        limbs = self._parameters.lattice.limbs
        result = np.empty((GROUPS, len(words), limbs, DEGREE), dtype=np.uint64)
        for place, group in enumerate(groups()):
            for term, own in enumerate(words):
                plain = _scaled(limbs, group, (group.low.centred(own), group.high.centred(own)))
                result[place, term] = carry(plain + self._errors(f"{block} {place} {term}"))
        return result

    @of_shape(lambda self, second, first: shape_array(DEGREE, np.uint64))
    def decrypt(self, second: Whole, first: Whole) -> Word:
        """Sums of products plus their masks.

        Args:
            second: the highest limbs of c1, shape (groups, 5, N), each in [0, 2**18).
            first: the highest limbs of c0, shape (groups, 4, N), likewise.

        Returns:
            Modulo 2**64, shape (N,).
        """
        found = []
        for place, group in enumerate(groups()):
            total = backward(forward(balance(second[place].copy())) * self._secret)
            total[SECOND_LIMBS - FIRST_LIMBS :] += first[place]
            found.append(_unscaled(total, group))
        return lowest_word(found)

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
        lambda self, limbs, words: (
            shape_array((GROUPS, SECOND_LIMBS, DEGREE), np.int64),
            shape_array((GROUPS, FIRST_LIMBS, DEGREE), np.int64),
            shape_array(DEGREE, np.uint64),
        )
    )
    def respond(self, limbs: Word, words: Sequence[Word]) -> tuple[Whole, Whole, Word]:
        """What is sent for the next block, and what masks it.

        Args:
            limbs: of `OwnSlots.encrypt`, shape (groups, T, L, N), each in [0, 2**18).
            words: x_k, T of them, shape (N,) each.

        Returns:
            The highest limbs of c1, shape (groups, 5, N), and of c0, masked and flooded, shape
            (groups, 4, N), each in [0, 2**18); the masks r modulo 2**64, shape (N,).

        Raises:
            UsageError: there are more blocks than the flood is for.
        """
        given = self._parameters
        if self._next == given.blocks or len(words) != given.terms:
            raise UsageError(
                f"The parameters are for {given.blocks} blocks of {given.terms} products each.",
                "Make them for all products.",
            )
        drawn = np.frombuffer(self._random.bytes(4 * _MASK_WORDS * DEGREE), dtype="<u4")
        masks = drawn.astype(np.uint64).reshape(_MASK_WORDS, DEGREE)
        masks[0] &= np.uint64(_MASK_TOP)
        # Multiples of 2**64, so that shares are not concerned.
        masks[_CENTRE_WORD] += np.uint64(given.terms * _CENTRE)
        second = np.empty((GROUPS, SECOND_LIMBS, DEGREE), dtype=np.int64)
        first = np.empty((GROUPS, FIRST_LIMBS, DEGREE), dtype=np.int64)
        for place, group in enumerate(groups()):
            own, peer = self._products(place, group, limbs[place], words)
            pair = residues(list(masks), group.low), residues(list(masks), group.high)
            peer += _scaled(given.lattice.limbs, group, pair)
            drown(given.lattice, self._random, peer)
            second[place] = highest_limbs(own, SECOND_LIMBS)
            first[place] = highest_limbs(peer, FIRST_LIMBS)
        self._next += 1
        return second, first, (masks[-2] << np.uint64(32)) + masks[-1]

    def _products(self, place: int, group: Group, limbs: Word, words: Sequence[Word]) -> tuple[Whole, Whole]:
        """c1 and c0 of a group, unmasked, as limbs with carries left, shape (L, N) each."""
        count = self._parameters.lattice.limbs
        fresh = forward(ternary(self._random, DEGREE))
        totals = np.zeros((2, 2, count, DEGREE // 2), dtype=np.complex128)
        totals[0, 0], totals[1, 0] = self._zero_public * fresh, self._zeros * fresh
        for term, own in enumerate(words):
            slots = (group.low.centred(own)[:, None], group.high.centred(own)[:, None])
            whole = _centred(group.polynomials(slots)[:, 0], group)
            digits = forward(balanced_digits(whole, _DIGITS))
            public = _public(self._parameters, self._seed, f"{self._next} {place} {term}")
            peer = forward(balance(limbs[term].astype(np.int64)))
            for side, factor in enumerate((public, peer)):
                for number, digit in enumerate(digits):
                    away, odd = divmod(number, 2)
                    totals[side, odd, away:] += digit * factor[: count - away]
        found = backward(totals)
        second, first = found[:, 0] + (found[:, 1] << DIGIT_BITS)
        second[0] += errors(self._parameters.lattice, self._random, DEGREE)
        return second, first
