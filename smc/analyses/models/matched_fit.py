"""Models over matched rows, computed in secret from the first step to the last; nothing opens on the way.

    linear      X' m X b = X' m y, once
    others      Newton's steps, a number of them that is fixed beforehand (`matched_newton`)
    opened      b, the diagonal of the inverse of its information, how many rows match, and for a linear model
                the sum of squared residuals: rounded, and only if all that is stated holds, else one bit

Stated is: that every matrix on the way is definite, and steps within reach; that no predictor is beyond the
reach of the angles where they count; and that the last step is small, so that the next one would change
nothing that is shown. Data that are separated, collinear or out of reach break one of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from smc.analyses.models.matched_cox import Cox
from smc.analyses.models.matched_logistic import Logistic
from smc.analyses.models.matched_newton import REACH, newton
from smc.analyses.models.matched_poisson import Poisson, in_counts
from smc.analyses.models.matched_rows import MatchedRows
from smc.analyses.models.matched_sides import Sided
from smc.analyses.models.matched_sums import matrix_of, right_of
from smc.analyses.models.parameters import COX, LINEAR, POISSON
from smc.analyses.models.run import Sizes
from smc.secret.reals.definite import Definite
from smc.secret.reals.reals import SecretReals


@dataclass(frozen=True, slots=True)
class SecretFit:
    """What is opened of a model, by coefficient, and what its limits are tested on.

    Attributes:
        coefficients: shape (p,).
        variances: of their estimates; of a linear model for residuals of variance 1.
        squares: the sum of squared residuals of a linear model, else None.
        information: about the coefficients, in their order, up to a factor, shape (p, p).
        inverse: the diagonal of its inverse, up to one over that factor, shape (p,).
        weights: of the matches in the information, up to the same factor, where they can be above 1; shape
            (slots,).
    """

    coefficients: SecretReals
    variances: SecretReals
    squares: SecretReals | None
    information: SecretReals
    inverse: SecretReals
    weights: SecretReals | None


def fit(sided: Sided, matched: MatchedRows, sizes: Sizes) -> SecretFit:
    """Fit a model in secret; both parties call it.

    Args:
        sided: the model.
        matched: its rows.
        sizes: what is public of sums over so many.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    kind = sided.design.model.kind
    if kind == LINEAR:
        return _linear(matched, sizes)
    if kind == POISSON:
        found = newton(Poisson, matched)
        coefficients, variances = in_counts(found.family, found, sided.design.longest)
        return SecretFit(
            coefficients, variances, None, found.information, found.variances, found.point.weights
        )
    if kind == COX:
        timed = newton(partial(Cox, sizes=sizes), matched)
        variances = timed.variances
        return SecretFit(
            timed.coefficients, variances, None, timed.information, variances, timed.point.weights
        )
    plain = newton(partial(Logistic, sizes=sizes), matched)
    return SecretFit(plain.coefficients, plain.variances, None, plain.information, plain.variances, None)


def _linear(matched: MatchedRows, sizes: Sizes) -> SecretFit:
    rows, outcome = matched.rows, matched.outcome
    information = matrix_of(rows.gram(matched.ones), matched, sizes.bits)
    definite = Definite.of(information)
    right = right_of(rows.transposed(outcome), matched, sizes.bits)
    found = definite.solve(right, REACH)
    total = (outcome.ints * outcome.ints).sum()
    explained = definite.quadratic(right, REACH)
    squared = SecretReals(total).known(0, matched.most).rescale(explained.scale)
    rest = (squared - explained).within(0, matched.most)
    variances = definite.variances()
    return SecretFit(found, variances, rest, information, variances, None)
