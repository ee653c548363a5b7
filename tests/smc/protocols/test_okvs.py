"""The key-value store: it gives back, it is uniform, and it hardly ever fails."""

from __future__ import annotations

from math import comb, exp, lgamma, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc.errors import UsageError
from smc.protocols.intersection import okvs
from smc.protocols.intersection.okvs import DENSE, PART_KEYS, SEED_BYTES, StoreSize, decode, encode
from tests.support.seeds import seeded
from tests.support.transcript import BYTES_BOUND, byte_statistic

RANDOM = seeded()


def drawn(count, width=1):
    """Random keys and values, and a seed."""
    keys = RANDOM.words(2 * count).reshape(count, 2)
    return keys, RANDOM.words(width * count).reshape(count, width), RANDOM.bytes(SEED_BYTES)


def dependent_sets(count):
    """N of the module: the expected number of sets of keys whose sparse parts cancel."""
    columns = StoreSize.of(count).columns
    total = 0.0
    for weight in range(columns + 1):
        bias = (1 - 2 * weight / columns) ** 3
        if bias > -1:
            ways = lgamma(columns + 1) - lgamma(weight + 1) - lgamma(columns - weight + 1)
            total += exp(ways - columns * log(2) + count * log(1 + bias))
    return total - 1


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 64, 300, 1000, 20_000])
@pytest.mark.parametrize("width", [1, 3])
def test_every_key_gets_its_value(count, width):
    keys, values, seed = drawn(count, width)
    store = encode(keys, values, seed, RANDOM)
    assert store.shape == (StoreSize.of(count).rows, width)
    assert (decode(store, keys, seed, count) == values).all()


@given(st.sets(st.integers(0, (1 << 128) - 1), max_size=40), st.binary(min_size=32, max_size=32))
def test_any_distinct_keys_can_be_stored(numbers, seed):
    keys = np.array([(n & (1 << 64) - 1, n >> 64) for n in numbers], dtype=np.uint64).reshape(-1, 2)
    values = np.arange(2 * len(keys), dtype=np.uint64).reshape(-1, 2)
    assert (decode(encode(keys, values, seed, RANDOM), keys, seed, len(keys)) == values).all()


def test_several_parts_hold_what_one_does(monkeypatch):
    monkeypatch.setattr(okvs, "PART_KEYS", 512)
    keys, values, seed = drawn(5000, 2)
    layout = StoreSize.of(5000)
    assert layout.parts == 10
    assert layout.capacity < 800
    assert (decode(encode(keys, values, seed, RANDOM), keys, seed, 5000) == values).all()


def test_an_overfull_part_is_refused(monkeypatch):
    monkeypatch.setattr(okvs, "PART_KEYS", 64)
    monkeypatch.setattr(okvs.StoreSize, "of", classmethod(lambda cls, count: cls(4, count // 4)))
    keys, values, seed = drawn(1001)
    with pytest.raises(UsageError):
        encode(keys, values, seed, RANDOM)


def test_equal_keys_are_refused():
    for count in (2, 50, 3000):
        keys, values, seed = drawn(count)
        keys[-1] = keys[0]
        with pytest.raises(UsageError, match="distinct"):
            encode(keys, values, seed, RANDOM)


@pytest.mark.parametrize("count", [12, 3000])
def test_a_store_of_uniform_values_is_uniform(count):
    keys, _, seed = drawn(count)
    stores = [
        encode(keys, RANDOM.words(count).reshape(-1, 1), seed, RANDOM)
        for _ in range(75_000 // StoreSize.of(count).rows)
    ]
    assert uniform(np.concatenate(stores))


def test_other_keys_get_uniform_words():
    keys, values, seed = drawn(3000)
    other = RANDOM.words(100_000).reshape(-1, 2)
    found = decode(encode(keys, values, seed, RANDOM), other, seed, 3000)
    assert len(np.unique(found)) > 49_990
    assert uniform(found)


def test_the_fill_is_fresh_each_time():
    keys, values, seed = drawn(500)
    first, second = (encode(keys, values, seed, RANDOM) for _ in range(2))
    free = StoreSize.of(500).rows - 500
    assert (first != second).sum() > free // 2


@pytest.mark.parametrize("count", [*range(1, 60), 100, 300, 1000, 5000, PART_KEYS])
def test_a_store_fails_with_less_than_the_stated_probability(count):
    assert dependent_sets(count) < 0.11
    assert dependent_sets(count) * 2.0**-DENSE < 2.0**-40


def test_the_count_of_dependent_sets_is_right_for_pairs():
    """For few keys the pairs that coincide are all; their probability is that of equal odd subsets."""
    count, columns = 4, StoreSize.of(4).columns
    same = (3 * 2 * comb(columns, 3) * 6 + columns * (3 * columns - 2) ** 2) / columns**6
    assert dependent_sets(count) == pytest.approx(comb(count, 2) * same, rel=0.05)


@pytest.mark.parametrize("count", [PART_KEYS + 1, 10 * PART_KEYS + 7, 3_000_000, 30_000_000])
def test_a_part_is_overfull_with_negligible_probability(count):
    layout = StoreSize.of(count)
    mean = count / layout.parts
    excess = layout.capacity - mean
    tail = exp(-excess * excess / (2 * (mean + excess / 3)))
    assert layout.parts * tail <= 2.0**-40 * (1 + 1e-9)
    assert layout.rows < 1.37 * count


def uniform(words):
    """Whether bytes are uniform."""
    return byte_statistic(np.ascontiguousarray(words).tobytes()) < BYTES_BOUND
