"""Randomness: from the operating system unless a seed is given; the same methods either way.

Words come from AES-128 in counter mode, so that who sees some of the output cannot tell the rest; its key
comes from the operating system, or from the seed. A seed makes a run repeatable and
takes the protection of random methods away from everybody who knows it.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import Final

import numpy as np
import scipy
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_MANTISSA: Final = 53


class Randomness:
    """A stream of random numbers.

    Args:
        seed: None for the operating system's, an integer for a repeatable stream.
        purpose: streams of one seed and different purposes are independent. Who attacks or tests a release
            must not draw the rows again that made it.
    """

    def __init__(self, seed: int | None = None, purpose: str = "") -> None:
        key = (
            secrets.token_bytes(16)
            if seed is None
            else hashlib.sha256(f"seed {int(seed)}{purpose}".encode()).digest()[:16]
        )
        self._stream = Cipher(algorithms.AES128(key), modes.CTR(bytes(16))).encryptor()

    def words(self, count: int) -> NDArray[np.uint64]:
        """Uniform 64-bit words, shape (count,)."""
        return np.frombuffer(self._stream.update(bytes(8 * count)), dtype="<u8").astype(np.uint64)

    def uniform(self, count: int) -> Float:
        """Uniform on (0, 1), never the ends, multiples of 2**-54."""
        return (2 * (self.words(count) >> np.uint64(64 - _MANTISSA)).astype(np.float64) + 1) / 2.0 ** (
            _MANTISSA + 1
        )

    def integers(self, bound: int, count: int) -> Int:
        """Uniform on [0, bound), off by a statistical distance below bound / 2**63."""
        return (self.words(count) % np.uint64(bound)).astype(np.int64)

    def permutation(self, count: int) -> Int:
        """A uniform permutation of 0 .. count - 1 (ties of 64-bit words apart)."""
        return np.argsort(self.words(count), kind="stable").astype(np.int64)

    def sample(self, count: int, size: int) -> Int:
        """`size` different numbers from 0 .. count - 1, in increasing order."""
        return np.sort(self.permutation(count)[:size])

    def normal(self, count: int) -> Float:
        """Standard normal, in double precision: not for noise that claims differential privacy."""
        drawn: Float = scipy.special.ndtri(self.uniform(count))
        return drawn

    def laplace(self, count: int) -> Float:
        """Laplace of scale 1, in double precision: not for noise that claims differential privacy."""
        centred = self.uniform(count) - 0.5
        drawn: Float = -np.sign(centred) * np.log1p(-2 * np.abs(centred))
        return drawn
