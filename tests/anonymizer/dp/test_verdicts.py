"""The auditor's verdict on every mechanism for single figures: none spends more than it says."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from math import exp
from statistics import fmean, median

import numpy as np
import pytest

from anonymizer.dp import mechanisms, smooth
from anonymizer.dp.audit import loss_at_least
from anonymizer.dp.mechanisms import (
    chosen_exponentially,
    randomized_response,
    with_discrete_laplace,
    with_gaussian,
    with_laplace,
)
from anonymizer.dp.smooth import Smooth, median_smooth
from scripts.reproduce import dummies
from scripts.reproduce import private_ttest as ttest
from scripts.reproduce.dummies import WithDummies
from scripts.reproduce.private_ttest import SmoothTTest

ALARM = 1e-6
"""How likely a sound mechanism is refuted, or one that is tight seems to spend less."""


@dataclass(frozen=True)
class Case:
    """A mechanism on the neighbours that tell most.

    Attributes:
        draws: a number of each of so many runs on a table or its neighbour.
        epsilon: claimed.
        delta: claimed.
        shown: so much of epsilon is proved at the least; 0 where the promise is far from tight.
        runs: on each table.
    """

    draws: Callable[[int, bool], object]
    epsilon: float
    delta: float = 0.0
    shown: float = 0.25
    runs: int = 3000


def several(once: Callable[[bool], float]) -> Callable[[int, bool], object]:
    """A mechanism that is run by itself each time."""
    return lambda runs, other: [once(other) for _ in range(runs)]


MEDIAN = Smooth(2.0, 1e-2)
TABLES = {False: [0.0, 0.0, 0.0, 4.0, 4.0], True: [0.0, 0.0, 4.0, 4.0, 4.0]}
T = SmoothTTest(5.0, 1e-2, 4.0, (0.0, 4.0))
GROUPS = {False: ([0.0, 0.0], [4.0, 4.0]), True: ([0.0, 4.0], [4.0, 4.0])}
MEANS = WithDummies(fmean, (0.0, 1.0), (0.0, 0.5, 1.0))


def of_median(other: bool) -> float:
    bound = median_smooth(TABLES[other], 0, 4, MEDIAN.beta)
    return float(MEDIAN.release([median(TABLES[other])], bound)[0])


def of_t(other: bool) -> float:
    return T.release(*map(np.array, GROUPS[other]))


CASES = {
    "with_laplace": Case(  # of 3,000 runs one audit in 30,000 picks an event that shows too little
        lambda runs, other: with_laplace(np.full(runs, float(other)), 1.0, 1.0), 1.0, runs=10_000
    ),
    "with_gaussian": Case(
        lambda runs, other: with_gaussian(np.full(runs, float(other)), 1.0, 1.0, 1e-2), 1.0, 1e-2, 0.0
    ),
    "with_discrete_laplace": Case(
        lambda runs, other: with_discrete_laplace(np.full(runs, 3 + other), 1, 1.0), 1.0
    ),
    "chosen_exponentially": Case(
        several(lambda other: chosen_exponentially([0.0, 1.0] if other else [1.0, 0.0], 1.0, 3.0)),
        3.0,
        shown=0.15,  # of two options no more than half is spent
        runs=1000,
    ),
    "randomized_response": Case(
        several(lambda other: float(randomized_response("b" if other else "a", ["a", "b"], 1.0) == "a")),
        1.0,
        runs=1500,
    ),
    "Smooth": Case(several(of_median), 2.0, 1e-2, 0.0, 400),
    "SmoothTTest": Case(several(of_t), 5.0, 1e-2, 0.0, 300),
    "WithDummies": Case(
        several(lambda other: MEANS.release((0.0, 0.0, 1.0 if other else 0.0), 1.0)), 1.0, 0.0, 0.0, 600
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_no_mechanism_spends_more_than_it_says(name):
    case = CASES[name]
    first, second = (np.asarray(case.draws(case.runs, other), dtype=float) for other in (False, True))
    found = loss_at_least(first, second, delta=case.delta, wrong=ALARM)
    assert case.shown * case.epsilon <= found <= case.epsilon


def test_every_mechanism_has_a_verdict():
    """A new one needs a case: functions that draw, and classes that release."""
    drawing = {
        name
        for name, one in inspect.getmembers(mechanisms, inspect.isfunction)
        if one.__module__ == mechanisms.__name__ and not name.startswith("_")
    }
    releasing = {
        name
        for module in (dummies, smooth, ttest)
        for name, one in inspect.getmembers(module, inspect.isclass)
        if one.__module__ == module.__name__ and hasattr(one, "release")
    }
    assert drawing | releasing == set(CASES)


@pytest.mark.parametrize(
    "draws",
    [
        lambda other: with_laplace(np.full(3000, float(other)), 0.25, 1.0),  # a sensitivity taken too small
        lambda other: with_laplace(np.full(3000, float(other)), 1.0, 4.0),  # more spent than claimed
        lambda other: np.full(3000, 0.3 + other),  # the same noise in every run
        lambda other: with_laplace(np.full(3000, 1.0), 1.0, 1.0) * exp(3 * other),  # noise by the data
    ],
    ids=["sensitivity", "budget", "no randomness", "scale by the data"],
)
def test_planted_faults_are_refuted(draws):
    assert loss_at_least(draws(False), draws(True), wrong=ALARM) > 1.0
