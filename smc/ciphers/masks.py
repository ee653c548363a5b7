"""Fresh randomisers of Paillier ciphertexts: uniform residues, cheap in bulk.

A ciphertext that leaves a party is multiplied by r**N for a random r. Its receiver may hold the secret key
and then sees the whole randomness, not only the plaintext. The exponentiation tables of Damgard, Jurik and
Nielsen (A generalization of Paillier's public-key system with applications to electronic voting, 2010), with
h**s for a short s and one h, hide the plaintext from everybody else, but not the homomorphic past from the
key owner: h**s lies in a subgroup, so a residue symbol of the old randomness shows through and tells her, for
one, the parity of a blinding exponent (the attack behind erratum 3). Masks here are therefore uniform on all
of the group, up to a stated statistical distance and without a computational assumption.
"""

from __future__ import annotations

from concurrent.futures import Executor

import numpy as np
from gmpy2 import mpz

from smc.numeric.modular import FixedBases, Integer, powers
from smc.numeric.random import Randomness

_GENERATORS = 44
_EXCESS_BITS = 80
_DIRECT = 64
_TABLE_BYTES = 28 << 20
_WIDEST_WINDOW = 7
_OBJECT_BYTES = 40


class Masks:
    """Uniform elements of the group of `power`-th powers modulo `modulus`.

    The first few are r**power for uniform units r. Once `64` are asked for, a table takes over: it holds
    powers of 44 random elements g_j of the group, and a mask is prod(g_j ** s_j) with independent uniform
    s_j whose bits together exceed those of the group's order by 80. For a group of rank 2 or less (two
    distinct primes) the g_j fail to generate it with a probability below the sum of (l + 1) * l**-44 over
    primes l, which is less than 2**-42; if they do generate it, the leftover hash lemma, applied
    character by character, puts the product within 2**-40 of uniform.

    Args:
        unit_modulus: r is uniform among the units modulo this number.
        power: the exponent; `r ** power % modulus` depends on r modulo `unit_modulus` only.
        modulus: the modulus of the masks.
        random: the source of randomness.
        pool: where the work is done.
    """

    def __init__(
        self, unit_modulus: Integer, power: Integer, modulus: Integer, random: Randomness, pool: Executor
    ) -> None:
        self._unit_modulus = int(unit_modulus)
        self._power = power
        self._modulus = int(modulus)
        self._random = random
        self._pool = pool
        self._drawn = 0
        self._table: FixedBases | None = None

    def __repr__(self) -> str:
        return f"Masks(modulus={self._modulus.bit_length()} bits, table={self._table is not None})"

    def draw(self, count: int) -> list[mpz]:
        """`count` independent masks."""
        self._drawn += count
        if self._drawn < _DIRECT:
            return self._direct(count)
        if self._table is None:
            self._table = self._build()
        noise = np.frombuffer(self._random.bytes(count * self._table.width), dtype=np.uint8)
        digits = noise.reshape(count, self._table.width) & np.uint8((1 << self._table.window) - 1)
        return self._table.combine(digits, self._pool)

    def _direct(self, count: int) -> list[mpz]:
        units = self._random.units(self._unit_modulus, count)
        return powers(units, self._power, self._modulus, self._pool)

    def _build(self) -> FixedBases:
        window = max(
            (w for w in range(2, _WIDEST_WINDOW + 1) if self._table_bytes(w) <= _TABLE_BYTES), default=1
        )
        generators = self._direct(_GENERATORS)
        return FixedBases(generators, self._modulus, self._digits(window), window, self._pool)

    def _digits(self, window: int) -> int:
        return -(-(self._unit_modulus.bit_length() + _EXCESS_BITS) // (_GENERATORS * window))

    def _table_bytes(self, window: int) -> int:
        entry = (self._modulus.bit_length() + 7) // 8 + _OBJECT_BYTES
        return (_GENERATORS * self._digits(window) << window) * entry
