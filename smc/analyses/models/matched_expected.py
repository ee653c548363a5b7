"""Exponentials of the predictors of matched rows, and whether all predictors are within reach.

    exp          by angles, which is exact enough from -8.25 to 2.5, a range of 10.75
    reach        predictors modulo 2**11, more than any can be; comparisons of each with both ends

Expectations are kept at a quarter on average, so that those of single persons may lie between a 950th of the
average and 48 times the average.
"""

from __future__ import annotations

from math import floor, log
from typing import Final

import numpy as np

from smc.analyses.models.matched_rows import MatchedRows
from smc.analyses.models.matched_sums import fraction_bits
from smc.secret.bits import SecretBits
from smc.secret.comparison import msb, mux
from smc.secret.ints import SecretInts
from smc.secret.reals.functions import EXP, MOST_WAVES, at_angles, waves
from smc.secret.reals.near import public, shift
from smc.secret.reals.reals import SecretReals
from smc.secret.sharing.bounds import Bounds

LEVEL_BITS: Final = 2
"""Expectations are 2**-2 on average."""

LEVEL: Final = log(2.0**-LEVEL_BITS)

LOWEST: Final = -8.25
HIGHEST: Final = 2.5

_REACH_BITS: Final = 11
"""Predictors are smaller than half of 2**11 in size."""

_COMPARED_BITS: Final = 18
"""Of these seven are fractional."""


def expect(matched: MatchedRows, start: SecretReals) -> SecretReals:
    """The exponentials of the predictors of matches, 0 elsewhere, shape (slots,).

    Args:
        matched: the rows.
        start: what predictors are made of.
    """
    angles = matched.predictor(start, EXP.period)
    (found,) = at_angles(angles, [waves(EXP, MOST_WAVES)])
    session, bounds = found.session, found.ints.bounds
    largest = (bounds.magnitude >> found.scale) + 2
    scale = fraction_bits(matched, largest, 2)
    drop = found.scale - scale
    (narrow,) = shift(session, (found.ints.shares, bounds, drop))
    # What a shift leaves out is one on average.
    gated = mux.select(session, matched.member.shares, narrow + public(session, 1))
    most = largest << scale
    ints = SecretInts.from_shares(session, gated, Bounds(-most, most), scale)
    return SecretReals(ints, found.statements)


def within_reach(matched: MatchedRows, start: SecretReals) -> SecretReals:
    """How many matches have predictors beyond reach, stated to be none."""
    angles = matched.predictor(start, 1 << _REACH_BITS)
    session = angles.session
    words = angles.words >> np.uint64(angles.width - _COMPARED_BITS)
    unit = 2.0 ** (_COMPARED_BITS - _REACH_BITS)
    top = 1 << (_COMPARED_BITS - 1)
    # Half of what a predictor can be is left for the ends.
    bounds = Bounds(-top, top - 1)
    ends = [floor(end * unit) for end in (LOWEST, HIGHEST)]
    least = np.concatenate([words - public(session, end) for end in ends])
    found = msb.nonnegative(session, least, bounds)
    slots = len(words)
    outside = ~SecretBits(session, found[:slots]) ^ SecretBits(session, found[slots:])
    beyond = SecretInts.from_bits(outside & matched.member).sum()
    return SecretReals(beyond, angles.statements).within(0, 0)
