from __future__ import annotations

import hashlib
from functools import cache

import gmpy2
import pytest
from gmpy2 import mpz

from smc.ciphers.keys import (
    DEFAULT_BITS,
    PrivateKey,
    PublicKey,
    check_public_key,
    generate,
    generate_toy,
    parse_size,
)
from smc.errors import KeyMaterialError
from smc.forms import Role
from tests.support.keys import paper, real, toy
from tests.support.seeds import seeded


@cache
def prime_of(bits):
    return int(gmpy2.next_prime(3 << (bits - 2)))


@pytest.mark.parametrize(
    ("text", "bits"),
    [("2048", 2048), (2048, 2048), ("3072", 3072), (4096, 4096), ("paper-1024", 1024), (" 3072 ", 3072)],
)
def test_key_sizes_by_name(text, bits):
    assert parse_size(text) == bits


@pytest.mark.parametrize(
    "text", ["1024", 1024, "", "2047", "two thousand", 0, -2048, True, "paper-2048", "toy"]
)
def test_other_sizes_are_refused(text):
    with pytest.raises(KeyMaterialError):
        parse_size(text)


def test_the_default_is_128_bit_security():
    assert DEFAULT_BITS == 3072


@pytest.mark.parametrize("make", [lambda: generate_toy(256, seeded()), lambda: generate(1024, seeded())])
def test_generated_keys_have_the_promised_shape(make):
    key, other = make(), make()
    assert key.public.n != other.public.n
    assert key.p % 4 == key.q % 4 == 3
    assert key.p.bit_length() == key.q.bit_length() == key.public.bits // 2
    assert key.public.bits in (256, 1024)
    assert gmpy2.gcd(key.p - 1, key.q - 1) == 2
    assert abs(key.p - key.q).bit_length() > key.public.bits // 2 - 100
    assert gmpy2.is_prime(key.p)
    assert gmpy2.is_prime(key.q)


@pytest.mark.parametrize("bits", [0, 512, 1000, 2047, 8192])
def test_other_sizes_are_not_generated(bits):
    with pytest.raises(KeyMaterialError):
        generate(bits, seeded())


@pytest.mark.parametrize("bits", [0, 30, 257, 1024, 2048])
def test_toy_keys_stay_toys(bits):
    with pytest.raises(KeyMaterialError):
        generate_toy(bits, seeded())


@pytest.mark.parametrize("key", [real(Role.ALICE), real(Role.BOB)])
def test_real_keys_pass_the_check(key):
    assert check_public_key(int(key.public.n)) == key.public


def test_1024_bits_pass_only_on_request():
    n = paper(Role.ALICE).public.n
    assert check_public_key(n, 1024).bits == 1024
    with pytest.raises(KeyMaterialError, match="1024 bits"):
        check_public_key(n)


def near(half, distance=0):
    """A modulus of a number and the next prime after it and a distance."""
    return half * gmpy2.next_prime(half + distance)


# Made when they are tested: every worker collects all tests, and these primes take seconds.
BAD_MODULI = {
    "prime": (lambda: prime_of(2048), "prime"),
    "square": (lambda: prime_of(1024) ** 2, "perfect power"),
    "fourth power": (lambda: int(gmpy2.next_prime(15 << 508)) ** 4, "perfect power"),
    "even": (lambda: 1 << 2047, "even"),
    "small factor": (lambda: 65521 * prime_of(2048 - 16), "factor below"),
    "factor of 17 bits": (lambda: 65537 * prime_of(2048 - 16), "factor below|bits"),
    "factor of 20 bits": (lambda: 1_048_573 * prime_of(2048 - 19), "factor below|bits"),
    "adjacent factors": (lambda: near(prime_of(1024)), "too close"),
    "factors that share their upper half": (lambda: near(prime_of(1024), mpz(1) << 515), "too close"),
    "factor three": (lambda: 3 * prime_of(2048 - 2), "factor below|bits"),
    "one bit short": (lambda: int(real(Role.ALICE).public.n) >> 1 | 1, "2047 bits"),
    "one bit long": (lambda: int(real(Role.ALICE).public.n) << 1 | 1, "2049 bits"),
    "toy": (lambda: int(toy(Role.ALICE).public.n), "512 bits"),
    "zero": (lambda: 0, "0 bits"),
    "negative": (lambda: -int(real(Role.ALICE).public.n), "bits"),
}


@pytest.mark.parametrize("name", BAD_MODULI)
def test_bad_moduli_are_refused_with_the_reason(name):
    make, reason = BAD_MODULI[name]
    n = make()
    with pytest.raises(KeyMaterialError, match=reason) as caught:
        check_public_key(n)
    assert str(abs(n)) not in str(caught.value) or abs(n) < 10


@pytest.mark.parametrize("pair", [(7, 7), (1, 7), (15, 7), (2, 7), (-7, 11), (3, 7), (0, 0)])
def test_no_private_key_of_bad_factors(pair):
    with pytest.raises(KeyMaterialError):
        PrivateKey(*pair)


@pytest.mark.parametrize("n", [0, -15, 15, 1 << 20])
def test_no_public_key_of_hopeless_numbers(n):
    with pytest.raises(KeyMaterialError):
        PublicKey(n)


def test_the_order_of_the_primes_does_not_matter():
    key = toy(Role.ALICE)
    again = PrivateKey(key.q, key.p)
    assert again == key
    assert again.p < again.q
    assert hash(again.public) == hash(key.public)


def test_fingerprint_and_sizes():
    key = PublicKey(257)
    assert key.fingerprint == hashlib.sha256(b"\0\0\0\2\1\1").hexdigest()
    assert key.ciphertext_bytes == 4
    assert key.n_squared == mpz(257) ** 2
    assert real(Role.ALICE).public.ciphertext_bytes == 512
    assert toy(Role.ALICE).public.fingerprint != toy(Role.BOB).public.fingerprint


def test_reprs_show_no_secret():
    key = toy(Role.ALICE)
    for shown in (repr(key), str(key), f"{key}", repr(key.public)):
        assert key.public.fingerprint in shown
        numbers = (
            key.p,
            key.q,
            key.p_inverse,
            key.decryption_p,
            key.decryption_q,
            key.p_squared,
            key.public.n,
        )
        assert not any(str(int(number)) in shown for number in numbers)
