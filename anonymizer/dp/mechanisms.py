"""Mechanisms for single figures: additive noise, choices and randomized response, all drawn by OpenDP.

What they are given counts as known to nobody but the caller; sensitivities are taken for granted, and so have
to hold for all neighbours (`anonymizer.dp.smooth` has those of some statistics).

References: Dwork, McSherry, Nissim and Smith, TCC 2006 (thesis, Theorem 2.1); McSherry and Talwar, Mechanism
design via differential privacy, FOCS 2007; Warner, Randomized response, JASA 1965.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonymizer.dp import opendp as dp
from anonymizer.dp.noise import gaussian, laplace, mechanism
from anonymizer.errors import SpecError
from anonymizer.releases.guarantee import checked_budget

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_EXACT: Final = 2**53


def with_laplace(figures: ArrayLike, sensitivity: float, epsilon: float) -> Float:
    """Figures with Laplace noise.

    Args:
        figures: finite, shape (k,).
        sensitivity: the largest sum of absolute changes that one record makes, positive and finite.
        epsilon: of all figures together, in [1e-6, 100].

    Returns:
        Shape (k,).

    Raises:
        SpecError: an argument is out of range.
    """
    return _noisy("laplace", _numbers(figures), _positive(sensitivity), epsilon, 0.0)


def with_gaussian(figures: ArrayLike, sensitivity: float, epsilon: float, delta: float) -> Float:
    """Figures with Gaussian noise.

    Args:
        figures: finite, shape (k,).
        sensitivity: the largest Euclidean length of the changes that one record makes.
        epsilon: of all figures together.
        delta: in [1e-30, 0.1].

    Returns:
        Shape (k,).

    Raises:
        SpecError: an argument is out of range.
    """
    if not delta:
        raise SpecError("delta is 0, and Gaussian noise needs one.", "Choose one below 1 / records.")
    return _noisy("gaussian", _numbers(figures), _positive(sensitivity), epsilon, delta)


def with_discrete_laplace(counts: ArrayLike, sensitivity: int, epsilon: float) -> Int:
    """Whole numbers with discrete Laplace noise, which leaves them whole.

    Args:
        counts: whole numbers below 2**53, shape (k,).
        sensitivity: the largest sum of absolute changes that one record makes, 1 or more.
        epsilon: of all counts together.

    Returns:
        Shape (k,).

    Raises:
        SpecError: an argument is out of range.
    """
    given = _numbers(counts)
    if (given != np.round(given)).any() or (np.abs(given) >= _EXACT).any() or sensitivity != int(sensitivity):
        raise SpecError("Counts and their sensitivity are not whole numbers below 2**53.", "Round them.")
    found = _noisy("laplace", given, int(_positive(sensitivity)), epsilon, 0.0)
    return found.astype(np.int64)


def chosen_exponentially(
    scores: ArrayLike, sensitivity: float, epsilon: float, *, monotone: bool = False
) -> int:
    """The place of an option, likelier the higher its score: the exponential mechanism.

    Args:
        scores: finite, shape (options,), one or more.
        sensitivity: the largest change of a score that one record makes.
        epsilon: the odds of two options are e**(epsilon * difference / (2 * sensitivity)).
        monotone: whether a record changes all scores in one direction; then the 2 is not needed.

    Raises:
        SpecError: an argument is out of range.
    """
    given = _numbers(scores)
    checked_budget(epsilon)
    scale = (1 if monotone else 2) * _positive(sensitivity) / epsilon
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    # for this divergence the noise is Gumbel's, which makes the largest score the exponential mechanism's
    noisy = dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=scale)
    return int(noisy(given.tolist()))


def randomized_response(value: str, categories: Sequence[str], epsilon: float) -> str:
    """A category: the true one with probability e**epsilon / (e**epsilon + c - 1), each other one alike.

    Args:
        value: one of the categories.
        categories: c different texts, two or more.
        epsilon: of local differential privacy.

    Raises:
        SpecError: the value is not among the categories, or these are not different.
    """
    checked_budget(epsilon)
    if len(set(categories)) < max(2, len(categories)) or value not in categories:
        raise SpecError(
            f"{value!r} is not among two or more different categories.", "Declare all that there are."
        )
    probability = 1 / (1 + (len(categories) - 1) * math.exp(-epsilon))
    if not probability < 1:
        raise SpecError(f"epsilon {epsilon:g} leaves every answer as it is.", "Choose a smaller one.")
    places = {category: place for place, category in enumerate(categories)}
    drawn = dp.m.make_randomized_response(set(places.values()), probability)(places[value])
    answer: str = categories[int(drawn)]
    return answer


def _noisy(distribution: str, figures: Float, sensitivity: float, epsilon: float, delta: float) -> Float:
    checked_budget(epsilon, delta)
    whole = isinstance(sensitivity, int)
    scale, _ = (laplace if distribution == "laplace" else gaussian)(sensitivity, epsilon, delta)
    given = figures.astype(np.int64).tolist() if whole else figures.tolist()
    return np.array(mechanism(distribution, scale, whole=whole)(given), dtype=np.float64)


def _numbers(given: ArrayLike) -> Float:
    found = np.atleast_1d(np.asarray(given, dtype=np.float64))
    if found.ndim != 1 or not len(found) or not np.isfinite(found).all():
        raise SpecError("The figures are not a row of finite numbers.", "Give one or more.")
    return found


def _positive(sensitivity: float) -> float:
    if not (math.isfinite(sensitivity) and sensitivity > 0):
        raise SpecError(f"The sensitivity is {sensitivity}.", "Give the largest change that a record makes.")
    return float(sensitivity)
