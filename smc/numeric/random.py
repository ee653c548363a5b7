"""The only source of randomness of `smc` and `parties`."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from math import gcd
from typing import TypeVar

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from smc.errors import UsageError
from smc.pieces import each

T = TypeVar("T")

_BULK = 1 << 12
_SEEDED = b"duetto/seeded/1"


def _stream(seed: bytes, purpose: str) -> Callable[[int], bytes]:
    key = hashlib.sha256(_SEEDED + len(seed).to_bytes(8, "big") + seed + purpose.encode()).digest()
    stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
    return lambda count: stream.update(bytes(count))


class Randomness:
    """Uniform draws from a source of random bytes.

    Requests of 4 KiB and more are the AES-256-CTR key stream under a fresh key from the source, so bulk
    costs what AES costs; smaller ones come from the source itself.

    Args:
        source: returns the asked number of uniform bytes; the operating system's generator unless a
            test passes another.
        replays: whether a run that draws from it has to be one that can be made again: then nothing in it
            draws from elsewhere, libraries included.
    """

    def __init__(self, source: Callable[[int], bytes] = os.urandom, *, replays: bool = False) -> None:
        self._source = source
        self.replays = replays

    @classmethod
    def from_seed(cls, seed: bytes, purpose: str) -> Randomness:
        """Draws that follow from a seed: the same wherever the same is asked for in the same order.

        The source is the AES-256-CTR key stream under SHA-256 of the seed and the purpose. Whoever knows the
        seed knows the draws: one that both parties know is for simulations of what is public, and never for
        noise, masks, shares or keys.

        Args:
            seed: as unpredictable as the draws have to be.
            purpose: different for draws that have to be independent of each other.
        """
        return cls(_stream(seed, purpose))

    @classmethod
    def of_run(cls, seed: bytes) -> Randomness:
        """The source of a run that can be made again from its seed, see `smc.evidence`.

        Args:
            seed: 32 uniform bytes, secret until the run is audited, and of no other run.
        """
        return cls(_stream(seed, "run"), replays=True)

    def bytes(self, count: int) -> bytes:
        """`count` uniform bytes."""
        if count < _BULK:
            return self._source(count)
        stream = Cipher(algorithms.AES(self._source(32)), modes.CTR(bytes(16))).encryptor()
        return stream.update(bytes(count))

    def below(self, bound: int, count: int) -> list[int]:
        """`count` integers uniform in [0, bound), by rejection.

        Raises:
            UsageError: the bound is not positive.
        """
        if bound < 1:
            raise UsageError(
                f"There is no random number from 0 up to, but not including, {bound}.",
                "Give a bound of at least 1.",
            )
        width = ((bound - 1).bit_length() + 7) // 8
        if not width:
            return [0] * count
        excess = 8 * width - (bound - 1).bit_length()
        drawn: list[int] = []
        while len(drawn) < count:
            data = self.bytes(width * (count - len(drawn)))
            tries = (int.from_bytes(data[i : i + width], "big") >> excess for i in range(0, len(data), width))
            drawn += [value for value in tries if value < bound]
        return drawn

    def units(self, modulus: int, count: int) -> list[int]:
        """`count` integers uniform among those in [1, modulus) that are prime to the modulus."""
        drawn: list[int] = []
        while len(drawn) < count:
            drawn += [v for v in self.below(modulus, count - len(drawn)) if gcd(v, modulus) == 1]
        return drawn

    def bits(self, count: int) -> NDArray[np.uint8]:
        """`count` uniform bits, one per byte of the array."""
        packed = np.frombuffer(self.bytes((count + 7) // 8), dtype=np.uint8)
        return np.unpackbits(packed, count=count)

    def words(self, count: int) -> NDArray[np.uint64]:
        """`count` uniform 64-bit words."""
        return np.frombuffer(bytearray(self.bytes(8 * count)), dtype=np.uint64)

    def permutation(self, count: int) -> NDArray[np.int64]:
        """A uniform permutation of range(count): the order of random words, drawn again if two are equal."""
        while True:
            words = self.words(count)
            order = np.argsort(words)
            drawn = words[order]
            if (drawn[1:] != drawn[:-1]).all():
                return order

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """A uniformly permuted copy (Fisher-Yates)."""
        result = list(items)
        for last in each(range(len(result) - 1, 0, -1)):
            other = self.below(last + 1, 1)[0]
            result[last], result[other] = result[other], result[last]
        return result
