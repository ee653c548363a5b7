"""Logistic models over matched rows: chances and their slopes of predictors by angles.

That no predictor can be beyond the reach of the angles is stated by the coefficients: for covariates from -1
to 1 their sizes add up to 12 at most.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.analyses.models.matched_newton import Family, Point, ridge_of
from smc.analyses.models.matched_rows import MatchedRows
from smc.analyses.models.matched_sums import matrix_of, right_of, scale
from smc.analyses.models.run import Sizes
from smc.secret.comparison import mux
from smc.secret.ints import SecretInts
from smc.secret.reals.definite import Definite
from smc.secret.reals.functions import MOST_WAVES, SIGMOID, SLOPE, Angles, at_angles, waves
from smc.secret.reals.near import shift
from smc.secret.reals.reals import SecretReals
from smc.secret.sharing.bounds import Bounds

Word = NDArray[np.uint64]

PREDICTOR: Final = 12
"""The sizes of the coefficients of covariates from -1 to 1 add up to this at most."""

_WEIGHT_BITS: Final = 16


class Logistic(Family):
    """Of yes or no.

    Args:
        matched: the rows, or the first of them.
        sizes: what is public of sums over all.
    """

    def __init__(self, matched: MatchedRows, sizes: Sizes) -> None:
        super().__init__(matched, sizes.bits)

    @override
    def first(self) -> SecretReals:
        """One step from 0, where all chances are a half, and all weights a quarter."""
        matched = self.matched
        quarter = matrix_of(scale(matched.rows.gram(matched.ones), 2), matched, self.bits)
        halves = scale(SecretReals(matched.outcome.ints * 2 - matched.ones.ints), 1)
        right = right_of(matched.rows.transposed(halves), matched, self.bits)
        return Definite.of(quarter + ridge_of(len(matched.places))).solve(right, self.early_reach)

    @override
    def at(self, start: SecretReals) -> Point:
        matched = self.matched
        rests, weights = _rests(matched, matched.predictor(start, SIGMOID.period))
        gradient = right_of(matched.rows.transposed(rests), matched, self.bits)
        return Point(start, start, gradient, weights)

    @override
    def state(self, start: SecretReals) -> SecretReals:
        return start.select(start.ints >= 0, -start).sum().within(0, PREDICTOR)


def _rests(matched: MatchedRows, angles: Angles) -> tuple[SecretReals, SecretReals]:
    """M (y - p) and m p' of all slots."""
    session = angles.session
    p, slope = at_angles(angles, [waves(SIGMOID, MOST_WAVES), waves(SLOPE, MOST_WAVES)])
    (narrow,) = shift(session, (slope.ints.shares, slope.ints.bounds, slope.scale - _WEIGHT_BITS))
    both = np.concatenate([p.ints.shares, narrow])
    gated = mux.select(session, np.tile(matched.member.shares, 2), both)
    half = len(narrow)
    one = Bounds(0, 1 << p.scale)
    rests = (matched.outcome.ints.shares << np.uint64(p.scale)) - gated[:half]
    zero = Bounds(0, 0)
    within = one - p.ints.bounds.hull(zero)
    weights = slope.ints.bounds.hull(zero)
    least, most = (end >> (slope.scale - _WEIGHT_BITS) for end in (weights.lower, weights.upper))
    return (
        SecretReals(SecretInts.from_shares(session, rests, within, p.scale), p.statements),
        SecretReals(
            SecretInts.from_shares(session, gated[half:], Bounds(least - 1, most + 1), _WEIGHT_BITS),
            slope.statements,
        ),
    )
