"""Which threshold a histogram with noise speaks for: the valley between strangers and pairs.

The rule is public and the same on both sides to the last bit. Claims of strangers, which are level up to some
likeness and fall like a bell from there, and claims of pairs, which grow by a factor from bin to bin, are
equally many at the best threshold t. With a width w, a drop q, a growth r and a level v, bin x is expected to
have

    v (q min(1, q**-((x - t + w) / w)**2)  +  e**(r (x - t)))

claims, the first term being level below t - w. For each t, w, q and r of a grid the level is fitted by least
squares, and the shape weighs e**(-misfit / 2) times a bell around the stated threshold. The threshold is the
mean of t by these weights, in whole hundredths. A histogram of noise alone thus gives about the stated one.

Misfits count in units of the noise, of the luck of small counts, and of a fifth of the count, as no file has
quite that shape. The last bin, of equal records, is not looked at.

Reference: this project; that equal densities make the least errors: Fellegi and Sunter, A theory for record
linkage, Journal of the American Statistical Association 64, 1969.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from math import fsum
from typing import Final

from smc.analyses.matching.tolerant.histogram import EDGES, Histogram

_WIDTHS: Final = (4, 8, 12, 18)
_DROPS: Final = (2, 4, 10, 30, 100)
_GROWTHS: Final = (6, 10, 14, 18)
_STEP: Final = 2
"""In hundredths, as widths are."""

_TRUST: Final = 8
"""How far the stated threshold is believed, in hundredths: the deviation of the bell around it."""

_ODDITY: Final = 0.2
_MOST: Final = 300.0
"""Times the level that the second term reaches at most."""

_PLACES: Final = tuple(int(100 * (low + high) / 2) for low, high in pairwise(EDGES))
"""The middles of the bins that are looked at, in hundredths."""

_EXACT: Final = Context(prec=30)


def threshold(counts: Sequence[int], histogram: Histogram, stated: Fraction) -> Fraction:
    """Choose.

    Args:
        counts: with noise, one per bin.
        histogram: what they are.
        stated: the threshold of the job.

    Returns:
        From `histogram.lowest` to `histogram.highest`.
    """
    # Sums of floats are rounded once, by fsum, and exponentials are decimal: both sides get the same.
    heights = [float(count) for count in counts[: len(_PLACES)]]
    scale = float(1 / histogram.noise.rate)
    trust = [
        1.0 / (2.0 * scale * scale + max(height, 0.0) + (_ODDITY * height) * (_ODDITY * height))
        for height in heights
    ]
    begun = float(100 * stated)
    found: list[tuple[int, float]] = []
    lowest, highest = int(100 * histogram.lowest), int(100 * histogram.highest)
    for place in range(lowest, highest + 1, _STEP):
        distance = (place - begun) / _TRUST
        for width, drop, growth in product(_WIDTHS, _DROPS, _GROWTHS):
            shape = [_strangers(x - place, width, drop) + _pairs(x - place, growth) for x in _PLACES]
            weighed = [weight * one for weight, one in zip(trust, shape, strict=True)]
            level = fsum(map(_times, weighed, heights)) / fsum(map(_times, weighed, shape))
            level = max(level, 0.0)
            left = [height - level * one for height, one in zip(heights, shape, strict=True)]
            misfit = fsum(weight * one * one for weight, one in zip(trust, left, strict=True))
            found.append((place, misfit + distance * distance))
    least = min(misfit for _, misfit in found)
    with localcontext(_EXACT):
        weights = [(place, (Decimal(least - misfit) / 2).exp()) for place, misfit in found]
        whole = sum((weight for _, weight in weights), Decimal(0))
        mean = sum((place * weight for place, weight in weights), Decimal(0)) / whole
        return Fraction(round(mean), 100)


def _times(left: float, right: float) -> float:
    return left * right


@cache
def _strangers(distance: int, width: int, drop: int) -> float:
    """The first term for x - t in hundredths, by the level."""
    if distance <= -width:
        return float(drop)
    with localcontext(_EXACT):
        part = Decimal(distance + width) / width
        return float(Decimal(drop) * (-part * part * Decimal(drop).ln()).exp())


@cache
def _pairs(distance: int, growth: int) -> float:
    """The second term."""
    with localcontext(_EXACT):
        return min(_MOST, float((Decimal(growth * distance) / 100).exp()))
