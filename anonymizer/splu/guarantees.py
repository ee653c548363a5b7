"""What gamma promises, and which gamma keeps a promise.

A value that f rows have is published f' times: gamma f rows have it among their decoys, each publishes it
with probability 1 / gamma, so that f' is binomial with the mean f and the variance f (1 - 1 / gamma).

The paper's Theorem 3, Lemma 1 and Figure 4 divide that variance by the number of rows twice; `chebyshev` and
`large_sum` have it once, and `bound_as_printed` is what the paper prints, for comparison only. Lemma 2,
Theorem 4 and Example 1 are right.

Reference: Fu et al., Small sum privacy and large sum utility in data publishing, 2014, section 4.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import scipy
from numpy.typing import NDArray

from anonymizer.errors import SpecError, UnreachableError
from anonymizer.splu.generation import MIN_GAMMA

Float = NDArray[np.float64]

MAX_GAMMA: Final = 1000
_GAMMAS: Final = np.arange(MIN_GAMMA, MAX_GAMMA + 1)
_LONGEST: Final = 5_000_000
_ROUNDED: Final = 1e-9
"""Keeps 0.3 * 10 from being a little more than 3."""

NOT_PROMISED: Final = (
    "It says that small counts are estimated badly, and nothing of a person: neither that it stays hidden "
    "who is in the table nor what somebody's value is. Who knows the decoy groups reads shares of them; two "
    "people with one very rare value may both keep it; counts above alpha are meant to be learned."
)
"""What small-sum privacy is not; stands in guarantees, reports and answers."""


def miss_probability(gamma: Any, counts: Any, e: float) -> Float:
    """How likely the estimate of a count lies outside [(1 - e) f, (1 + e) f]; exact.

    Args:
        gamma: at least 2; a number, or an array.
        counts: f, at least 1; a number, or an array that fits.
        e: the relative error, in (0, 1].

    Returns:
        Of the shape of both. Example 1 of the paper: gamma 10, f 5, e 0.3 give 0.48.

    Reference: the paper, Lemma 2 and Theorem 4 before the minimum is taken.
    """
    _check(gamma, e)
    f = np.asarray(counts, dtype=np.float64)
    distribution = scipy.stats.binom(gamma * f, 1 / gamma)
    low, high = np.ceil((1 - e) * f - _ROUNDED), np.floor((1 + e) * f + _ROUNDED)
    found: Float = distribution.cdf(low - 1) + distribution.sf(high)
    return found


def error_probability(gamma: int, counts: Any, e: float) -> Float:
    """Pr(|f' - f| >= e f), exact: the ends count as errors, unlike in `miss_probability`."""
    _check(gamma, e)
    f = np.asarray(counts, dtype=np.float64)
    distribution = scipy.stats.binom(gamma * f, 1 / gamma)
    found: Float = distribution.cdf(np.floor((1 - e) * f + _ROUNDED)) + distribution.sf(
        np.ceil((1 + e) * f - _ROUNDED) - 1
    )
    return np.minimum(found, 1.0)


def small_sum(gamma: int, e: float, alpha: int) -> float:
    """T_P: counts from 1 to alpha miss by more than e of themselves with at least this probability.

    Reference: the paper, Lemma 2 and Theorem 4.
    """
    if alpha < 1:
        raise SpecError(f"alpha is {alpha}.", "Choose the largest count to be protected, at least 1.")
    return float(miss_probability(gamma, np.arange(1, alpha + 1), e).min())


def chebyshev(gamma: int, count: float, e: float) -> float:
    """Upper bound of Pr(|f' - f| >= e f): (1 - 1 / gamma) / (e^2 f), at most 1.

    Reference: the paper's Theorem 3, corrected.
    """
    _check(gamma, e)
    return min(1.0, (1 - 1 / gamma) / (e**2 * count))


def bound_as_printed(gamma: int, count: float, e: float) -> float:
    """Theorem 3 as printed, 1 / (gamma e^2 f^2): no bound, since the variance is divided by n twice."""
    _check(gamma, e)
    return min(1.0, 1 / (gamma * (e * count) ** 2))


def large_sum(gamma: int, e: float, error: float, *, exact: bool = True) -> int:
    """T_f: every count from here on is off by e of itself or more with probability `error` (T_E) at most.

    Args:
        gamma: at least 2.
        e: in (0, 1].
        error: in (0, 1).
        exact: by the binomial distribution; else by `chebyshev`, a larger number.

    Raises:
        SpecError: a number is out of range, or so small that the count would lie beyond 5,000,000.

    Reference: the paper, Lemma 1, corrected.
    """
    _check(gamma, e)
    if not 0 < error < 1:
        raise SpecError(f"T_E is {error}, outside (0, 1).", "Choose a probability such as 0.05.")
    variance = 1 - 1 / gamma
    bound = variance / (e**2 * error)
    if not exact:
        return math.ceil(bound - _ROUNDED)
    bernstein = 2 * (variance + e / 3) * math.log(2 / error) / e**2  # decays faster where the error is small
    limit = math.ceil(min(bound, bernstein))
    if limit > _LONGEST:
        raise SpecError(f"e = {e} and T_E = {error} need counts beyond {_LONGEST:,}.", "Choose a larger e.")
    above = np.flatnonzero(error_probability(gamma, np.arange(1, limit + 1), e) > error)
    return int(above[-1]) + 2 if len(above) else 1


def gamma_for_privacy(e: float, probability: float, alpha: int) -> int:
    """The least gamma with which counts from 1 to alpha miss by more than e with this probability (T_P).

    Raises:
        UnreachableError: none up to 1,000 has it; the promise hardly depends on gamma, see the paper's Figure
            5.
    """
    if not 0 < probability < 1:
        raise SpecError(f"T_P is {probability}, outside (0, 1).", "Choose a probability such as 0.5.")
    if alpha < 1:
        raise SpecError(f"alpha is {alpha}.", "Choose the largest count to be protected, at least 1.")
    best = 1.0
    for count in range(1, alpha + 1):  # often one count rules all out
        best = min(best, float(miss_probability(_GAMMAS, count, e).max()))
        if best < probability:
            break
    else:
        for gamma in _GAMMAS:
            if small_sum(int(gamma), e, alpha) >= probability:
                return int(gamma)
    raise UnreachableError(
        f"No gamma lets counts up to {alpha} miss by more than {e:g} with probability {probability:g}; "
        f"they do with {best:.3g} at most.",
        "Lower T_P, alpha or e.",
    )


def gamma_for_utility(e: float, error: float, count: int, *, exact: bool = True) -> int:
    """The largest gamma with which every count from `count` (T_f) on keeps within e but for T_E.

    Raises:
        UnreachableError: not even gamma = 2 does; says from which count on it would.
    """
    least = large_sum(MIN_GAMMA, e, error, exact=exact)
    if least > count:
        raise UnreachableError(
            f"Counts from {count} on cannot be within {e:g} but for {error:g}: gamma = 2 needs {least}.",
            "Raise T_f, T_E or e.",
        )
    low, high = MIN_GAMMA, MAX_GAMMA
    while low < high:
        middle = (low + high + 1) // 2
        if large_sum(middle, e, error, exact=exact) <= count:
            low = middle
        else:
            high = middle - 1
    return low


def _check(gamma: Any, e: float) -> None:
    if np.min(gamma) < MIN_GAMMA:
        raise SpecError(f"gamma is {gamma}.", "Choose 2 or more.")
    if not 0 < e <= 1:
        raise SpecError(f"The relative error e is {e}.", "Choose one in (0, 1], such as 0.3.")
