"""What a model is worth where it is held against other figures: sums over one side's rows.

Coefficients solve equations in sums over rows: of each covariate, and of each covariate times the outcome. So
a model is taken for a table that shows these sums. Of two models, or a model and a table, whose columns
differ in one person, these sums then differ in that person alone, and an auditor sees it. Of what else a
model reads, times, strata and exposures, it shows no sums; they are stated all the same, so that it is seen
where they differ in few from one model to the next.

Covariates of two values, such as labels, are groups. Standard errors follow from how many persons have two of
them as well, and from the sum of a covariate of numbers over a group, so that these are stated, too.

Numbers count from the lower bound that this side's own catalog declares, or from the end of the job's `range`
where that lies above: by a range far below all values nobody would dominate a sum. A column without declared
bounds counts from its least value. Where a bound is below 0, the auditor gets the numbers counted from 0 as
well, as of tables (`smc.analyses.disclosure.amounts`).

Not all that a model tells is in these sums: coefficients follow from products of two numbers as well, and
those of logistic, Poisson and Cox models from a weight of each row that depends on its covariates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import lcm
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.audit import Members, ShownTable, ShownTables
from smc.analyses.models.design import Design, Factor, Ints
from smc.analyses.models.parameters import COX, LINEAR, LOGISTIC
from smc.analyses.studies.columns import PERSONS, Data, Schema
from smc.errors import DomainError

Whole = NDArray[np.object_]

_LARGEST: Final = 1 << 62
_PRIME: Final = (1 << 31) - 1
"""Numbers that could leave 63 bits are kept modulo this, as auditors take amounts."""

_SHORT_BITS: Final = 31
"""Of numbers that are weighed, so that the product of two fits a word; further digits are left out."""


def stated_tables(design: Design, data: Data) -> ShownTables:
    """The sums of a model over the local rows, as a table of one cell with amounts.

    Raises:
        DomainError: columns of different lengths.
    """
    held = {name: data[name].array for name in design.model.columns}
    schemas = {name: data[name].schema for name in held}
    count = len(held[design.model.outcome])
    if any(len(column) != count for column in held.values()):
        raise DomainError(
            "The columns of this side have different lengths.", "Give every column one value per row."
        )
    persons = np.asarray(data[PERSONS].array) if PERSONS in data else np.arange(count)
    outcome = _outcome(design, held, schemas)
    covariates = [_covariate(term.factors, held, schemas) for term in design.terms]
    amounts = [outcome, *_beside(design, held)]
    for covariate in covariates:
        amounts += [covariate, _product(covariate, outcome)]
        if design.model.exposure:
            amounts.append(_product(covariate, _from_least(held[design.model.exposure])))
    groups = [_group(covariate) for covariate in covariates]
    for one, other in combinations(range(len(covariates)), 2):
        first, second = groups[one], groups[other]
        if first is not None or second is not None:
            amounts.append(_product(first or covariates[one], second or covariates[other]))
    shown = np.stack([each.above for each in amounts])
    signed = (
        np.stack([each.short for each in amounts]) if any(not each.is_plain for each in amounts) else None
    )
    cells, everybody = np.zeros(count, dtype=np.int64), np.ones((1, 1), dtype=np.bool_)
    return ShownTables((ShownTable(Members(persons, cells, shown, signed), everybody),))


@dataclass(frozen=True, slots=True)
class Bounded:
    """A column of whole numbers from 0 on.

    Attributes:
        above: the numbers, modulo `_PRIME` where they could leave 62 bits; shape (n,).
        most: none is larger.
        short: the same, counted from 0 of the column where its bound is below, in 31 bits and a sign; what is
            weighed.
        is_plain: whether both are the same.
    """

    above: Ints = field(repr=False)
    most: int
    short: Ints = field(repr=False)
    is_plain: bool = True

    @classmethod
    def plain(cls, values: Ints, most: int) -> Bounded:
        """Of numbers that fit 31 bits."""
        return cls(values, most, values)


def _group(covariate: Bounded) -> Bounded | None:
    """Who has the larger of two values; None of others."""
    found = np.unique(covariate.above)
    return Bounded.plain((covariate.above == found[1]).astype(np.int64), 1) if len(found) == 2 else None


def _beside(design: Design, held: Mapping[str, Ints]) -> list[Bounded]:
    """What is read beside covariates and the outcome."""
    model = design.model
    found = []
    if model.kind == COX:
        found.append(_from_least(held[model.outcome]))
    if model.exposure:
        found.append(_from_least(held[model.exposure]))
    for name in model.strata:
        found += [
            Bounded.plain((held[name] == code).astype(np.int64), 1) for code in np.unique(held[name])[1:]
        ]
    return found


def _covariate(factors: Sequence[Factor], held: Mapping[str, Ints], schemas: Mapping[str, Schema]) -> Bounded:
    first, *others = (_to_held(each, held[each.column], schemas[each.column]) for each in factors)
    found = first
    for other in others:
        found = _product(found, other)
    return found


def _to_held(factor: Factor, values: Ints, schema: Schema) -> Bounded:
    """A column in whole parts of its unit above what its catalog declares, or whether it has the label."""
    if factor.label is not None:
        return Bounded.plain((values == factor.code).astype(np.int64), 1)
    lower, upper = factor.middle - factor.half, factor.middle + factor.half
    parts = lcm(lower.denominator, upper.denominator)
    found, place = _distinct(values)
    declared = schema.lower if schema.lower is not None else int(found[0]) if len(found) else 0
    most = int(upper * parts)
    least = min(max(declared * parts, int(lower * parts)), most)
    inside = np.minimum(np.maximum(found * parts, least), most)
    return _whole(inside, least, most, place)


def _from_least(values: Ints) -> Bounded:
    """A column above its least value."""
    found, place = _distinct(values)
    inside = found - found[0] if len(found) else found
    return _whole(inside, 0, int(inside[-1]) if len(inside) else 0, place)


def _distinct(values: Ints) -> tuple[Whole, Ints]:
    """The values, each once, as numbers without a largest one; which of them stands where."""
    found, place = np.unique(values, return_inverse=True)
    return found.astype(object), place.reshape(-1)


def _whole(values: Whole, least: int, most: int, place: Ints) -> Bounded:
    """Of values between two ends, each once."""
    above, span = values - least, most - least
    if span >= _LARGEST:
        above, span = above % _PRIME, _PRIME
    drop = max(0, max(abs(least), abs(most)).bit_length() - _SHORT_BITS)
    short = (values if least < 0 else values - least) >> drop
    plain = least >= 0 and not drop
    return Bounded(above.astype(np.int64)[place], span, short.astype(np.int64)[place], plain)


def _outcome(design: Design, held: Mapping[str, Ints], schemas: Mapping[str, Schema]) -> Bounded:
    """What is explained; of a Cox model whether the event came."""
    kind, name = design.model.kind, design.model.outcome
    values = held[name]
    if kind == LINEAR and design.outcome is not None:
        return _to_held(design.outcome, values, schemas[name])
    if kind == LOGISTIC:
        return Bounded.plain(np.isin(values, design.codes).astype(np.int64), 1)
    if kind == COX:
        return Bounded.plain(np.isin(held[design.model.event], design.codes).astype(np.int64), 1)
    found, place = _distinct(np.clip(values, 0, design.most))
    return _whole(found, 0, design.most, place)


def _product(one: Bounded, other: Bounded) -> Bounded:
    most = one.most * other.most
    if most < _LARGEST:
        above = one.above * other.above
    else:
        above, most = one.above % _PRIME * (other.above % _PRIME) % _PRIME, _PRIME
    short = one.short * other.short
    size = int(np.abs(short).max(initial=0))
    drop = max(0, size.bit_length() - _SHORT_BITS)
    return Bounded(above, most, short >> drop, one.is_plain and other.is_plain and not drop)
