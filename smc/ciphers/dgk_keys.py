"""Keys of the cipher of Damgard, Geisler and Kroigaard: making, checking, encoding.

n = p q; u is a small prime that divides p - 1 and q - 1; v_p and v_q are primes of `SUBGROUP_BITS` bits that
divide p - 1 and q - 1. g has order u v_p modulo p and u v_q modulo q, h has order v_p and v_q. The security
rests on subgroups: without the factors, powers of h look like powers of g, and finding v_p takes about
2**(SUBGROUP_BITS / 2) steps. With n of 2048 bits that is 112 bits, as for RSA.

Source: Damgard, Geisler, Kroigaard, Efficient and secure comparison for on-line auctions, 2007, with their
correction of 2009, which has the randomness' exponents range past the order of h. Rebuilt from general
knowledge and the thesis's description of [VBdHE15]; the papers' texts were not at hand.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Final

import gmpy2
from gmpy2 import mpz

from smc.ciphers.keys import check_modulus
from smc.errors import KeyMaterialError, ProtocolViolation
from smc.numeric.random import Randomness

PLAINTEXTS: Final = 773
"""u: the least prime above 3 * 256 + 2, so that the comparison of 256 bits cannot wrap."""

BITS: Final = 2048
"""The size of n that parties use."""

SUBGROUP_BITS: Final = 256
"""The size of v_p and v_q."""

KEY_BYTES: Final = 3 * BITS // 8
"""Bytes of an encoded public key: n, g and h."""

_TOY_BITS: Final = 512
_TOY_SUBGROUP_BITS: Final = 100
_NEW_KEY: Final = "Make a new key; sessions make their own unless they are given one."


@dataclass(frozen=True, slots=True)
class DgkPublicKey:
    """A public key (n, g, h).

    The constructor asks only what arithmetic needs; `check_dgk_key` is for keys that come from outside.

    Args:
        n: the modulus, odd.
        g: generator of the plaintexts.
        h: generator of the randomness.

    Raises:
        KeyMaterialError: n is even or tiny, or g or h is not a unit modulo n.
    """

    n: mpz = field(repr=False)
    g: mpz = field(repr=False)
    h: mpz = field(repr=False)
    bits: int = field(init=False, compare=False)
    fingerprint: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        n, g, h = mpz(self.n), mpz(self.g), mpz(self.h)
        if n < 1 << 8 or not n.is_odd():
            raise KeyMaterialError("A DGK modulus must be odd and have 9 bits or more.", _NEW_KEY)
        if not (0 < g < n and 0 < h < n and gmpy2.gcd(g * h, n) == 1):
            raise KeyMaterialError("A generator of a DGK key is not invertible modulo n.", _NEW_KEY)
        width = (n.bit_length() + 7) // 8
        data = b"".join(int(number).to_bytes(width, "big") for number in (n, g, h))
        for name, number in (("n", n), ("g", g), ("h", h)):
            object.__setattr__(self, name, number)
        object.__setattr__(self, "bits", n.bit_length())
        object.__setattr__(self, "fingerprint", hashlib.sha256(data).hexdigest())

    @property
    def ciphertext_bytes(self) -> int:
        """Bytes of one encoded ciphertext."""
        return (self.bits + 7) // 8


@dataclass(frozen=True, slots=True)
class DgkPrivateKey:
    """The factors of n and the orders of h, with the public key that belongs to them.

    Args:
        p: a prime, 1 modulo u v_p.
        q: another prime, 1 modulo u v_q.
        v_p: a prime.
        v_q: another prime.
        g: of order u v_p modulo p and u v_q modulo q.
        h: of order v_p modulo p and v_q modulo q.

    Raises:
        KeyMaterialError: the numbers are not so.
    """

    p: mpz = field(repr=False)
    q: mpz = field(repr=False)
    v_p: mpz = field(repr=False)
    v_q: mpz = field(repr=False)
    g: mpz = field(repr=False)
    h: mpz = field(repr=False)
    public: DgkPublicKey = field(init=False, compare=False)
    p_inverse: mpz = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("p", "q", "v_p", "v_q", "g", "h"):
            object.__setattr__(self, name, mpz(getattr(self, name)))
        if self.p == self.q or self.v_p == self.v_q:
            raise KeyMaterialError("A DGK key needs two different primes of each kind.", _NEW_KEY)
        for prime, v in ((self.p, self.v_p), (self.q, self.v_q)):
            if prime < 3 or v < 3 or not (gmpy2.is_prime(prime) and gmpy2.is_prime(v)):
                raise KeyMaterialError("A factor of a DGK key is not a prime.", _NEW_KEY)
            if (prime - 1) % (PLAINTEXTS * v) or not (
                _has_order(self.g, prime, PLAINTEXTS, v) and _has_order(self.h, prime, v)
            ):
                raise KeyMaterialError(
                    "A generator of a DGK key does not have the order that it needs.", _NEW_KEY
                )
        object.__setattr__(self, "public", DgkPublicKey(self.p * self.q, self.g, self.h))
        object.__setattr__(self, "p_inverse", gmpy2.invert(self.p, self.q))


def generate_dgk(random: Randomness) -> DgkPrivateKey:
    """Make a key of `BITS` bits, in about a tenth of a second.

    Args:
        random: the source of randomness.
    """
    return _generate(BITS, SUBGROUP_BITS, random)


def generate_toy_dgk(random: Randomness) -> DgkPrivateKey:
    """Make a key of 512 bits that protects nothing, for tests; `check_dgk_key` refuses it."""
    return _generate(_TOY_BITS, _TOY_SUBGROUP_BITS, random)


def check_dgk_key(key: DgkPublicKey) -> None:
    """Check a key that came from outside, as far as that goes without its factors.

    Size, parity, small and close factors, primality and perfect powers of n; g and h have odd order in an
    honest key and are therefore squares, so their Jacobi symbols must be 1; neither may be 1, or the other.

    Raises:
        KeyMaterialError: the key fails a check, with the reason.
    """
    if key.bits != BITS:
        raise KeyMaterialError(f"The DGK modulus has {key.bits} bits instead of {BITS}.", _NEW_KEY)
    check_modulus(key.n, BITS, "DGK")
    symbols = gmpy2.jacobi(key.g, key.n), gmpy2.jacobi(key.h, key.n)
    if key.g == key.h or 1 in (key.g, key.h) or symbols != (1, 1):
        raise KeyMaterialError("A generator of the DGK key cannot have the order that it needs.", _NEW_KEY)


def encode_public_key(key: DgkPublicKey) -> bytes:
    """n, g and h as big-endian integers of one width."""
    return b"".join(int(number).to_bytes(key.ciphertext_bytes, "big") for number in (key.n, key.g, key.h))


def decode_public_key(data: bytes) -> DgkPublicKey:
    """Parse and check the peer's key.

    Args:
        data: `KEY_BYTES` bytes.

    Raises:
        ProtocolViolation: that is not an acceptable key.
    """
    width = BITS // 8
    numbers = [int.from_bytes(data[start : start + width], "big") for start in range(0, len(data), width)]
    try:
        key = DgkPublicKey(*map(mpz, numbers))
        check_dgk_key(key)
    except KeyMaterialError as error:
        raise ProtocolViolation(f"The peer's DGK key is not acceptable: {error.what}") from None
    return key


def _has_order(element: mpz, prime: mpz, *factors: int | mpz) -> bool:
    """Whether the order modulo `prime` is the product of `factors`, which are primes."""
    product = gmpy2.mpz(1)
    for factor in factors:
        product *= factor
    return gmpy2.powmod(element, product, prime) == 1 and all(
        gmpy2.powmod(element, product // factor, prime) != 1 for factor in factors
    )


def _generate(bits: int, subgroup_bits: int, random: Randomness) -> DgkPrivateKey:
    while True:
        v_p, v_q = _subgroup_prime(subgroup_bits, random), _subgroup_prime(subgroup_bits, random)
        p, q = _prime_above(v_p, bits // 2, random), _prime_above(v_q, bits // 2, random)
        crossed = (p - 1) % v_q == 0 or (q - 1) % v_p == 0
        if v_p != v_q and not crossed and abs(p - q) > mpz(1) << (bits // 2 - 100):
            break
    g = _together(p, q, _element(p, random, PLAINTEXTS, v_p), _element(q, random, PLAINTEXTS, v_q))
    h = _together(p, q, _element(p, random, v_p), _element(q, random, v_q))
    return DgkPrivateKey(p, q, v_p, v_q, g, h)


def _subgroup_prime(bits: int, random: Randomness) -> mpz:
    while True:
        candidate = mpz((1 << (bits - 1)) + 2 * random.below(1 << (bits - 2), 1)[0] + 1)
        if gmpy2.is_prime(candidate):
            return candidate


def _prime_above(v: mpz, bits: int, random: Randomness) -> mpz:
    """A prime 2 u v f + 1 of `bits` bits, its two top bits set, f uniform among those that give one."""
    step = 2 * PLAINTEXTS * v
    low, high = (mpz(0b11) << (bits - 2)) // step + 1, (mpz(1) << bits) // step
    while True:
        candidate = step * (low + random.below(int(high - low), 1)[0]) + 1
        if gmpy2.is_prime(candidate):
            return candidate


def _element(prime: mpz, random: Randomness, *factors: int | mpz) -> mpz:
    """An element modulo `prime`, uniform among those whose order is the product of `factors`."""
    exponent = prime - 1
    for factor in factors:
        exponent //= factor
    while True:
        found = gmpy2.powmod(1 + random.below(int(prime) - 1, 1)[0], exponent, prime)
        if _has_order(found, prime, *factors):
            return found


def _together(p: mpz, q: mpz, left: mpz, right: mpz) -> mpz:
    """The number modulo p q that is `left` modulo p and `right` modulo q."""
    return left + (right - left) * gmpy2.invert(p, q) % q * p
