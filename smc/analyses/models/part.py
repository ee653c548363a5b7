"""One side's part of a model, as its limits look at it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.audit import ShownTables
from smc.analyses.disclosure.fits import FitPart
from smc.analyses.models.design import Design, Floats, ModelRows
from smc.analyses.models.likelihoods import derivatives
from smc.analyses.models.parameters import COX, LINEAR, LOGISTIC


def fit_part(
    design: Design, rows: ModelRows, coefficients: Floats, told: Callable[[], ShownTables]
) -> FitPart:
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
    return FitPart(everybody, outcomes, design.size, apart, largest, told)


def _persons(rows: ModelRows, chosen: NDArray[np.bool_]) -> int:
    return len(np.unique(rows.persons[chosen]))


def _uncommon(values: Floats) -> NDArray[np.bool_]:
    """The rows that do not have the commonest value."""
    if not len(values):
        return np.zeros(0, dtype=np.bool_)
    found, counts = np.unique(values, return_counts=True)
    return np.asarray(values != found[counts.argmax()])


def _largest(rows: ModelRows, shares: Floats) -> Fraction:
    """The largest part that one person has of a sum."""
    total = float(shares.sum())
    if total <= 0:
        return Fraction(1)
    return Fraction(float(np.bincount(rows.persons, weights=shares).max()) / total)
