"""Kaplan and Meier's curve and what belongs to it, from the numbers of rows by step and by how they ended.

All arrays may have further dimensions in front, over which nothing is added up. Numbers may be noisy: those
of events can then be negative; of rows at risk the caller leaves out what noise could account for.

    d events, n at risk      S = product of 1 - d / n                 V = sum of d / (n (n - d))      [1, 2]
    kind c of the events     F_c = sum of d_c / n times S before                                      [3]
    up to T                  area under S, its variance the sum of (area from there on)**2 d / (n (n - d))
    groups g, strata         u_g = sum of d_g - d n_g / n,  their covariances as of hypergeometric draws [4]

Where a step is one unit of the times, rows that leave in it were at risk in all of it, after which they are
not. Where it is longer they count as at risk for half of it, as in a life table [5], and curves fall evenly
within it: `missed` is the part that they miss, 0 or 1/2.

References: [1] Kaplan and Meier, Nonparametric estimation from incomplete observations, JASA 1958. [2]
Greenwood, The natural duration of cancer, 1926. [3] Aalen and Johansen, Scand. J. Stat. 5, 1978; its
variance: Marubini and Valsecchi, Analysing survival data from clinical trials, 1995, equation 10.12. [4]
Mantel, Evaluation of survival data and two new rank order statistics, 1966. [5] Cutler and Ederer, Maximum
utilization of the life table method in analyzing survival, J. Chron. Dis. 8, 1958.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NORMAL_95: Final = 1.959963984540054
"""95 % of a normal variable lie within so many deviations."""

_MOST_SHIFT: Final = 700.0
"""Beyond, an interval is all from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A survival curve; index 0 of the last axis is the start, index k the end of step k.

    Attributes:
        survival: S, shape (..., steps + 1).
        variance: V, that of the logarithm of S, of the same shape.
        at_risk: rows that are followed beyond the step, of the same shape.
    """

    survival: Floats
    variance: Floats
    at_risk: Floats


def at_risk(ended: Floats, beyond: Floats) -> Floats:
    """The rows that are followed until each step begins, and those beyond the last one.

    Args:
        ended: by how and in which step they ended, shape (..., endings, steps).
        beyond: rows that are followed further, shape (...).

    Returns:
        Shape (..., steps + 1).
    """
    leavers = np.concatenate([ended.sum(axis=-2), beyond[..., None]], axis=-1)
    return leavers[..., ::-1].cumsum(axis=-1)[..., ::-1]


def kaplan_meier(ended: Floats, beyond: Floats, missed: float = 0.0) -> Curve:
    """The curve until the first event of whatever kind.

    Args:
        ended: as of `at_risk`.
        beyond: likewise.
        missed: the part of a step that rows miss whose follow-up ends in it.
    """
    left = at_risk(ended, beyond)
    events, risk = ended[..., 1:, :].sum(axis=-2), left[..., :-1] - missed * ended[..., 0, :]
    hazard = _part(events, risk)
    greenwood = _part(hazard, risk - events)
    start = np.ones_like(beyond)[..., None]
    survival = np.concatenate([start, (1 - hazard).cumprod(axis=-1)], axis=-1)
    return Curve(survival, np.concatenate([0 * start, greenwood.cumsum(axis=-1)], axis=-1), left)


def incidence(ended: Floats, beyond: Floats, missed: float = 0.0) -> tuple[Floats, Floats]:
    """The chance that an event of each kind has come by the end of each step, others being possible.

    Args:
        ended: as of `at_risk`.
        beyond: likewise.
        missed: as of `kaplan_meier`.

    Returns:
        F and the variance of F, shape (..., kinds of events, steps + 1) each.
    """
    curve = kaplan_meier(ended, beyond, missed)
    risk = (curve.at_risk[..., :-1] - missed * ended[..., 0, :])[..., None, :]
    before = curve.survival[..., None, :-1]
    every, own = ended[..., 1:, :].sum(axis=-2)[..., None, :], ended[..., 1:, :]
    added = before * _part(own, risk)
    found = added.cumsum(axis=-1)
    terms = [
        _part(_part(every, risk), risk - every),
        before**2 * _part(own * _part(risk - own, risk), risk**2),
    ]
    cross = before * _part(own, risk**2)
    # sums over i of (F - F_i)**2 a_i + b_i - 2 (F - F_i) c_i, expanded so that each is a sum of its own
    a, b = terms
    a0, a1, a2 = (np.cumsum(a * found**power, axis=-1) for power in range(3))
    c0, c1 = (np.cumsum(cross * found**power, axis=-1) for power in range(2))
    variance = found**2 * a0 - 2 * found * a1 + a2 + np.cumsum(b, axis=-1) - 2 * (found * c0 - c1)
    start = np.zeros_like(found[..., :1])
    return np.concatenate([start, found], axis=-1), np.concatenate([start, variance], axis=-1)


def restricted_mean(curve: Curve, steps: int, missed: float = 0.0) -> tuple[Floats, Floats]:
    """The mean time until the event in steps, of the first so many ones, and its variance; shape (...).

    Args:
        curve: S, which falls at the end of a step, or by `missed` of its fall before.
        steps: at least one.
        missed: as of `kaplan_meier`.
    """
    falls = missed * np.diff(curve.survival[..., : steps + 1], axis=-1)
    height = curve.survival[..., :steps] + falls
    rest = height[..., ::-1].cumsum(axis=-1)[..., ::-1]
    growth = np.diff(curve.variance[..., : steps + 1], axis=-1)
    later = np.concatenate([rest[..., 1:], np.zeros_like(rest[..., :1])], axis=-1)
    later += missed * curve.survival[..., 1 : steps + 1]
    return rest[..., 0], (later**2 * growth).sum(axis=-1)


def log_rank(events: Floats, risk: Floats) -> tuple[Floats, Floats]:
    """How many more events each group has than were expected, but the first one, and the covariances.

    Args:
        events: by group and step, those of other strata being further steps; shape (..., groups, steps).
        risk: rows at risk, likewise.

    Returns:
        Shapes (..., groups - 1) and (..., groups - 1, groups - 1).
    """
    both, every = events.sum(axis=-2, keepdims=True), risk.sum(axis=-2, keepdims=True)
    part = _part(risk, every)
    excess = (events - both * part).sum(axis=-1)[..., 1:]
    scale = both * _part(every - both, every - 1)
    rest = part[..., 1:, :]
    weighed = rest * scale
    own = weighed.sum(axis=-1)
    covariance = -weighed @ np.swapaxes(rest, -1, -2)
    places = np.arange(own.shape[-1])
    covariance[..., places, places] += own
    return excess, covariance


def quadratic(excess: Floats, covariance: Floats) -> float | None:
    """The statistic of a test: chi-square of as many degrees of freedom; None if it cannot be computed.

    Args:
        excess: shape (n,).
        covariance: shape (n, n).
    """
    try:
        found = float(excess @ np.linalg.solve(covariance, excess))
    except np.linalg.LinAlgError:
        return None
    return found if np.isfinite(found) and found >= 0 else None


def band(value: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """The ends of 95 % intervals of chances, symmetrical on the scale of log(-log x), so within (0, 1).

    Args:
        value: chances.
        variance: of the chances; where a chance is 0 or 1, the interval lies to its side.
    """
    inside = (value > 0) & (value < 1)
    safe = np.where(inside, value, 0.5)
    logarithm = np.log(safe)
    deviation = np.sqrt(np.maximum(variance, 0))
    shift = np.exp(np.minimum(NORMAL_95 * deviation / np.abs(safe * logarithm), _MOST_SHIFT))
    lower, upper = np.exp(logarithm * shift), np.exp(logarithm / shift)
    reach = NORMAL_95 * deviation
    outside = np.maximum(value - reach, 0), np.minimum(value + reach, 1)
    return np.where(inside, lower, outside[0]), np.where(inside, upper, outside[1])


def falling(values: Floats) -> Floats:
    """The nearest curve in [0, 1] that does not rise, by averages of neighbours; shape (n,)."""
    heights: list[float] = []
    lengths: list[int] = []
    for value in values.tolist():
        heights.append(value)
        lengths.append(1)
        while len(heights) > 1 and heights[-1] > heights[-2]:
            height, length = heights.pop(), lengths.pop()
            heights[-1] = (heights[-1] * lengths[-1] + height * length) / (lengths[-1] + length)
            lengths[-1] += length
    found: Floats = np.clip(np.repeat(heights, lengths), 0, 1)
    return found


def _part(numerator: Floats, denominator: Floats) -> Floats:
    """The quotient; 0 where the denominator is not positive."""
    positive = denominator > 0
    found: Floats = np.zeros(np.broadcast_shapes(numerator.shape, denominator.shape))
    np.divide(numerator, denominator, out=found, where=positive)
    return found
