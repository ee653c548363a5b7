"""Bit matrices: transposition, packing and planes."""

from __future__ import annotations

import numpy as np
import pytest

from smc.errors import DomainError
from smc.oblivious.bitmatrix import pack_slots, planes, transpose_squares, unpack_slots
from tests.support.seeds import seeded

RANDOM = seeded()


def bits_of(words):
    """Shape (r, w) to (r, w, 64)."""
    return np.unpackbits(words.view(np.uint8).reshape(*words.shape, 8), axis=2, bitorder="little")


@pytest.mark.parametrize("width", [1, 2, 255, 257])
def test_transposition(width):
    square = RANDOM.words(64 * width).reshape(64, width)
    before = bits_of(square)
    transpose_squares(square, np.empty((32, width), dtype=np.uint64))
    assert (bits_of(square) == before.transpose(2, 1, 0)).all()


@pytest.mark.parametrize("count", [1, 63, 64, 65, 1000])
def test_slots_lie_in_the_order_of_the_batch(count):
    bits = RANDOM.bits(count)
    packed = pack_slots(bits)
    width = (count + 63) // 64
    assert packed.shape == (width,)
    assert [int(packed[j % width]) >> j // width & 1 for j in range(count)] == bits.tolist()
    assert (unpack_slots(packed, count) == bits).all()
    assert not unpack_slots(packed, 64 * width)[count:].any()


@pytest.mark.parametrize("bits", [1, 7, 8, 63, 64, 65, 128, 256])
def test_planes_hold_the_bits_of_integers(bits):
    values = [0, (1 << bits) - 1, *RANDOM.below(1 << bits, 20)]
    result = planes(values, bits)
    assert result.shape == (bits, 1)
    found = [unpack_slots(plane, len(values)) for plane in result]
    assert [
        sum(int(bit) << i for i, bit in enumerate(column)) for column in zip(*found, strict=True)
    ] == values
    if bits <= 64:
        assert (planes(np.array(values, dtype=np.uint64), bits) == result).all()


def test_planes_widen_words():
    assert (planes(np.array([5], dtype=np.uint64), 70) == planes([5], 70)).all()


@pytest.mark.parametrize("values", [[-1], [8], [1 << 70], np.array([8], dtype=np.uint64)])
def test_planes_refuse_what_does_not_fit(values):
    with pytest.raises(DomainError):
        planes(values, 3)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32])
def test_planes_take_narrow_arrays(kind):
    values = np.arange(100, dtype=kind)
    assert (planes(values, 7) == planes(values.tolist(), 7)).all()


def test_planes_refuse_signed_arrays():
    with pytest.raises(DomainError):
        planes(np.array([1, -1]), 64)
