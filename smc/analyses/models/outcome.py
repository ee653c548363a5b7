"""What people read of fitted models."""

from __future__ import annotations

from collections.abc import Sequence
from math import erfc, exp, sqrt
from typing import Any, Final

from smc.analyses.models.design import CONSTANT, Design, Floats
from smc.analyses.models.discrimination import TWO_SIDED_95, Discrimination
from smc.analyses.models.parameters import COX, LINEAR, LOGISTIC, POISSON
from smc.analyses.models.run import Fit
from smc.analyses.studies.outcome import Outcome, Table

DETAILS: Final = {"route": "exact, under the limits of both"}

SINGLE_ROWS: Final = (
    "by covariates, ranges, conditions and rows of its choice, as far as the digits go: how many persons "
    "have several labels at once, and what they have of a number or the outcome, also where these are fewer "
    "than a smallest group or one person"
)
"""What no limit on groups rules out: coefficients and errors without noise solve equations in what rows have,
and whoever chooses these equations solves them back."""

_RATIOS: Final = {LOGISTIC: "odds_ratio", POISSON: "rate_ratio", COX: "hazard_ratio"}

NOT_COMPUTED: Final = (
    "cannot be computed: a covariate follows from others, or has nearly one value alone, or splits the "
    "outcomes so that no estimate exists"
)


def outcome_of(fits: Sequence[tuple[Design, Fit]]) -> Outcome:
    """The outcome of both parties."""
    tables, notes = [], []
    for design, fit in fits:
        name = design.model.name
        if fit.coefficients is None:
            notes.append(f"{name}: {NOT_COMPUTED}.")
            tables.append(Table(name, {"term": [*design.names], "coefficient": [None] * design.size}))
        else:
            tables.append(Table(name, _columns(design, fit, fit.coefficients)))
        if any(factor.label is None for term in design.terms for factor in term.factors):
            notes.append(
                f"{name}: coefficients are for one unit more of a number. The intercept and interactions "
                "count numbers from the middle of their ranges."
            )
        if design.model.ranges:
            notes.append(f"{name}: values beyond a stated range count as its ends.")
    tables.append(Table("models", _summary(fits)))
    notes.append(
        "Intervals and p-values are about sampling, by the normal distribution. All figures are rounded, "
        "coefficients to a 32nd of the least standard error that so many rows could have."
    )
    return Outcome(tuple(tables), tuple(dict.fromkeys(notes)), DETAILS)


def _summary(fits: Sequence[tuple[Design, Fit]]) -> dict[str, list[Any]]:
    """A line for each model."""
    found: dict[str, list[Any]] = {
        "model": [design.model.name for design, _ in fits],
        "kind": [design.model.kind for design, _ in fits],
        "rows": [fit.rows for _, fit in fits],
        "openings": [fit.openings for _, fit in fits],
    }
    if any(design.model.report for design, _ in fits):
        told = [fit.discrimination for _, fit in fits]
        found["with_outcome"] = [None if each is None else each.positives for each in told]
        areas = [_area(each) for each in told]
        for place, name in enumerate(("auc", "auc_lower_95", "auc_upper_95")):
            found[name] = [area[place] for area in areas]
    return found


def _area(told: Discrimination | None) -> tuple[float | None, float | None, float | None]:
    """The area under the curve with the ends of its interval."""
    if told is None:
        return None, None, None
    return told.auc, *(told.interval or (None, None))


def _columns(design: Design, fit: Fit, coefficients: Floats) -> dict[str, list[Any]]:
    spread = _spread(design, fit)
    units = design.units.tolist()
    found: dict[str, list[Any]] = {
        "term": [],
        "coefficient": [],
        "lower_95": [],
        "upper_95": [],
        "standard_error": [],
    }
    ratio = _RATIOS.get(design.model.kind)
    if ratio is not None:
        found |= {ratio: [], f"{ratio}_lower_95": [], f"{ratio}_upper_95": []}
    found["p_value"] = []
    for name, value, variance, unit in zip(
        design.names, coefficients.tolist(), fit.variances.tolist(), units, strict=True
    ):
        error = sqrt(max(variance, 0.0)) * spread * unit
        estimate = value * unit + (design.middle if name == CONSTANT else 0.0)
        ends = estimate - TWO_SIDED_95 * error, estimate + TWO_SIDED_95 * error
        row: list[Any] = [name, estimate, *ends, error]
        if ratio is not None:
            row += [None] * 3 if name == CONSTANT else [exp(each) for each in (estimate, *ends)]
        row.append(erfc(abs(estimate / error) / sqrt(2)) if error > 0 else None)
        for column, cell in zip(found.values(), row, strict=True):
            column.append(cell)
    return found


def _spread(design: Design, fit: Fit) -> float:
    """What errors are multiplied by: the residual deviation of a linear model."""
    if design.model.kind != LINEAR:
        return 1.0
    return sqrt(max(0.0, fit.squares) / max(1, (fit.rows or 0) - design.size))
