"""Encrypted columns: exactness and noise at the worst data, and what is refused."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from smc.ciphers import lattice_inner
from smc.ciphers.lattice import DEGREES, MAX_ERROR, SIGMA
from smc.ciphers.lattice_inner import ColumnParameters, OwnColumns, PeerColumns
from smc.ciphers.lattice_ring import LIMB_BITS
from smc.errors import UsageError
from tests.support.seeds import seeded

RANDOM = seeded()


def parameters(length, columns, bound, calls, width):
    found = ColumnParameters.of(length, columns, bound, calls, width)
    assert found is not None
    return found


def words(shape, width):
    return RANDOM.words(int(np.prod(shape))).reshape(shape) & np.uint64((1 << width) - 1)


def integers(rows, given):
    """At the bounds and between them."""
    drawn = (RANDOM.words(rows * given.length) % np.uint64(2 * given.bound + 1)).view(np.int64)
    found = drawn.reshape(rows, given.length) - given.bound
    found[0], found[-1] = given.bound, -given.bound
    return found


def pair(given, columns):
    own = OwnColumns(given, RANDOM)
    peer = PeerColumns(given, own.seed, own.zeros(), RANDOM)
    for factor in range(given.factors):
        peer.take(own.encrypt(factor, columns[given.entries(factor)]))
    return own, peer


@pytest.mark.parametrize(
    ("length", "columns", "bound", "width"),
    [
        (1, 1, 1, 1),
        (5, 3, 1 << 20, 64),
        (4097, 2, 4095, 32),
        (9000, 2, (1 << 31), 32),
        (8192, 1, (1 << 40) + 3, 64),
        (8193, 2, (1 << 62) - 1, 64),
        (700, 4, 131071, 50),
        (140_000, 1, 255, 64),
    ],
)
@pytest.mark.parametrize("plain", ["random", "largest"])
def test_inner_products_are_exact_at_the_worst_data(length, columns, bound, width, plain):
    given = parameters(length, columns, bound, 4, width)
    assert given.error <= MAX_ERROR
    y = words((length, columns), width)
    if plain == "largest":
        y[:] = (1 << width) - 1
    own, peer = pair(given, y)
    x = integers(2, given)
    mask = np.uint64((1 << width) - 1)
    for rows in (x, x[:1], x[1:]):
        second, shares = peer.respond(rows)
        assert ((own.decrypt(second) + shares & mask) == (rows.view(np.uint64) @ y & mask)).all()
        assert second.min() >= 0
        assert second.max() < 1 << LIMB_BITS


def test_digits_take_every_integer_within_the_bound():
    for bits in range(1, 64):
        most = (1 << bits) - 1
        every = {most, -most, most // 2, 0, 1, -1, 255, 256, -256, -257}
        values = np.array(sorted(value for value in every if abs(value) <= most))
        digits = lattice_inner.balanced_digits(values, parameters(1, 1, most, 1, 64).digits)
        assert np.abs(digits).max() <= 256
        whole = sum(digit.astype(object) << 9 * place for place, digit in enumerate(digits))
        assert ((whole - values) % (1 << 64) == 0).all()
        assert np.abs(whole).max() <= most * (1 + 2.0**-50)


def noise_of(given, x):
    """c0 + c1 s less the scaled plaintext, of zeros, before anything is rounded; shape (R, K)."""
    own, peer = pair(given, np.zeros((given.length, given.columns), dtype=np.uint64))
    kept = []

    def keep(limbs, bits):
        kept.append(limbs.copy())
        return limbs

    saved = lattice_inner.highest_limbs, lattice_inner.highest
    lattice_inner.highest_limbs = lattice_inner.highest = keep
    try:
        peer.respond(x)
    finally:
        lattice_inner.highest_limbs, lattice_inner.highest = saved
    modulus = 1 << given.lattice.modulus_bits
    second, first = (
        sum(limb.astype(object) << LIMB_BITS * place for place, limb in enumerate(limbs)) for limbs in kept
    )
    total = (first + second @ lattice_inner._reverse(own._secrets).astype(object).T) % modulus
    return ((total + modulus // 2) % modulus - modulus // 2).astype(np.float64)


def test_the_noise_is_no_larger_than_the_scale_is_made_for():
    """All integers at the bound, 40 rows and 6 columns of them: the estimate has 5 % of error."""
    given = parameters(6000, 6, 1 << 20, 40, 32)
    noise = np.concatenate(
        [noise_of(given, (1 << 20) * (2 * RANDOM.bits(6000).astype(np.int64) - 1)[None]) for _ in range(40)]
    )
    claimed = SIGMA * sqrt(2.0**40 * 6000 + 4 * given.lattice.degree / 3) * 2.0**given.lattice.idle_bits
    measured = sqrt((noise**2).mean())
    assert 0.7 * claimed < measured < 1.3 * claimed
    assert given.calls * given.columns * claimed < 2.0 ** (given.lattice.scale - 30)


def test_parameters_keep_to_the_standard():
    for width in (1, 32, 64):
        for bits in (1, 20, 40, 63):
            for length in (1, 50_000, 1 << 21):
                given = ColumnParameters.of(length, 9, 1 << bits, 60, width)
                assert given is not None
                chosen = given.lattice
                # What is not idle of q is within the guidelines of 2024.
                assert chosen.modulus_bits - chosen.idle_bits <= DEGREES[chosen.degree]
                assert width < chosen.second_bits <= chosen.modulus_bits
    assert DEGREES == {4096: 106, 8192: 214}
    assert ColumnParameters.of(5, 5, 5, 5, 65) is None
    assert ColumnParameters.of(0, 5, 5, 5, 64) is None


def test_responses_to_equal_rows_have_nothing_in_common():
    """Each has a fresh encryption of zero; without it second components would be equal, and linear in x."""
    given = parameters(100, 1, 9, 2, 32)
    own, peer = pair(given, words((100, 1), 32))
    row = integers(1, given)
    (first, _), (second, _) = peer.respond(row), peer.respond(row)
    # The lowest of the limbs is not whole, and has fewer values.
    assert (first[1:] == second[1:]).mean() < 0.001
    assert own is not None


def test_rows_of_another_length_or_size_are_refused():
    given = parameters(10, 2, 9, 3, 32)
    _, peer = pair(given, words((10, 2), 32))
    for wrong in (np.zeros((1, 9)), np.full((1, 10), 10), np.full((1, 10), -10)):
        with pytest.raises(UsageError, match="rows of 10 integers up to 9"):
            peer.respond(wrong.astype(np.int64))


def test_a_polynomial_is_encrypted_once():
    given = parameters(9000, 2, 9, 3, 32)
    own = OwnColumns(given, RANDOM)
    with pytest.raises(UsageError, match="not the next"):
        own.encrypt(1, words((808, 2), 32))
    own.encrypt(0, words((given.lattice.degree, 2), 32))
    with pytest.raises(UsageError, match="not the next"):
        own.encrypt(0, words((given.lattice.degree, 2), 32))
    assert repr(own) == f"OwnColumns({given})"
