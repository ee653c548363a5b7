"""A proof that a Paillier modulus is square-free and prime to phi(N), for anybody to check once.

    owner of N = p q                                          verifier
      challenge_i = hash(N, i), below N, i = 1 .. ROOTS         the same
      root_i = challenge_i ** (1 / N mod phi(N)) mod N
                                    -- roots -->                no prime below 2**20 divides N
                                                                root_i ** N = challenge_i modulo N for all i

If a prime l divides both N and phi(N), as it does where N has a square factor, raising the units modulo N to
the power N is l to 1 or worse: at most one challenge in l has a root, and l is above 2**20. All `ROOTS`
challenges have one with a probability below 2**-140, whoever chose N. If N and phi(N) have no common factor,
every unit has exactly one root, and the proof tells nothing: a simulator draws roots and programs the hash.

Learns: the verifier the statement; the proof is public.
Assumes: SHA-256 as a random oracle. The number and the size of N's prime factors are not proved, but for
    what `smc.ciphers.keys.check_public_key` finds: an owner who makes a modulus that others can factor gives
    away its own secrets.
Cost: one message of `ROOTS` residues, 2.7 kB for 3072 bits; as many powers with exponents of the size of N.
Reference: Goldberg, Reyzin, Sagga and Baldimtsi, Efficient noninteractive certification of RSA moduli and
    beyond, ASIACRYPT 2019, the proof for Paillier moduli. Rebuilt from the construction as commonly
    described; the paper's text was not at hand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from itertools import count
from typing import Final

import gmpy2
from gmpy2 import mpz

from smc.ciphers.keys import SMALL_FACTORS, PrivateKey, small_factor
from smc.errors import KeyMaterialError
from smc.numeric.modular import Integer

SOUNDNESS_BITS: Final = 128
"""A false proof is found with probability below 2**-128 per try."""

ROOTS: Final = -(-SOUNDNESS_BITS // (SMALL_FACTORS.bit_length() - 1))
"""How many roots a proof has."""

_DOMAIN: Final = b"duetto/paillier-proof/1"
_DIGEST_BYTES: Final = 32
_HINT: Final = "Ask the key's owner for a new key made by `duetto init`."


def prove(key: PrivateKey) -> tuple[mpz, ...]:
    """The proof of a key, `ROOTS` residues modulo N; always the same for the same key.

    Args:
        key: of any size.
    """
    n = key.public.n
    exponents = [gmpy2.invert(n, prime - 1) for prime in (key.p, key.q)]
    roots = []
    for challenge in challenges(n):
        modulo_p, modulo_q = (
            gmpy2.powmod(challenge, exponent, prime)
            for exponent, prime in zip(exponents, (key.p, key.q), strict=True)
        )
        roots.append(modulo_p + (modulo_q - modulo_p) * key.p_inverse % key.q * key.p)
    return tuple(roots)


def verify(n: Integer, roots: Sequence[Integer]) -> None:
    """Check the proof of a modulus.

    Args:
        n: odd, of 9 bits or more; its size is not looked at, see `check_public_key`.
        roots: the proof.

    Raises:
        KeyMaterialError: it proves nothing of this modulus; says what is wrong.
    """
    _verify_once(mpz(n), tuple(map(mpz, roots)))


@lru_cache(maxsize=32)
def _verify_once(n: mpz, roots: tuple[mpz, ...]) -> None:
    """`verify`, of keys that are looked at more than once: a home reads the same few again and again."""
    if small_factor(n):
        raise KeyMaterialError(f"The modulus has a prime factor below {SMALL_FACTORS}.", _HINT)
    if len(roots) != ROOTS:
        raise KeyMaterialError(f"The proof of the modulus has {len(roots)} roots, not {ROOTS}.", _HINT)
    for root, challenge in zip(roots, challenges(n), strict=True):
        if not 0 < root < n or gmpy2.powmod(root, n, n) != challenge:
            raise KeyMaterialError(
                "The proof that the modulus is square-free and prime to phi(N) is wrong.", _HINT
            )


def challenges(n: Integer) -> list[mpz]:
    """The numbers whose roots a proof shows: uniform below N if SHA-256 is a random oracle.

    Each is the first number below N among candidates of as many bits as N, cut from the hashes of N, the
    place of the challenge, the number of the candidate and that of the block.
    """
    bits = n.bit_length()
    width = (bits + 7) // 8
    name = _DOMAIN + width.to_bytes(4, "big") + int(n).to_bytes(width, "big")
    blocks = -(-width // _DIGEST_BYTES)
    found: list[mpz] = []
    for place in range(ROOTS):
        for candidate in count():
            label = name + place.to_bytes(4, "big") + candidate.to_bytes(4, "big")
            data = b"".join(
                hashlib.sha256(label + block.to_bytes(4, "big")).digest() for block in range(blocks)
            )
            number = mpz(int.from_bytes(data[:width], "big") >> (8 * width - bits))
            if number < n:
                found.append(number)
                break
    return found
