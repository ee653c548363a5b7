from __future__ import annotations

from collections import Counter
from math import gcd

import pytest

from smc.errors import UsageError
from smc.numeric.random import Randomness

RANDOM = Randomness()


@pytest.mark.parametrize("bound", [1, 2, 3, 255, 256, 257, 1 << 64, (1 << 521) - 1])
@pytest.mark.parametrize("count", [0, 1, 1000])
def test_draws_lie_below_their_bound(bound, count):
    drawn = RANDOM.below(bound, count)
    assert len(drawn) == count
    assert all(0 <= value < bound for value in drawn)


def test_draws_are_uniform():
    """60000 draws below 6; chi-square with 5 degrees of freedom exceeds 35.9 once in 1e6 runs."""
    seen = Counter(RANDOM.below(6, 60_000))
    assert sum((seen[face] - 10_000) ** 2 / 10_000 for face in range(6)) < 35.9


@pytest.mark.parametrize("bound", [0, -1])
def test_impossible_bounds_are_refused(bound):
    with pytest.raises(UsageError):
        RANDOM.below(bound, 1)


def test_units_are_prime_to_the_modulus():
    drawn = RANDOM.units(30, 2000)
    assert all(gcd(value, 30) == 1 for value in drawn)
    assert set(drawn) == {1, 7, 11, 13, 17, 19, 23, 29}


def test_bits_and_words_have_their_number_and_both_values():
    """A bit is set n/2 +- 4.9 standard deviations times, outside once in 1e6 runs."""
    bits = RANDOM.bits(100_001)
    assert bits.shape == (100_001,)
    assert abs(int(bits.sum()) - 50_000) < 4.9 * 100_001**0.5 / 2 + 1
    assert RANDOM.words(3).shape == (3,)
    assert len(set(RANDOM.words(1000).tolist())) == 1000


@pytest.mark.parametrize("count", [0, 1, 4095, 4096, 100_000])
def test_bulk_and_single_bytes_have_their_number(count):
    assert len(RANDOM.bytes(count)) == count


def test_bulk_streams_do_not_repeat():
    assert RANDOM.bytes(4096) != RANDOM.bytes(4096)


def test_a_seed_decides_all_draws():
    first, second = (Randomness.from_seed(b"seed", "purpose") for _ in range(2))
    for count in (1, 5, 4095, 4096, 100_000):
        assert first.bytes(count) == second.bytes(count)
    assert first.shuffled(range(50)) == second.shuffled(range(50))


def test_seeded_draws_run_on_and_differ_by_seed_and_purpose():
    streams = [
        Randomness.from_seed(seed, purpose)
        for seed, purpose in ((b"seed", "p"), (b"seed", "q"), (b"seed2", "p"), (b"seedp", ""), (b"", "seedp"))
    ]
    drawn = [stream.bytes(count) for stream in streams for count in (32, 32, 5000, 5000)]
    assert len({each[:32] for each in drawn}) == len(drawn)


def test_shuffles_are_uniform():
    """24000 shuffles of four; chi-square with 23 degrees of freedom exceeds 70.6 once in 1e6 runs."""
    seen = Counter("".join(RANDOM.shuffled("abcd")) for _ in range(24_000))
    assert len(seen) == 24
    assert sum((count - 1000) ** 2 / 1000 for count in seen.values()) < 70.6
