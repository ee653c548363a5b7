"""Relations of two columns: planted ones are found, chance is not, and the chance is counted right."""

from __future__ import annotations

from itertools import permutations
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from anonymizer.gate.order import order_reveals
from anonymizer.gate.relations import (
    correlation,
    dense_codes,
    determines,
    determines_both_ways,
    follows,
    in_line,
    join_codes,
)

RANDOM = np.random.default_rng(20)

sizes = st.integers(2, 60)


def drawn(rows: int, kinds: int) -> np.ndarray:
    return dense_codes(RANDOM.integers(0, kinds, rows))


@given(sizes, st.integers(1, 70), st.integers(1, 70))
def test_independent_columns_tell_nothing(rows, one, other):
    """One thousand relations in a hundred runs at a chance of 1e-9 each."""
    first, second = drawn(rows, one), drawn(rows, other)
    assert not determines_both_ways(first, second)
    assert not determines(first, second)
    assert not follows(first, second)


@given(st.integers(1, 40))
def test_columns_without_repeated_values_are_never_renamings(rows):
    assert not determines_both_ways(RANDOM.permutation(rows), RANDOM.permutation(rows))
    assert not determines(RANDOM.permutation(rows), drawn(rows, 3))


@pytest.mark.parametrize("rows", [1, 4, 6, 12])
def test_few_truth_values_may_agree_by_chance(rows):
    truth = np.arange(rows) % 2
    assert not determines_both_ways(truth, 1 - truth)
    assert not determines(truth, 1 - truth)
    assert not determines_both_ways(np.zeros(rows, dtype=int), np.zeros(rows, dtype=int))


def test_the_chance_of_a_renaming_is_counted_exactly():
    """Of all orders of a column the part that divides rows alike is prod(c!) prod(m!) / n!."""
    column = np.array([0, 0, 1, 1, 2, 3])
    pattern = {tuple(np.flatnonzero(column == v)) for v in range(4)}
    alike = sum(
        {tuple(np.flatnonzero(np.array(order) == v)) for v in range(4)} == pattern
        for order in permutations(column.tolist())
    )
    counts = np.bincount(column)
    expected = prod(map(factorial, counts)) * prod(map(factorial, np.bincount(counts))) / factorial(6)
    assert alike / factorial(6) == pytest.approx(expected)


@given(st.integers(80, 200), st.integers(2, 20))
def test_renamings_are_found_though_some_rows_are_spoiled(rows, kinds):
    column = np.append(drawn(rows - kinds, kinds), np.arange(kinds))
    names = RANDOM.permutation(kinds)
    copy = names[column]
    assert determines_both_ways(column, copy)
    copy[:2] = copy[1::-1]
    assert determines_both_ways(column, copy)


def test_a_part_of_a_column_decides_its_whole():
    fine = drawn(400, 60)
    assert determines(fine, fine // 6)
    assert not determines_both_ways(fine, fine // 6)
    assert not determines(fine // 6, fine)


@given(st.integers(25, 120))
def test_orders_are_found_though_rows_were_exchanged(rows):
    column = RANDOM.permutation(rows)
    for image in map(dense_codes, (column * 3 + 1, rows - column, column**3)):
        assert follows(image, column)
        places = RANDOM.permutation(rows)[:2]
        image[places] = image[places[::-1]]
        assert follows(image, column)


def test_a_column_that_is_mostly_zero_is_in_line_with_nothing():
    gain = np.where(RANDOM.random(1000) < 0.92, 0, RANDOM.integers(1, 40, 1000))
    other = RANDOM.integers(0, 60, 1000)
    assert not follows(dense_codes(other), dense_codes(gain))
    assert not in_line(dense_codes(other), dense_codes(gain))


@given(st.lists(st.integers(0, 6), min_size=2, max_size=30), st.data())
def test_the_rank_correlation_is_that_of_spearman(one, data):
    other = data.draw(st.lists(st.integers(0, 6), min_size=len(one), max_size=len(one)))
    first, second = dense_codes(np.array(one)), dense_codes(np.array(other))
    if len(set(one)) > 1 and len(set(other)) > 1:
        assert correlation(first, second) == pytest.approx(spearmanr(one, other).statistic)
    else:
        assert correlation(first, second) == 0


def test_halves_join_to_the_whole():
    whole = RANDOM.permutation(900)
    assert follows(join_codes(whole // 30, whole % 30), whole)


def test_a_shuffle_has_no_order():
    for _ in range(200):
        order = RANDOM.permutation(RANDOM.integers(20, 400))
        assert order_reveals(order, {"sex": order % 2}) is None


@pytest.mark.parametrize("rows", [120, 1000])
def test_orders_that_tell(rows):
    kept = np.arange(rows)
    sex = RANDOM.integers(0, 2, rows)
    assert "correlation of 1.000" in order_reveals(kept, {})
    assert "correlation of -1.000" in order_reveals(kept[::-1], {})
    by_sex = np.argsort(sex, kind="stable")
    assert order_reveals(by_sex, {}) is not None
    woven = np.empty(rows, dtype=int)
    woven[sex == 0] = np.flatnonzero(sex == 0)
    woven[sex == 1] = RANDOM.permutation(np.flatnonzero(sex == 1))
    assert order_reveals(woven, {"sex": sex}) is not None
    lost = np.sort(RANDOM.permutation(rows)[: rows * 3 // 4])
    assert order_reveals(lost, {}) is not None
    unknown = np.where(RANDOM.random(rows) < 0.5, -1, kept)
    assert order_reveals(unknown, {}) is not None
