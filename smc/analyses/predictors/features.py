"""Features as both parties declare them: the whole numbers of rows that a model is evaluated on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from commons.settings.bounds import Between
from commons.settings.marks import Length, Read, UnfitError
from smc.analyses.records.numbers import NUMBER, number
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.parameters import Name
from smc.errors import DomainError, UsageError

Whole = NDArray[np.int64]

MAX_DIGITS: Final = 9
MAX_SPAN: Final = 1 << 24
"""Steps from the least to the greatest value of a number."""

MAX_LABELS: Final = 100


@dataclass(frozen=True, slots=True)
class ScoredFeature:
    """A column that a model looks at: a number with a range, or a category with labels.

    Attributes:
        name: of the column, and in the model.
        lower: of a number: values below it count as this.
        upper: values above it count as this.
        digits: after the point, of a number.
        labels: of a category.
    """

    name: Name
    lower: Annotated[Fraction, Read(number, NUMBER)] = Fraction(0)
    upper: Annotated[Fraction, Read(number, NUMBER)] = Fraction(0)
    digits: Annotated[int, Between(0, MAX_DIGITS)] = 0
    labels: Annotated[tuple[Name, ...], Length(maximum=MAX_LABELS)] = ()

    def __post_init__(self) -> None:
        if self.labels:
            if self.lower or self.upper or self.digits or len(self.labels) < 2:
                raise UnfitError(
                    "labels", "is of one label, or beside lower, upper or digits", "Write all labels alone."
                )
            return
        if self.lower >= self.upper:
            raise UnfitError("lower", "is not below upper", "Correct the range, or give labels.")
        if (self.lower * self.unit).denominator > 1 or (self.upper * self.unit).denominator > 1:
            raise UnfitError("digits", "is less than lower or upper have", "Write as many as the column has.")
        if self.span > MAX_SPAN:
            raise UnfitError(
                "upper",
                f"is more than {MAX_SPAN} steps above lower",
                "State a narrower range, or fewer digits.",
            )

    @property
    def unit(self) -> int:
        """Held units of one."""
        return int(10**self.digits)

    @property
    def least(self) -> int:
        """The lower end in held units."""
        return int(self.lower * self.unit)

    @property
    def span(self) -> int:
        """Steps from the lower end to the upper one; the last place of a label."""
        return len(self.labels) - 1 if self.labels else int((self.upper - self.lower) * self.unit)

    def check(self, schema: Schema) -> None:
        """Check a declaration of the column.

        Raises:
            UsageError: it is of another kind, or has more digits or other labels.
        """
        if self.labels:
            if schema.kind != "category" or not {*schema.categories} <= {*self.labels}:
                raise UsageError(
                    f"Column {self.name} is not a category of the labels of parameters.features.",
                    "Add the missing labels there, if the model knows them.",
                )
            return
        if schema.kind not in ("integer", "decimal"):
            raise UsageError(f"Column {self.name} is not a number.", "Declare it as integer or decimal.")
        if schema.scale > self.digits:
            raise UsageError(
                f"Column {self.name} has {schema.scale} digits after the point, and the job takes "
                f"{self.digits}.",
                f"Write digits = {schema.scale} for it in the job.",
            )


def held_rows(features: Sequence[ScoredFeature], data: Data) -> Whole:
    """Own rows: steps above the lower ends, or places of labels; shape (n, features).

    Raises:
        DomainError: the columns have different lengths.
    """
    if len({len(data[feature.name]) for feature in features}) > 1:
        raise DomainError("The columns have different lengths.", "Give every column one value per row.")
    return np.stack([_to_held(feature, data) for feature in features], axis=1)


def outside(features: Sequence[ScoredFeature], data: Data) -> int:
    """How many own rows have a value that a range cuts off."""
    cut = np.zeros(len(data[features[0].name]), dtype=bool)
    for feature in features:
        if not feature.labels:
            steps = _steps(feature, data)
            cut |= (steps < 0) | (steps > feature.span)
    return int(cut.sum())


def _to_held(feature: ScoredFeature, data: Data) -> Whole:
    if not feature.labels:
        return np.clip(_steps(feature, data), 0, feature.span)
    places = np.array([feature.labels.index(label) for label in data[feature.name].schema.categories])
    found: Whole = places[data[feature.name].array]
    return found


def _steps(feature: ScoredFeature, data: Data) -> Whole:
    column = data[feature.name]
    more = 10 ** (feature.digits - column.schema.scale)
    # A value that is far out stays far out, and does not wrap.
    limit = np.iinfo(np.int64).max // (2 * more)
    found: Whole = np.clip(column.array, -limit, limit) * more - feature.least
    return found
