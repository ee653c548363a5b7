"""Integers side by side in words: every width, and nothing of what stands above it."""

from __future__ import annotations

import numpy as np
import pytest

from smc.errors import UsageError
from smc.numeric.narrow_words import NARROW_BITS, WORD_BITS, pack, packed_words, type_of, unpack
from tests.support.seeds import seeded

RANDOM = seeded()


@pytest.mark.parametrize("bits", range(1, 65))
def test_integers_come_back_modulo_whole_bytes(bits):
    size = -(-bits // 8)
    for count in (0, 1, 2, 3, 7, 8, 9, 100):
        integers = RANDOM.words(count)
        words = pack(integers, bits)
        assert len(words) == packed_words(count, bits) == -(-count * size // 8)
        assert (unpack(words, count, bits) == integers & np.uint64((1 << 8 * size) - 1)).all()
        assert not words.view(np.uint8)[count * size :].any()


def test_integers_of_32_bits_are_packed_as_those_of_64():
    integers = RANDOM.words(11)
    narrow = integers.astype(type_of(NARROW_BITS))
    for bits in (8, 20, 24, 32):
        assert (pack(narrow, bits) == pack(integers, bits)).all()


def test_there_are_two_types():
    assert [type_of(bits) for bits in (NARROW_BITS, WORD_BITS)] == [np.uint32, np.uint64]
    with pytest.raises(UsageError, match="16 bits"):
        type_of(16)
