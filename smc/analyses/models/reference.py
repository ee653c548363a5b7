"""The same models in the clear, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from smc.analyses.disclosure.release import MAX_FIT_OPENINGS
from smc.analyses.models.design import Design, Floats, ModelRows
from smc.analyses.models.discrimination import plainly
from smc.analyses.models.likelihoods import derivatives, squares
from smc.analyses.models.parameters import LINEAR
from smc.analyses.models.run import Fit, Sizes

_STEPS = 60


def estimate(design: Design, sides: Sequence[ModelRows]) -> tuple[Floats, Floats] | None:
    """Where the likelihood of all rows is largest, and the information there; None where there is none."""
    found = np.zeros(design.size)
    for _ in range(_STEPS):
        parts = [derivatives(design, rows, found) for rows in sides]
        information = np.sum([part.information for part in parts], axis=0)
        try:
            step = np.linalg.solve(information, np.sum([part.gradient for part in parts], axis=0))
        except np.linalg.LinAlgError:
            return None
        found = found + step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() < 1e-9:
            return found, information
    return None


def fit_plainly(design: Design, sides: Sequence[ModelRows], sizes: Sizes) -> Fit:
    """What a run gives, rounded alike."""
    estimated = estimate(design, sides)
    if estimated is None:
        return Fit.none(design, sum(map(len, sides)), MAX_FIT_OPENINGS)
    found, information = estimated
    variances = np.diag(np.linalg.inv(information))
    rest = sum(squares(rows, found) for rows in sides) if design.model.kind == LINEAR else 0.0
    return Fit(
        _rounded(found, sizes.coefficient_bits),
        _rounded(variances, sizes.variance_bits),
        float(_rounded(np.array([rest]), sizes.squares_bits)[0]),
        sum(map(len, sides)),
        2,
        converged=True,
        discrimination=plainly(sides, found) if design.model.report else None,
    )


def fit_joined(design: Design, rows: ModelRows, most: int) -> Fit:
    """The same of matched rows, of which there are `most` at most."""
    found = fit_plainly(design, [rows], Sizes.of(design, (-(-most // 2),) * 2))
    return replace(found, openings=1, rows=None if found.coefficients is None else found.rows)


def _rounded(values: Floats, bits: int) -> Floats:
    return np.ldexp(np.floor(np.ldexp(values, bits) + 0.5), -bits)
