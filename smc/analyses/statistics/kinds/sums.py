"""Counts, and sums of values that are clamped to bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from typing_extensions import override

from smc.analyses.records.real_units import real
from smc.analyses.statistics.kinds.statistic import MISS, Part, Result, Statistic
from smc.analyses.statistics.queries.rows import Ints, LocalRows
from smc.numeric.random import Randomness
from smc.secret.noise.distribution import Distribution


class Count(Statistic):
    """The number of rows of both sides; one row changes it by 1."""

    __slots__ = ()

    @property
    @override
    def parts(self) -> tuple[Part, ...]:
        """One entry."""
        return (Part(1, 1, Fraction(1)),)

    @property
    @override
    def counts(self) -> tuple[int, ...]:
        """Itself."""
        return (0,)

    @property
    @override
    def unit(self) -> str:
        """Rows."""
        return "rows"

    @override
    def local(self, rows: LocalRows) -> Ints:
        """The local row count."""
        return np.array([rows.count])

    @override
    def result(
        self, entries: Sequence[int], distributions: Sequence[Distribution], random: Randomness
    ) -> Result:
        """The count."""
        width = distributions[0].half_width(MISS) if distributions else 0
        return Result(entries[0], entries[0] - width, entries[0] + width)


@dataclass(frozen=True, slots=True)
class Clamp:
    """The bounds that a column's values are clamped to.

    Attributes:
        lower: in held units.
        upper: in held units, above `lower`.
        scale: of the column.
    """

    lower: int
    upper: int
    scale: int

    @classmethod
    def of_weights(cls, upper: int, scale: int) -> Clamp:
        """Of weights from 0 to a bound, which are counted from 0."""
        return cls(-upper, upper, scale)

    @property
    def centre(self) -> int:
        """The point that values are counted from, in held units."""
        return (self.lower + self.upper) // 2

    @property
    def half(self) -> int:
        """The most by which a value differs from the centre."""
        return self.upper - self.centre

    @property
    def unit(self) -> int:
        """Held units in a real one."""
        return int(10**self.scale)


@dataclass(frozen=True, slots=True)
class Clamped(Statistic):
    """A statistic of columns whose values are clamped.

    Attributes:
        clamps: of the query's columns.
    """

    clamps: tuple[Clamp, ...]


class ClampedSum(Clamped):
    """The sum of a column, every value clamped to [lower, upper]."""

    __slots__ = ()

    @property
    @override
    def parts(self) -> tuple[Part, ...]:
        """One entry; as sensitive as the larger of |lower| and |upper|."""
        return (Part(1, max(abs(self.clamps[0].lower), abs(self.clamps[0].upper)), Fraction(1)),)

    @property
    @override
    def divisor(self) -> int:
        """Of the column."""
        return self.clamps[0].unit

    @override
    def local(self, rows: LocalRows) -> Ints:
        """The local clamped sum."""
        clamp = self.clamps[0]
        return np.array([np.clip(rows.columns[self.query.columns[0]], clamp.lower, clamp.upper).sum()])

    @override
    def result(
        self, entries: Sequence[int], distributions: Sequence[Distribution], random: Randomness
    ) -> Result:
        """The sum, exact in the column's decimals."""
        width = distributions[0].half_width(MISS) if distributions else 0
        ends = (entries[0], entries[0] - width, entries[0] + width)
        value, lower, upper = (real(end, self.clamps[0].scale) for end in ends)
        return Result(value, lower, upper)
