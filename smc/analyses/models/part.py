"""One side's part of a model, as its limits look at it."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.audit import ShownTables
from smc.analyses.disclosure.fits import FitPart
from smc.analyses.models.design import Design, Floats, ModelRows
from smc.analyses.models.likelihoods import Derivatives, derivatives
from smc.analyses.models.parameters import COX, LINEAR, LOGISTIC

_SAME: Final = 1e-10
"""Columns that differ by a smaller part follow from each other, as far as digits tell."""


def fit_part(design: Design, rows: ModelRows, coefficients: Floats, told: ShownTables) -> FitPart:
    """The local part of a model.

    Args:
        design: the model.
        rows: the local ones.
        coefficients: at which the parts of persons are taken, those of this side alone.
        told: as of `FitPart`.
    """
    everybody = _persons(rows, np.ones(len(rows), dtype=np.bool_))
    happened = rows.event if design.model.kind == COX else rows.outcome > 0
    outcomes = [everybody] if design.model.kind == LINEAR else [_persons(rows, happened)]
    if design.model.kind == LOGISTIC:
        outcomes.append(_persons(rows, ~happened))
    first = int(design.model.has_constant)
    apart = [
        (name, _persons(rows, _uncommon(rows.covariates[:, column])))
        for column, name in enumerate(design.names)
        if column >= first
    ]
    at = derivatives(design, rows, coefficients)
    shares = at.weights[:, None] * (rows.covariates - at.centre) ** 2
    largest = [(name, _largest(rows, shares[:, column])) for column, name in enumerate(design.names)]
    residuals = Fraction(0)
    if design.model.kind == LINEAR:
        residuals = _largest(rows, (rows.outcome - rows.covariates @ coefficients) ** 2)
    leverage = _leverage(rows, at)
    return FitPart(
        everybody, outcomes, design.size, apart, largest, leverage, told, residuals, _fewest(design, rows)
    )


def _persons(rows: ModelRows, chosen: NDArray[np.bool_]) -> int:
    return len(np.unique(rows.persons[chosen]))


def _fewest(design: Design, rows: ModelRows) -> int | None:
    """The persons in the smallest cell of a table of two covariates of two values, from different columns."""
    first, found = int(design.model.has_constant), []
    marks = {}
    for place, term in enumerate(design.terms):
        values = rows.covariates[:, first + place]
        if len(term.factors) == 1 and len(np.unique(values)) == 2:
            marks[place] = values == values.max()
    for one, other in combinations(marks, 2):
        if design.terms[one].factors[0].column != design.terms[other].factors[0].column:
            sides = product((marks[one], ~marks[one]), (marks[other], ~marks[other]))
            found += [_persons(rows, mine & theirs) for mine, theirs in sides]
    return min(found, default=None)


def _uncommon(values: Floats) -> NDArray[np.bool_]:
    """The rows that do not have the commonest value."""
    if not len(values):
        return np.zeros(0, dtype=np.bool_)
    found, counts = np.unique(values, return_counts=True)
    return np.asarray(values != found[counts.argmax()])


def _leverage(rows: ModelRows, at: Derivatives) -> float:
    """No person has a larger part of the information about any combination of coefficients.

    That part is at most the trace of the person's rows in the projection on the weighted covariates.
    """
    weighted = np.sqrt(np.maximum(at.weights, 0))[:, None] * (rows.covariates - at.centre)
    if not len(weighted):
        return 1.0
    directions, sizes, _ = np.linalg.svd(weighted, full_matrices=False)
    kept = directions[:, sizes > _SAME * sizes.max()]
    return float(np.bincount(rows.persons, weights=(kept**2).sum(axis=1)).max())


def _largest(rows: ModelRows, shares: Floats) -> Fraction:
    """The largest part that one person has of a sum."""
    total = float(shares.sum())
    if total <= 0:
        return Fraction(1)
    return Fraction(float(np.bincount(rows.persons, weights=shares).max()) / total)
