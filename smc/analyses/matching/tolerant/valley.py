"""Which least score a histogram with noise speaks for: the valley between strangers and pairs.

The rule is public and the same on both sides to the last bit. Claims of strangers, which are level up to some
score and fall like a bell from there, and claims of pairs, which grow by a factor from bin to bin up to the
fullest one, are equally many at the best least score t. With a width w, a drop q, a growth r and a level v,
bin x is expected to have

    v (q min(1, q**-((x - t + w) / w)**2)  +  e**(r (x - t)))

claims, the first term being level below t - w. For each t, w, q and r of a grid the level is fitted by least
squares, and the shape weighs e**(-misfit / 2) times a bell around the stated score. What is chosen is the
mean of t by these weights, in whole units. A histogram of noise alone thus gives about the stated score; the
emptiest bin, which is the same without noise, would be anywhere.

Misfits count in units of the noise, of the luck of small counts, and of a fifth of the count, as no file has
quite that shape. The fullest bin and those above it are not looked at.

Reference: this project; that equal densities make the least errors: Fellegi and Sunter, A theory for record
linkage, Journal of the American Statistical Association 64, 1969.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from functools import cache
from itertools import product
from math import fsum
from typing import Final

import numpy as np
import numpy.typing as npt

from smc.analyses.matching.tolerant.histogram import EDGES, WIDTH, Histogram

_WIDTHS: Final = (6, 12, 18, 27)
_DROPS: Final = (2, 3, 5, 10)
_AWAY: Final = (18, 27, 36, 48, 60)
_SPREADS: Final = (8, 11, 15, 20)

_STEP: Final = 3
_TRUST: Final = 20
"""How far the stated score is believed, in units: the deviation of the bell around it."""

_ODDITY: Final = 0.2
_MIDDLES: Final = tuple(edge + WIDTH // 2 for edge in EDGES[:-1])
"""Of the bins that are looked at."""

_EXACT: Final = Context(prec=30)
_REACH: Final = 160.0
"""Beyond the least misfit; a shape farther away weighs less than 1e-34 of the best one."""


def adjustment(counts: Sequence[int], histogram: Histogram) -> int:
    """What is added to the stated least score.

    Args:
        counts: with noise, one per bin.
        histogram: what they are.

    Returns:
        From `histogram.lowest` to `histogram.highest`.
    """
    # Sums of floats are rounded once, by fsum, and exponentials are decimal: both sides get the same.
    heights = np.array([float(count) for count in counts[: len(_MIDDLES)]])
    scale = float(1 / histogram.noise.rate)
    trust = 1.0 / (2.0 * scale * scale + np.maximum(heights, 0.0) + (_ODDITY * heights) * (_ODDITY * heights))
    found: list[tuple[int, float]] = []
    for place in range(histogram.lowest, histogram.highest + 1, _STEP):
        distance = place / _TRUST
        shapes = _shapes(place)
        weighed = trust * shapes
        fitted, norms = _sums(weighed * heights), _sums(weighed * shapes)
        levels = np.array([max(one / norm, 0.0) for one, norm in zip(fitted, norms, strict=True)])
        left = heights - levels[:, None] * shapes
        found += [(place, misfit + distance * distance) for misfit in _sums(trust * left * left)]
    least = min(misfit for _, misfit in found)
    with localcontext(_EXACT):
        weights = [
            (place, (Decimal(least - misfit) / 2).exp()) for place, misfit in found if misfit - least < _REACH
        ]
        whole = sum((weight for _, weight in weights), Decimal(0))
        mean = sum((place * weight for place, weight in weights), Decimal(0)) / whole
        return round(mean)


def _sums(rows: npt.NDArray[np.float64]) -> list[float]:
    """Of each row, rounded once."""
    return list(map(fsum, rows.tolist()))


@cache
def _shapes(place: int) -> npt.NDArray[np.float64]:
    """What each width, drop, growth and deviation of the grid expects of bins, by the level; a row each."""
    rows = [
        [_strangers(x - place, width, drop) + _pairs(x - place, away, spread) for x in _MIDDLES]
        for width, drop, away, spread in product(_WIDTHS, _DROPS, _AWAY, _SPREADS)
    ]
    return np.array(rows)


@cache
def _strangers(distance: int, width: int, drop: int) -> float:
    """The first term for x - t, by the level."""
    if distance <= -width:
        return float(drop)
    with localcontext(_EXACT):
        part = Decimal(distance + width) / width
        return float(Decimal(drop) * (-part * part * Decimal(drop).ln()).exp())


@cache
def _pairs(distance: int, away: int, spread: int) -> float:
    """The second term."""
    with localcontext(_EXACT):
        part = Decimal(away * away - (distance - away) * (distance - away)) / (2 * spread * spread)
        return float(part.exp())
