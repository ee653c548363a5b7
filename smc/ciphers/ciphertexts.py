"""Batches of Paillier ciphertexts: integers modulo n**2, see `smc.ciphers.batch` for what may leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import gmpy2
from gmpy2 import mpz
from typing_extensions import override

from smc.ciphers.batch import Batch, FreshBatch
from smc.ciphers.keys import PublicKey
from smc.errors import ProtocolViolation


class Ciphertexts(Batch[PublicKey, mpz]):
    """Ciphertexts under one key, which may not leave.

    Args:
        key: the key.
        values: integers modulo n**2, taken as valid; `ExpectedCiphertexts` and `valid` check foreign ones.
    """

    __slots__ = ()


class Fresh(FreshBatch[PublicKey, mpz], Ciphertexts):
    """Freshly randomised ciphertexts, each of which may leave once; `Paillier` makes them, nobody else.

    Encoded, they are big-endian integers of `key.ciphertext_bytes` bytes each.
    """

    __slots__ = ()

    @override
    def _encode(self, values: Sequence[mpz]) -> bytes:
        width = self.key.ciphertext_bytes
        return b"".join(int(value).to_bytes(width, "big") for value in values)


def declare_fresh(key: PublicKey, values: Sequence[mpz]) -> Fresh:
    """Fresh ciphertexts of integers that a uniform mask was just multiplied into; for `Paillier` only."""
    return Fresh.declare(key, values)


def valid(key: PublicKey, values: Sequence[mpz]) -> bool:
    """Whether all integers are in (0, n**2) and prime to n, as every ciphertext is."""
    return are_units(values, key.n_squared, key.n)


def are_units(values: Sequence[mpz], bound: mpz, n: mpz) -> bool:
    """Whether all integers are in (0, bound) and prime to n."""
    if not all(0 < value < bound for value in values):
        return False
    running = mpz(1)
    for value in values:
        running = running * value % n
    return bool(gmpy2.gcd(running, n) == 1)


@dataclass(frozen=True, slots=True)
class ExpectedCiphertexts:
    """Demands `count` ciphertexts under `key` from the peer."""

    key: PublicKey
    count: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.count * self.key.ciphertext_bytes

    def decode(self, data: bytes) -> Ciphertexts:
        """Parse and check.

        Raises:
            ProtocolViolation: the size is wrong, or an integer is not a ciphertext under the key.
        """
        if len(data) != self.size:
            raise ProtocolViolation(f"{self.size} bytes of ciphertexts were expected, but {len(data)} came.")
        width = self.key.ciphertext_bytes
        values = [mpz(int.from_bytes(data[i : i + width], "big")) for i in range(0, len(data), width)]
        if not valid(self.key, values):
            raise ProtocolViolation("A number from the peer is not a ciphertext under the agreed key.")
        return Ciphertexts(self.key, values)
