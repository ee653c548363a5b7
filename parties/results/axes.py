"""Axes that hold given figures, with ticks at round places."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import Final

_TICKS: Final = 5
_NEAR: Final = 1e-9
"""Figures that lie nearer to each other, in parts of their size, have an axis around them."""


def scale(low: float, high: float) -> tuple[float, float, list[float]]:
    """The ends of an axis that holds two figures, and round places of its ticks."""
    if high - low <= _NEAR * max(1.0, abs(low), abs(high)):
        low, high = low - max(1.0, abs(low) * 0.1), high + max(1.0, abs(high) * 0.1)
    rough = (high - low) / _TICKS
    power = 10.0 ** floor(log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first, last = floor(low / step), ceil(high / step)
    ticks = [round(place * step, 12) for place in range(first, last + 1)]
    return ticks[0], ticks[-1], ticks
