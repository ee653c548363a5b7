"""The cipher of Damgard, Geisler and Kroigaard on batches: plaintexts modulo a small prime, cheap zero test.

E(m; r) = g**m h**r mod n, with m modulo u = `PLAINTEXTS`. The key owner tells whether m is 0 by one power
with a short exponent modulo p: c**v_p = 1 mod p exactly if u divides m. `Dgk` is the cipher for whoever has
the public key, `OwnDgk` for the holder of the secret key.

Semantically secure under the assumption that nobody can distinguish uniform powers of h from those of g
(the subgroup assumption of the paper), about 112 bits. Refreshing multiplies h**r into a ciphertext, with r
of `EXCESS_BITS` more bits than the order of h: statistically within 2**-EXCESS_BITS of uniform in the whole
group of randomness, so the past of a ciphertext is hidden from the key owner too if it was made of powers of
g and h. Running times depend on the numbers. Sources and keys: `smc.ciphers.dgk_keys`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Final

from gmpy2 import mpz
from typing_extensions import override

from smc.ciphers.batch import Batch, FreshBatch
from smc.ciphers.ciphertexts import are_units
from smc.ciphers.dgk_keys import PLAINTEXTS, SUBGROUP_BITS, DgkPrivateKey, DgkPublicKey
from smc.errors import KeyMaterialError, ProtocolViolation, UsageError
from smc.numeric.modular import FixedBase, inverses, powers, products
from smc.numeric.random import Randomness

EXCESS_BITS: Final = 64
"""How many bits longer than the order of h the exponents of fresh randomness are."""

_EXPONENT_BITS: Final = 2 * SUBGROUP_BITS + EXCESS_BITS
_WINDOW: Final = 6


class DgkCiphertexts(Batch[DgkPublicKey, mpz]):
    """DGK ciphertexts under one key, which may not leave."""

    __slots__ = ()


class FreshDgk(FreshBatch[DgkPublicKey, mpz], DgkCiphertexts):
    """Freshly randomised DGK ciphertexts; encoded, big-endian integers of the size of n."""

    __slots__ = ()

    @override
    def _encode(self, values: Sequence[mpz]) -> bytes:
        width = self.key.ciphertext_bytes
        return b"".join(int(value).to_bytes(width, "big") for value in values)


@dataclass(frozen=True, slots=True)
class ExpectedDgk:
    """Demands `count` ciphertexts under `key` from the peer."""

    key: DgkPublicKey
    count: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.count * self.key.ciphertext_bytes

    def decode(self, data: bytes) -> DgkCiphertexts:
        """Parse and check.

        Raises:
            ProtocolViolation: the size is wrong, or an integer is not a unit modulo n.
        """
        if len(data) != self.size:
            raise ProtocolViolation(f"{self.size} bytes of ciphertexts were expected, but {len(data)} came.")
        width = self.key.ciphertext_bytes
        values = [mpz(int.from_bytes(data[i : i + width], "big")) for i in range(0, len(data), width)]
        if not are_units(values, self.key.n, self.key.n):
            raise ProtocolViolation("A number from the peer is not a DGK ciphertext under the agreed key.")
        return DgkCiphertexts(self.key, values)


class Dgk:
    """The cipher under a public key.

    Args:
        public: the key.
        random: the source of randomness.
        executor: where the work is done.

    Attributes:
        operations: how many group operations were done, by name, as a function of batch sizes alone:
            `dgk_mask` (one fresh randomiser), `dgk_power` (one scaling), `dgk_inverse` (one subtraction),
            `dgk_zero_test`.
    """

    order: Final = PLAINTEXTS

    def __init__(self, public: DgkPublicKey, random: Randomness, executor: Executor) -> None:
        self.public = public
        self.operations: Counter[str] = Counter()
        self._random = random
        self._executor = executor
        self._generator_powers: list[mpz] = []
        self._table: FixedBase | None = None

    @override
    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.public.bits} bits, {self.public.fingerprint[:16]})"

    def encrypt(self, values: Sequence[int]) -> FreshDgk:
        """Encrypt integers modulo u."""
        return FreshDgk.declare(self.public, self._multiply(self._plain(values), self._masks(len(values))))

    def refresh(self, a: DgkCiphertexts) -> FreshDgk:
        """Re-randomise: the same plaintexts under randomness that is independent of all before.

        Raises:
            KeyMaterialError: the ciphertexts are under another key.
        """
        self._check(a)
        return FreshDgk.declare(self.public, self._multiply(a.values, self._masks(len(a))))

    def encrypt_trivially(self, values: Sequence[int]) -> DgkCiphertexts:
        """Ciphertexts of public integers, without randomness."""
        return DgkCiphertexts(self.public, self._plain(values))

    def add(self, a: DgkCiphertexts, b: DgkCiphertexts) -> DgkCiphertexts:
        """Ciphertexts of the sums.

        Raises:
            KeyMaterialError: ciphertexts are under another key.
            UsageError: the lengths differ.
        """
        self._check(a, b)
        return DgkCiphertexts(self.public, self._multiply(a.values, b.values))

    def add_plain(self, a: DgkCiphertexts, values: Sequence[int]) -> DgkCiphertexts:
        """Ciphertexts of the sums with known integers; for differences give negative ones.

        Raises:
            KeyMaterialError: the ciphertexts are under another key.
            UsageError: the lengths differ.
        """
        self._check(a)
        return DgkCiphertexts(self.public, self._multiply(a.values, self._plain(values)))

    def subtract(self, a: DgkCiphertexts, b: DgkCiphertexts) -> DgkCiphertexts:
        """Ciphertexts of the differences a - b.

        Raises:
            KeyMaterialError: ciphertexts are under another key.
            UsageError: the lengths differ.
        """
        self._check(a, b)
        self.operations["dgk_inverse"] += len(b)
        negated = inverses(b.values, self.public.n, self._executor)
        return DgkCiphertexts(self.public, self._multiply(a.values, negated))

    def scale(self, a: DgkCiphertexts, factors: Sequence[int]) -> DgkCiphertexts:
        """Ciphertexts of the products with known integers, which count modulo u.

        Raises:
            KeyMaterialError: the ciphertexts are under another key.
            UsageError: the lengths differ.
        """
        self._check(a)
        if len(a) != len(factors):
            raise UsageError(
                f"There are {len(a)} ciphertexts, but {len(factors)} factors.",
                "Give one factor for each ciphertext.",
            )
        self.operations["dgk_power"] += len(a)
        reduced = [int(factor) % PLAINTEXTS for factor in factors]
        return DgkCiphertexts(self.public, powers(a.values, reduced, self.public.n, self._executor))

    def expect(self, count: int) -> ExpectedDgk:
        """What to demand of a message field with `count` ciphertexts under this key."""
        return ExpectedDgk(self.public, count)

    def _check(self, *batches: DgkCiphertexts) -> None:
        if any(batch.key != self.public for batch in batches):
            raise KeyMaterialError(
                f"Ciphertexts under another key than {self.public.fingerprint[:16]} were given.",
                "Use the cipher of the key that encrypted them.",
            )

    def _plain(self, values: Sequence[int]) -> list[mpz]:
        """The ciphertexts of randomness 0."""
        if not self._generator_powers:
            running = mpz(1)
            for _ in range(PLAINTEXTS):
                self._generator_powers.append(running)
                running = running * self.public.g % self.public.n
        return [self._generator_powers[int(value) % PLAINTEXTS] for value in values]

    def _multiply(self, left: Sequence[mpz], right: Sequence[mpz]) -> list[mpz]:
        return products(left, right, self.public.n, self._executor)

    def _masks(self, count: int) -> list[mpz]:
        """Powers of h, statistically uniform among all."""
        self.operations["dgk_mask"] += count
        if self._table is None:
            self._table = FixedBase(self.public.h, self.public.n, _EXPONENT_BITS, _WINDOW, self._executor)
        return self._table.power(self._random.below(1 << _EXPONENT_BITS, count), self._executor)


class OwnDgk(Dgk):
    """The cipher for the holder of the secret key.

    Args:
        private: the key.
        random: the source of randomness.
        executor: where the work is done.
    """

    def __init__(self, private: DgkPrivateKey, random: Randomness, executor: Executor) -> None:
        super().__init__(private.public, random, executor)
        self._private = private
        self._tables: tuple[FixedBase, FixedBase] | None = None

    def is_zero(self, a: DgkCiphertexts) -> list[bool]:
        """Whether each plaintext is 0 modulo u, without error for ciphertexts made of powers of g and h.

        Raises:
            KeyMaterialError: the ciphertexts are under another key.
        """
        self._check(a)
        self.operations["dgk_zero_test"] += len(a)
        key = self._private
        return [power == 1 for power in powers(a.values, key.v_p, key.p, self._executor)]

    @override
    def _masks(self, count: int) -> list[mpz]:
        """Powers of h, uniform among all, modulo p and q apart."""
        self.operations["dgk_mask"] += count
        key = self._private
        if self._tables is None:
            self._tables = (
                FixedBase(key.h, key.p, key.v_p.bit_length(), _WINDOW, self._executor),
                FixedBase(key.h, key.q, key.v_q.bit_length(), _WINDOW, self._executor),
            )
        left = self._tables[0].power(self._random.below(int(key.v_p), count), self._executor)
        right = self._tables[1].power(self._random.below(int(key.v_q), count), self._executor)
        return [a + (b - a) * key.p_inverse % key.q * key.p for a, b in zip(left, right, strict=True)]
