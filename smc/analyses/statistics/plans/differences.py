"""Standardised mean differences of two groups, from figures that are shown.

Reference: Austin, Balance diagnostics for comparing the distribution of baseline covariates, Statist. Med.
28, 2009.
"""

from __future__ import annotations

from math import sqrt
from typing import Final

Value = tuple[float | int | None, float | int | None, float | int | None]
"""A value and the ends of its interval."""

NOTHING: Final[Value] = (None, None, None)


def standardise(
    first: Value, second: Value, first_spread: Value | None = None, second_spread: Value | None = None
) -> Value:
    """The difference of two means over the root of the mean of both variances.

    Args:
        first: mean of the first group.
        second: of the second one.
        first_spread: the standard deviations; None of shares between 0 and 1, whose variance follows.
        second_spread: likewise.

    Returns:
        Its interval follows from theirs to the first order. Nothing if a figure is missing, or none varies.
    """
    means = [_centre(each) for each in (first, second)]
    if first_spread is None or second_spread is None:
        spreads = [each and (sqrt(max(0.0, each[0] * (1 - each[0]))), 0.0) for each in means]
    else:
        spreads = [_centre(each) for each in (first_spread, second_spread)]
    (one, two), (less, more) = means, spreads
    if one is None or two is None or less is None or more is None:
        return NOTHING
    common = sqrt((less[0] ** 2 + more[0] ** 2) / 2)
    if common <= 0:
        return NOTHING
    value = (one[0] - two[0]) / common
    if first_spread is None:  # the variance of a share moves with it
        slopes = [
            sign / common - value * (1 - 2 * each[0]) / (4 * common**2)
            for sign, each in ((1, one), (-1, two))
        ]
        width = sqrt(sum((slope * each[1]) ** 2 for slope, each in zip(slopes, (one, two), strict=True)))
    else:
        off = sqrt((less[0] * less[1]) ** 2 + (more[0] * more[1]) ** 2) / (2 * common)
        width = sqrt(one[1] ** 2 + two[1] ** 2 + (value * off) ** 2) / common
    return value, value - width, value + width


def _centre(value: Value) -> tuple[float, float] | None:
    """The value and half the width of its interval."""
    figure, low, high = value
    return None if figure is None or low is None or high is None else (float(figure), float(high - low) / 2)
