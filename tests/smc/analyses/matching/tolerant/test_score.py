"""The linear score: exact Dice coefficients, local terms, and margins that lie in a byte."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.matching.tolerant.encoding import Field
from smc.analyses.matching.tolerant.score import LEAST_TERM, Score
from tests.support.grids import crossed
from tests.support.seeds import seeded

ONE = (Field("name"),)


def local(score, sizes, rarities=None):
    sizes = np.array(sizes, dtype=np.int64).reshape(-1, len(score.fields))
    return score.local(
        sizes, np.zeros_like(sizes) if rarities is None else np.array(rarities, dtype=np.int64)
    )


@pytest.mark.parametrize("text", ["0.05", "0.5", "0.6", "0.75", "0.8", "0.9999", "1"])
def test_a_threshold_is_the_dice_coefficient_to_an_eighth_of_a_unit(text):
    """Terms of both sides are rounded by half an eighth each."""
    threshold, score = Fraction(text), Score(ONE, Fraction(text), 0, 1)
    sizes = np.arange(1, score.most_weight + 1)
    terms = local(score, sizes)
    for common in (*range(0, score.most_weight, 7), score.most_weight):
        able = sizes >= common
        margins = (common << score.grain) + terms[able][:, None] + terms[able]
        exact = (
            2 * common - threshold.numerator * (sizes[able][:, None] + sizes[able]) / threshold.denominator
        )
        assert not (margins >= 0)[exact < -1 / 4].any()
        assert (margins >= 0)[exact > 1 / 4].all()


@pytest.mark.parametrize("text", ["0.5", "0.75", "1"])
def test_thresholds_of_quarters_are_exact(text):
    threshold, score = Fraction(text), Score(ONE, Fraction(text), 0, 1)
    sizes = np.arange(1, score.most_weight + 1)
    terms = local(score, sizes)
    for common in range(score.most_weight + 1):
        able = sizes >= common
        margins = (common << score.grain) + terms[able][:, None] + terms[able]
        exact = 2 * common * threshold.denominator >= threshold.numerator * (
            sizes[able][:, None] + sizes[able]
        )
        assert ((margins >= 0) == exact).all()


LINEAR = (
    Field("name", 6, gram=-310, empty=-200, rarity=125),
    Field("born", 3, gram=55, empty=1200),
    Field("sex", 50, gram=-2500),
)


def test_local_terms_are_the_stated_sums():
    score = Score(LINEAR, None, -7, 1)
    sizes = [[5, 10, 1], [0, 10, 1], [5, 0, 0], [0, 0, 2]]
    rarities = [[800, 100, 100], [0, 0, 0], [1, 0, 0], [0, 0, 0]]
    sums = [
        5 * Fraction("-3.10") + 10 * Fraction("0.55") - 25 + 8 * Fraction("1.25") + Fraction(7, 2),
        -2 + 10 * Fraction("0.55") - 25 + Fraction(7, 2),
        5 * Fraction("-3.10") + 12 + Fraction("0.0125") + Fraction(7, 2),
        -2 + 12 - 50 + Fraction(7, 2),
    ]
    assert local(score, sizes, rarities).tolist() == [int((one + Fraction(1, 2)) // 1) for one in sums]


@pytest.mark.parametrize(
    ("dice", "least", "capacity"),
    crossed([None, Fraction(1, 20), Fraction(3, 5), Fraction(1)], [-70, 0, 90], [1, 2, 16]),
)
def test_margins_and_ranks_keep_their_bounds(dice, least, capacity):
    """Whatever the filters and terms are: nothing that is shared needs more than its modulus."""
    score = Score(LINEAR, dice, least, capacity)
    modulus = 256 << score.grain
    assert 2 << score.margins.sign_bits == modulus
    assert 2 * score.most_rank < modulus << score.tie_bits
    random = seeded()
    sizes = np.array(random.below(13, 3 * 4000)).reshape(-1, 3)
    sizes[::7] = 0
    whole = sizes @ np.array([6, 3, 50])
    sizes, whole = sizes[whole <= score.most_weight], whole[whole <= score.most_weight]
    rarities = np.array(random.below(1500, sizes.size)).reshape(sizes.shape)
    terms = local(score, sizes, rarities)
    half = len(terms) // 2
    left, right = slice(half), slice(half, 2 * half)
    most = np.minimum(whole[left], whole[right])
    ranks = np.arange(capacity)
    for common in (np.zeros_like(most), most // 2, most):
        margins = (common << score.grain) + terms[left] + terms[right]
        assert score.margins.holds(margins)
        close = margins[margins >= 0][:, None, None]
        if close.size:
            found = score.ranks(close, ranks[:, None], ranks)
            assert 1 <= found.min() <= found.max() <= score.most_rank
            nearer = score.ranks(close + 1, ranks[:, None], ranks)
            assert (nearer.min(axis=(1, 2)) > found.max(axis=(1, 2))).all()


@pytest.mark.parametrize("dice", [None, Fraction(1, 20)])
def test_nothing_matches_an_empty_record(dice):
    score = Score(LINEAR, dice, -500, 1)
    empty, other = local(score, [[0, 0, 0], [9, 20, 1]])
    assert empty == score.absent == LEAST_TERM * score.unit
    assert empty + other < 0
    assert empty + empty < 0
