"""The threshold that a histogram speaks for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.matching.tolerant import valley
from smc.analyses.matching.tolerant.histogram import EDGES, HIGHEST, LOWEST, Histogram, sensitivity

MIDDLES = np.array([float(edge) + 0.02 for edge in EDGES])


def histogram(epsilon="1", lowest=LOWEST, highest=HIGHEST):
    return Histogram(Fraction(epsilon), lowest, highest, sensitivity(8, 1))


def made(strangers, pairs, fall, begin):
    """Claims of strangers, level up to `begin` and a falling bell from there, and growing ones of pairs."""
    bell = strangers * np.exp(-(np.maximum(0, (MIDDLES - begin) / fall) ** 2) / 2)
    return (bell + pairs * np.exp(11 * (MIDDLES - 0.86))).astype(int).tolist()


def crossing(strangers, pairs, fall, begin):
    fine = np.linspace(0.5, 0.9, 401)
    bell = strangers * np.exp(-(np.maximum(0, (fine - begin) / fall) ** 2) / 2)
    return fine[np.argmax(pairs * np.exp(11 * (fine - 0.86)) >= bell)]


SHAPES = [(1200, 1000, 0.05, 0.6), (4000, 600, 0.05, 0.62), (800, 3000, 0.04, 0.5), (9000, 9000, 0.06, 0.58)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("stated", ["0.6", "0.7", "0.8"])
def test_it_is_where_strangers_and_pairs_are_equally_many(shape, stated):
    found = valley.threshold(made(*shape), histogram(), Fraction(stated))
    assert abs(float(found) - crossing(*shape)) <= 0.04


@pytest.mark.parametrize("shape", SHAPES)
def test_noise_moves_it_little(shape):
    given = histogram()
    scale, source = float(1 / given.noise.rate), np.random.default_rng(3)
    for _ in range(20):
        noise = np.round(source.laplace(0, scale, len(EDGES))).astype(int)
        found = valley.threshold((made(*shape) + noise).tolist(), given, Fraction(7, 10))
        assert abs(float(found) - crossing(*shape)) <= 0.06


@pytest.mark.parametrize("stated", ["0.62", "0.7", "0.76"])
def test_noise_alone_gives_about_the_stated_one(stated):
    given = histogram()
    scale, source = float(1 / given.noise.rate), np.random.default_rng(4)
    for _ in range(10):
        noise = np.round(source.laplace(0, scale, len(EDGES))).astype(int).tolist()
        assert abs(valley.threshold(noise, given, Fraction(stated)) - Fraction(stated)) <= Fraction(8, 100)
    nothing = valley.threshold([0] * len(EDGES), given, Fraction(stated))
    assert abs(nothing - Fraction(stated)) <= Fraction(2, 100)


@pytest.mark.parametrize("counts", [[10**9, *[0] * 12], [0] * 12 + [10**9], [-(10**9)] * 13, [10**15] * 13])
def test_whatever_the_counts_it_is_in_its_range(counts):
    for lowest, highest in ((LOWEST, HIGHEST), (Fraction(62, 100), Fraction(66, 100)), (LOWEST, LOWEST)):
        found = valley.threshold(counts, histogram(lowest=lowest, highest=highest), lowest)
        assert lowest <= found <= highest
        assert (100 * found).denominator == 1


def test_both_sides_find_the_same_whatever_their_python():
    """Known answers: sums are rounded once and exponentials are decimal, on every machine."""
    counts = [217, 262, 241, 244, 240, 214, 157, 104, 142, 250, 767, 1105, 5000]
    assert valley.threshold(counts, histogram(), Fraction(7, 10)) == Fraction(69, 100)
    assert valley.threshold(counts[::-1], histogram("1/3"), Fraction(7, 10)) == Fraction(14, 25)
