"""The joint run of a model, one side: both sides' estimates averaged in secret, then Newton's steps.

    each side    its own estimate b_s, information H_s and H_s b_s + gradient, of its own rows
    in secret    b = (sum H_s)**-1 sum (H_s b_s + gradient)
    opened       b, rounded; each side takes gradient and information there
    in secret    step = (sum H)**-1 sum gradient, and the diagonal of (sum H)**-1
    opened       the step and the variances, rounded; again where the step was not small

Where both sides have many rows, the average is within a hundredth of a standard error of the pooled estimate,
and a step from there within a millionth: two openings. Gradients and information are never opened.

What opens is rounded to a 32nd of the least standard error that so many rows can have, so that few digits are
left by which a guess of single rows could be confirmed. Where covariates follow from each other, or a step is
out of reach, a bit opens that says so, and no figure.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log2
from typing import Final

import numpy as np

from smc.analyses.disclosure.audit import ShownTables
from smc.analyses.disclosure.fits import MAX_FIT_OPENINGS, Coefficients
from smc.analyses.disclosure.release import Release
from smc.analyses.models.design import Design, Floats, ModelRows
from smc.analyses.models.discrimination import (
    Discrimination,
    histograms,
    joint_figures,
    read_figures,
    shown_bits,
)
from smc.analyses.models.likelihoods import (
    derivatives,
    information_bound,
    own_estimate,
    squares,
)
from smc.analyses.models.parameters import LINEAR
from smc.analyses.models.part import fit_part
from smc.errors import OutsideRange
from smc.forms import Role
from smc.protocols.session import Session
from smc.secret.reals.definite import Definite
from smc.secret.reals.reals import SecretReals
from smc.secret.reals.statements import Sealed
from smc.tracing.repeats import traced_once

REACH: Final = 16
"""Coefficients of covariates from -1 to 1 are at most this."""

STEP_REACH: Final = 4
"""The largest step. Smaller ones have more digits: they are tried for first."""

_USUAL_STEP: Final = 6
"""Bits: usual steps are at most 64 times the least standard error that so many rows can have."""

USUAL_OPENINGS: Final = 2
"""Of the coefficients of a model whose rows are many on both sides."""

SMALL_STEP: Final = 0.1
"""Standard errors: after a smaller step the next one would change nothing that is shown."""

_START_BITS: Final = 12
_PARTS: Final = 5
"""Bits: figures are rounded to a 32nd of a standard error."""

_VARIANCE_BITS: Final = 10
_SQUARES_BITS: Final = 18
_MATRIX_BITS: Final = 40
_RIGHT_BITS: Final = 44


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted model, of covariates from -1 to 1.

    Attributes:
        coefficients: shape (p,); None where there are none.
        variances: the diagonal of the inverse of the information, shape (p,).
        squares: of a linear model the sum of squared residuals, else 0.
        rows: of both, or that match; None of matched ones without a model.
        openings: how often coefficients were opened.
        converged: whether the last step was small.
        discrimination: where it is asked for.
    """

    coefficients: Floats | None
    variances: Floats
    squares: float
    rows: int | None
    openings: int
    converged: bool
    discrimination: Discrimination | None = None

    @classmethod
    def none(cls, design: Design, rows: int, openings: int) -> Fit:
        """No model."""
        return cls(None, np.zeros(design.size), 0.0, rows, openings, converged=False)


@dataclass(frozen=True, slots=True)
class Sizes:
    """What is public of the sums of a model.

    Attributes:
        information: no entry of one side's information is larger.
        predictor: no predictor is larger while coefficients are within reach.
        less: bits by which standard errors can be smaller than the information says: of a linear model by the
            deviation of its residuals, down to a 32nd of half the range.
        rows: the larger number of rows of a side.
        fewer: the smaller number, of a side that has any.
    """

    information: float
    predictor: float
    less: int
    rows: int
    fewer: int

    @classmethod
    def of(cls, design: Design, rows: tuple[int, int]) -> Sizes:
        """Of so many rows of either side."""
        less = 5 if design.model.kind == LINEAR else 0
        most, least = max(1, *rows), min(filter(None, rows), default=1)
        return cls(information_bound(design, max(rows)), design.size * REACH, less, most, least)

    @property
    def bits(self) -> int:
        """The information of both is below 2**bits."""
        return ceil(log2(2 * self.information))

    @property
    def right(self) -> float:
        """No entry of one side's right-hand side is larger."""
        return self.information * (2 * self.predictor + 2)

    @property
    def coefficient_bits(self) -> int:
        """Fractional bits of coefficients that are shown: few standard errors are below 2**(-bits / 2)."""
        return min(22, ceil(self.bits / 2) + _PARTS + self.less)

    @property
    def usual_step(self) -> Fraction:
        """The largest step that is tried for first."""
        return Fraction(1, 1 << max(0, self.bits // 2 - _USUAL_STEP))

    @property
    def variance_bits(self) -> int:
        """Those of variances."""
        return self.bits + _VARIANCE_BITS

    @property
    def squares_bits(self) -> int:
        """Those of sums of squares."""
        return max(0, _SQUARES_BITS - self.bits)


def fit_model(
    session: Session,
    design: Design,
    rows: ModelRows,
    stated: ShownTables,
    sizes: Sizes,
    release: Release,
    total: int,
    traced: int = USUAL_OPENINGS,
) -> Fit:
    """Fit a model to the rows of both; both get it.

    Args:
        session: this side of the run.
        design: the model, public.
        rows: the local ones.
        stated: what it counts as beside other figures of its job, see `smc.analyses.models.stated`.
        sizes: public.
        release: opens coefficients.
        total: rows of both, public.
        traced: how often a run over shapes opens coefficients, at most.

    Raises:
        DisclosureRefused: a side's limits stand against it; nothing was opened.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    own = own_estimate(design, rows)
    admitted = release.exact(fit_part(design, rows, own, stated), frozenset(Role))
    information, gradient = _sums_at(design, rows, own)
    right = np.clip(information @ own + gradient, -sizes.right, sizes.right)
    start = _definite(session, information, sizes).solve(_right(session, right, sizes), REACH)
    sealed = start.rescale(_START_BITS).seal()
    try:
        opened = sealed.read(admitted.open(sealed.ints))
    except OutsideRange:
        return Fit.none(design, total, 1)
    found = np.zeros(design.size) if opened is None else opened[0]
    reach, moves = sizes.usual_step, True
    asks, digits = design.model.report, shown_bits(sizes.fewer, release.indistinct)
    for openings in range(2, MAX_FIT_OPENINGS + 1 - asks):
        if moves:
            information, gradient = _sums_at(design, rows, found)
            right = np.clip(gradient, -sizes.right, sizes.right)
            rest = squares(rows, found) if design.model.kind == LINEAR else None
            definite, sealed = _step(session, information, right, rest, sizes, reach)
        else:
            sealed = _seal(session, definite, right, rest, sizes, reach)
        try:
            opened = sealed.read(admitted.open(sealed.ints))
        except OutsideRange:
            if reach >= STEP_REACH:
                return Fit.none(design, total, openings)
            reach, moves = Fraction(STEP_REACH), False
            continue
        if not session.has_data and openings < min(traced, MAX_FIT_OPENINGS - asks):
            continue
        if opened is None or not session.has_data:
            if asks:  # the price of a run that ends here
                _discrimination(session, rows, found, sizes, total, admitted, digits)
            break
        moved, variances, *more = opened
        found, reach, moves = found + moved, sizes.usual_step, True
        rest = float(more[0][0]) if more else 0.0
        least = 2.0**-sizes.bits
        if (np.abs(moved) <= SMALL_STEP * np.sqrt(np.maximum(variances, least))).all():
            told = _discrimination(session, rows, found, sizes, total, admitted, digits) if asks else None
            return Fit(found, variances, rest, total, openings, converged=True, discrimination=told)
    return Fit.none(design, total, MAX_FIT_OPENINGS)


@traced_once
def _step(
    session: Session, information: Floats, right: Floats, rest: float | None, sizes: Sizes, reach: Fraction
) -> tuple[Definite, Sealed]:
    """The matrix of a step, and the step with its figures, ready to be opened."""
    definite = _definite(session, information, sizes)
    return definite, _seal(session, definite, right, rest, sizes, reach)


def _seal(
    session: Session, definite: Definite, right: Floats, rest: float | None, sizes: Sizes, reach: Fraction
) -> Sealed:
    """A step of at most `reach`, the variances, and the sum of squared residuals of a linear model."""
    step = definite.solve(_right(session, right, sizes), reach)
    figures = [definite.variances().rescale(sizes.variance_bits)]
    if rest is not None:
        figures.append(_squares(session, rest, sizes))
    return step.rescale(sizes.coefficient_bits).seal(*figures)


def _discrimination(
    session: Session,
    rows: ModelRows,
    coefficients: Floats,
    sizes: Sizes,
    total: int,
    admitted: Coefficients,
    digits: int,
) -> Discrimination | None:
    """How well the model tells the outcomes apart."""
    figures = joint_figures(session, histograms(rows, coefficients), sizes.rows, total, digits)
    sealed = figures[0].seal(*figures[1:])
    opened = sealed.read(admitted.open(sealed.ints))
    return None if opened is None else read_figures(opened, total, digits)


def _definite(session: Session, information: Floats, sizes: Sizes) -> Definite:
    top = 2.0 ** (sizes.bits - 1)
    scale = max(0, _MATRIX_BITS - sizes.bits)
    return Definite.of(SecretReals.sum_of_both(session, information, -top, top, scale))


def _right(session: Session, values: Floats, sizes: Sizes) -> SecretReals:
    scale = max(0, _RIGHT_BITS - ceil(log2(2 * sizes.right)))
    return SecretReals.sum_of_both(session, values, -sizes.right, sizes.right, scale)


def _squares(session: Session, value: float, sizes: Sizes) -> SecretReals:
    top = sizes.information * (1 + sizes.predictor) ** 2
    found = SecretReals.sum_of_both(session, [min(value, top)], 0, top, sizes.squares_bits + 2)
    return found.rescale(sizes.squares_bits)


def _sums_at(design: Design, rows: ModelRows, coefficients: Floats) -> tuple[Floats, Floats]:
    """The information and the gradient of the local rows."""
    at = derivatives(design, rows, coefficients)
    return at.information, at.gradient
