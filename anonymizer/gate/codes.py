"""Numbers and times that tell persons apart because nobody measured them: clocks, accounts, digests.

A measurement may be unique too, as a weight to the gram is among few people. It differs from a code in its
digits: what is measured has few that mean something. The rules are stated in `docs/anonymizer.md`.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.gate.views import ColumnView

Float = NDArray[np.float64]

_MOST: Final = 0.9
"""Part of the values that must have the digits of a code."""

_LARGE: Final = 1e7
_DIGITS: Final = 7
_FINE: Final = 12
_SPREAD: Final = 500
_READ: Final = 5_000
_FAR: Final = 1.95
"""Kolmogorov's distance by the root of the number of values, which one in a thousand even samples exceeds."""


def are_times(column: ColumnView) -> bool:
    """Whether values are dates with a time of day, times of day, or durations."""
    if column.days is None:
        return False
    days = column.days[np.isfinite(column.days)]
    return bool(len(days)) and float((days % 1 != 0).mean()) > 1 - _MOST


def are_codes(numbers: Float) -> bool:
    """Whether different numbers have the digits of codes.

    These are eight digits and more before the point of which seven mean something, as in seconds since 1970,
    account numbers and digests; or twelve and more, evenly spread over their range, as in digests between 0
    and 1 (from 500 values on, since fewer do not show it).

    Args:
        numbers: the different values of a column.
    """
    finite = np.abs(numbers[np.isfinite(numbers)])
    finite = finite[:: max(1, len(finite) // _READ)]
    if not len(finite):
        return False
    digits = np.array([_significant(number) for number in finite.tolist()])
    if float(((finite >= _LARGE) & (digits >= _DIGITS)).mean()) >= _MOST:
        return True
    return len(finite) >= _SPREAD and float((digits >= _FINE).mean()) >= _MOST and _is_even(finite)


def _significant(number: float) -> int:
    """The digits of a number without the zeros before and behind it."""
    mantissa = f"{number:.16e}" if number >= 1e15 else repr(number)
    digits = mantissa.partition("e")[0].replace(".", "")
    return len(digits.strip("0"))


def _is_even(numbers: Float) -> bool:
    """Whether numbers are spread over their range as evenly as drawn ones are."""
    ordered = np.sort(numbers)
    scaled = (ordered - ordered[0]) / (ordered[-1] - ordered[0])
    steps = np.arange(1, len(scaled) + 1) / len(scaled)
    distance = np.maximum(np.abs(steps - scaled), np.abs(steps - 1 / len(scaled) - scaled)).max()
    return bool(distance * np.sqrt(len(scaled)) < _FAR)
