"""Paillier keys: making, checking, naming.

Sizes are 2048, 3072 and 4096 bits; 1024 bits exist only under the name `paper-1024`, to repeat the tables
of papers, and the default check refuses them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cache
from typing import Final

import gmpy2
from gmpy2 import mpz

from smc.errors import KeyMaterialError
from smc.numeric.modular import Integer
from smc.numeric.random import Randomness

SIZES: Final = (2048, 3072, 4096)
"""Key sizes for use."""

DEFAULT_BITS: Final = 3072
"""The key size where nobody says otherwise (128-bit security)."""

PAPER_BITS: Final = 1024
"""The size behind the name `paper-1024`."""

SMALL_FACTORS: Final = 1 << 20
"""A modulus with a prime factor below this is refused."""

_FERMAT_STEPS: Final = 1 << 15
_NEW_KEY = "Make a new key with `duetto init`."


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A Paillier modulus n; the generator is 1 + n.

    The constructor asks only what arithmetic needs; `check_public_key` is for keys that come from outside.

    Args:
        n: odd, at least 2**8.

    Raises:
        KeyMaterialError: n is even or tiny.
    """

    n: mpz = field(repr=False)
    n_squared: mpz = field(init=False, repr=False, compare=False)
    fingerprint: str = field(init=False, compare=False)
    bits: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        n = mpz(self.n)
        if n < 1 << 8 or not n.is_odd():
            raise KeyMaterialError("A Paillier modulus must be odd and have 9 bits or more.", _NEW_KEY)
        object.__setattr__(self, "n", n)
        object.__setattr__(self, "n_squared", n * n)
        object.__setattr__(self, "bits", n.bit_length())
        object.__setattr__(self, "fingerprint", _fingerprint(n))

    @property
    def ciphertext_bytes(self) -> int:
        """Bytes of one encoded ciphertext."""
        return 2 * ((self.bits + 7) // 8)


@dataclass(frozen=True, slots=True)
class PrivateKey:
    """The factors of a Paillier modulus, with what the Chinese remainder theorem needs.

    Args:
        p: a prime.
        q: another prime; p * q is prime to (p - 1) * (q - 1). The smaller of the two becomes `p`.

    Raises:
        KeyMaterialError: the numbers are not such primes.
    """

    p: mpz = field(repr=False)
    q: mpz = field(repr=False)
    public: PublicKey = field(init=False, compare=False)
    p_squared: mpz = field(init=False, repr=False, compare=False)
    q_squared: mpz = field(init=False, repr=False, compare=False)
    decryption_p: mpz = field(init=False, repr=False, compare=False)
    decryption_q: mpz = field(init=False, repr=False, compare=False)
    p_inverse: mpz = field(init=False, repr=False, compare=False)
    p_squared_inverse: mpz = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        p, q = sorted((mpz(self.p), mpz(self.q)))
        if p == q or p < 3 or not (gmpy2.is_prime(p) and gmpy2.is_prime(q)):
            raise KeyMaterialError("A Paillier key needs two different odd primes.", _NEW_KEY)
        if gmpy2.gcd(p * q, (p - 1) * (q - 1)) != 1:
            raise KeyMaterialError(
                "The primes of the key do not fit each other: one divides the other minus one.", _NEW_KEY
            )
        derived = {
            "p": p,
            "q": q,
            "public": PublicKey(p * q),
            "p_squared": p * p,
            "q_squared": q * q,
            # (1 + n) ** (p - 1) = 1 + (p - 1) n = 1 - q p modulo p**2
            "decryption_p": gmpy2.invert(-q, p),
            "decryption_q": gmpy2.invert(-p, q),
            "p_inverse": gmpy2.invert(p, q),
            "p_squared_inverse": gmpy2.invert(p * p, q * q),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)


def parse_size(size: str | int) -> int:
    """The number of bits of a named key size.

    Args:
        size: 2048, 3072 or 4096, as a number or text, or `paper-1024`.

    Raises:
        KeyMaterialError: another size.
    """
    names = {str(bits): bits for bits in SIZES} | {f"paper-{PAPER_BITS}": PAPER_BITS}
    if isinstance(size, bool) or str(size).strip() not in names:
        raise KeyMaterialError(
            f"{str(size)[:20]!r} is not a supported key size.", f"Choose one of {', '.join(names)}."
        )
    return names[str(size).strip()]


def generate(bits: int, random: Randomness) -> PrivateKey:
    """Make a key of a supported size.

    Both primes are uniform among the primes of half the size that have their two top bits set and are 3
    modulo 4, subject to: they differ in their upper 100 bits (as FIPS 186-5, appendix A.1, asks of RSA
    primes) and p - 1 and q - 1 share no factor but 2 (so the group of squares is cyclic).

    Args:
        bits: 2048, 3072, 4096, or 1024 for the tables of papers.
        random: the source of randomness.

    Raises:
        KeyMaterialError: another size.
    """
    if bits not in (*SIZES, PAPER_BITS):
        raise KeyMaterialError(
            f"Keys of {bits} bits are not supported.", f"Choose one of {', '.join(map(str, SIZES))}."
        )
    return _generate(bits, random)


def generate_toy(bits: int, random: Randomness) -> PrivateKey:
    """Make a key that protects nothing and is fast, for tests; `check_public_key` refuses it.

    Args:
        bits: even, 32 to 1022.
        random: the source of randomness.

    Raises:
        KeyMaterialError: another size.
    """
    if bits % 2 or not 32 <= bits < PAPER_BITS:
        raise KeyMaterialError(
            f"Toy keys of {bits} bits are not supported.", "Choose an even size from 32 to 1022."
        )
    return _generate(bits, random)


def check_public_key(n: Integer, minimum_bits: int = 2048) -> PublicKey:
    """Check a modulus that came from outside.

    The checks find damaged, mistyped and carelessly made moduli in some 20 ms: wrong size, even, prime, a
    perfect power, a prime factor below 2**20, two factors so close to each other that Fermat's method finds
    them within 2**15 steps. That n is square-free and prime to phi(n) is proved at pairing, see
    `smc.ciphers.key_proof`. Nothing shows that n has exactly two prime factors and that both are large: a
    party that lies about that weakens the protection of its own secrets.

    Args:
        n: the modulus.
        minimum_bits: the least size; 1024-bit keys pass only if this is 1024 or less.

    Returns:
        The key.

    Raises:
        KeyMaterialError: the modulus fails a check, with the reason.
    """
    check_modulus(mpz(n), minimum_bits, "Paillier")
    return PublicKey(mpz(n))


def check_modulus(n: mpz, minimum_bits: int, cipher: str) -> None:
    """The checks of a modulus with two prime factors that came from outside, see `check_public_key`.

    Args:
        n: the modulus.
        minimum_bits: the least size.
        cipher: how errors call the modulus.

    Raises:
        KeyMaterialError: the modulus fails a check, with the reason.
    """
    allowed = [bits for bits in (PAPER_BITS, *SIZES) if bits >= minimum_bits]
    if n < 0 or n.bit_length() not in allowed:
        sizes = ", ".join(map(str, allowed)) or f"none of {minimum_bits} or more"
        raise KeyMaterialError(
            f"The {cipher} modulus has {n.bit_length()} bits; allowed sizes: {sizes}.", _NEW_KEY
        )
    if not n.is_odd():
        raise KeyMaterialError(f"The {cipher} modulus is even.", _NEW_KEY)
    if small_factor(n):
        raise KeyMaterialError(f"The {cipher} modulus has a prime factor below {SMALL_FACTORS}.", _NEW_KEY)
    if gmpy2.is_power(n):
        raise KeyMaterialError(f"The {cipher} modulus is a perfect power.", _NEW_KEY)
    if gmpy2.is_prime(n):
        raise KeyMaterialError(f"The {cipher} modulus is prime.", _NEW_KEY)
    if _close_factors(n):
        raise KeyMaterialError(f"The factors of the {cipher} modulus are too close to each other.", _NEW_KEY)


def small_factor(n: mpz) -> bool:
    """Whether a prime below `SMALL_FACTORS` divides n, which is not 0; a millisecond."""
    return bool(gmpy2.gcd(n, _small_primes()) != 1)


@cache
def _small_primes() -> mpz:
    return gmpy2.primorial(SMALL_FACTORS - 1)


def _close_factors(n: mpz) -> bool:
    """Whether Fermat's method finds factors of the odd n: n = a**2 - b**2 with a just above its root."""
    a = gmpy2.isqrt(n - 1) + 1
    square = a * a - n
    for _ in range(_FERMAT_STEPS):
        if gmpy2.is_square(square):
            return True
        square += 2 * a + 1
        a += 1
    return False


def _fingerprint(n: mpz) -> str:
    """SHA-256, in hexadecimal, of n in big-endian bytes after their number in four bytes."""
    data = int(n).to_bytes((n.bit_length() + 7) // 8, "big")
    return hashlib.sha256(len(data).to_bytes(4, "big") + data).hexdigest()


def _generate(bits: int, random: Randomness) -> PrivateKey:
    half = bits // 2
    distance = mpz(1) << max(half - 100, 1)
    while True:
        p, q = _prime(half, random), _prime(half, random)
        if abs(p - q) > distance and gmpy2.gcd(p - 1, q - 1) == 2:
            return PrivateKey(p, q)


def _prime(bits: int, random: Randomness) -> mpz:
    while True:
        candidate = mpz((0b11 << (bits - 2)) + 4 * random.below(1 << (bits - 4), 1)[0] + 3)
        if gmpy2.is_prime(candidate):
            return candidate
