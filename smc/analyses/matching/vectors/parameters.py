"""The `[parameters]` of a matching of feature vectors, checked and frozen."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Final

from commons.settings.bounds import Between, OneOf
from commons.settings.marks import Given, Length, Read, UnfitError
from smc.analyses.records.fixed_point import Scaling
from smc.analyses.records.numbers import NUMBER, number
from smc.analyses.studies.parameters import Name
from smc.errors import UsageError

EUCLIDEAN: Final = "euclidean"
COSINE: Final = "cosine"
MAX_COLUMNS: Final = 4096
MAX_NEAREST: Final = 100
PRECISIONS: Final = (4, 16)


@dataclass(frozen=True, slots=True)
class VectorParameters:
    """Parsed parameters.

    Attributes:
        columns: the features, under the same names on both sides.
        similarity: `EUCLIDEAN` or `COSINE`.
        threshold: the largest distance or the least cosine of a match; None where the nearest are asked for.
        nearest: how many of Bob's rows each of Alice's is matched with; 0 where a threshold is stated.
        precision: bits of a feature.
        scaling: what distances are measured in.
    """

    columns: Annotated[tuple[Name, ...], Length(1, MAX_COLUMNS)]
    similarity: Annotated[str, OneOf((EUCLIDEAN, COSINE))] = EUCLIDEAN
    threshold: Annotated[Fraction | None, Read(number, NUMBER)] = None
    nearest: Annotated[int, Between(1, MAX_NEAREST)] = 0
    precision: Annotated[int, Between(*PRECISIONS)] = 8
    scaling: Scaling = Scaling.NONE
    has_scaling: Annotated[bool, Given("scaling")] = False

    def __post_init__(self) -> None:
        if (self.threshold is None) is (self.nearest == 0):
            raise UsageError("parameters needs either threshold or nearest.", "Give exactly one of them.")
        if self.has_scaling and self.similarity == COSINE:
            raise UnfitError(
                "scaling",
                "is only for Euclidean distances",
                "Leave it out: vectors are scaled to length 1.",
            )
        if self.threshold is None:
            return
        if self.similarity == COSINE and not -1 <= self.threshold <= 1:
            raise UnfitError("threshold", "is not a valid cosine", "Write a number from -1 to 1.")
        if self.similarity == EUCLIDEAN and self.threshold < 0:
            raise UnfitError("threshold", "is a negative distance", "Write a number of at least 0.")
