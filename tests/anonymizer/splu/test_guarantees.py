"""What gamma promises: known answers, and the exact distribution against counted releases."""

from __future__ import annotations

import numpy as np
import pytest

from anonymizer.errors import SpecError, UnreachableError
from anonymizer.splu import guarantees as promised
from anonymizer.splu.generation import draw_from_groups, partition
from anonymizer.tables.randomness import Randomness


def test_example_1_of_the_paper():
    assert round(float(promised.miss_probability(10, 5, 0.3)), 2) == 0.48


def test_figure_5_of_the_paper():
    assert round(promised.small_sum(10, 0.3, 3), 1) == 0.6


def test_theorem_3_corrected():
    assert promised.chebyshev(10, 100, 0.1) == pytest.approx(0.9)
    assert float(promised.error_probability(10, 100, 0.1)) == pytest.approx(0.3165, abs=5e-5)
    assert promised.bound_as_printed(10, 100, 0.1) == pytest.approx(0.001)  # does not bound 0.3165


@pytest.mark.parametrize("gamma", [2, 5, 10])
def test_the_corrected_bound_is_one_and_the_printed_is_none(gamma):
    counts = np.arange(1, 400)
    exact = promised.error_probability(gamma, counts, 0.2)
    bound = np.array([promised.chebyshev(gamma, f, 0.2) for f in counts])
    wrong = np.array([promised.bound_as_printed(gamma, f, 0.2) for f in counts])
    assert (exact <= bound + 1e-12).all()
    assert (exact > wrong).mean() > 0.3


def test_releases_miss_as_often_as_the_law_says():
    gamma, f, runs = 4, 5, 600
    values = np.concatenate([np.zeros(f, dtype=np.int64), 1 + np.arange(75) % 15])
    missed = 0
    for run in range(runs):
        published = values[
            draw_from_groups(partition(values, gamma, Randomness(run)), Randomness(run, "draw"))
        ]
        missed += abs(int((published == 0).sum()) - f) > 0.3 * f
    expected = float(promised.miss_probability(gamma, f, 0.3))
    assert abs(missed / runs - expected) < 4 * np.sqrt(expected * (1 - expected) / runs)  # 6e-5


def test_small_sums_take_the_worst_count():
    each = promised.miss_probability(7, np.arange(1, 9), 0.3)
    assert promised.small_sum(7, 0.3, 8) == each.min() < each.max()


@pytest.mark.parametrize("exact", [True, False])
def test_large_sums_keep_their_promise_from_there_on(exact):
    count = promised.large_sum(5, 0.1, 0.05, exact=exact)
    later = promised.error_probability(5, np.arange(count, 3 * count), 0.1)
    assert later.max() <= 0.05
    if exact:
        assert promised.error_probability(5, count - 1, 0.1) > 0.05


def test_the_bound_asks_for_more_than_the_law():
    assert promised.large_sum(5, 0.1, 0.05) < promised.large_sum(5, 0.1, 0.05, exact=False) == 1600


def test_guarantees_lead_back_to_gamma():
    gamma = promised.gamma_for_privacy(0.3, 0.6, 3)
    assert promised.small_sum(gamma, 0.3, 3) >= 0.6 > promised.small_sum(gamma - 1, 0.3, 3)
    gamma = promised.gamma_for_utility(0.1, 0.05, 300)
    assert promised.large_sum(gamma, 0.1, 0.05) <= 300


def test_what_no_gamma_can_do_is_said():
    with pytest.raises(UnreachableError, match="No gamma"):
        promised.gamma_for_privacy(0.3, 0.9, 50)
    with pytest.raises(UnreachableError, match="gamma = 2 needs") as problem:
        promised.gamma_for_utility(0.01, 0.05, 100)
    assert problem.value.hint


@pytest.mark.parametrize(
    "call",
    [
        lambda: promised.small_sum(1, 0.3, 3),
        lambda: promised.small_sum(5, 0.0, 3),
        lambda: promised.small_sum(5, float("nan"), 3),
        lambda: promised.small_sum(5, 0.3, 0),
        lambda: promised.large_sum(5, 0.3, 0.0),
        lambda: promised.large_sum(5, 1e-6, 1e-9),
        lambda: promised.gamma_for_privacy(0.3, 1.5, 3),
    ],
)
def test_parameters_out_of_range_are_refused(call):
    with pytest.raises(SpecError) as problem:
        call()
    assert problem.value.hint
