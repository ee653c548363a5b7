"""Models over matched rows, computed in secret from the first step to the last; nothing opens on the way.

    linear      X' m X b = X' m y, once
    logistic    from b = 0, Newton's steps: a number of them that is fixed beforehand
                  eta = X b,  p and p' of eta by angles,  r = m (y - p),  w = m p'
                  b = b + (X' w X)**-1 X' r
    opened      b, the diagonal of (X' w X)**-1, how many rows match, and for a linear model the sum of
                squared residuals: rounded, and only if all that is stated holds, else one bit

Stated is: that every matrix on the way is definite, and steps within reach; that no predictor can be
beyond the reach of the angles where they count, as the coefficients of covariates from -1 to 1 add up to 12
at most; and that the last step is small, so that the next one would change nothing that is shown. Data that
are separated, collinear or out of reach break one of these.

Slots are in an order that nobody chose, so early steps are taken over the first of them, where there are
many, with a small ridge, which keeps them within reach. What they are off by, the last three steps mend, over
all slots; the last but one has the matrix of the one before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log2
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.models.matched_rows import MatchedRows, Sided
from smc.analyses.models.parameters import LINEAR
from smc.analyses.models.run import SMALL_STEP, Sizes
from smc.secret.comparison import mux
from smc.secret.ints import SecretInts
from smc.secret.reals.definite import Definite
from smc.secret.reals.functions import MOST_WAVES, SIGMOID, SLOPE, Angles, at_angles, waves
from smc.secret.reals.near import shifted
from smc.secret.reals.reals import SecretReals
from smc.secret.sharing.bounds import Bounds
from smc.secret.sharing.fixed import Fixed

Word = NDArray[np.uint64]

PREDICTOR: Final = 12
"""The sizes of the coefficients of covariates from -1 to 1 add up to this at most."""

EARLY_STEPS: Final = 6
LATE_STEPS: Final = 3
TIMES: Final = 1 + EARLY_STEPS + LATE_STEPS
"""How often rows are multiplied."""

_FEWEST_SLOTS: Final = 1 << 15
_EARLY_PART: Final = 4
"""Early steps are taken over a quarter of the slots, but so many at least."""

_RIDGE: Final = 0.25
"""Early coefficients are drawn to 0 as by a normal distribution of deviation 2."""

_REACH: Final = 8
"""Of a step."""

_COEFFICIENT_BITS: Final = 16
"""Fractional bits of the coefficients of which a predictor is made."""

_WEIGHT_BITS: Final = 16
_MATRIX_BITS: Final = 40
_RIGHT_BITS: Final = 44


@dataclass(frozen=True, slots=True)
class SecretFit:
    """What is opened of a model, by coefficient, and what its limits are tested on.

    Attributes:
        coefficients: shape (p,).
        variances: of their estimates; of a linear model for residuals of variance 1.
        squares: the sum of squared residuals of a linear model, else None.
        information: X' w X in the order of the coefficients, shape (p, p).
        positives: matched rows with the outcome; None of a linear model.
    """

    coefficients: SecretReals
    variances: SecretReals
    squares: SecretReals | None
    information: SecretReals
    positives: SecretInts | None


def fit(sided: Sided, matched: MatchedRows, sizes: Sizes) -> SecretFit:
    """Fit a model in secret; both parties call it.

    Args:
        sided: the model.
        matched: its rows.
        sizes: what is public of sums over so many.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    return _linear(matched, sizes) if sided.design.model.kind == LINEAR else _logistic(matched, sizes)


def _linear(matched: MatchedRows, sizes: Sizes) -> SecretFit:
    rows, outcome = matched.rows, matched.outcome
    information, definite = _factored(rows.gram(matched.ones), matched, sizes)
    right = _right(rows.transposed(outcome), matched, sizes)
    found = definite.solve(right, _REACH)
    total = (outcome.ints * outcome.ints).sum()
    explained = definite.quadratic(right, _REACH)
    squared = SecretReals(total).known(0, matched.most).rescale(explained.scale)
    rest = (squared - explained).within(0, matched.most)
    return SecretFit(found, definite.variances(), rest, information, None)


def _logistic(matched: MatchedRows, sizes: Sizes) -> SecretFit:
    found = _early(matched, sizes)
    for number in range(LATE_STEPS):
        start, angles = _predicted(matched, found)
        rests, weights = _rests(matched, angles)
        if number != LATE_STEPS - 2:
            information, definite = _factored(matched.rows.gram(weights), matched, sizes)
        step = definite.solve(_right(matched.rows.transposed(rests), matched, sizes), _REACH)
        found = start + step
    variances = definite.variances()
    small = variances.rescale(step.scale) * Fixed.of(SMALL_STEP**2, 12) - step * step
    converged = small.within(0, max(Fraction(1), small.upper))
    reached = start.select(start.ints >= 0, -start).sum().within(0, PREDICTOR)
    return SecretFit(
        found.given(converged, reached), variances, None, information, matched.outcome.ints.sum()
    )


def _early(matched: MatchedRows, sizes: Sizes) -> SecretReals:
    """Coefficients to begin with, shape (p,)."""
    slots = len(matched.member)
    part = matched.first(min(slots, max(_FEWEST_SLOTS, slots // _EARLY_PART)))
    size = len(matched.places)
    ridge = Fixed.of(_RIDGE * np.eye(size), 2)
    # At 0 all chances are a half, and all weights a quarter.
    quarter = _ordered(_scaled(part.rows.gram(part.ones), 2), part, sizes)
    halves = _scaled(SecretReals(part.outcome.ints * 2 - part.ones.ints), 1)
    right = _right(part.rows.transposed(halves), part, sizes)
    found = Definite.of(quarter + ridge).solve(right, _REACH)
    for _ in range(EARLY_STEPS):
        start, angles = _predicted(part, found)
        rests, weights = _rests(part, angles)
        information = _ordered(part.rows.gram(weights), part, sizes)
        drawn = _right(part.rows.transposed(rests), part, sizes) - start * Fixed.of(_RIDGE, 2)
        found = start + Definite.of(information + ridge).solve(drawn, _REACH)
    return found


def _predicted(matched: MatchedRows, found: SecretReals) -> tuple[SecretReals, Angles]:
    """The coefficients that the next step goes out from, and the predictors that they give."""
    start = found.within(-PREDICTOR, PREDICTOR).rescale(_COEFFICIENT_BITS)
    return start, matched.rows.predictor(start[_inverse(matched.places)], SIGMOID.period)


def _rests(matched: MatchedRows, angles: Angles) -> tuple[SecretReals, SecretReals]:
    """M (y - p) and m p' of all slots."""
    session = angles.session
    p, slope = at_angles(angles, [waves(SIGMOID, MOST_WAVES), waves(SLOPE, MOST_WAVES)])
    (narrow,) = shifted(session, (slope.ints.shares, slope.ints.bounds, slope.scale - _WEIGHT_BITS))
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


def _factored(gram: SecretReals, matched: MatchedRows, sizes: Sizes) -> tuple[SecretReals, Definite]:
    """A matrix in the order of the coefficients, and factored."""
    information = _ordered(gram, matched, sizes)
    return information, Definite.of(information)


def _ordered(gram: SecretReals, matched: MatchedRows, sizes: Sizes) -> SecretReals:
    """A matrix in the order of the coefficients, within what so many rows can have."""
    top = 1 << sizes.bits
    ordered = gram[np.ix_(matched.places, matched.places)].within(-top, top)
    return ordered.rescale(max(0, min(ordered.scale, _MATRIX_BITS - sizes.bits)))


def _right(values: SecretReals, matched: MatchedRows, sizes: Sizes) -> SecretReals:
    top = 4 << sizes.bits
    ordered = values[matched.places].within(-top, top)
    return ordered.rescale(max(0, min(ordered.scale, _RIGHT_BITS - ceil(log2(top)))))


def _scaled(values: SecretReals, bits: int) -> SecretReals:
    """The numbers divided by a power of two; local."""
    ints = values.ints
    held = SecretInts.from_shares(ints.session, ints.shares, ints.bounds, ints.scale + bits)
    return SecretReals(held, values.statements)


def _inverse(places: Sequence[int]) -> list[int]:
    """Which coefficient each column of the rows belongs to."""
    return [list(places).index(column) for column in range(len(places))]
