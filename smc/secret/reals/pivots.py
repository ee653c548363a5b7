"""Starts of the reciprocals of pivots: a line for each piece of an octave, found by one batch of comparisons.

A pivot d of a scaled matrix lies from 2**-10 to 1. Where few are inverted, one after the other, rounds count
more than bytes: all pieces of all octaves are compared with at once, and no power of two is found before. A
start x is off by |1 - d x| <= `START_ERROR`; one Newton step leaves the square of that.

Reference: `smc.secret.reals.reciprocals`, which takes fewer comparisons and more rounds.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.protocols.session import Session
from smc.secret.comparison import msb, mux
from smc.secret.division.newton_steps import Line
from smc.secret.products.words import word
from smc.secret.reals.near import public, publics
from smc.secret.sharing.bounds import Bounds
from smc.tracing.repeats import traced_once

Word = NDArray[np.uint64]

PIVOT_SCALE: Final = 24
"""Fractional bits of a pivot."""

START_SCALE: Final = 30
"""Of a start: so many more that slopes are whole numbers."""

OCTAVES: Final = 10
"""The least pivot is 2**-10: a column of which others explain all but a thousandth is one too many."""

_PIECES: Final = 12
_COMPARED_BITS: Final = 16


LEAST: Final = 1 << (PIVOT_SCALE - OCTAVES)
"""The least pivot, held."""

LARGEST: Final = (1 << PIVOT_SCALE) + (1 << 12)
"""The largest, with what rounding adds."""


def _table() -> tuple[tuple[Line, ...], Fraction]:
    one, unit = 1 << PIVOT_SCALE, 1 << (PIVOT_SCALE + START_SCALE)
    starts = [
        Fraction((_PIECES + place) << octave, _PIECES) * (one >> OCTAVES)
        for octave in range(OCTAVES)
        for place in range(_PIECES)
    ]
    ends = [*starts[1:], Fraction(LARGEST)]
    lines, error = [], Fraction(0)
    for start, end in zip(starts, ends, strict=True):
        first, last = Fraction(floor(start)), end + (2 << (PIVOT_SCALE - _COMPARED_BITS))
        middle, half = (first + last) / 2, (last - first) / 2
        steep = 2 / (2 * middle**2 - half**2)
        slope = round(steep * unit)
        constant = round(steep * middle * unit + slope * middle)
        lines.append(Line(floor(start), constant, slope))
        peak = Fraction(constant, 2 * slope)
        places = [first, last, *([peak] if first <= peak <= last else [])]
        error = max(error, *(abs(1 - d * (constant - slope * d) / unit) for d in places))
    return tuple(lines), error


LINES, START_ERROR = _table()


@traced_once
def start(session: Session, pivots: Word) -> Word:
    """About one divided by each pivot.

    Args:
        session: this side of the run.
        pivots: local shares of integers from `LEAST` to `LARGEST`, shape (n,).

    Returns:
        Local shares with `START_SCALE` fractional bits, shape (n,).
    """
    starts = publics(session, [line.start for line in LINES[1:]])
    shift = PIVOT_SCALE - _COMPARED_BITS
    short = ((pivots - starts[:, None]) >> np.uint64(shift)).reshape(-1)
    bounds = Bounds((LEAST - LINES[-1].start >> shift) - 1, LARGEST - LINES[1].start >> shift)
    chosen = msb.nonnegative(session, short, bounds)
    values = np.stack([public(session, line.constant) - word(line.slope) * pivots for line in LINES])
    differences = values[1:] - values[:-1]
    taken = mux.select(session, chosen, differences.reshape(-1)).reshape(differences.shape)
    found: Word = values[0] + taken.sum(axis=0, dtype=np.uint64)
    return found
