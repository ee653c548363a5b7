"""What a model is worth where it is held against other figures: sums over one side's rows.

Coefficients solve equations in sums over rows: of each covariate, and of each covariate times the outcome. So
a model is taken for a table that shows these sums. Of two models, or a model and a table, whose columns
differ in one person, these sums then differ in that person alone, and an auditor sees it. Of what else a
model reads, times, strata and exposures, it shows no sums; they are stated all the same, so that it is seen
where they differ in few from one model to the next.

Covariates of two values, such as labels, are groups. Standard errors follow from how many persons have two of
them as well, so that these are stated, too.

Not all that a model tells is in these sums: coefficients follow from products of two numbers as well, and
those of logistic, Poisson and Cox models from a weight of each row that depends on its covariates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import lcm
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.audit import Members, ShownTable, ShownTables
from smc.analyses.models.design import Design, Factor, Ints
from smc.analyses.models.parameters import COX, LINEAR, LOGISTIC
from smc.analyses.studies.columns import PERSONS, Data
from smc.errors import DomainError

Whole = NDArray[np.object_]

_LARGEST: Final = 1 << 62
_PRIME: Final = (1 << 31) - 1
"""Numbers that could leave 63 bits are kept modulo this, as auditors take amounts."""


def stated_tables(design: Design, data: Data) -> ShownTables:
    """The sums of a model over the local rows, as a table of one cell with amounts.

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
    outcome = _outcome(design, held)
    covariates = [_covariate(term.factors, held) for term in design.terms]
    amounts = [outcome, *_beside(design, held)]
    for covariate in covariates:
        amounts += [covariate, _product(covariate, outcome)]
        if design.model.exposure:
            amounts.append(_product(covariate, _from_least(held[design.model.exposure])))
    groups = [found for covariate in covariates if (found := _group(covariate)) is not None]
    amounts += [_product(one, other) for one, other in combinations(groups, 2)]
    shown = np.stack([values for values, _ in amounts])
    cells, everybody = np.zeros(count, dtype=np.int64), np.ones((1, 1), dtype=np.bool_)
    return ShownTables((ShownTable(Members(persons, cells, shown), everybody),))


Bounded = tuple[Ints, int]
"""Whole numbers from 0 on, and none of them is larger."""


def _group(covariate: Bounded) -> Bounded | None:
    """Who has the larger of two values; None of others."""
    found = np.unique(covariate[0])
    return ((covariate[0] == found[1]).astype(np.int64), 1) if len(found) == 2 else None


def _beside(design: Design, held: Mapping[str, Ints]) -> list[Bounded]:
    """What is read beside covariates and the outcome."""
    model = design.model
    found = []
    if model.kind == COX:
        found.append(_from_least(held[model.outcome]))
    if model.exposure:
        found.append(_from_least(held[model.exposure]))
    for name in model.strata:
        found += [((held[name] == code).astype(np.int64), 1) for code in np.unique(held[name])[1:]]
    return found


def _covariate(factors: Sequence[Factor], held: Mapping[str, Ints]) -> Bounded:
    found = _held(factors[0], held[factors[0].column])
    for factor in factors[1:]:
        found = _product(found, _held(factor, held[factor.column]))
    return found


def _held(factor: Factor, values: Ints) -> Bounded:
    """A column in whole parts of its unit above the lower end of its range, or whether it has the label."""
    if factor.label is not None:
        return (values == factor.code).astype(np.int64), 1
    lower, upper = factor.middle - factor.half, factor.middle + factor.half
    parts = lcm(lower.denominator, upper.denominator)
    least, most = int(lower * parts), int(upper * parts)
    found, place = _distinct(values)
    inside = np.minimum(np.maximum(found * parts, least), most) - least
    return _residues(inside, most - least, place)


def _from_least(values: Ints) -> Bounded:
    """A column above its least value."""
    found, place = _distinct(values)
    inside = found - found[0] if len(found) else found
    return _residues(inside, int(inside[-1]) if len(inside) else 0, place)


def _distinct(values: Ints) -> tuple[Whole, Ints]:
    """The values, each once, as numbers without a largest one; which of them stands where."""
    found, place = np.unique(values, return_inverse=True)
    return found.astype(object), place.reshape(-1)


def _residues(values: Whole, most: int, place: Ints) -> Bounded:
    if most >= _LARGEST:
        values, most = values % _PRIME, _PRIME
    return values.astype(np.int64)[place], most


def _outcome(design: Design, held: Mapping[str, Ints]) -> Bounded:
    """What is explained; of a Cox model whether the event came."""
    kind, values = design.model.kind, held[design.model.outcome]
    if kind == LINEAR and design.outcome is not None:
        return _held(design.outcome, values)
    if kind == LOGISTIC:
        return np.isin(values, design.codes).astype(np.int64), 1
    if kind == COX:
        return np.isin(held[design.model.event], design.codes).astype(np.int64), 1
    return np.clip(values, 0, design.most), design.most


def _product(one: Bounded, other: Bounded) -> Bounded:
    if one[1] * other[1] < _LARGEST:
        return one[0] * other[0], one[1] * other[1]
    return one[0] % _PRIME * (other[0] % _PRIME) % _PRIME, _PRIME
