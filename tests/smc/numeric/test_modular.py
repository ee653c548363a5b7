from __future__ import annotations

from concurrent.futures import Executor, Future, ThreadPoolExecutor

import numpy as np
import pytest
from gmpy2 import mpz
from hypothesis import given
from hypothesis import strategies as st

from smc.errors import DomainError, UsageError
from smc.numeric.modular import PIECES, POWERS, FixedBase, FixedBases, inverses, powers, products
from tests.support.seeds import seeded

PRIME = (1 << 521) - 1
COMPOSITE = 3 * 5 * 7 * 11 * 13


class CountingPool(Executor):
    """Runs at once and counts."""

    def __init__(self):
        self.submitted = 0

    def submit(self, fn, /, *args, **kwargs):
        self.submitted += 1
        future: Future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


RANDOM = seeded()


@pytest.fixture(scope="module")
def pool():
    with ThreadPoolExecutor(4) as executor:
        yield executor


def draw(count, modulus=PRIME):
    return RANDOM.below(modulus, count)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 9, 65])
def test_batches_of_any_size_equal_the_built_in_functions(pool, count):
    a, b = draw(count), draw(count)
    assert powers(a, b, PRIME, pool) == [pow(x, y, PRIME) for x, y in zip(a, b, strict=True)]
    assert powers(a, 65537, PRIME, pool) == [pow(x, 65537, PRIME) for x in a]
    assert products(a, b, PRIME, pool) == [x * y % PRIME for x, y in zip(a, b, strict=True)]
    units = [x or 1 for x in a]
    assert inverses(units, PRIME, pool) == [pow(x, -1, PRIME) for x in units]


def test_long_moduli_take_the_path_without_the_lock(pool):
    modulus = (1 << 4423) - 1
    a, b = draw(20, modulus), draw(20, modulus)
    assert products(a, b, modulus, pool) == [x * y % modulus for x, y in zip(a, b, strict=True)]
    assert [x * y % modulus for x, y in zip(a, inverses(a, modulus, pool), strict=True)] == [1] * 20


def test_small_batches_stay_in_the_thread_and_large_ones_are_cut():
    counting = CountingPool()
    powers([2, 3], 5, PRIME, counting)
    assert counting.submitted == 0
    products(draw(1000), draw(1000), PRIME, counting)
    assert counting.submitted == PIECES
    powers(draw(1000), 5, PRIME, counting)
    assert counting.submitted == PIECES + -(-1000 // POWERS)


@given(st.lists(st.tuples(st.integers(0, COMPOSITE), st.integers(0, 1 << 70)), max_size=20))
def test_powers_modulo_a_composite(pairs):
    bases, exponents = [p[0] for p in pairs], [p[1] for p in pairs]
    found = powers(bases, exponents, COMPOSITE, CountingPool())
    assert found == [pow(b, e, COMPOSITE) for b, e in pairs]


@pytest.mark.parametrize("bad", [0, 3, COMPOSITE])
def test_a_number_without_an_inverse_is_refused_without_naming_it(bad):
    with pytest.raises(DomainError, match="prime to the modulus"):
        inverses([2, 4, bad, 8], COMPOSITE, CountingPool())


def test_misuse_is_refused():
    inline = CountingPool()
    with pytest.raises(UsageError):
        powers([1, 2], [1], PRIME, inline)
    with pytest.raises(UsageError):
        powers([2], -1, PRIME, inline)
    with pytest.raises(UsageError):
        powers([2, 3, 4], [1, -1, 1], PRIME, inline)
    with pytest.raises(UsageError):
        products([1, 2], [1], PRIME, inline)
    with pytest.raises(UsageError):
        FixedBases([], PRIME, 3, 4, inline)
    with pytest.raises(UsageError):
        FixedBases([2], PRIME, 0, 4, inline)
    with pytest.raises(UsageError):
        FixedBases([2], PRIME, 3, 9, inline)


@pytest.mark.parametrize("window", range(1, 9))
@pytest.mark.parametrize("bits", [1, 7, 64, 521])
def test_fixed_base_equals_pow(pool, window, bits):
    base = draw(1)[0]
    table = FixedBase(base, PRIME, bits, window, pool)
    exponents = [0, 1, (1 << bits) - 1, *draw(5, 1 << bits)]
    assert table.power(exponents, pool) == [pow(base, e, PRIME) for e in exponents]
    assert table.power([], pool) == []


@pytest.mark.parametrize("bad", [-1, 1 << 64, mpz(1) << 64])
def test_fixed_base_refuses_exponents_out_of_range(bad):
    table = FixedBase(5, PRIME, 64, 5, CountingPool())
    with pytest.raises(DomainError):
        table.power([1, bad], CountingPool())


def test_fixed_bases_combine_their_powers(pool):
    bases = draw(5)
    table = FixedBases(bases, PRIME, 3, 4, pool)
    assert table.width == 15
    digits = np.frombuffer(RANDOM.bytes(15 * 9), dtype=np.uint8).reshape(9, 15) & np.uint8(15)
    expected = []
    for line in digits.tolist():
        product = 1
        for i, base in enumerate(bases):
            exponent = sum(digit << (4 * j) for j, digit in enumerate(line[3 * i : 3 * i + 3]))
            product = product * pow(base, exponent, PRIME) % PRIME
        expected.append(product)
    assert table.combine(digits, pool) == expected


def test_fixed_bases_refuse_digits_that_do_not_fit(pool):
    table = FixedBases([2, 3], PRIME, 2, 4, pool)
    with pytest.raises(UsageError):
        table.combine(np.zeros((1, 3), np.uint8), pool)
    with pytest.raises(UsageError):
        table.combine(np.zeros(4, np.uint8), pool)
    with pytest.raises(DomainError):
        table.combine(np.full((1, 4), 16, np.uint8), pool)


def test_a_table_shows_sizes_only(pool):
    assert "123456789" not in repr(FixedBases([123456789], PRIME, 2, 4, pool))
