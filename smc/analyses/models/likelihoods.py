"""Gradients and information of the log-likelihoods of models over one side's rows.

Those of a pooled model are the sums of both sides' (of a Cox model with a baseline of each side). Risk sets
of a Cox model are those of Efron: rows whose events are at one time leave one after the other on average.

References: McCullagh and Nelder, Generalized linear models, 1989; Efron, The efficiency of Cox's likelihood
function for censored data, JASA 1977.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from smc.analyses.models.design import Design, Floats, ModelRows
from smc.analyses.models.parameters import COX, LINEAR, LOGISTIC, POISSON

_STEPS: Final = 25
_RIDGE: Final = 1e-4
"""Part of the information that is added to it in the estimates of one side alone, which may not exist."""

_MOST: Final = 12.0
"""No coefficient of one side's own estimate is larger."""


@dataclass(frozen=True, slots=True)
class Derivatives:
    """Of a log-likelihood at coefficients.

    Attributes:
        gradient: shape (p,).
        information: minus its second derivatives, shape (p, p).
        weights: of each row in the information, shape (n,).
        centre: covariates that count as 0 there, shape (p,) or (n, p).
    """

    gradient: Floats = field(repr=False)
    information: Floats = field(repr=False)
    weights: Floats = field(repr=False)
    centre: Floats = field(repr=False)


def derivatives(design: Design, rows: ModelRows, coefficients: Floats) -> Derivatives:
    """Of a side's rows."""
    if design.model.kind == COX:
        return _cox(rows, coefficients)
    x = rows.covariates
    predictor = x @ coefficients + rows.offset
    if design.model.kind == LINEAR:
        mean, weights = predictor, np.ones(len(rows))
    elif design.model.kind == LOGISTIC:
        mean = 0.5 * (1 + np.tanh(predictor / 2))
        weights = mean * (1 - mean)
    else:
        # No expected count beyond twice what is declared can fit any data.
        mean = np.exp(np.minimum(predictor, np.log(2 * design.most)))
        weights = mean
    gradient = x.T @ (rows.outcome - mean)
    total = weights.sum()
    centre = weights @ x / total if total > 0 else np.zeros(x.shape[1])
    if design.model.has_constant:
        centre[0] = 0
    return Derivatives(gradient, (x * weights[:, None]).T @ x, weights, centre)


def squares(rows: ModelRows, coefficients: Floats) -> float:
    """The sum of squared residuals of a linear model."""
    return float(((rows.outcome - rows.covariates @ coefficients) ** 2).sum())


def own_estimate(design: Design, rows: ModelRows) -> Floats:
    """About where the likelihood of one side's rows is largest; a start, and no result."""
    found = np.zeros(design.size)
    for _ in range(_STEPS):
        at = derivatives(design, rows, found)
        information = at.information + np.diag(_RIDGE * (np.diag(at.information) + 1))
        step = np.linalg.solve(information, at.gradient - _RIDGE * found)
        largest = np.abs(step).max(initial=0)
        found = np.clip(found + step * min(1.0, 2.0 / largest if largest else 1.0), -_MOST, _MOST)
        if largest < 1e-9:
            break
    return found


def information_bound(design: Design, rows: int) -> float:
    """No entry of the information of so many rows is larger."""
    return float(max(1, rows) * (2 * design.most if design.model.kind == POISSON else 1))


def _cox(rows: ModelRows, coefficients: Floats) -> Derivatives:
    size = rows.covariates.shape[1]
    gradient, information = np.zeros(size), np.zeros((size, size))
    weights, centre = np.zeros(len(rows)), np.zeros_like(rows.covariates)
    for stratum in np.unique(rows.stratum):
        inside = np.flatnonzero(rows.stratum == stratum)
        # The latest first, so that risk sets are what comes before.
        order = inside[np.argsort(-rows.outcome[inside], kind="stable")]
        part = _stratum(rows.covariates[order], rows.outcome[order], rows.event[order], coefficients)
        gradient += part.gradient
        information += part.information
        weights[order], centre[order] = part.weights, part.centre
    return Derivatives(gradient, information, weights, centre)


def _stratum(x: Floats, time: Floats, event: np.ndarray, coefficients: Floats) -> Derivatives:
    count, size = x.shape
    if not event.any():
        return Derivatives(np.zeros(size), np.zeros((size, size)), np.zeros(count), np.zeros((count, size)))
    predictor = x @ coefficients
    risk = np.exp(predictor - predictor.max())
    risks, weighted = np.cumsum(risk), np.cumsum(risk[:, None] * x, axis=0)
    last = np.searchsorted(-time, -time, side="right") - 1  # of those at risk when a row's time ends
    place = np.flatnonzero(event)
    ends, tie, ties = np.unique(last[place], return_inverse=True, return_counts=True)
    tied = np.bincount(tie, weights=risk[place])
    tied_weighted = np.stack(
        [np.bincount(tie, weights=risk[place] * x[place, column]) for column in range(size)], axis=1
    )
    order = np.argsort(tie, kind="stable")
    first = np.concatenate([[0], np.cumsum(ties)[:-1]])
    rank = np.empty(len(place))
    rank[order] = np.arange(len(place)) - first[tie[order]]
    part = rank / ties[tie]  # of the tied that have left on average
    left = risks[ends][tie] - part * tied[tie]
    mean = (weighted[ends][tie] - part[:, None] * tied_weighted[tie]) / left[:, None]
    # A row is in the risk sets of all events up to its time.
    at_risk = np.zeros(count)
    np.add.at(at_risk, ends, np.bincount(tie, weights=1 / left))
    exposed = np.cumsum(at_risk[::-1])[::-1][last]
    exposed[place] -= np.bincount(tie, weights=part / left)[tie]
    weights = risk * exposed
    information = (x * weights[:, None]).T @ x - mean.T @ mean
    average = np.cumsum(_sums(mean / left[:, None], ends, tie, count)[::-1], axis=0)[::-1][last]
    scale = np.where(exposed > 0, exposed, 1)
    centre = average / scale[:, None]
    return Derivatives((x[place] - mean).sum(axis=0), information, weights, centre)


def _sums(values: Floats, ends: np.ndarray, tie: np.ndarray, count: int) -> Floats:
    found = np.zeros((count, values.shape[1]))
    np.add.at(found, ends[tie], values)
    return found
