"""The DGK cipher: arithmetic modulo u, keys made and checked, freshness, refusals."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import gmpy2
import pytest
from gmpy2 import mpz, powmod

from smc.ciphers.dgk import Dgk, DgkCiphertexts, FreshDgk, OwnDgk
from smc.ciphers.dgk_keys import (
    BITS,
    KEY_BYTES,
    PLAINTEXTS,
    DgkPrivateKey,
    DgkPublicKey,
    check_dgk_key,
    decode_public_key,
    encode_public_key,
    generate_dgk,
    generate_toy_dgk,
)
from smc.errors import FreshnessError, KeyMaterialError, ProtocolViolation, UsageError
from smc.forms import Role
from tests.support.keys import dgk, toy_dgk
from tests.support.seeds import seeded

KEY = toy_dgk()
REAL = dgk(Role.ALICE)
POOL = ThreadPoolExecutor(2)
OWN = OwnDgk(KEY, seeded(), POOL)
PEER = Dgk(KEY.public, seeded(), POOL)
VALUES = [0, 1, 2, 386, PLAINTEXTS - 1, PLAINTEXTS, PLAINTEXTS + 1, -1, 5 * PLAINTEXTS]


def opens_to(batch: DgkCiphertexts, values: list[int]) -> bool:
    return OWN.is_zero(OWN.add_plain(batch, [-value for value in values])) == [True] * len(values)


def test_the_plaintexts_hold_a_comparison_of_256_bits() -> None:
    assert gmpy2.is_prime(PLAINTEXTS)
    assert PLAINTEXTS > 3 * 256 + 2


@pytest.mark.parametrize("cipher", [OWN, PEER], ids=["own", "peer"])
def test_encryption_and_zero_test(cipher: Dgk) -> None:
    batch = cipher.encrypt(VALUES)
    assert OWN.is_zero(batch) == [value % PLAINTEXTS == 0 for value in VALUES]
    assert opens_to(batch, VALUES)
    shifted = OWN.add_plain(batch, [-value - 1 for value in VALUES])
    assert not any(OWN.is_zero(shifted))


def test_homomorphic_work() -> None:
    a, b = PEER.encrypt(VALUES), OWN.encrypt(VALUES[::-1])
    pairs = list(zip(VALUES, VALUES[::-1], strict=True))
    assert opens_to(PEER.add(a, b), [x + y for x, y in pairs])
    assert opens_to(PEER.subtract(a, b), [x - y for x, y in pairs])
    assert opens_to(PEER.scale(a, VALUES[::-1]), [x * y for x, y in pairs])
    assert opens_to(PEER.add_plain(a, VALUES[::-1]), [x + y for x, y in pairs])
    assert opens_to(PEER.encrypt_trivially(VALUES), VALUES)
    assert opens_to(PEER.refresh(PEER.scale(a, [0] * len(a))), [0] * len(a))


def test_masks_are_powers_of_h_and_differ() -> None:
    for cipher in (OWN, PEER):
        masks = cipher.encrypt([0] * 40).values
        assert len(set(masks)) == 40
        assert all(powmod(mask, KEY.v_p, KEY.p) == 1 for mask in masks)
        assert all(powmod(mask, KEY.v_q, KEY.q) == 1 for mask in masks)


def test_the_generators_have_their_orders() -> None:
    for key in (generate_toy_dgk(seeded()), generate_dgk(seeded())):
        for prime, v in ((key.p, key.v_p), (key.q, key.v_q)):
            assert powmod(key.h, v, prime) == 1 != key.h % prime
            assert powmod(key.g, v * PLAINTEXTS, prime) == 1
            assert powmod(key.g, v, prime) != 1 != powmod(key.g, PLAINTEXTS, prime)
            assert (prime - 1) % (v * PLAINTEXTS) == 0
    assert key.public.bits == BITS
    assert key.v_p.bit_length() == key.v_q.bit_length() == 256


def test_freshness() -> None:
    fresh = PEER.encrypt([1, 2])
    assert len(fresh.encode()) == PEER.expect(2).size == 2 * KEY.public.ciphertext_bytes
    with pytest.raises(FreshnessError, match="sent twice"):
        fresh.encode()
    for worked in (
        PEER.add(fresh, fresh),
        PEER.scale(fresh, [1, 1]),
        PEER.encrypt_trivially([1]),
        PEER.subtract(fresh, fresh),
    ):
        with pytest.raises(FreshnessError):
            worked.encode()  # type: ignore[attr-defined]
    with pytest.raises(FreshnessError):
        FreshDgk(KEY.public, fresh.values)
    again = PEER.refresh(fresh)
    assert set(again.values).isdisjoint(fresh.values)
    assert opens_to(again, [1, 2])


@pytest.mark.parametrize("number", [0, KEY.public.n, KEY.public.n + 1, KEY.p, 2 * KEY.q], ids=list("0nmpq"))
@pytest.mark.parametrize("place", [0, 2])
def test_numbers_that_are_no_ciphertexts_are_refused(number: int, place: int) -> None:
    numbers = [1, 2, 3]
    numbers[place] = int(number)
    width = KEY.public.ciphertext_bytes
    with pytest.raises(ProtocolViolation, match="not a DGK ciphertext"):
        PEER.expect(3).decode(b"".join(n.to_bytes(width, "big") for n in numbers))


@pytest.mark.parametrize("change", [-1, 1])
def test_a_wrong_number_of_bytes_is_refused(change: int) -> None:
    with pytest.raises(ProtocolViolation):
        PEER.expect(2).decode(bytes(PEER.expect(2).size + change))


def test_a_key_travels() -> None:
    data = encode_public_key(REAL.public)
    assert len(data) == KEY_BYTES
    assert decode_public_key(data) == REAL.public
    check_dgk_key(REAL.public)


def tampered(**changes: object) -> bytes:
    """The encoding of the real key with other numbers in it."""
    numbers = {"n": REAL.public.n, "g": REAL.public.g, "h": REAL.public.h, **changes}
    return b"".join(int(numbers[name]).to_bytes(BITS // 8, "big") for name in ("n", "g", "h"))  # type: ignore[call-overload]


def non_residue() -> mpz:
    return next(a for a in map(mpz, range(2, 100)) if gmpy2.jacobi(a, REAL.public.n) == -1)


PRIME = gmpy2.next_prime(mpz(1) << (BITS - 1))


@pytest.mark.parametrize(
    "data",
    [
        tampered(n=REAL.public.n >> 1),
        tampered(n=REAL.public.n + 1),
        tampered(n=PRIME, g=4, h=9),
        tampered(n=gmpy2.next_prime(mpz(3) << 1022) ** 2, g=4, h=9),
        tampered(n=(mpz(1) << BITS) - 3**5, g=4, h=9),
        tampered(g=0),
        tampered(g=1),
        tampered(h=1),
        tampered(h=REAL.public.g),
        tampered(g=REAL.public.n),
        tampered(h=REAL.p),
        tampered(g=non_residue()),
        tampered(h=non_residue()),
        encode_public_key(KEY.public).ljust(KEY_BYTES, b"\0"),
    ],
    ids=[
        "small",
        "even",
        "prime",
        "power",
        "small factor",
        "g 0",
        "g 1",
        "h 1",
        "h g",
        "g n",
        "h p",
        "g",
        "h",
        "toy",
    ],
)
def test_bad_keys_are_refused(data: bytes) -> None:
    with pytest.raises(ProtocolViolation, match="not acceptable"):
        decode_public_key(data)


def test_bad_private_keys_are_refused() -> None:
    p, q, v_p, v_q, g, h = KEY.p, KEY.q, KEY.v_p, KEY.v_q, KEY.g, KEY.h
    for wrong in (
        (p, p, v_p, v_q, g, h),
        (p, q, v_p, v_p, g, h),
        (p + 2, q, v_p, v_q, g, h),
        (p, q, v_q, v_p, g, h),
        (p, q, v_p, v_q, h, h),
        (p, q, v_p, v_q, g, g),
        (p, q, v_p, v_q, g, mpz(1)),
        (p, q, v_p * 3, v_q, g, h),
    ):
        with pytest.raises(KeyMaterialError):
            DgkPrivateKey(*wrong)
    with pytest.raises(KeyMaterialError):
        DgkPublicKey(mpz(100), mpz(3), mpz(7))


def test_secrets_are_not_shown() -> None:
    for shown in (repr(KEY), repr(KEY.public), repr(OWN), repr(PEER), repr(OWN.encrypt([1]))):
        for secret in (KEY.p, KEY.q, KEY.v_p, KEY.v_q):
            assert str(secret) not in shown


def test_other_keys_lengths_and_counts() -> None:
    stranger = Dgk(generate_toy_dgk(seeded()).public, seeded(), POOL).encrypt([1])
    for work in (PEER.refresh, OWN.is_zero, lambda a: PEER.scale(a, [1]), lambda a: PEER.add(a, a)):
        with pytest.raises(KeyMaterialError):
            work(stranger)
    cipher = OwnDgk(KEY, seeded(), POOL)
    batch = cipher.encrypt([1, 2, 3])
    for wrong in (
        lambda: cipher.scale(batch, [1]),
        lambda: cipher.add_plain(batch, [1]),
        lambda: cipher.add(batch, batch[:1]),
    ):
        with pytest.raises(UsageError):
            wrong()
    cipher.subtract(cipher.scale(batch, [1, 2, 3]), batch)
    cipher.is_zero(cipher.refresh(batch))
    assert cipher.operations == {"dgk_mask": 6, "dgk_power": 3, "dgk_inverse": 3, "dgk_zero_test": 3}
