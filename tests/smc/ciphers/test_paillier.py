from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from math import gcd

import gmpy2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc.ciphers.keys import PrivateKey
from smc.ciphers.paillier import Ciphertexts, OwnPaillier, Paillier
from smc.errors import KeyMaterialError, UsageError
from smc.forms import Role
from tests.support.keys import paper, real, toy
from tests.support.seeds import seeded

POOL = ThreadPoolExecutor(2)
KEY = toy(Role.ALICE)
N = int(KEY.public.n)
OWN = OwnPaillier(KEY, seeded(), POOL)
PEER = Paillier(KEY.public, seeded(), POOL)
BOTH = pytest.mark.parametrize("cipher", [OWN, PEER], ids=["own", "peer"])

plaintexts = st.one_of(
    st.integers(-N + 1, N - 1), st.sampled_from([0, 1, -1, N - 1, N // 2]), st.integers(-100, 100)
)
pairs = st.lists(st.tuples(plaintexts, plaintexts), min_size=1, max_size=5)


@BOTH
@given(pairs)
def test_homomorphic_laws(cipher, rows):
    left, right = [r[0] for r in rows], [r[1] for r in rows]
    a, b = cipher.encrypt(left), cipher.encrypt(right)
    assert OWN.decrypt(a) == [x % N for x in left]
    assert OWN.decrypt(cipher.add(a, b)) == [(x + y) % N for x, y in rows]
    assert OWN.decrypt(cipher.add_plain(a, right)) == [(x + y) % N for x, y in rows]
    assert OWN.decrypt(cipher.subtract(a, b)) == [(x - y) % N for x, y in rows]
    assert OWN.decrypt(cipher.scale(a, right)) == [x * y % N for x, y in rows]
    assert OWN.decrypt(cipher.refresh(a)) == [x % N for x in left]
    assert OWN.is_zero(cipher.subtract(a, a)) == [True] * len(rows)
    assert OWN.is_zero(a) == [x % int(KEY.p) == 0 for x in left]


@BOTH
@pytest.mark.parametrize("batch", [1, 63, 64, 200])
def test_batches_on_both_sides_of_the_table(cipher, batch):
    """Masks come one by one at first and from the table later."""
    fresh = type(cipher)(KEY if cipher is OWN else KEY.public, seeded(), POOL)
    for _ in range(2):
        values = list(range(-5, batch - 5))
        encrypted = fresh.encrypt(values)
        assert OWN.decrypt(encrypted) == [v % N for v in values]
        assert OWN.decrypt(fresh.refresh(encrypted)) == [v % N for v in values]
        assert len(set(encrypted.values)) == batch


def randomness_of(cipher_values, key):
    """r modulo n of (1 + m n) r**n, as the key owner finds it."""
    n = key.public.n
    root = gmpy2.invert(n, (key.p - 1) * (key.q - 1))
    return [gmpy2.powmod(c, root, n) for c in cipher_values]


@BOTH
def test_equal_plaintexts_get_different_ciphertexts(cipher):
    values = cipher.encrypt([42] * 300).values
    assert len(set(values)) == 300
    assert len(set(randomness_of(values, KEY))) == 300


@BOTH
@pytest.mark.parametrize("table", [False, True], ids=["direct", "table"])
def test_refreshing_hides_residue_symbols(cipher, table):
    """The key owner learns nothing from the quadratic characters of the randomness (erratum 3).

    With 400 refreshes of one ciphertext, the four pairs of symbols modulo p and q are multinomial with
    1/4 each; a chi-square with 3 degrees of freedom exceeds 30.7 once in 1e6 runs. Masks that are squares, or
    minus squares, would leave one or two of the four cells full.
    """
    count = 400
    fresh = type(cipher)(KEY if cipher is OWN else KEY.public, seeded(), POOL)
    start = Ciphertexts(KEY.public, [cipher.encrypt([5]).values[0]] * count)
    if table:
        refreshed = fresh.refresh(start).values
    else:
        makers = [
            type(cipher)(fresh._private if cipher is OWN else KEY.public, seeded(), POOL) for _ in range(8)
        ]
        refreshed = [
            maker.refresh(start[50 * i + k : 50 * i + k + 1]).values[0]
            for i, maker in enumerate(makers)
            for k in range(50)
        ]
    cells = {(a, b): 0 for a in (1, -1) for b in (1, -1)}
    for r in randomness_of(refreshed, KEY):
        cells[gmpy2.legendre(r, KEY.p), gmpy2.legendre(r, KEY.q)] += 1
    assert sum((seen - count / 4) ** 2 / (count / 4) for seen in cells.values()) < 30.7


def test_masks_are_uniform_on_a_group_small_enough_to_count():
    """23 * 43 = 989: the 22 * 42 = 924 units, 20 draws each; chi-square within 1e-6 of both tails."""
    tiny = PrivateKey(23, 43)
    units = [r for r in range(1, 989) if gcd(r, 989) == 1]
    count = 20 * len(units)
    for cipher in (OwnPaillier(tiny, seeded(), POOL), Paillier(tiny.public, seeded(), POOL)):
        seen = dict.fromkeys(units, 0)
        for r in randomness_of(cipher.encrypt([3] * count).values, tiny):
            seen[int(r)] += 1
        statistic = sum((n - 20) ** 2 / 20 for n in seen.values())
        spread = (2 * (len(units) - 1)) ** 0.5
        assert abs(statistic - (len(units) - 1)) < 5.2 * spread


@BOTH
def test_refresh_changes_every_value(cipher):
    a = cipher.encrypt(range(70))
    b = cipher.refresh(a)
    assert not set(a.values) & set(b.values)


@pytest.mark.parametrize("factor", [0, 1, -1, 2**128 - 1, -(2**128), N - 1, N, N + 1, -N, 3 * N + 2, 1 - N])
def test_scaling_by_any_integer(factor):
    a = PEER.encrypt([7, -3, 0])
    assert OWN.decrypt(PEER.scale(a, [factor] * 3)) == [7 * factor % N, -3 * factor % N, 0]


def test_is_zero_is_exact_below_p_and_says_so_above():
    p = int(KEY.p)
    values = [0, 1, -1, p - 1, 1 - p, N, p]
    assert OWN.is_zero(PEER.encrypt(values)) == [True, False, False, False, False, True, True]
    assert OWN.decrypt(PEER.encrypt(values))[-1] == p


def test_keys_do_not_mix():
    other = Paillier(toy(Role.BOB).public, seeded(), POOL)
    a, b = PEER.encrypt([1]), other.encrypt([1])
    attempts = [
        lambda: PEER.add(a, b),
        lambda: PEER.subtract(b, a),
        lambda: PEER.add_plain(b, [1]),
        lambda: PEER.scale(b, [1]),
        lambda: PEER.refresh(b),
        lambda: OWN.decrypt(b),
        lambda: OWN.is_zero(b),
    ]
    for attempt in attempts:
        with pytest.raises(KeyMaterialError, match="another key"):
            attempt()


def test_lengths_must_agree():
    a, b = PEER.encrypt([1, 2]), PEER.encrypt([1])
    for attempt in (
        lambda: PEER.add(a, b),
        lambda: PEER.subtract(a, b),
        lambda: PEER.add_plain(a, [1]),
        lambda: PEER.scale(a, [1, 2, 3]),
    ):
        with pytest.raises(UsageError):
            attempt()


@BOTH
def test_operations_are_counted(cipher):
    fresh = type(cipher)(KEY if cipher is OWN else KEY.public, seeded(), POOL)
    a = fresh.encrypt([1, 2, 3])
    assert fresh.operations == {"mask": 3}
    fresh.refresh(a)
    assert fresh.operations == {"mask": 6}
    fresh.scale(a, [1, -1, 2**128 - 1])
    assert fresh.operations == {"mask": 6, "small_power": 3}
    fresh.scale(a, [1, 1, 2**128])
    fresh.subtract(a, a)
    fresh.add(a, a)
    fresh.add_plain(a, [1, 2, 3])
    expected = {"mask": 6, "small_power": 3, "power": 3, "inverse": 3}
    assert fresh.operations == expected
    if isinstance(fresh, OwnPaillier):
        fresh.decrypt(a)
        fresh.is_zero(a[:2])
        assert fresh.operations == expected | {"decrypt": 3, "zero_test": 2}


@pytest.mark.parametrize("key", [paper(Role.ALICE), real(Role.BOB)], ids=["1024", "2048"])
def test_real_key_sizes(key):
    own, peer = OwnPaillier(key, seeded(), POOL), Paillier(key.public, seeded(), POOL)
    n = int(key.public.n)
    values = [0, 1, -1, n // 2, n - 2, 2**128]
    a, b = own.encrypt(values), peer.encrypt(values)
    assert own.decrypt(peer.add(a, b)) == [2 * v % n for v in values]
    blinded = peer.scale(peer.subtract(a, b), seeded().units(n, len(values)))
    sent = peer.expect(len(values)).decode(peer.refresh(blinded).encode())
    assert own.is_zero(sent) == [True] * len(values)
    batch = peer.encrypt([9] * 70)
    assert own.decrypt(peer.refresh(batch)) == [9] * 70
    assert own.decrypt(own.refresh(own.encrypt([9] * 70))) == [9] * 70


def test_the_known_answer_of_a_tiny_key():
    """n = 989, by hand: E(m; r) = (1 + m n) r**n mod n**2 decrypts to m for every unit r."""
    tiny = PrivateKey(23, 43)
    own = OwnPaillier(tiny, seeded(), POOL)
    for m, r in ((0, 1), (1, 2), (988, 988), (500, 3)):
        c = (1 + m * 989) * pow(r, 989, 989**2) % 989**2
        assert own.decrypt(Ciphertexts(tiny.public, [gmpy2.mpz(c)])) == [m]
