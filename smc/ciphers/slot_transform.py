"""Slots: numbers modulo primes as polynomials whose products multiply them one by one.

For a prime p with p = 1 modulo 2 N the polynomial X^N + 1 has N roots modulo p, and a polynomial modulo p is
as good as its values there, its slots. `slots` and `polynomials` go from one to the other, many polynomials
at once along the last axis. Slots come in the order that the butterflies leave them in, the same for all.

Primes just below 2**32 keep products of residues within 64 bits. Two of them make a group with a modulus t
below 2**64, so that coefficients modulo t are single words; three groups have room for 191 bits.

Reference: Longa and Naehrig, Speeding up the number theoretic transform, CANS 2016, algorithms 1 and 2;
slots: Smart and Vercauteren, Fully homomorphic SIMD operations, Designs, Codes and Cryptography 71, 2014.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Final

import numpy as np
from gmpy2 import is_prime
from numpy.typing import NDArray

Word = NDArray[np.uint64]

DEGREE: Final = 8192
GROUPS: Final = 3
_TOP: Final = 1 << 32


@dataclass(frozen=True, slots=True, eq=False)
class Slots:
    """A prime with its roots.

    Attributes:
        prime: p.
        roots: powers of a 2 N-th root of unity, in the order of the butterflies, shape (N,).
        inverses: of these.
    """

    prime: int
    roots: Word
    inverses: Word

    @classmethod
    def of(cls, prime: int) -> Slots:
        """With the root that the smallest generator of the right order gives."""
        order = 2 * DEGREE
        root = next(
            found
            for base in range(2, prime)
            if pow(found := pow(base, (prime - 1) // order, prime), DEGREE, prime) == prime - 1
        )
        bits = DEGREE.bit_length() - 1
        places = [int(f"{place:0{bits}b}"[::-1], 2) for place in range(DEGREE)]
        powers = [1]
        for _ in range(order - 1):
            powers.append(powers[-1] * root % prime)
        roots = np.array([powers[place] for place in places], dtype=np.uint64)
        inverses = np.array([powers[-place % order] for place in places], dtype=np.uint64)
        return cls(prime, roots, inverses)

    def reduce(self, words: Word) -> Word:
        """Words modulo p."""
        result: Word = words - words // np.uint64(self.prime) * np.uint64(self.prime)
        return result

    def reduce_signed(self, words: Word) -> Word:
        """Words, taken for integers from -2**63 on, modulo p."""
        wrapped = np.uint64((1 << 64) % self.prime) * (words >> np.uint64(63))
        return _reduce_once(self.reduce(words) + (np.uint64(self.prime) - wrapped), np.uint64(self.prime))

    def times(self, words: Word, factor: int) -> Word:
        """Residues times an integer."""
        return self.reduce(words * np.uint64(factor % self.prime))

    def slots(self, coefficients: Word) -> Word:
        """The values of polynomials; shape (N, B) to (N, B)."""
        values, prime = coefficients.copy(), np.uint64(self.prime)
        blocks, step = 1, DEGREE
        while blocks < DEGREE:
            step //= 2
            parts = values.reshape(blocks, 2, step, -1)
            turned = self.reduce(parts[:, 1] * self.roots[blocks : 2 * blocks, None, None])
            parts[:, 1] = _reduce_once(parts[:, 0] + (prime - turned), prime)
            parts[:, 0] = _reduce_once(parts[:, 0] + turned, prime)
            blocks *= 2
        return values

    def polynomials(self, slots: Word) -> Word:
        """The polynomials with these values; shape (N, B) to (N, B)."""
        values, prime = slots.copy(), np.uint64(self.prime)
        blocks, step = DEGREE // 2, 1
        while blocks:
            parts = values.reshape(blocks, 2, step, -1)
            less = parts[:, 0] + (prime - parts[:, 1])
            parts[:, 0] = _reduce_once(parts[:, 0] + parts[:, 1], prime)
            parts[:, 1] = self.reduce(
                _reduce_once(less, prime) * self.inverses[blocks : 2 * blocks, None, None]
            )
            blocks, step = blocks // 2, 2 * step
        return self.times(values, pow(DEGREE, -1, self.prime))


def _reduce_once(words: Word, prime: np.uint64) -> Word:
    """Words below 2 p modulo p: the smaller of both differences, as the negative one wraps."""
    result: Word = np.minimum(words, words - prime)
    return result


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Two primes, and words modulo their product.

    Attributes:
        low: the first.
        high: the second.
    """

    low: Slots
    high: Slots

    @property
    def modulus(self) -> int:
        """t, below 2**64."""
        return self.low.prime * self.high.prime

    def polynomials(self, slots: Sequence[Word], factor: int = 1) -> Word:
        """Polynomials modulo t with these slots, times an integer.

        Args:
            slots: modulo each prime, shape (N, B).
            factor: modulo t.

        Returns:
            Coefficients in [0, t), shape (N, B).
        """
        low, high = (
            each.times(each.polynomials(part), factor)
            for each, part in zip((self.low, self.high), slots, strict=True)
        )
        prime = self.low.prime
        steps = self.high.reduce(high + np.uint64(2 * self.high.prime) - low)
        steps = self.high.times(steps, pow(prime, -1, self.high.prime))
        return low + steps * np.uint64(prime)

    def slots(self, coefficients: Word) -> tuple[Word, Word]:
        """Slots modulo each prime of polynomials modulo t."""
        return (
            self.low.slots(self.low.reduce(coefficients)),
            self.high.slots(self.high.reduce(coefficients)),
        )


@cache
def groups() -> tuple[Group, ...]:
    """The groups, of the largest primes below 2**32."""
    found: list[Slots] = []
    candidate = _TOP + 1 - 2 * DEGREE
    while len(found) < 2 * GROUPS:
        if is_prime(candidate):
            found.append(Slots.of(candidate))
        candidate -= 2 * DEGREE
    return tuple(Group(*found[place : place + 2]) for place in range(0, len(found), 2))


def lowest_word(found: Sequence[tuple[Word, Word]]) -> Word:
    """Integers below the product of all primes, from their residues, modulo 2**64.

    Args:
        found: residues modulo both primes of each group, shape (...).
    """
    primes = [each for group in groups() for each in (group.low, group.high)]
    rests = [part for pair in found for part in pair]
    result, weight = np.zeros_like(rests[0]), 1
    for place, prime in enumerate(primes):
        digit = rests[place]
        result += digit * np.uint64(weight % (1 << 64))
        weight *= prime.prime
        for later in range(place + 1, len(primes)):
            other = primes[later]
            less = other.reduce(rests[later] + np.uint64(2 * other.prime) - digit)
            rests[later] = other.times(less, pow(prime.prime, -1, other.prime))
    return result


MODULUS_BITS: Final = 191
"""The product of all primes is at least 2**191."""


def modulus() -> int:
    """The product of all primes."""
    return prod(group.modulus for group in groups())
