"""What is public of a model that rows are scored by, and what its scores are.

Scores are whole numbers of 2**-scale. Of two classes there is one column: the log-odds or the chance of the
second, or, where only labels are asked for, what is positive for the second class. More classes have a column
each, of which the first largest decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.predictors.features import ScoredFeature
from smc.analyses.predictors.form import Link, Predictor
from smc.errors import DomainError, UsageError

Word = NDArray[np.uint64]
Whole = NDArray[np.int64]

ERROR_BITS: Final = 20
"""Rounding moves no score by more than 2**-20."""

SLACK: Final = Fraction(1, 1 << ERROR_BITS)
"""By how much a score may exceed the bound: chances of many trees add up to a little more than 1."""

MAX_WIDTH: Final = 57


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreShape:
    """What is public of a model, whatever kind it is of.

    Attributes:
        features: what it looks at.
        classes: what it tells apart, two or more; none for a number.
        link: what its outputs are.
        labels: whether nothing but labels is asked for.
        largest: bound of scores in absolute value.
    """

    features: tuple[ScoredFeature, ...]
    classes: tuple[str, ...]
    link: Link
    labels: bool
    largest: int

    @property
    def columns(self) -> int:
        """Of scores."""
        return len(self.classes) if len(self.classes) > 2 else 1

    @property
    def is_chance(self) -> bool:
        """Whether scores of two classes are chances, rather than log-odds."""
        return len(self.classes) == 2 and self.link is Link.IDENTITY and not self.labels

    def reach(self, scale: int) -> int:
        """The largest score as a whole number, with what rounding adds."""
        return (self.largest << scale) + (2 << max(0, scale - ERROR_BITS))

    def width(self, scale: int) -> int:
        """Bits of words that hold the difference of any two scores, with its sign.

        Raises:
            UsageError: there are too many.
        """
        found = (2 * self.reach(scale) + 1).bit_length() + 1
        if found > MAX_WIDTH:
            raise UsageError(
                f"The scores would need {found} bits, and {MAX_WIDTH} can be had.",
                "Lower largest, state narrower ranges of the features, or leave out squares.",
            )
        return found

    def places(self, model: Predictor) -> list[int]:
        """Where the features of a model stand among the declared ones.

        Raises:
            DomainError: the model is of other features or classes, or of another link.
        """
        names = [feature.name for feature in self.features]
        if {*names} != {*model.features}:
            (first, *_) = sorted({*names} ^ {*model.features})
            raise DomainError(
                f"The model and parameters.features do not fit: {first!r} is in one of them only.",
                "Name the features of the model in the job, or import the model with other names.",
            )
        if self.classes != model.classes or self.link is not model.link:
            raise DomainError(
                f"The model has the classes {list(model.classes)} and the link {model.link.value}, and the "
                f"job says {list(self.classes)} and {self.link.value}.",
                "Write into the job what `duetto model import` prints.",
            )
        return [names.index(name) for name in model.features]

    def combination(self, outputs: int) -> tuple[list[list[int]], Fraction]:
        """How scores come of so many outputs: a row of factors for each column, and what is added."""
        if self.columns > 1:
            return [[int(a == b) for b in range(outputs)] for a in range(outputs)], Fraction(0)
        if outputs == 2:
            return [[0, 1] if self.is_chance else [-1, 1]], Fraction(0)
        half = self.labels and bool(self.classes) and self.link is Link.IDENTITY
        return [[1]], -Fraction(1, 2) if half else Fraction(0)


def combine(factors: Sequence[Sequence[int]], values: Sequence[float]) -> list[Fraction]:
    """Exact sums of values by factors."""
    exact = [Fraction(value) for value in values]
    return [
        sum((factor * value for factor, value in zip(row, exact, strict=True) if factor), Fraction(0))
        for row in factors
    ]


def too_large(largest: int) -> DomainError:
    """That a score could exceed the bound."""
    return DomainError(
        f"A score of the model could exceed {largest}, parameters.largest.",
        "Raise largest, or state narrower ranges of the features.",
    )
