"""One side's part of a model, as its limits look at it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.audit import Members, ShownTable, ShownTables
from smc.analyses.disclosure.fits import FitPart
from smc.analyses.models.design import Design, Floats, ModelRows
from smc.analyses.models.likelihoods import Derivatives, derivatives
from smc.analyses.models.parameters import COX, LINEAR, LOGISTIC

_SAME: Final = 1e-10
"""Columns that differ by a smaller part follow from each other, as far as digits tell."""


def fit_part(
    design: Design, rows: ModelRows, coefficients: Floats, sums: Callable[[], ShownTables]
) -> FitPart:
    """The local part of a model.

    Args:
        design: the model.
        rows: the local ones.
        coefficients: at which the parts of persons are taken, those of this side alone.
        sums: as of `FitPart`.
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
    leverage, told = _leverage(rows, at), _told(design, rows)
    return FitPart(everybody, outcomes, design.size, apart, largest, leverage, told, sums)


def _persons(rows: ModelRows, chosen: NDArray[np.bool_]) -> int:
    return len(np.unique(rows.persons[chosen]))


def _uncommon(values: Floats) -> NDArray[np.bool_]:
    """The rows that do not have the commonest value."""
    if not len(values):
        return np.zeros(0, dtype=np.bool_)
    found, counts = np.unique(values, return_counts=True)
    return np.asarray(values != found[counts.argmax()])


def _told(design: Design, rows: ModelRows) -> ShownTables:
    """Who has a covariate of 0 and 1, with how much of the outcome, or with the event and without it."""
    found = [column for column in rows.covariates.T if np.isin(column, (0, 1)).all()]
    groups = np.stack([np.ones(len(rows)), *found], axis=1) > 0
    model, factor = design.model, design.outcome
    splits = model.kind in (LOGISTIC, COX)
    happened = (rows.event if model.kind == COX else rows.outcome > 0) if splits else np.zeros(len(rows))
    cells, place = np.unique(np.column_stack([groups, happened]), axis=0, return_inverse=True)
    marks = cells.astype(np.bool_)
    inside = marks[:, :-1].T
    equations = np.concatenate([inside, inside & marks[:, -1]]) if splits else inside
    amounts = None if splits else rows.outcome if factor is None else (rows.outcome + 1) * float(factor.half)
    members = Members(
        rows.persons, place.reshape(-1), None if amounts is None else np.rint(amounts).astype(np.int64)
    )
    return ShownTables((ShownTable(members, np.unique(equations, axis=0)),))


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
