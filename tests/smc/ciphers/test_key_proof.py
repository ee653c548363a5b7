"""The proof of a Paillier modulus: honest keys pass, what it excludes does not, and one can count why."""

from __future__ import annotations

from itertools import count

import gmpy2
import pytest
from gmpy2 import mpz

from smc.ciphers import key_proof
from smc.ciphers.key_proof import ROOTS, challenges, prove, verify
from smc.ciphers.keys import SMALL_FACTORS, PrivateKey
from smc.errors import KeyMaterialError
from smc.forms import Role
from tests.support.keys import real, toy
from tests.support.seeds import seeded

RANDOM = seeded()
HONEST = [toy(Role.ALICE), toy(Role.BOB), real(Role.ALICE), real(Role.BOB)]


def prime(bits: int) -> mpz:
    return gmpy2.next_prime(mpz(RANDOM.below(1 << (bits - 1), 1)[0] | 1 << (bits - 1)))


def best_roots(n: mpz, phi: mpz) -> tuple[mpz, ...]:
    """What an owner who knows the factors can do at best: true roots where there are any.

    A root of a challenge that is an N-th power is its power with the inverse of N modulo the order of the
    group of N-th powers, which divides phi with all primes taken out that N and phi have in common.
    """
    order = phi
    while (common := gmpy2.gcd(n, order)) != 1:
        order //= common
    exponent = gmpy2.invert(n, order)
    return tuple(gmpy2.powmod(challenge, exponent, n) for challenge in challenges(n))


@pytest.mark.parametrize("key", HONEST, ids=lambda key: f"{key.public.bits} bits")
def test_proofs_of_honest_keys_are_accepted_and_are_always_the_same(key: PrivateKey) -> None:
    proof = prove(key)
    verify(key.public.n, proof)
    assert proof == prove(key)
    assert len(proof) == ROOTS == 7


def test_the_best_proof_of_an_honest_modulus_is_the_honest_one() -> None:
    key = HONEST[0]
    assert best_roots(key.public.n, (key.p - 1) * (key.q - 1)) == prove(key)


def test_a_modulus_with_a_square_factor_has_no_proof() -> None:
    p, q = prime(128), prime(128)
    n = p * p * q
    with pytest.raises(KeyMaterialError, match="square-free"):
        verify(n, best_roots(n, p * (p - 1) * (q - 1)))


def test_a_modulus_that_shares_a_factor_with_phi_has_no_proof() -> None:
    p = prime(100)
    q = next(q for k in count(2, 2) if gmpy2.is_prime(q := k * p + 1))
    n = p * q
    assert gmpy2.gcd(n, (p - 1) * (q - 1)) == p
    with pytest.raises(KeyMaterialError, match="square-free"):
        verify(n, best_roots(n, (p - 1) * (q - 1)))


def test_every_root_keeps_a_liar_off_by_the_size_of_the_common_factor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a common factor of 7, and were small factors allowed, a seventh of the challenges have roots."""
    monkeypatch.setattr(key_proof, "ROOTS", 2000)
    p = mpz(7)
    q = next(q for k in count(1 << 40, 2) if gmpy2.is_prime(q := k * p + 1))
    n = p * q
    roots = best_roots(n, (p - 1) * (q - 1))
    good = sum(gmpy2.powmod(r, n, n) == c for r, c in zip(roots, challenges(n), strict=True))
    # binomial with mean 2000 / 7 = 286 and deviation 15.6; further than 4.9 deviations off once in a million
    assert abs(good - 2000 / 7) < 77


@pytest.mark.parametrize("factor", [3, 65_537, 1_048_573])
def test_a_small_factor_is_no_way_around_it(factor: int) -> None:
    p = mpz(factor)
    assert p < SMALL_FACTORS
    q = next(q for k in count(1 << 60, 2) if gmpy2.is_prime(q := k * p + 1))
    with pytest.raises(KeyMaterialError, match="prime factor below"):
        verify(p * q, best_roots(p * q, (p - 1) * (q - 1)))


@pytest.mark.parametrize(
    "change",
    [
        lambda roots, n: (roots[0] + 1, *roots[1:]),
        lambda roots, n: (*roots[:-1], n - roots[-1]),
        lambda roots, n: (roots[1], roots[0], *roots[2:]),
        lambda roots, n: (roots[0] + n, *roots[1:]),
        lambda roots, n: (mpz(0), *roots[1:]),
        lambda roots, n: (-roots[0], *roots[1:]),
        lambda roots, n: roots[:-1],
        lambda roots, n: (*roots, roots[0]),
        lambda roots, n: (),
    ],
)
def test_tampered_proofs_are_refused(change) -> None:  # type: ignore[no-untyped-def]
    key = HONEST[0]
    with pytest.raises(KeyMaterialError):
        verify(key.public.n, change(prove(key), key.public.n))


def test_the_proof_of_one_modulus_is_none_of_another() -> None:
    with pytest.raises(KeyMaterialError):
        verify(HONEST[1].public.n, prove(HONEST[0]))


def test_challenges_are_below_the_modulus_and_spread_over_it() -> None:
    """Moduli just above a power of two reject almost half of the candidates."""
    for n in (mpz(1) << 255 | 1, HONEST[0].public.n, HONEST[2].public.n):
        found = challenges(n)
        assert len(set(found)) == ROOTS
        assert all(0 <= each < n for each in found)
    shares = [float(each) / 2**255 for k in range(1, 400, 2) for each in challenges((mpz(1) << 255) + k)]
    # the mean of 1400 uniform numbers: deviation 0.0077, 4.9 of them once in a million
    assert abs(sum(shares) / len(shares) - 0.5) < 0.038
