"""The same models in the clear, for tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from smc.analyses.disclosure.fits import MAX_FIT_OPENINGS
from smc.analyses.models.design import Design, Floats, ModelRows
from smc.analyses.models.discrimination import plainly
from smc.analyses.models.intervals import Intervals, piecewise
from smc.analyses.models.likelihoods import derivatives, squares
from smc.analyses.models.parameters import LINEAR
from smc.analyses.models.run import Fit, Sizes

_STEPS = 60


def estimate(design: Design, sides: Sequence[ModelRows]) -> tuple[Floats, Floats] | None:
    """Where the likelihood of all rows is largest, and the information there; None where there is none."""

    def at(coefficients: Floats) -> tuple[Floats, Floats]:
        parts = [derivatives(design, rows, coefficients) for rows in sides]
        gradients, informations = ([part.gradient for part in parts], [part.information for part in parts])
        return np.sum(gradients, axis=0), np.sum(informations, axis=0)

    return _largest(design, at)


def _largest(design: Design, at: Callable[[Floats], tuple[Floats, Floats]]) -> tuple[Floats, Floats] | None:
    """Where a gradient is 0, by Newton's steps, and the information there."""
    found = np.zeros(design.size)
    for _ in range(_STEPS):
        gradient, information = at(found)
        try:
            step = np.linalg.solve(information, gradient)
        except np.linalg.LinAlgError:
            return None
        found = found + step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() < 1e-9:
            return found, information
    return None


def fit_plainly(design: Design, sides: Sequence[ModelRows], sizes: Sizes) -> Fit:
    """What a run gives, rounded alike."""
    return _rounded_fit(design, sides, sizes, estimate(design, sides))


def _rounded_fit(
    design: Design, sides: Sequence[ModelRows], sizes: Sizes, estimated: tuple[Floats, Floats] | None
) -> Fit:
    if estimated is None:
        return Fit.none(design, sum(map(len, sides)), MAX_FIT_OPENINGS)
    found, information = estimated
    variances = np.diag(np.linalg.inv(information))
    rest = sum(squares(rows, found) for rows in sides) if design.model.kind == LINEAR else 0.0
    return Fit(
        _round(found, sizes.coefficient_bits),
        _round(variances, sizes.variance_bits),
        float(_round(np.array([rest]), sizes.squares_bits)[0]),
        sum(map(len, sides)),
        2,
        converged=True,
        discrimination=plainly(sides, found) if design.model.report else None,
    )


def fit_joined(design: Design, rows: ModelRows, most: int, intervals: Intervals | None) -> Fit:
    """The same of matched rows.

    Args:
        design: the model.
        rows: the matched ones.
        most: no more can match.
        intervals: of a Cox model, by all rows of the side with the times.
    """
    sizes = Sizes.of(design, (-(-most // 2),) * 2)
    if intervals is None:
        found = fit_plainly(design, [rows], sizes)
    else:
        times = rows.outcome.astype(np.int64)
        parts = intervals.follow_up(times), intervals.mark_events(times, rows.event)
        estimated = _largest(design, partial(piecewise, rows.covariates, *parts))
        found = _rounded_fit(design, [rows], sizes, estimated)
    return replace(found, openings=1, rows=None if found.coefficients is None else found.rows)


def _round(values: Floats, bits: int) -> Floats:
    return np.ldexp(np.floor(np.ldexp(values, bits) + 0.5), -bits)
