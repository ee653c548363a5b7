"""The local columns of a model over matched rows, as whole numbers.

A covariate's mark is 1 above the value that splits the side's own rows most evenly. If enough matched persons
are on either side of it, as many differ from any one value. Which value it is, nobody else learns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.amounts import Amounts
from smc.analyses.disclosure.crowds import off_bounds
from smc.analyses.models.design import Design, Floats, Ints, Term
from smc.analyses.models.intervals import INTERVALS, PERIODS, Intervals, in_periods
from smc.analyses.models.matched_sides import (
    ADDED,
    AT_RISK,
    DIGIT,
    HAPPENED,
    OFF_BOUNDS,
    OFFSET,
    OUTCOME,
    RowFigure,
    Sided,
)
from smc.analyses.models.parameters import COX, LOGISTIC
from smc.analyses.records.joint_keys import HashedRows
from smc.forms import Role
from smc.numeric.shapes import of_shape, shape_array
from smc.secret.joins import majority

FOLLOWED_SCALE: Final = 10
"""Fractional bits of parts of intervals."""

SPREAD_SCALE: Final = 6


@dataclass(frozen=True, slots=True)
class OwnTimes:
    """When rows were followed, at the side that has the times.

    Attributes:
        followed: parts of intervals, with 10 fractional bits, shape (n, `INTERVALS`).
        happened: in which interval the event was, 0 or 1, likewise.
        periods: parts of periods, as `followed`, shape (n, `PERIODS`).
    """

    followed: Ints = field(repr=False)
    happened: Ints = field(repr=False)
    periods: Ints = field(repr=False)

    @classmethod
    def of(cls, design: Design, times: Ints, events: Ints) -> OwnTimes:
        """Of the local rows."""
        parts = _times(times, events, design.codes)
        return cls(*(parts[:, start:end] for start, end in _PARTS))


@dataclass(frozen=True, slots=True)
class OwnRows:
    """The local columns of a model as whole numbers.

    Attributes:
        covariates: shape (n, terms of this side).
        figures: the columns of `Sided.figures_of` this side, shape (n, figures).
        marks: of each covariate, 0 or 1, shape (n, terms).
        spreads: the square of how far values of each covariate lie apart, rounded up, shape (terms,).
        times: at the side that has times.
    """

    covariates: Ints = field(repr=False)
    figures: Ints = field(repr=False)
    marks: Ints = field(repr=False)
    spreads: Ints = field(repr=False)
    times: OwnTimes | None = field(repr=False)

    @classmethod
    def of(cls, sided: Sided, rows: HashedRows, role: Role) -> OwnRows:
        """The local rows that have keys."""
        columns = [
            _product([rows.column(f.column) for f in term.factors], term, sided.scale)
            for term in sided.terms(role)
        ]
        covariates = _columns(columns, rows)
        model, times = sided.design.model, None
        if model.kind == COX and role is sided.outcome:
            times = OwnTimes.of(sided.design, rows.column(model.outcome), rows.column(model.event))
        figures = [_figure(sided, figure, rows, times) for figure in sided.figures_of(role)]
        return cls(
            covariates,
            _columns(figures, rows),
            _marks(covariates),
            _spreads(covariates, sided.scale),
            times,
        )


def _columns(columns: list[Ints], rows: HashedRows) -> Ints:
    if columns:
        return np.stack(columns, axis=1)
    return np.zeros((len(rows.keys), 0), dtype=np.int64, like=rows.keys)


def _figure(sided: Sided, figure: RowFigure, rows: HashedRows, times: OwnTimes | None) -> Ints:
    model = sided.design.model
    if times is not None:
        chosen = {OUTCOME: times.happened, AT_RISK: times.followed}[figure.name]
        return np.asarray((chosen > 0).any(axis=1)).astype(np.int64)
    if figure.name == OFFSET:
        return _offset(rows.column(model.exposure), sided.design, figure.scale)
    outcome = rows.column(model.outcome)
    if figure.name == HAPPENED:
        return (outcome > 0).astype(np.int64)
    kind, _, place = figure.name.rpartition(" ")
    if sided.declared is not None and kind in (OFF_BOUNDS, DIGIT, ADDED):
        bounds = sided.declared.value
        held = np.minimum(np.maximum(outcome, bounds.lower), bounds.upper)
        if kind == ADDED:
            return Amounts.of(held, sided.declared).ways[int(place)]
        marks = off_bounds(held, sided.declared) if kind == OFF_BOUNDS else majority.digits(held, bounds)
        return marks[int(place)]
    return _outcome(outcome, sided.design, figure.scale)


@of_shape(lambda values, design, scale: shape_array(len(values), np.int64))
def _outcome(values: Ints, design: Design, scale: int) -> Ints:
    if design.model.kind == LOGISTIC:
        return np.isin(values, design.codes).astype(np.int64)
    scaled = values.astype(np.float64) if design.outcome is None else design.outcome.values(values)
    return _whole(scaled, scale)


@of_shape(lambda values, design, scale: shape_array(len(values), np.int64))
def _offset(values: Ints, design: Design, scale: int) -> Ints:
    return _whole(np.minimum(0, design.offset(values) - np.log(design.longest)), scale)


_PARTS: Final = (
    (0, INTERVALS),
    (INTERVALS, 2 * INTERVALS),
    (2 * INTERVALS, 2 * INTERVALS + PERIODS),
)


@of_shape(lambda times, events, codes: shape_array((len(times), _PARTS[-1][1]), np.int64))
def _times(times: Ints, events: Ints, codes: tuple[int, ...]) -> Ints:
    """The parts of `OwnTimes` side by side."""
    ended: NDArray[np.bool_] = np.isin(events, codes)
    intervals = Intervals.of(times, ended)
    followed, happened = intervals.followed(times), intervals.happened(times, ended)
    parts = [
        _whole(followed, FOLLOWED_SCALE),
        happened,
        _whole(in_periods(followed, happened), FOLLOWED_SCALE),
    ]
    return np.concatenate(parts, axis=1)


@of_shape(lambda held, term, scale: shape_array(len(held[0]), np.int64))
def _product(held: list[Ints], term: Term, scale: int) -> Ints:
    scaled = [factor.values(values) for factor, values in zip(term.factors, held, strict=True)]
    return _whole(np.prod(scaled, axis=0), scale)


def _whole(values: Floats, scale: int) -> Ints:
    return np.rint(np.ldexp(values, scale)).astype(np.int64)


@of_shape(lambda values: shape_array(values.shape, np.int64))
def _marks(values: Ints) -> Ints:
    """1 above the value that splits a column most evenly."""
    found = np.zeros_like(values)
    for column, mark in zip(values.T, found.T, strict=True):
        different, counts = np.unique(column, return_counts=True)
        if len(different) > 1:
            above = len(column) - np.cumsum(counts)[:-1]
            mark[:] = column > different[np.minimum(above, len(column) - above).argmax()]
    return found


@of_shape(lambda values, scale: shape_array(values.shape[1], np.int64))
def _spreads(values: Ints, scale: int) -> Ints:
    if not values.size:
        return np.zeros(values.shape[1], dtype=np.int64)
    apart = np.ldexp((values.max(axis=0) - values.min(axis=0)).astype(np.float64), -scale)
    found: Ints = np.ceil(np.ldexp(apart**2, SPREAD_SCALE)).astype(np.int64)
    return found
