"""Encapsulation to keys of ML-KEM-768 with given randomness: FIPS 203, algorithm 17, for many keys at once.

The library draws the randomness of each ciphertext itself. Where a run has to follow from a seed, so that
somebody can make it again, ciphertexts come from here; what is sent looks the same, and the library opens it.

Polynomials are arrays of 256 coefficients in [0, 3329), the last axis; all arithmetic is that of int64 and
takes no branch on a coefficient.

Reference: FIPS 203 (August 2024), sections 4 to 7; numbers of algorithms are its.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

MODULUS: Final = 3329
DEGREE: Final = 256
RANK: Final = 3
MESSAGE_BYTES: Final = 32
KEY_BYTES: Final = RANK * DEGREE * 12 // 8
CIPHERTEXT_BYTES: Final = RANK * DEGREE * 10 // 8 + DEGREE * 4 // 8

_ROOT: Final = 17
"""A primitive 256-th root of unity modulo 3329."""
_NOISE_BYTES: Final = 2 * DEGREE * 2 // 8
_DRAWN_BYTES: Final = 504
"""Of words of 12 bits: of 336 words 273 are expected to be reduced; rows with fewer than 256 draw on."""

Bytes = NDArray[np.uint8]
Polynomials = NDArray[np.int64]


def _reverse_bits(number: int, bits: int) -> int:
    return int(f"{number:0{bits}b}"[::-1], 2)


_ZETAS: Final = np.array([pow(_ROOT, _reverse_bits(k, 7), MODULUS) for k in range(128)])
_GAMMAS: Final = np.array([pow(_ROOT, 2 * _reverse_bits(k, 7) + 1, MODULUS) for k in range(128)])


def unpack(data: Bytes) -> NDArray[np.uint16]:
    """Words of 12 bits, the lower ones first (algorithm 6); shape (..., 3 m) to (..., 2 m)."""
    first, second, third = (data[..., place::3].astype(np.uint16) for place in range(3))
    words = np.stack([first | (second & 15) << 8, second >> 4 | third << 4], axis=-1)
    return words.reshape(*data.shape[:-1], -1)


def encapsulate(keys: Bytes, seeds: Bytes, messages: Bytes) -> tuple[Bytes, list[bytes]]:
    """A secret for each key, and its ciphertext.

    Args:
        keys: t of each key as it is sent, coefficients reduced, shape (n, 1152).
        seeds: rho of each key, shape (n, 32).
        messages: what the secrets and ciphertexts follow from, uniform, shape (n, 32).

    Returns:
        The ciphertexts, shape (n, 1088), and the secrets, of 32 bytes.
    """
    secrets, randomness = [], []
    for key, seed, message in zip(keys, seeds, messages, strict=True):
        named = hashlib.sha3_256(key.tobytes() + seed.tobytes()).digest()
        whole = hashlib.sha3_512(message.tobytes() + named).digest()
        secrets.append(whole[:32])
        randomness.append(whole[32:])
    noise = _noise(randomness)
    y, e1, e2 = _transform(noise[:, :RANK]), noise[:, RANK : 2 * RANK], noise[:, -1]
    u = np.stack([_inverse(_inner(column, y)) for column in _columns(seeds)], axis=1) + e1
    t = unpack(keys).astype(np.int64).reshape(-1, RANK, DEGREE)
    bits = np.unpackbits(messages, axis=-1, bitorder="little").astype(np.int64)
    v = _inverse(_inner(t, y)) + e2 + bits * ((MODULUS + 1) // 2)
    parts = [_pack(_compress(u, 10).reshape(len(keys), -1), 10), _pack(_compress(v, 4), 4)]
    return np.concatenate(parts, axis=1), secrets


def _columns(seeds: Bytes) -> Iterable[Polynomials]:
    """The columns of the public matrix in the transformed domain, each of shape (n, 3, 256).

    Keys of the same rho beside each other have it once.
    """
    names = [seed.tobytes() for seed in seeds]
    known = {name: place for place, name in enumerate(dict.fromkeys(names))}
    places = [known[name] for name in names]
    for column in range(RANK):
        rows = (name + bytes([column, row]) for name in known for row in range(RANK))
        yield _uniform(list(rows)).reshape(-1, RANK, DEGREE)[places]


def _uniform(names: list[bytes]) -> Polynomials:
    """The first 256 reduced words of 12 bits of each stream (algorithm 7), shape (len(names), 256)."""
    size = _DRAWN_BYTES
    while True:
        streams = b"".join(hashlib.shake_128(name).digest(size) for name in names)
        words = unpack(np.frombuffer(streams, dtype=np.uint8).reshape(-1, size)).astype(np.int64)
        reduced = words < MODULUS
        counts = np.cumsum(reduced, axis=1)
        if (counts[:, -1] >= DEGREE).all():
            return words[reduced & (counts <= DEGREE)].reshape(-1, DEGREE)
        size *= 2


def _noise(randomness: list[bytes]) -> Polynomials:
    """Centred binomial noise of two and two bits (algorithm 8): y, e1 and e2, shape (n, 7, 256)."""
    streams = b"".join(
        hashlib.shake_256(each + bytes([number])).digest(_NOISE_BYTES)
        for each in randomness
        for number in range(2 * RANK + 1)
    )
    bits = np.unpackbits(np.frombuffer(streams, dtype=np.uint8), bitorder="little").astype(np.int64)
    fours = bits.reshape(len(randomness), 2 * RANK + 1, DEGREE, 4)
    return (fours[..., 0] + fours[..., 1] - fours[..., 2] - fours[..., 3]) % MODULUS


def _transform(values: Polynomials) -> Polynomials:
    """The number-theoretic transform (algorithm 9)."""
    return _steps(values, [128 >> step for step in range(7)], _ahead)


def _inverse(values: Polynomials) -> Polynomials:
    """Its inverse (algorithm 10)."""
    return _steps(values, [2 << step for step in range(7)], _back) * pow(128, -1, MODULUS) % MODULUS


def _steps(
    values: Polynomials,
    lengths: list[int],
    step: Callable[[Polynomials, Polynomials, Polynomials], tuple[Polynomials, Polynomials]],
) -> Polynomials:
    """Seven layers; that of length l has 128 / l blocks, whose roots have the numbers from 128 / l on.

    Block b has that of number 128 / l + b ahead, and that of number 256 / l - 1 - b back, see `_back`.
    """
    for length in lengths:
        blocks = DEGREE // 2 // length
        pairs = values.reshape(*values.shape[:-1], blocks, 2, length)
        roots = _ZETAS[blocks : 2 * blocks]
        low, high = step(pairs[..., 0, :], pairs[..., 1, :], roots[:, None])
        values = np.stack([low, high], axis=-2).reshape(values.shape)
    return values


def _ahead(low: Polynomials, high: Polynomials, roots: Polynomials) -> tuple[Polynomials, Polynomials]:
    turned = high * roots
    return (low + turned) % MODULUS, (low - turned) % MODULUS


def _back(low: Polynomials, high: Polynomials, roots: Polynomials) -> tuple[Polynomials, Polynomials]:
    return (low + high) % MODULUS, (high - low) * roots[::-1] % MODULUS


def _inner(left: Polynomials, right: Polynomials) -> Polynomials:
    """Sums of products of vectors in the transformed domain (algorithms 11 and 12), (n, 3, 256) to (n, 256).

    There coefficients 2 i and 2 i + 1 are those of a polynomial modulo X**2 - gamma_i.
    """
    a0, a1, b0, b1 = left[..., ::2], left[..., 1::2], right[..., ::2], right[..., 1::2]
    even = (a0 * b0 + a1 * b1 % MODULUS * _GAMMAS).sum(axis=1)
    odd = (a0 * b1 + a1 * b0).sum(axis=1)
    return np.stack([even, odd], axis=-1).reshape(len(left), DEGREE) % MODULUS


def _compress(values: Polynomials, bits: int) -> Polynomials:
    """The upper bits of coefficients, rounded (section 4.2.1)."""
    return (((values % MODULUS << bits) * 2 + MODULUS) // (2 * MODULUS)) % (1 << bits)


def _pack(values: Polynomials, bits: int) -> Bytes:
    """Words of so many bits, the lower ones first (algorithm 5), shape (n, m) to (n, m bits / 8)."""
    spread = (values[..., None] >> np.arange(bits)) & 1
    return np.packbits(spread.reshape(len(values), -1).astype(np.uint8), axis=-1, bitorder="little")
