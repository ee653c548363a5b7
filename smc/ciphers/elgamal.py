"""ElGamal's cipher in the exponent on secp256k1, on batches, with a zero test instead of decryption.

With secret key s and Q = sG, E(m; r) = (rG, mG + rQ). Plaintexts are integers modulo the order of the group;
sums and multiples of ciphertexts are ciphertexts of sums and multiples. Who has s sees mG, which tells
whether m is 0 and leaves m itself behind a discrete logarithm. Source: ElGamal, A public key cryptosystem and
a signature scheme based on discrete logarithms, 1985; with the message in the exponent as in Cramer,
Gennaro, Schoenmakers, A secure and optimally efficient multi-authority election scheme, Eurocrypt 1997.

Semantically secure under the decisional Diffie-Hellman assumption on secp256k1 (about 128 bits). Refreshing
adds E(0; r) for a uniform r, which makes the randomness uniform and independent of the past for the key owner
too, perfectly, because the group is cyclic of prime order. Running times depend on the scalars: only the
multiples of the generator are constant-time.

The identity has no encoding. Homomorphic work may pass through it; encrypting and refreshing draw again if a
component would be the identity, which happens with probability 2**-255.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from coincurve import PublicKey
from typing_extensions import override

from smc.ciphers.batch import Batch, FreshBatch
from smc.ciphers.curve import (
    ORDER,
    POINT_BYTES,
    Point,
    add,
    decode_point,
    encode_point,
    generate,
    multiply,
    same,
    shift,
)
from smc.errors import KeyMaterialError, ProtocolViolation, UsageError
from smc.numeric.modular import spread
from smc.numeric.random import Randomness

Pair: TypeAlias = tuple[Point, Point]
"""A ciphertext: rG and mG + rQ."""

CIPHERTEXT_BYTES: Final = 2 * POINT_BYTES
"""Bytes of one encoded ciphertext."""


@dataclass(frozen=True, slots=True)
class ElGamalKey:
    """A public key.

    Args:
        data: the compressed point Q.

    Raises:
        ProtocolViolation: the bytes are not a compressed point of the curve.
    """

    data: bytes = field(repr=False)
    point: PublicKey = field(init=False, repr=False, compare=False)
    fingerprint: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", decode_point(self.data))
        object.__setattr__(self, "fingerprint", hashlib.sha256(self.data).hexdigest())


@dataclass(frozen=True, slots=True)
class ElGamalSecret:
    """A secret key.

    Args:
        scalar: s, in [1, order of the group).

    Raises:
        KeyMaterialError: it is not.
    """

    scalar: int = field(repr=False)
    public: ElGamalKey = field(init=False, compare=False)

    def __post_init__(self) -> None:
        point = generate(self.scalar) if 0 < self.scalar < ORDER else None
        if point is None:
            raise KeyMaterialError(
                "The ElGamal key is not a number from 1 to the order of the group less one.",
                "Make a key with generate_elgamal.",
            )
        object.__setattr__(self, "public", ElGamalKey(encode_point(point)))


def generate_elgamal(random: Randomness) -> ElGamalSecret:
    """Make a key, in about 20 microseconds: one for every session."""
    return ElGamalSecret(1 + random.below(ORDER - 1, 1)[0])


class ElGamalCiphertexts(Batch[ElGamalKey, Pair]):
    """ElGamal ciphertexts under one key, which may not leave."""

    __slots__ = ()


class FreshElGamalCiphertexts(FreshBatch[ElGamalKey, Pair], ElGamalCiphertexts):
    """Freshly randomised ElGamal ciphertexts; encoded, two compressed points each."""

    __slots__ = ()

    @override
    def _encode(self, values: Sequence[Pair]) -> bytes:
        return b"".join(encode_point(point) for pair in values for point in pair)


@dataclass(frozen=True, slots=True)
class ExpectedElGamalCiphertexts:
    """Demands `count` ciphertexts under `key` from the peer."""

    key: ElGamalKey
    count: int
    executor: Executor = field(repr=False, compare=False)

    @property
    def size(self) -> int:
        """Bytes."""
        return self.count * CIPHERTEXT_BYTES

    def decode(self, data: bytes) -> ElGamalCiphertexts:
        """Parse and check.

        Raises:
            ProtocolViolation: the size is wrong, or a point is not on the curve.
        """
        if len(data) != self.size:
            raise ProtocolViolation(f"{self.size} bytes of ciphertexts were expected, but {len(data)} came.")
        pieces = [data[i : i + CIPHERTEXT_BYTES] for i in range(0, len(data), CIPHERTEXT_BYTES)]
        return ElGamalCiphertexts(self.key, spread(_decode, self.count, self.executor, (pieces,), ()))


class ElGamal:
    """The cipher under a public key.

    Args:
        public: the key.
        random: the source of randomness.
        executor: where the work is done.

    Attributes:
        operations: how many group operations were done, by name, as a function of batch sizes alone:
            `ec_mask` (one fresh randomiser), `ec_power` (one scaling), `ec_zero_test`.
    """

    order: Final = ORDER

    def __init__(self, public: ElGamalKey, random: Randomness, executor: Executor) -> None:
        self.public = public
        self.operations: Counter[str] = Counter()
        self._random = random
        self._executor = executor

    @override
    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.public.fingerprint[:16]})"

    def encrypt(self, values: Sequence[int]) -> FreshElGamalCiphertexts:
        """Encrypt integers modulo the order of the group."""
        self.operations["ec_mask"] += len(values)
        return self._randomise(_encrypt, values, self.public.point)

    def refresh(self, a: ElGamalCiphertexts) -> FreshElGamalCiphertexts:
        """Re-randomise: the same plaintexts under randomness that is independent of all before.

        Raises:
            KeyMaterialError: the ciphertexts are under another key.
        """
        self._check(a)
        self.operations["ec_mask"] += len(a)
        return self._randomise(_refresh, a.values, self.public.point)

    def encrypt_trivially(self, values: Sequence[int]) -> ElGamalCiphertexts:
        """Ciphertexts of public integers, without randomness."""
        return ElGamalCiphertexts(self.public, [(None, generate(value)) for value in values])

    def add_plain(self, a: ElGamalCiphertexts, values: Sequence[int]) -> ElGamalCiphertexts:
        """Ciphertexts of the sums with known integers; for differences give negative ones.

        Raises:
            KeyMaterialError: the ciphertexts are under another key.
            UsageError: the lengths differ.
        """
        self._check(a)
        _same_length(a, values)
        return ElGamalCiphertexts(self.public, spread(_shift, len(a), self._executor, (a.values, values), ()))

    def scale(self, a: ElGamalCiphertexts, factors: Sequence[int]) -> ElGamalCiphertexts:
        """Ciphertexts of the products with known integers.

        Raises:
            KeyMaterialError: the ciphertexts are under another key.
            UsageError: the lengths differ.
        """
        self._check(a)
        _same_length(a, factors)
        self.operations["ec_power"] += len(a)
        return ElGamalCiphertexts(
            self.public, spread(_scale, len(a), self._executor, (a.values, factors), ())
        )

    def expect(self, count: int) -> ExpectedElGamalCiphertexts:
        """What to demand of a message field with `count` ciphertexts under this key."""
        return ExpectedElGamalCiphertexts(self.public, count, self._executor)

    def _check(self, batch: ElGamalCiphertexts) -> None:
        if batch.key != self.public:
            raise KeyMaterialError(
                f"Ciphertexts under another key than {self.public.fingerprint[:16]} were given.",
                "Use the cipher of the key that encrypted them.",
            )

    def _randomise(
        self, work: Callable[..., list[Pair]], values: Sequence[int] | Sequence[Pair], key: PublicKey | int
    ) -> FreshElGamalCiphertexts:
        """The results of `work` on values and uniform scalars, drawn anew where the identity comes out."""
        rows = list(range(len(values)))
        made: dict[int, Pair] = {}
        while rows:
            scalars = self._random.below(ORDER, len(rows))
            batch = [values[row] for row in rows]
            found = spread(work, len(rows), self._executor, (batch, scalars), (key,))
            made.update(zip(rows, found, strict=True))
            rows = [row for row, pair in zip(rows, found, strict=True) if pair[0] is None or pair[1] is None]
        return FreshElGamalCiphertexts.declare(self.public, [made[row] for row in range(len(values))])


class OwnElGamal(ElGamal):
    """The cipher for the holder of the secret key.

    Args:
        secret: the key.
        random: the source of randomness.
        executor: where the work is done.
    """

    def __init__(self, secret: ElGamalSecret, random: Randomness, executor: Executor) -> None:
        super().__init__(secret.public, random, executor)
        self._secret = secret

    @override
    def encrypt(self, values: Sequence[int]) -> FreshElGamalCiphertexts:
        """Encrypt integers modulo the order of the group, by two multiples of the generator."""
        self.operations["ec_mask"] += len(values)
        return self._randomise(_encrypted_by_owner, values, self._secret.scalar)

    def is_zero(self, a: ElGamalCiphertexts) -> list[bool]:
        """Whether each plaintext is 0, without error.

        Raises:
            KeyMaterialError: the ciphertexts are under another key.
        """
        self._check(a)
        self.operations["ec_zero_test"] += len(a)
        return spread(_zero, len(a), self._executor, (a.values,), (self._secret.scalar,))


def _same_length(a: ElGamalCiphertexts, others: Sequence[int]) -> None:
    if len(a) != len(others):
        raise UsageError(
            f"There are {len(a)} ciphertexts, but {len(others)} numbers.",
            "Give one number for each ciphertext.",
        )


def _decode(pieces: Sequence[bytes]) -> list[Pair]:
    return [(decode_point(data[:POINT_BYTES]), decode_point(data[POINT_BYTES:])) for data in pieces]


def _encrypt(values: Sequence[int], scalars: Sequence[int], key: PublicKey) -> list[Pair]:
    return [(generate(r), shift(multiply(key, r), m)) for m, r in zip(values, scalars, strict=True)]


def _encrypted_by_owner(values: Sequence[int], scalars: Sequence[int], secret: int) -> list[Pair]:
    return [(generate(r), generate(m + r * secret)) for m, r in zip(values, scalars, strict=True)]


def _refresh(pairs: Sequence[Pair], scalars: Sequence[int], key: PublicKey) -> list[Pair]:
    return [
        (add(left, generate(r)), add(right, multiply(key, r)))
        for (left, right), r in zip(pairs, scalars, strict=True)
    ]


def _shift(pairs: Sequence[Pair], values: Sequence[int]) -> list[Pair]:
    return [(left, shift(right, value)) for (left, right), value in zip(pairs, values, strict=True)]


def _scale(pairs: Sequence[Pair], factors: Sequence[int]) -> list[Pair]:
    return [
        (multiply(left, factor), multiply(right, factor))
        for (left, right), factor in zip(pairs, factors, strict=True)
    ]


def _zero(pairs: Sequence[Pair], secret: int) -> list[bool]:
    return [same(multiply(left, secret), right) for left, right in pairs]
