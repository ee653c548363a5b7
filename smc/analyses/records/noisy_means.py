"""Intervals of figures that are tested against noisy sums: of a mean, and the search for the ends of any.

The mean m of N values with the sum S fulfils S - m N = 0, so of noisy sums S + u and N + v

    (S + u) - m (N + v) = u - m v,

whose law is known for each m. Those m for which it is not too far from 0 are a confidence set, exactly as
wide as the joint law of both noises asks.

Reference: Fieller, Some problems in interval estimation, J. R. Statist. Soc. B 16, 1954.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import log
from typing import Final

from smc.secret.noise.distribution import Distribution
from smc.secret.noise.joint_law import JointLaw

_TINY: Final = 1e-300
_STEPS: Final = 100
_PRECISION: Final = 1e-9

Ends = tuple[float, float]


def mean_ends(
    total: float,
    count: float,
    noises: tuple[Distribution, Distribution],
    miss: Fraction | float,
    bounds: Ends,
) -> Ends:
    """The ends of the interval of a mean.

    Args:
        total: the noisy sum.
        count: the noisy count.
        noises: of both.
        miss: with what probability it may not hold the exact mean.
        bounds: between which the mean lies.

    Returns:
        The ends; all between the bounds where the noise could make up all of the count.
    """
    of_total, of_count = noises
    if count <= JointLaw.of([(1, of_count)]).width(miss):
        return bounds
    lower, upper = bounds

    def tail(mean: float) -> float:
        return JointLaw.of([(1, of_total), (mean, of_count)]).tail(abs(total - mean * count))

    return edges(min(max(total / count, lower), upper), bounds, tail, miss)


def edges(inside: float, bounds: Ends, tail: Callable[[float], float], miss: Fraction | float) -> Ends:
    """The ends of the interval around a value in which a tail is at least `miss`.

    Args:
        inside: a value between the bounds, from which the tail falls to both sides.
        bounds: beyond which nothing lies.
        tail: of each value.
        miss: positive.
    """

    def margin(value: float) -> float:
        return log(max(tail(value), _TINY) / float(miss))

    if margin(inside) < 0:  # clamped to a bound: no mean is likely, and the nearest one stands for all
        return inside, inside
    return _edge(inside, bounds[0], margin), _edge(inside, bounds[1], margin)


def _edge(inside: float, bound: float, margin: Callable[[float], float]) -> float:
    """Where the margin falls below 0 between a value inside and a bound, by the Illinois rule; outside."""
    near, far, at_near, at_far = inside, bound, margin(inside), margin(bound)
    if at_far >= 0:
        return bound
    side = 0
    for step in range(_STEPS):
        if abs(far - near) <= _PRECISION * (abs(far) + abs(bound - inside)):
            break
        part = at_near / (at_near - at_far) if step % 4 != 3 else 0.5
        middle = near + min(max(part, 0.001), 0.999) * (far - near)
        found = margin(middle)
        if found >= 0:
            near, at_near = middle, found
            at_far = at_far / 2 if side > 0 else at_far
            side = 1
        else:
            far, at_far = middle, found
            at_near = at_near / 2 if side < 0 else at_near
            side = -1
    return far
