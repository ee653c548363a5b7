"""The columns of a model as numbers from -1 to 1: what its terms are, and the unit of each coefficient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.models.parameters import COX, LINEAR, LOGISTIC, POISSON, Model
from smc.analyses.studies.columns import PERSONS, Data, Schema
from smc.errors import DomainError, UsageError
from smc.secret.reals.definite import MOST_COLUMNS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CONSTANT: Final = "(intercept)"
_NUMBERS: Final = ("integer", "decimal")


@dataclass(frozen=True, slots=True)
class Factor:
    """A column as numbers from -1 to 1.

    Attributes:
        column: its name.
        label: the label that counts as 1 where it is one of labels, else None.
        code: of that label.
        middle: what counts as 0, in held units.
        half: what counts as 1 away from it, in held units.
        unit: held units of one real unit.
    """

    column: str
    label: str | None
    code: int
    middle: Fraction
    half: Fraction
    unit: int

    @property
    def name(self) -> str:
        """For people."""
        return self.column if self.label is None else f"{self.column} = {self.label}"

    def values(self, held: Ints) -> Floats:
        """What the values of the column count as; those beyond the range as its ends."""
        if self.label is not None:
            return np.asarray(held == self.code, dtype=np.float64)
        scaled = (held.astype(np.float64) - float(self.middle)) / float(self.half)
        return np.clip(scaled, -1, 1)


@dataclass(frozen=True, slots=True)
class Term:
    """A covariate, or the product of two.

    Attributes:
        factors: one, or two.
    """

    factors: tuple[Factor, ...]

    @property
    def name(self) -> str:
        """For people."""
        return " x ".join(factor.name for factor in self.factors)

    @property
    def unit(self) -> float:
        """What a coefficient of numbers from -1 to 1 is multiplied by to be one of real units."""
        found = Fraction(1)
        for factor in self.factors:
            if factor.label is None:
                found *= Fraction(factor.unit) / factor.half
        return float(found)


@dataclass(frozen=True, slots=True)
class ModelRows:
    """The local rows of a model.

    Attributes:
        covariates: a column for each term, an intercept first where there is one, shape (n, p).
        outcome: what is explained, shape (n,): from -1 to 1 of a linear model, 0 or 1 of a logistic one,
            counts, or times.
        event: whether a time ended with the event, shape (n,); of a Cox model only.
        offset: logarithms of exposures, shape (n,).
        stratum: numbers of strata, shape (n,).
        persons: numbers of the persons that rows are about, shape (n,).
    """

    covariates: Floats = field(repr=False)
    outcome: Floats = field(repr=False)
    event: NDArray[np.bool_] = field(repr=False)
    offset: Floats = field(repr=False)
    stratum: Ints = field(repr=False)
    persons: Ints = field(repr=False)

    def __len__(self) -> int:
        return len(self.outcome)


@dataclass(frozen=True, slots=True)
class Design:
    """A model over declared columns.

    Attributes:
        model: as the job asks for it.
        terms: without the intercept.
        outcome: of a linear model, whose outcome is a factor, too; else None.
        codes: of the labels that are the outcome or the event; 1 of a column of numbers.
        most: the largest outcome of a model of counts, else 1.
        exposed: held units of one real unit of exposures.
        longest: the largest exposure, in real units.
    """

    model: Model
    terms: tuple[Term, ...]
    outcome: Factor | None
    codes: tuple[int, ...]
    most: int
    exposed: int
    longest: float

    @classmethod
    def of(cls, model: Model, schemas: Mapping[str, Schema]) -> Design:
        """Fit a model to declarations.

        Raises:
            UsageError: they do not fit; names the column.
        """
        factors = {name: _factors(model, name, schemas[name]) for name in model.covariates}
        size = model.has_constant + sum(prod(len(factors[name]) for name in term) for term in model.terms)
        if size > MOST_COLUMNS:
            raise UsageError(
                f"Model {model.name!r} has {size} coefficients, and {MOST_COLUMNS} can be had.",
                "Leave out a covariate or product, or derive columns with fewer labels.",
            )
        terms = tuple(
            Term(combined)
            for names in model.terms
            for combined in product(*(factors[name] for name in names))
        )
        outcome = schemas[model.outcome]
        codes: tuple[int, ...] = (1,)
        most, scaled, longest = 1, None, 1
        if model.kind == LINEAR:
            (scaled,) = _factors(model, model.outcome, outcome, halves=True)
        elif model.kind == LOGISTIC:
            codes = _codes(model, model.outcome, outcome)
        elif model.kind == POISSON:
            counts = outcome.kind == "integer" and (outcome.lower or 0) >= 0
            wanted = "an integer from 0 on with declared bounds"
            _check(counts and None not in (outcome.lower, outcome.upper), model, model.outcome, wanted)
            most = max(1, outcome.upper or 0)
            if model.exposure:
                exposed = schemas[model.exposure]
                bounded = exposed.lower is not None and exposed.lower >= 0 and exposed.upper is not None
                wanted = "a number from 0 on with declared bounds"
                _check(exposed.kind in _NUMBERS and bounded, model, model.exposure, wanted)
                longest = max(1, exposed.upper or 0)
        else:
            _check(outcome.kind in _NUMBERS, model, model.outcome, "a number")
            codes = _codes(model, model.event, schemas[model.event])
            for name in model.strata:
                _check(schemas[name].kind == "category", model, name, "a category")
        exposure = 10 ** schemas[model.exposure].scale if model.exposure else 1
        return cls(model, terms, scaled, codes, most, exposure, longest / exposure)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the coefficients."""
        return (*([CONSTANT] if self.model.has_constant else []), *(term.name for term in self.terms))

    @property
    def size(self) -> int:
        """Coefficients."""
        return len(self.names)

    @property
    def units(self) -> Floats:
        """What each coefficient is multiplied by to be one of real units."""
        scale = 1.0 if self.outcome is None else float(self.outcome.half / self.outcome.unit)
        constant = [1.0] if self.model.has_constant else []
        return scale * np.array([*constant, *(term.unit for term in self.terms)])

    @property
    def middle(self) -> float:
        """What is added to the intercept of a linear model in real units."""
        return 0.0 if self.outcome is None else float(self.outcome.middle / self.outcome.unit)

    @property
    def no_rows(self) -> ModelRows:
        """What stands for the rows of a run without data."""
        nothing = np.zeros(1)
        none, number = np.zeros(1, dtype=np.bool_), np.zeros(1, dtype=np.int64)
        return ModelRows(np.zeros((1, self.size)), nothing, none, nothing, number, number)

    def offset(self, exposures: Ints) -> Floats:
        """Logarithms of exposures; of a row that was not exposed one held unit counts."""
        return np.asarray(np.log(np.maximum(1, exposures) / self.exposed))

    def rows(self, data: Data) -> ModelRows:
        """The local rows.

        Raises:
            DomainError: columns of different lengths.
        """
        persons = np.asarray(data[PERSONS].array) if PERSONS in data else None
        return self.join({name: data[name].array for name in self.model.columns}, persons)

    def join(self, held: Mapping[str, Ints], persons: Ints | None = None) -> ModelRows:
        """Rows of held values, each shape (n,); otherwise as `rows`."""
        model = self.model
        lengths = {len(column) for column in held.values()} | (
            {len(persons)} if persons is not None else set()
        )
        if len(lengths) != 1:
            raise DomainError(
                "The columns of this side have different lengths.", "Give every column one value per row."
            )
        (count,) = lengths
        columns = [np.ones(count)] if model.has_constant else []
        for term in self.terms:
            scaled = [factor.values(held[factor.column]) for factor in term.factors]
            columns.append(np.prod(scaled, axis=0))
        outcome = held[model.outcome]
        values = outcome.astype(np.float64) if self.outcome is None else self.outcome.values(outcome)
        event = np.ones(count, dtype=np.bool_)
        if model.kind == LOGISTIC:
            values = np.isin(outcome, self.codes).astype(np.float64)
        elif model.kind == COX:
            event = np.isin(held[model.event], self.codes)
        offset = np.zeros(count)
        if model.exposure:
            offset = self.offset(held[model.exposure])
        stratum = np.zeros(count, dtype=np.int64)
        for name in model.strata:
            stratum = stratum * (int(held[name].max(initial=0)) + 1) + held[name]
        numbers = np.arange(count) if persons is None else np.unique(persons, return_inverse=True)[1]
        return ModelRows(np.stack(columns, axis=1), values, event, offset, stratum, numbers)


def check_alike(model: Model, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
    """Check that both sides declare the columns of a model so that coefficients mean the same.

    Raises:
        UsageError: they do not; names the column.
    """
    bounded = {*model.covariates, *([model.outcome] if model.kind in (LINEAR, POISSON) else [])}
    for name in model.columns:
        first, second = alice[name], bob[name]
        parts = ["kind", "scale", "categories", "unit"]
        if name in bounded - set(model.ranges):
            parts += ["lower", "upper"]
        for part in parts:
            if getattr(first, part) != getattr(second, part):
                raise UsageError(
                    f"Model {model.name!r}: Alice and Bob declare {part} of {name!r} differently.",
                    "Declare the columns alike, or state the range of a number in the model.",
                )


def _factors(model: Model, name: str, schema: Schema, *, halves: bool = False) -> Sequence[Factor]:
    """A column of numbers, or the labels of a category but its first one."""
    if schema.kind == "category" and not halves:
        _check(len(schema.categories) > 1, model, name, "of two labels at least")
        return [
            Factor(name, label, code, Fraction(0), Fraction(1), 1)
            for code, label in enumerate(schema.categories)
            if code
        ]
    _check(schema.kind in _NUMBERS, model, name, "a number or a category")
    unit = 10**schema.scale
    if name in model.ranges:
        lower, upper = (end * unit for end in model.ranges[name])
    else:
        _check(
            schema.lower is not None and schema.upper is not None,
            model,
            name,
            "bounded: in the catalog, or by `range`",
        )
        lower, upper = Fraction(schema.lower or 0), Fraction(schema.upper or 0)
    _check(lower < upper, model, name, "of more than one value")
    if (lower, upper) == (0, unit) and not halves:  # a number that says yes or no counts as it is
        return [Factor(name, None, 0, Fraction(0), Fraction(unit), unit)]
    return [Factor(name, None, 0, (lower + upper) / 2, (upper - lower) / 2, unit)]


def _codes(model: Model, name: str, schema: Schema) -> tuple[int, ...]:
    """What the column holds where the outcome or event is there."""
    key = "events" if model.kind == COX else "label"
    if schema.kind == "category":
        known = bool(model.labels) and set(model.labels) < set(schema.categories)
        _check(known, model, name, f"of labels, of which `{key}` names some")
        return tuple(schema.categories.index(label) for label in model.labels)
    _check(
        schema.kind == "integer" and (schema.lower, schema.upper) == (0, 1) and not model.labels,
        model,
        name,
        f"an integer from 0 to 1, or a category with `{key}`",
    )
    return (1,)


def _check(holds: bool, model: Model, name: str, wanted: str) -> None:
    if not holds:
        raise UsageError(f"Model {model.name!r}: column {name!r} is not {wanted}.", "Use another column.")
