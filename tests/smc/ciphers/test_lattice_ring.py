"""The ring of lattice encryption against plain integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc.ciphers import lattice_ring as ring
from smc.errors import ProtocolViolation
from tests.support.seeds import seeded

RANDOM = seeded()
LIMBS = 5
BITS = ring.LIMB_BITS * LIMBS


def integers(lower, upper, shape):
    drawn = RANDOM.below(upper - lower + 1, int(np.prod(shape)))
    return np.array([lower + value for value in drawn], dtype=np.int64).reshape(shape)


def multiplied(left, right):
    """The product modulo X^N + 1, from exact integers."""
    degree = len(left)
    whole = [0] * (2 * degree)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            whole[i + j] += int(a) * int(b)
    return np.array([whole[i] - whole[i + degree] for i in range(degree)], dtype=np.int64)


def elements(count):
    return [int.from_bytes(RANDOM.bytes(12), "little") % (1 << BITS) for _ in range(count)]


def limbs_of(values):
    parts = [
        [value >> ring.LIMB_BITS * limb & (1 << ring.LIMB_BITS) - 1 for value in values]
        for limb in range(LIMBS)
    ]
    return np.array(parts, dtype=np.int64)


def values_of(limbs):
    return [
        sum(int(limbs[limb, i]) << ring.LIMB_BITS * limb for limb in range(LIMBS)) % (1 << BITS)
        for i in range(limbs.shape[1])
    ]


@pytest.mark.parametrize("degree", [2, 4, 32, 128])
def test_products(degree):
    left, right = integers(-(1 << 12), 1 << 12, degree), integers(-(1 << 17), 1 << 17, degree)
    found = ring.backward(ring.forward(left) * ring.forward(right))
    assert (found == multiplied(left, right)).all()


@pytest.mark.parametrize("every", [1, 2, 8, 16])
def test_folded_sums_of_products(every):
    left, right = integers(-99, 99, (3, 4, 32)), integers(-(1 << 17), 1 << 17, (4, 5, 32))
    found = ring.backward(ring.fold_products(ring.forward(left), ring.forward(right), every))
    assert found.shape == (3, 5, 32 // every)
    for i in range(3):
        for j in range(5):
            whole = sum(multiplied(left[i, d], right[d, j]) for d in range(4))
            assert (found[i, j] == whole[::every]).all()


@pytest.mark.parametrize("degree", [4096, 8192])
def test_the_error_of_the_transform_is_within_its_bound(degree):
    """At the largest entries, all of one sign, where sums are largest."""
    left = np.full(degree, 1 << 7, dtype=np.int64)
    right = np.full(degree, (1 << 17) - 1, dtype=np.int64)
    product = np.fft.ifft(ring.forward(left) * ring.forward(right))
    product *= np.exp(1j * np.pi * np.arange(degree // 2) / degree)
    exact = np.array([(2 * i + 2 - degree) * (1 << 7) * ((1 << 17) - 1) for i in range(degree)])
    error = max(
        np.abs(product.real - exact[: degree // 2]).max(), np.abs(product.imag + exact[degree // 2 :]).max()
    )
    norms = np.sqrt(float(degree))
    assert error <= ring.transform_error(degree, norms * (1 << 7), norms * (1 << 17))


@given(st.integers(0, (1 << 64) - 1), st.integers(0, BITS))
def test_placed_words(word, shift):
    found = ring.shift_words(np.array([word], dtype=np.uint64), shift, LIMBS)
    assert values_of(found) == [(word << shift) % (1 << BITS)]
    assert ((found >= 0) & (found < 1 << ring.LIMB_BITS)).all()


def test_limbs_keep_their_values():
    values = elements(200)
    loose = limbs_of(values) + integers(-(1 << 40), 1 << 40, (LIMBS, 200))
    wanted = values_of(loose)
    for function, least in ((ring.balance, -(1 << 17)), (ring.carry, 0)):
        found = function(loose.copy())
        assert values_of(found) == wanted
        assert found.min() >= least
        assert found.max() < least + (1 << ring.LIMB_BITS)


@pytest.mark.parametrize("bits", [1, 17, 18, 19, 34, 36, 54])
def test_highest_bits_are_rounded(bits):
    values = [*elements(200), 0, (1 << BITS) - 1, 1 << BITS - bits - 1, (1 << BITS - bits - 1) - 1]
    found = ring.highest(limbs_of(values), bits)
    half = 1 << BITS - bits - 1
    assert found.tolist() == [(value + half >> BITS - bits) % (1 << bits) for value in values]


@given(st.integers(1, 57), st.integers(0, 40))
def test_packed_words_come_back(bits, count):
    words = RANDOM.words(count) & np.uint64((1 << bits) - 1)
    data = ring.pack_words(words, bits)
    assert len(data) == ring.packed_size(count, bits) == -(-count // 8) * bits
    assert (ring.unpack_words(data, count, bits) == words).all()


def test_padding_is_checked():
    data = ring.pack_words(np.array([1, 2, 3], dtype=np.uint64), 5)
    data[-1] |= 1
    with pytest.raises(ProtocolViolation, match="padding"):
        ring.unpack_words(data, 3, 5)


@pytest.mark.parametrize("bits", [1, 17, 18, 19, 36, 53, 54, 55, 71, 72, 73, 89, 90])
@pytest.mark.parametrize("count", [1, 7, 200])
def test_highest_limbs_are_rounded_packed_and_unpacked(bits, count):
    edges = [0, (1 << BITS) - 1, (1 << BITS - bits) // 2, max(0, (1 << BITS - bits) // 2 - 1)]
    values = [*elements(count), *edges]
    found = ring.highest_limbs(limbs_of(values), bits)
    assert found.shape == (ring.limb_count(bits), len(values))
    away = LIMBS - len(found)
    wanted = [
        ((value + (1 << BITS - bits) // 2) >> BITS - bits << BITS - bits) % (1 << BITS) for value in values
    ]
    assert values_of(np.concatenate([np.zeros((away, len(values)), dtype=np.int64), found])) == wanted
    data = ring.pack_limbs(found, bits)
    assert len(data) == ring.packed_limbs_size(len(values), bits) == -(-len(values) // 8) * bits
    assert (ring.unpack_limbs(data, (len(values),), bits) == found).all()
    shaped = ring.unpack_limbs(data[None], (1, len(values)), bits)
    assert shaped.shape == (len(found), 1, len(values))
