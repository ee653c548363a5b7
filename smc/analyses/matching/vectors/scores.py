"""Feature vectors as whole numbers, and the secret scores of all pairs: the lower, the more alike.

Of two points a and b the score is |a - b|**2 = |a|**2 + |b|**2 - 2 a b, of two directions it is -a b. The
inner products of all pairs are one matrix product, a tile of rows of both sides at a time. Of a tile one half
is multiplied with the bits of Alice's rows as choices, the other with those of Bob's, so that both work and
send alike.

Directions are vectors scaled to length 2**(precision - 1) - 1 by their owner and rounded, each coordinate to
the nearest integer; a row of zeros stays one. A cosine is off by no more than the rounding of d coordinates
makes it.

Reference: of the matrix product `smc.secret.repeated`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil, floor, isqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.matching.vectors.parameters import EUCLIDEAN, VectorParameters
from smc.analyses.records.fixed_point import DeclaredRange, FixedPointColumns, fixed_point_columns
from smc.analyses.studies.columns import Data, Schema
from smc.errors import DomainError
from smc.forms import Role
from smc.pieces import cut
from smc.protocols.session import Session
from smc.protocols.spec import Cost
from smc.secret import repeated
from smc.secret.bounds import Bounds
from smc.secret.repeated import Entries, RepeatedFactors

Word = NDArray[np.uint64]
Whole = NDArray[np.int64]

TILE_ROWS: Final = 1024
"""Most rows of either side in a tile."""


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


def tiles(count: int) -> Iterator[slice]:
    """Rows of one side, a tile at a time."""
    return cut(count, TILE_ROWS)


def scores(session: Session, measure: VectorMeasure, own: Whole, alice: int, bob: int) -> Word:
    """Shares of the scores of a tile.

    Args:
        session: this side of the run.
        measure: what is public.
        own: the local rows of the tile.
        alice: Alice's rows of the tile.
        bob: Bob's.

    Returns:
        Own shares modulo 2**width (bits above are arbitrary), shape (alice, bob).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    half, first = alice // 2, session.role is Role.ALICE
    entries = _entries(measure, alice, bob)
    positive = (own - measure.offset).astype(np.uint64)
    vectors = own.astype(np.uint64).T
    nothing = np.zeros((len(measure.bits), bob if first else alice - half), dtype=np.uint64)
    if first:
        factors = RepeatedFactors(session, positive[:half], *entries)
        upper, lower = factors.times(nothing, vectors[:, half:], measure.width)
        offsets = np.concatenate([np.zeros((half, 1), dtype=np.uint64), _sums(own[half:])[:, None]])
    else:
        factors = RepeatedFactors(session, positive, *entries[::-1])
        lower, upper = factors.times(nothing, vectors, measure.width)
        offsets = np.zeros((alice, bob), dtype=np.uint64)
        offsets[:half] = _sums(own)[None]
    inner = np.concatenate([upper, lower.T]).astype(np.uint64)
    inner += offsets * np.uint64(measure.offset % (1 << 64))
    if measure.columns is None:
        return np.negative(inner)
    squares: Word = (own * own).sum(axis=1).astype(np.uint64)
    result: Word = (squares[:, None] if first else squares[None]) - (inner << np.uint64(1))
    return result


def _sums(vectors: Whole) -> Word:
    result: Word = vectors.sum(axis=1).astype(np.uint64)
    return result


def _entries(measure: VectorMeasure, alice: int, bob: int) -> tuple[Entries, Entries]:
    """Alice's and Bob's rows that choose: the first half of hers, for the other half all of his."""
    return Entries(alice // 2, measure.bits), Entries(bob, measure.bits)


def cost_scores(measure: VectorMeasure, alice: int, bob: int) -> Cost:
    """The exact cost of `scores`: flights and bytes, without the set-up of oblivious transfer."""
    return repeated.cost(*_entries(measure, alice, bob), (bob, alice - alice // 2), measure.width, first=True)
