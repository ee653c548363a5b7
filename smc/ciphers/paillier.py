"""Paillier's cipher on batches (Paillier, Eurocrypt 1999), with generator 1 + n.

E(m; r) = (1 + m n) r**n mod n**2. Plaintexts are integers modulo n; negative ones stand for n less their
absolute value. `Paillier` is the cipher for whoever has the public key, `OwnPaillier` for the holder of the
secret key, who computes modulo p**2 and q**2 and may decrypt.

Both are semantically secure under the decisional composite residuosity assumption. Refreshing hides the past
of a ciphertext from the key owner too, statistically (see `smc.ciphers.masks`). Running times depend on the
numbers: decryption is not constant-time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor

from gmpy2 import mpz
from typing_extensions import override

from smc.ciphers.ciphertexts import Ciphertexts, ExpectedCiphertexts, Fresh, declare_fresh
from smc.ciphers.keys import PrivateKey, PublicKey
from smc.ciphers.masks import Masks, MaskTables
from smc.errors import KeyMaterialError, UsageError
from smc.numeric.modular import Integer, inverses, powers, products
from smc.numeric.random import Randomness
from smc.values import Encrypted

__all__ = [
    "Ciphertexts",
    "ExpectedCiphertexts",
    "Fresh",
    "OwnPaillier",
    "Paillier",
    "PrivateKey",
    "PublicKey",
]

SMALL_POWER_BITS = 128
"""Up to this size of all factors of a batch, scaling counts as `small_power`."""


class Paillier:
    """The cipher under a public key.

    Args:
        public: the key.
        random: the source of randomness.
        executor: where the work is done.
        tables: tables for masks, shared with other ciphers; new ones unless given.
        cluster: where powers under the public key and masks of it are computed instead, which is most of the
            work without the secret key; None for `executor`.

    Attributes:
        operations: how many group operations were done, by name, as a function of batch sizes alone:
            `mask` (one fresh randomiser), `power` and `small_power` (one scaling; which of them is decided
            by the largest factor of the batch), `inverse` (one subtraction), `square`, `decrypt`,
            `zero_test`.
        public_executor: where work without the secret key that takes long is done.
    """

    def __init__(
        self,
        public: PublicKey,
        random: Randomness,
        executor: Executor,
        tables: MaskTables | None = None,
        cluster: Executor | None = None,
    ) -> None:
        self.public = public
        self.operations: Counter[str] = Counter()
        self._random = random
        self._executor = executor
        self.public_executor = executor if cluster is None else cluster
        self._tables = MaskTables() if tables is None else tables
        self._general_masks: Masks | None = None

    @override
    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.public.bits} bits, {self.public.fingerprint[:16]})"

    def encrypt(self, values: Sequence[Integer]) -> Fresh:
        """Encrypt integers modulo n."""
        return declare_fresh(self.public, self._multiply(self._plain(values), self._masks(len(values))))

    @property
    def order(self) -> int:
        """The modulus of the plaintexts."""
        return int(self.public.n)

    def encrypt_trivially(self, values: Sequence[Integer]) -> Ciphertexts:
        """Ciphertexts of public integers, without randomness."""
        return Ciphertexts(self.public, self._plain(values))

    def refresh(self, a: Ciphertexts) -> Fresh:
        """Re-randomise: the same plaintexts under randomness that is independent of all before.

        Raises:
            KeyMaterialError: the ciphertexts are under another key.
        """
        self._check(a)
        return declare_fresh(self.public, self._multiply(a.values, self._masks(len(a))))

    def add(self, a: Ciphertexts, b: Ciphertexts) -> Ciphertexts:
        """Ciphertexts of the sums.

        Raises:
            KeyMaterialError: ciphertexts are under another key.
            UsageError: the lengths differ.
        """
        self._check(a, b)
        return Ciphertexts(self.public, self._multiply(a.values, b.values))

    def add_plain(self, a: Ciphertexts, values: Sequence[Integer]) -> Ciphertexts:
        """Ciphertexts of the sums with known integers; for differences give negative ones.

        Raises:
            KeyMaterialError: the ciphertexts are under another key.
            UsageError: the lengths differ.
        """
        self._check(a)
        return Ciphertexts(self.public, self._multiply(a.values, self._plain(values)))

    def subtract(self, a: Ciphertexts, b: Ciphertexts) -> Ciphertexts:
        """Ciphertexts of the differences a - b.

        Raises:
            KeyMaterialError: ciphertexts are under another key.
            UsageError: the lengths differ.
        """
        self._check(a, b)
        _same_length(a, b.values)
        self.operations["inverse"] += len(b)
        negated = inverses(b.values, self.public.n_squared, self._executor)
        return Ciphertexts(self.public, self._multiply(a.values, negated))

    def scale(self, a: Ciphertexts, factors: Sequence[Integer]) -> Ciphertexts:
        """Ciphertexts of the products with known integers.

        Args:
            a: the ciphertexts.
            factors: one integer per ciphertext. Their size decides the time: -1 is cheap, n - 1 is not.

        Raises:
            KeyMaterialError: the ciphertexts are under another key.
            UsageError: the lengths differ.
        """
        self._check(a)
        _same_length(a, factors)
        short = all(factor.bit_length() <= SMALL_POWER_BITS for factor in factors)
        self.operations["small_power" if short else "power"] += len(a)
        bases = list(a.values)
        negative = [row for row, factor in enumerate(factors) if factor < 0]
        turned = inverses([bases[row] for row in negative], self.public.n_squared, self._executor)
        for row, base in zip(negative, turned, strict=True):
            bases[row] = base
        exponents = [abs(mpz(factor)) % self.public.n for factor in factors]
        return Ciphertexts(self.public, powers(bases, exponents, self.public.n_squared, self.public_executor))

    def expect(self, count: int) -> ExpectedCiphertexts:
        """What to demand of a message field with `count` ciphertexts under this key."""
        return ExpectedCiphertexts(self.public, count)

    def ciphertexts_of(self, holding: Encrypted) -> Ciphertexts:
        """The ciphertexts of a holding.

        Raises:
            KeyMaterialError: they are under another key than this cipher's.
        """
        vector = holding.ciphertexts
        if not isinstance(vector, Ciphertexts) or vector.key != self.public:
            raise KeyMaterialError(
                "The ciphertexts were not made with the key of this session.",
                "Open the session with the key that they were made with.",
            )
        return vector

    def _check(self, *batches: Ciphertexts) -> None:
        if any(batch.key != self.public for batch in batches):
            raise KeyMaterialError(
                f"Ciphertexts under another key than {self.public.fingerprint[:16]} were given.",
                "Use the cipher of the key that encrypted them.",
            )

    def _plain(self, values: Sequence[Integer]) -> list[mpz]:
        """The ciphertexts of randomness 1."""
        n = self.public.n
        return [1 + value % n * n for value in values]

    def _multiply(self, left: Sequence[mpz], right: Sequence[mpz]) -> list[mpz]:
        return products(left, right, self.public.n_squared, self._executor)

    def _masks(self, count: int) -> list[mpz]:
        """Uniform n-th residues modulo n**2."""
        self.operations["mask"] += count
        if self._general_masks is None:
            key = self.public
            self._general_masks = Masks(
                key.n, key.n, key.n_squared, self._random, self._executor, self._tables, self.public_executor
            )
        return self._general_masks.draw(count)


class OwnPaillier(Paillier):
    """The cipher for the holder of the secret key.

    Args:
        private: the key.
        random: the source of randomness.
        executor: where the work is done.
        tables: as for `Paillier`; they come to tell the primes.
        cluster: as for `Paillier`; what takes the secret key is never done there.
    """

    def __init__(
        self,
        private: PrivateKey,
        random: Randomness,
        executor: Executor,
        tables: MaskTables | None = None,
        cluster: Executor | None = None,
    ) -> None:
        super().__init__(private.public, random, executor, tables, cluster)
        self._private = private
        # n-th residues modulo p**2 are p-th powers, because q is prime to p (p - 1); so too with q
        self._masks_p = Masks(private.p, private.p, private.p_squared, random, executor, self._tables)
        self._masks_q = Masks(private.q, private.q, private.q_squared, random, executor, self._tables)

    def decrypt(self, a: Ciphertexts) -> list[int]:
        """The plaintexts, integers in [0, n).

        Raises:
            KeyMaterialError: the ciphertexts are under another key.
        """
        self._check(a)
        self.operations["decrypt"] += len(a)
        key = self._private
        left = powers(a.values, key.p - 1, key.p_squared, self._executor)
        right = powers(a.values, key.q - 1, key.q_squared, self._executor)
        plain = []
        for power_p, power_q in zip(left, right, strict=True):
            m_p = (power_p - 1) // key.p * key.decryption_p % key.p
            m_q = (power_q - 1) // key.q * key.decryption_q % key.q
            plain.append(int(m_p + (m_q - m_p) * key.p_inverse % key.q * key.p))
        return plain

    def is_zero(self, a: Ciphertexts) -> list[bool]:
        """Whether each plaintext is 0, at half the cost of decrypting.

        Decides whether the plaintext is 0 modulo p, the smaller prime. That is exact for plaintexts of
        absolute value below p, and wrong with probability about 1 / p for uniform ones; a plaintext that
        somebody made a multiple of p passes for 0, but to make one is to factor n.

        Raises:
            KeyMaterialError: the ciphertexts are under another key.
        """
        self._check(a)
        self.operations["zero_test"] += len(a)
        key = self._private
        return [power == 1 for power in powers(a.values, key.p - 1, key.p_squared, self._executor)]

    @override
    def _masks(self, count: int) -> list[mpz]:
        self.operations["mask"] += count
        key = self._private
        pairs = zip(self._masks_p.draw(count), self._masks_q.draw(count), strict=True)
        return [
            left + (right - left) * key.p_squared_inverse % key.q_squared * key.p_squared
            for left, right in pairs
        ]


def _same_length(a: Ciphertexts, others: Sequence[Integer]) -> None:
    if len(a) != len(others):
        raise UsageError(
            f"There are {len(a)} ciphertexts, but {len(others)} numbers.",
            "Give one number for each ciphertext.",
        )
