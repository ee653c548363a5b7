"""What a model is worth where it is held against other figures of a job: sums over one side's rows.

Coefficients solve equations in sums over rows: of each covariate, and of each covariate times the outcome. So
a model is taken for a table that shows these sums. Of two models, or a model and a table, whose groups differ
in one person, these sums then differ in that person alone, and an auditor sees it.

Not all that a model tells is in these sums: coefficients follow from products of two covariates as well, and
those of logistic, Poisson and Cox models from a weight of each row that depends on its covariates.
"""

from __future__ import annotations

from math import ceil, floor
from typing import Final

import numpy as np

from smc.analyses.disclosure.audit import Members, ShownTable, ShownTables
from smc.analyses.models.design import Design, Factor, Ints
from smc.analyses.models.parameters import COX, LINEAR, LOGISTIC
from smc.analyses.studies.columns import PERSONS, Data
from smc.errors import DomainError

_LARGEST: Final = 1 << 62
_PRIME: Final = (1 << 31) - 1
"""Products that could leave 63 bits are kept modulo this, as auditors take amounts."""


def stated_tables(design: Design, data: Data) -> ShownTables:
    """The sums of a model over the local rows, as tables of one cell with amounts.

    Raises:
        DomainError: columns of different lengths.
    """
    held = {name: data[name].array for name in design.model.columns}
    count = len(held[design.model.outcome])
    if any(len(column) != count for column in held.values()):
        raise DomainError(
            "The columns of this side have different lengths.", "Give every column one value per row."
        )
    persons = np.asarray(data[PERSONS].array) if PERSONS in data else np.arange(count)
    outcome = _outcome(design, held[design.model.outcome], held.get(design.model.event))
    amounts = [outcome]
    for term in design.terms:
        covariate = (np.ones(count, dtype=np.int64), 1)
        for factor in term.factors:
            covariate = _product(covariate, _held(factor, held[factor.column]))
        amounts += [covariate, _product(covariate, outcome)]
        if design.model.exposure:
            exposure = held[design.model.exposure]
            amounts.append(_product(covariate, (exposure, int(exposure.max(initial=0)))))
    cells, everything = np.zeros(count, dtype=np.int64), np.ones((1, 1), dtype=np.bool_)
    return ShownTables(
        tuple(ShownTable(Members(persons, cells, values), everything) for values, _ in amounts)
    )


Bounded = tuple[Ints, int]
"""Whole numbers from 0 on, and none of them is larger."""


def _held(factor: Factor, values: Ints) -> Bounded:
    """A column in held units above the lower end of its range, or whether it has the label."""
    if factor.label is not None:
        return (values == factor.code).astype(np.int64), 1
    lower, upper = floor(factor.middle - factor.half), ceil(factor.middle + factor.half)
    return np.clip(values, lower, upper) - lower, upper - lower


def _outcome(design: Design, values: Ints, event: Ints | None) -> Bounded:
    """What is explained; of a Cox model whether the event came."""
    kind = design.model.kind
    if kind == LINEAR and design.outcome is not None:
        return _held(design.outcome, values)
    if kind == LOGISTIC:
        return np.isin(values, design.codes).astype(np.int64), 1
    if kind == COX and event is not None:
        return np.isin(event, design.codes).astype(np.int64), 1
    return np.clip(values, 0, design.most), design.most


def _product(one: Bounded, other: Bounded) -> Bounded:
    if one[1] * other[1] < _LARGEST:
        return one[0] * other[0], one[1] * other[1]
    return one[0] % _PRIME * (other[0] % _PRIME) % _PRIME, _PRIME
