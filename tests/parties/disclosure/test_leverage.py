"""Leverages of persons in what tables have shown, in real numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from parties.disclosure import leverage
from parties.disclosure.equations import Shown
from parties.disclosure.leverage import is_nearly_of_one

ROWS = 200
EVERYBODY = np.ones((1, 1), dtype=bool)
HALF = Fraction(1, 2)


def sums(*amounts):
    persons, cells = np.arange(ROWS, dtype=np.uint64), np.zeros(ROWS, dtype=np.int64)
    return Shown(persons, cells, EVERYBODY, np.array(amounts, dtype=np.int64))


def drawn(seed, count=3):
    return np.random.default_rng(seed).integers(0, 1000, (count, ROWS))


@pytest.mark.parametrize("at_once", [1, 4_000_000])
def test_leverages_are_those_of_the_hat_matrix(monkeypatch, at_once):
    monkeypatch.setattr(leverage, "AT_ONCE", at_once)
    tables = [sums(*drawn(1)), sums(*drawn(2))]
    design = np.concatenate([np.ones((1, ROWS)), drawn(1), drawn(2)]).T
    wanted = np.diag(design @ np.linalg.pinv(design))
    assert np.allclose(leverage._leverages(tables, np.arange(ROWS, dtype=np.uint64)), wanted)


def test_roundings_that_even_out_hide_nobody():
    (first,) = drawn(3, 1)
    roundings = np.random.default_rng(4).integers(-5, 6, ROWS)
    second = 10 * first + 100 + roundings
    assert not is_nearly_of_one([sums(first), sums(second)], HALF)
    second[7] += 500
    assert is_nearly_of_one([sums(first), sums(second)], HALF)
    assert not is_nearly_of_one([sums(first), sums(second)], Fraction(1))


def test_what_a_table_tells_alone_is_for_its_own_limits():
    (first,) = drawn(5, 1)
    first[7] = 1_000_000
    assert not is_nearly_of_one([sums(first), sums(*drawn(6))], HALF)


def test_as_many_sums_as_persons_tell_of_them():
    assert not is_nearly_of_one([sums(*drawn(seed, 10)) for seed in range(4)], HALF)
    assert is_nearly_of_one([sums(*drawn(seed, 10)) for seed in range(19)], HALF)
