"""Weighted means open two sums beside each count: of what each of them shows, the history has to know."""

from __future__ import annotations

import numpy as np

from tests.parties.disclosure.test_attacks import Victim, patients, statistics

FRACTURE = 3
WEIGHTED = {"kind": "weighted-mean", "column": "age", "weight": "cost"}


def victims():
    """Of eleven with fractures one is new-born and costs as much as fifty others."""
    drawn = np.random.default_rng(5)
    diagnosis = np.append(drawn.integers(0, 3, 400), [FRACTURE] * 11)
    cost = np.append(drawn.integers(900, 1100, 400), [60_000, *[10] * 10])
    age = np.append(drawn.integers(20, 90, 400), [0, *[80] * 10])
    return patients(cost=cost, age=age, diagnosis=diagnosis)


def outcomes(folder, first, second):
    victim = Victim(folder, victims(), overlap=10)
    return victim.asked(statistics(**first))[1], victim.asked(statistics(**second))[1]


def test_the_sum_of_weights_of_eleven_is_not_one_persons(tmp_path):
    """Of all but the eleven, and of all: the sums of weights differ by what one of them cost."""
    rest = {**WEIGHTED, "where": [{"column": "diagnosis", "not_equals": "fracture"}]}
    first, second = outcomes(tmp_path, WEIGHTED, rest)
    assert first is not None
    assert second is None


def test_it_does_not_follow_from_a_sum_either(tmp_path):
    rest = {"kind": "sum", "column": "cost", "where": [{"column": "diagnosis", "not_equals": "fracture"}]}
    first, second = outcomes(tmp_path, WEIGHTED, rest)
    assert first is not None
    assert second is None


def test_sums_of_the_same_rows_are_refused_so(tmp_path):
    """What the two tests above are held against."""
    rest = {"kind": "sum", "column": "cost", "where": [{"column": "diagnosis", "not_equals": "fracture"}]}
    first, second = outcomes(tmp_path, {"kind": "sum", "column": "cost"}, rest)
    assert first is not None
    assert second is None
