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

from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Executor
from threading import Lock
from typing import Final

import numpy as np
from gmpy2 import mpz
from typing_extensions import override

from smc.numeric.modular import FixedBases, Integer, powers
from smc.numeric.random import Randomness

_MIN_GENERATORS: Final = 44
_JOB_BITS: Final = 25
_DISTANCE_BITS: Final = 40
_EXCESS_BITS: Final = 2 * (_DISTANCE_BITS + _JOB_BITS) + 2
_WORTH_A_TABLE: Final = 20
_TABLE_BYTES: Final = 28 << 20
_WIDEST_WINDOW: Final = 7
_OBJECT_BYTES: Final = 40

_Group = tuple[int, int]


class MaskTables:
    """Tables for masks, one per group, which ciphers in many threads may share; the least used one goes.

    A table is computed once, by the thread that asks first. It stays valid for as long as the key does, so a
    process that keeps this object from session to session saves computing tables anew. The tables of an own
    key tell its primes: the object is as secret as the key and never leaves the process.

    Args:
        most: how many tables are kept, of up to 28 MiB each; a local key takes two, another's one.
    """

    def __init__(self, most: int = 12) -> None:
        self._most = most
        self._lock = Lock()
        self._building: dict[_Group, Lock] = {}
        self._tables: OrderedDict[_Group, FixedBases] = OrderedDict()

    @override
    def __repr__(self) -> str:
        return f"MaskTables({len(self._tables)} of {self._most})"

    def __len__(self) -> int:
        return len(self._tables)

    def find(self, group: _Group) -> FixedBases | None:
        """The table of a group, named by (power, modulus), if it has been computed."""
        with self._lock:
            if group in self._tables:
                self._tables.move_to_end(group)
            return self._tables.get(group)

    def get(self, group: _Group, build: Callable[[], FixedBases]) -> FixedBases:
        """The table of a group, computed by `build` if nobody has; others wait for it meanwhile."""
        with self._lock:
            turn = self._building.setdefault(group, Lock())
        with turn:
            table = self.find(group)
            if table is None:
                table = build()
                with self._lock:
                    self._tables[group] = table
                    while len(self._tables) > self._most:
                        self._tables.popitem(last=False)
            with self._lock:
                self._building.pop(group, None)
            return table


def job_distance(order_bits: int, exponent_bits: int, generators: int, masks: int) -> float:
    """How far the masks of a job, with the table's generators, are at most from uniform and independent ones.

    Args:
        order_bits: the group of rank 2 or less has fewer than 2**order_bits elements.
        exponent_bits: of each uniform exponent.
        generators: independent and uniform, each with an exponent.
        masks: drawn from the table.
    """
    excess = generators * exponent_bits - order_bits
    # of the subgroups of a prime index there are at most index + 1; large ones add nothing that a float holds
    outside: float = sum((index + 1) * float(index) ** -generators for index in range(2, 1000))
    return outside + masks * float(2 ** (-excess / 2 - 1))


class Masks:
    """Uniform elements of the group of `power`-th powers modulo `modulus`.

    The first are r**power for uniform units r. After some dozens a table takes over: it holds powers of k of
    them, g_1 to g_k with k at least 44, and a mask is prod(g_j ** s_j) with independent uniform s_j whose
    bits together exceed those of the group's order by e = 132. For a group of rank 2 or less (two distinct
    primes) the g_j fail to generate it with a probability below the sum of (l + 1) * l**-44 over primes l,
    which is less than 2**-42; if they do generate it, the leftover hash lemma, applied character by
    character, puts each product, for known g_j, within 2**(-e / 2) / 2 = 2**-67 of uniform. Given the g_j the
    products are independent, so that these distances add up: all 2**25 masks of a job, a million comparisons
    of 32 bits, and the g_j are together within 2**-42 + 2**25 * 2**-67 = 2**-41 of uniform and independent
    (`job_distance`). The g_j serve as masks themselves, once each.

    Args:
        unit_modulus: r is uniform among the units modulo this number.
        power: the exponent; `r ** power % modulus` depends on r modulo `unit_modulus` only.
        modulus: the modulus of the masks.
        random: the source of randomness.
        executor: where the work is done.
        tables: where the table is taken from and put.
        cluster: where masks are computed instead, for a public group; the table is computed by both.
    """

    def __init__(
        self,
        unit_modulus: Integer,
        power: Integer,
        modulus: Integer,
        random: Randomness,
        executor: Executor,
        tables: MaskTables,
        cluster: Executor | None = None,
    ) -> None:
        self._unit_modulus = int(unit_modulus)
        self._power = power
        self._modulus = int(modulus)
        self._random = random
        self._executor = executor
        self._drawing = executor if cluster is None else cluster
        self._tables = tables
        self._group = int(power), int(modulus)
        self._table: FixedBases | None = None
        self._generators: list[mpz] = []
        self._drawn = 0
        self._window, self._digits, self._wanted = self._layout()

    @override
    def __repr__(self) -> str:
        return f"Masks(modulus={self._modulus.bit_length()} bits, table={self._table is not None})"

    def draw(self, count: int) -> list[mpz]:
        """`count` independent masks."""
        table = self._table or self._tables.find(self._group)
        masks: list[mpz] = []
        if table is None:
            missing = max(0, self._wanted - self._drawn)
            early = self._drawn + count < self._wanted + _WORTH_A_TABLE
            masks = self._direct(count if early else missing)
            self._drawn += len(masks)
            self._generators += masks[:missing]
            if early:
                return masks
            table = self._tables.get(self._group, self._build)
        self._table = table
        self._generators = []
        rest = count - len(masks)
        noise = np.frombuffer(self._random.bytes(rest * table.width), dtype=np.uint8)
        digits = noise.reshape(rest, table.width) & np.uint8((1 << table.window) - 1)
        return masks + table.combine(digits, self._drawing)

    def _direct(self, count: int) -> list[mpz]:
        units = self._random.units(self._unit_modulus, count)
        return powers(units, self._power, self._modulus, self._drawing)

    def _build(self) -> FixedBases:
        return FixedBases(self._generators, self._modulus, self._digits, self._window, self._executor)

    def _layout(self) -> tuple[int, int, int]:
        """Window, digits per generator and generators: the widest window whose table is not too large."""
        needed = self._unit_modulus.bit_length() + _EXCESS_BITS
        entry = (self._modulus.bit_length() + 7) // 8 + _OBJECT_BYTES
        for window in range(_WIDEST_WINDOW, 1, -1):
            digits = max(1, needed // (_MIN_GENERATORS * window))
            generators = max(_MIN_GENERATORS, -(-needed // (digits * window)))
            if (generators * digits << window) * entry <= _TABLE_BYTES:
                break
        return window, digits, generators
