"""Feature vectors as whole numbers, and the secret scores of all pairs: the lower, the more alike.

Of two points a and b the score is |a - b|**2 = |a|**2 + |b|**2 - 2 a b, of two directions it is -a b: what is
secret of both is an inner product (`smc.analyses.matching.vectors.inner_products`).

Directions are vectors scaled to length 2**(precision - 1) - 1 by their owner and rounded, each coordinate to
the nearest integer; a row of zeros stays one. A cosine is off by no more than the rounding of d coordinates
makes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, floor, isqrt

import numpy as np
from numpy.typing import NDArray

from smc.analyses.matching.vectors.parameters import EUCLIDEAN, VectorParameters
from smc.analyses.records.fixed_point import DeclaredRange, FixedPointColumns, fixed_point_columns
from smc.analyses.studies.columns import Data, Schema
from smc.errors import DomainError
from smc.forms import Role
from smc.secret.sharing.bounds import Bounds

Word = NDArray[np.uint64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class VectorMeasure:
    """What is public of vectors and their scores.

    Attributes:
        parameters: of the job.
        bits: of a coordinate, counted from `offset`.
        offset: the least coordinate; coordinates less the offset are what chooses.
        scores: bounds of the scores.
        limit: the largest score of a match; None where the nearest are asked for.
        columns: of distances, how values become whole numbers.
    """

    parameters: VectorParameters
    bits: tuple[int, ...]
    offset: int
    scores: Bounds
    limit: int | None
    columns: FixedPointColumns | None = field(default=None, repr=False)

    @classmethod
    def of(cls, parameters: VectorParameters, schemas: Mapping[str, Schema]) -> VectorMeasure:
        """The measure of a job.

        Raises:
            UsageError: a column is not a number with bounds, or is constant.
            DomainError: its bounds are too wide or too narrow.
        """
        declared = {name: DeclaredRange.of(name, schemas[name]) for name in parameters.columns}
        dimensions, threshold = len(declared), parameters.threshold
        if parameters.similarity == EUCLIDEAN:
            columns = fixed_point_columns(declared, parameters.precision, parameters.scaling)
            bits = tuple(axis.largest.bit_length() for axis in columns.columns)
            limit = None if threshold is None else floor((threshold * columns.unit) ** 2)
            return cls(parameters, bits, 0, Bounds(0, columns.diagonal), limit, columns)
        length = _length(parameters)
        longest = length + isqrt(dimensions) // 2 + 1
        limit = None if threshold is None else -ceil(threshold * length * length)
        scores = Bounds(-(longest**2), longest**2)
        return cls(parameters, (parameters.precision,) * dimensions, -length, scores, limit)

    @property
    def differences(self) -> Bounds:
        """What is compared with zero: scores and the limit, or two scores of which one may be set aside."""
        if self.limit is not None:
            return Bounds(self.limit, self.limit) - self.scores
        reach = self.scores.upper - self.scores.lower + self.aside
        return Bounds(-reach, reach)

    @property
    def aside(self) -> int:
        """What is added to a score that has been chosen, so that it is not chosen again."""
        again = self.parameters.nearest > 1
        return self.scores.upper - self.scores.lower + 1 if again else 0

    @property
    def width(self) -> int:
        """Bits of the words of scores."""
        return self.differences.sign_bits + 1

    @property
    def middles(self) -> tuple[int, ...]:
        """The middle of the range of each coordinate."""
        if self.columns is None:
            return (0,) * len(self.bits)
        return tuple(axis.largest // 2 for axis in self.columns.columns)

    @property
    def largest(self) -> int:
        """The largest distance of a coordinate from its middle."""
        if self.columns is None:
            return _length(self.parameters)
        return max(axis.largest - axis.largest // 2 for axis in self.columns.columns)

    def whole(self, data: Data) -> Whole:
        """Own vectors as whole numbers, shape (n, d).

        Raises:
            DomainError: a value lies outside its bounds, or the columns have different lengths.
        """
        names = self.parameters.columns
        if self.columns is not None:
            return self.columns.whole(data, names).astype(np.int64)
        if len({len(data[name]) for name in names}) != 1:
            raise DomainError(
                "The columns of this side have different lengths.", "Give every column one value per row."
            )
        real = np.stack([data[name].array / 10.0 ** data[name].schema.scale for name in names], axis=1)
        lengths = np.sqrt((real * real).sum(axis=1, keepdims=True))
        directions = real / np.where(lengths > 0, lengths, 1.0)
        rounded: Whole = np.rint(directions * _length(self.parameters)).astype(np.int64)
        return rounded

    def plain(self, alice: Whole, bob: Whole) -> Whole:
        """Scores of all pairs in the clear, shape (n, m)."""
        inner: Whole = alice @ bob.T
        if self.columns is None:
            return -inner
        squares = ((alice * alice).sum(axis=1)[:, None], (bob * bob).sum(axis=1)[None])
        result: Whole = squares[0] + squares[1] - 2 * inner
        return result


def _length(parameters: VectorParameters) -> int:
    return (1 << (parameters.precision - 1)) - 1


def scores(measure: VectorMeasure, role: Role, own: Whole, inner: Word) -> Word:
    """Shares of scores from shares of inner products.

    Args:
        measure: what is public.
        role: of this side.
        own: the local rows: of Alice those of the strip, of Bob all.
        inner: shares modulo 2**width, shape (a, b).

    Returns:
        Local shares modulo 2**width (bits above are arbitrary), shape (a, b).
    """
    if measure.columns is None:
        return np.negative(inner)
    squares: Word = (own * own).sum(axis=1).astype(np.uint64)
    result: Word = (squares[:, None] if role is Role.ALICE else squares[None]) - (inner << np.uint64(1))
    return result
