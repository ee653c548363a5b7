"""What a protocol may ask of an additively homomorphic cipher with a zero test.

Paillier's cipher and ElGamal's in the exponent both answer to it, so a protocol that needs no more is written
once. Plaintexts are integers modulo `order`; batches of one cipher are of one type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from smc.channel.message import Expected
from smc.ciphers.batch import Batch, FreshBatch

B = TypeVar("B", bound=Batch[Any, Any])


class Cipher(Protocol[B]):
    """The cipher under a public key."""

    @property
    def order(self) -> int:
        """The modulus of the plaintexts."""
        ...

    def encrypt(self, values: Sequence[int], /) -> FreshBatch[Any, Any]:
        """Encrypt integers modulo `order`."""
        ...

    def encrypt_trivially(self, values: Sequence[int], /) -> B:
        """Ciphertexts of public integers, without randomness."""
        ...

    def scale(self, a: B, factors: Sequence[int], /) -> B:
        """Ciphertexts of the products with known integers."""
        ...

    def add_plain(self, a: B, values: Sequence[int], /) -> B:
        """Ciphertexts of the sums with known integers."""
        ...

    def refresh(self, a: B, /) -> FreshBatch[Any, Any]:
        """The same plaintexts under randomness that is independent of all before, also for the key owner."""
        ...

    def expect(self, count: int, /) -> Expected[B]:
        """What to demand of a message field with `count` ciphertexts under this key."""
        ...


class OwnCipher(Cipher[B], Protocol[B]):
    """The cipher for the holder of the secret key."""

    def is_zero(self, a: B, /) -> list[bool]:
        """Whether each plaintext is 0."""
        ...
