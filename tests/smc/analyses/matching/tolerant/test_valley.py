"""The least score that a histogram speaks for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.matching.tolerant import valley
from smc.analyses.matching.tolerant.histogram import (
    EDGES,
    HIGHEST,
    LOWEST,
    WIDTH,
    Chosen,
    Histogram,
    sensitivity,
)

MIDDLES = np.array([edge + WIDTH / 2 for edge in EDGES])


def histogram(epsilon="1", lowest=LOWEST, highest=HIGHEST):
    return Histogram(Fraction(epsilon), lowest, highest, 0, sensitivity(7, 1))


def made(strangers, pairs, place):
    """Claims of strangers, level up to some way below that place, and a bell of pairs above it."""
    fall = strangers * np.exp(-(np.maximum(0, (MIDDLES - place + 12) / 9) ** 2))
    bell = pairs * np.exp(-(((MIDDLES - place - 30) / 11) ** 2) / 2)
    return (fall + bell).astype(int).tolist()


SHAPES = [(1200, 20_000, 0), (4000, 60_000, -12), (800, 9000, -18), (300, 9000, 6)]


@pytest.mark.parametrize("shape", SHAPES)
def test_it_lies_between_strangers_and_pairs(shape):
    assert abs(valley.adjustment(made(*shape), histogram("4")) - shape[2]) <= 6


@pytest.mark.parametrize("shape", SHAPES)
def test_noise_moves_it_little(shape):
    given = histogram()
    scale, source = float(1 / given.noise.rate), np.random.default_rng(3)
    for _ in range(20):
        noise = np.round(source.laplace(0, scale, len(EDGES))).astype(int)
        assert abs(valley.adjustment((made(*shape) + noise).tolist(), given) - shape[2]) <= 9


def test_noise_alone_gives_about_the_stated_one():
    given = histogram()
    scale, source = float(1 / given.noise.rate), np.random.default_rng(4)
    for _ in range(10):
        noise = np.round(source.laplace(0, scale, len(EDGES))).astype(int).tolist()
        assert abs(valley.adjustment(noise, given)) <= 20
    assert abs(valley.adjustment([0] * len(EDGES), given)) <= 3


@pytest.mark.parametrize("counts", [[10**9, *[0] * 16], [0] * 16 + [10**9], [-(10**9)] * 17, [10**15] * 17])
def test_whatever_the_counts_it_is_in_its_range(counts):
    for lowest, highest in ((LOWEST, HIGHEST), (-6, 6), (-20, 0), (0, 0)):
        assert lowest <= valley.adjustment(counts, histogram(lowest=lowest, highest=highest)) <= highest


def test_both_sides_find_the_same_whatever_their_python():
    """Known answers: sums are rounded once and exponentials are decimal, on every machine."""
    counts = [217, 262, 241, 244, 240, 214, 157, 104, 42, 50, 67, 110, 300, 767, 1105, 2000, 5000]
    assert valley.adjustment(counts, histogram()) == -4
    assert valley.adjustment(counts[::-1], histogram("1/3")) == -32


def test_claims_near_the_chosen_score_are_those_of_its_bins():
    chosen = Chosen(0, tuple(range(len(EDGES))))
    middle = EDGES.index(-3)
    assert chosen.near(1) == middle
    assert chosen.near(4) == sum(range(middle - 1, middle + 2))
    assert Chosen(EDGES[-1], (*[0] * 16, 7)).near(1) == 7
