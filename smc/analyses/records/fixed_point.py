"""From declared columns to the whole numbers that distances are computed of, and back.

A value x of a column with bounds l and u becomes q = round((x - l) f), from 0 to 2**precision - 1 at most,
with a factor f that is public: of its own for each column (scaling by range), or one for all of them (none).
Centres have `fraction` binary digits more. With whole numbers both parties and the reference get the same
clusters, to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from smc.analyses.studies.columns import Data, Schema
from smc.errors import DomainError, UsageError
from smc.numeric.shapes import of_shape, shape_array
from smc.secret.sharing.bounds import Bounds

WIDEST_RANGE: Final = 1 << 39
MAX_SCALE: Final = 18

_FRACTIONS: Final = (8, 7, 6, 5, 4, 3)
_WIDE_FRACTION: Final = 6
_NARROW_BITS: Final = 32


class Scaling(Enum):
    """What distances are measured in."""

    RANGE = "range"
    """Each column in parts of its declared range."""
    NONE = "none"
    """All columns in their real units."""


Whole = TypeVar("Whole", int, NDArray[np.int64])


@dataclass(frozen=True, slots=True)
class DeclaredRange:
    """What is public of a numeric column.

    Attributes:
        scale: decimal digits after the point.
        lower: least value, in held units.
        upper: greatest value.
    """

    scale: int
    lower: int
    upper: int

    @classmethod
    def of(cls, name: str, schema: Schema) -> DeclaredRange:
        """From a schema.

        Raises:
            UsageError: the column is not numeric, or lacks bounds.
            DomainError: the bounds are too wide.
        """
        if schema.kind not in ("integer", "decimal"):
            raise UsageError(
                f"Column {name!r} is declared {schema.kind}; distances need numbers.",
                "Name an integer or decimal column.",
            )
        if schema.lower is None or schema.upper is None:
            raise UsageError(
                f"Column {name!r} has no declared bounds.", "Declare lower and upper in the catalog."
            )
        declared = cls(schema.scale, schema.lower, schema.upper)
        if not declared.plausible:
            raise DomainError(
                f"The bounds of column {name!r} are too wide.", "Declare narrower bounds in the catalog."
            )
        return declared

    @property
    def units(self) -> int:
        """Held units that make 1 in the real unit."""
        return int(10**self.scale)

    @property
    def range(self) -> int:
        """The distance of the bounds."""
        return self.upper - self.lower

    @property
    def plausible(self) -> bool:
        """Whether it can be computed with."""
        return (
            0 <= self.scale <= MAX_SCALE
            and 0 <= self.range < WIDEST_RANGE
            and max(abs(self.lower), abs(self.upper)) < WIDEST_RANGE
        )


@dataclass(frozen=True, slots=True)
class FixedPointColumn:
    """A column as it is computed with.

    Attributes:
        name: of the column.
        declared: its bounds.
        factor: of the whole numbers per held unit.
        parts: cells that a value is the sum of, 1 or 2.
    """

    name: str
    declared: DeclaredRange
    factor: Fraction
    parts: int

    @property
    def part(self) -> int:
        """The largest whole number of a cell."""
        return _rounded(self.declared.range, self.factor)

    @property
    def nought(self) -> int:
        """The whole number of a cell that stands for 0, or for the bound that is next to 0."""
        return min(self.part, _rounded(max(0, -self.declared.lower), self.factor))

    @property
    def largest(self) -> int:
        """The largest whole number of a value."""
        return self.parts * self.part

    @of_shape(lambda self, values: shape_array(len(values), np.uint64))
    def whole(self, values: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The whole numbers of cells.

        Raises:
            DomainError: a value lies outside its declared bounds.
        """
        if len(values) and not (self.declared.lower <= values.min() and values.max() <= self.declared.upper):
            raise DomainError(
                f"A value of column {self.name!r} lies outside its declared bounds.",
                "Widen the bounds in the catalog, or correct the data.",
            )
        return _rounded(values - self.declared.lower, self.factor).astype(np.uint64)

    def real(self, value: Fraction) -> Fraction:
        """The value in the column's real unit of a number of whole ones."""
        held = value / self.factor
        return (held + self.parts * self.declared.lower) / self.declared.units

    def position(self, real: Fraction) -> Fraction:
        """The inverse of `real`."""
        return (real * self.declared.units - self.parts * self.declared.lower) * self.factor


def _rounded(values: Whole, factor: Fraction) -> Whole:
    """Values * factor, rounded to the nearest integer, halves up."""
    return (2 * factor.numerator * values + factor.denominator) // (2 * factor.denominator)


@dataclass(frozen=True, slots=True)
class FixedPointColumns:
    """All columns as they are computed with.

    Attributes:
        columns: the columns.
        unit: whole numbers that make a distance of 1: in parts of a range, or in real units.
    """

    columns: tuple[FixedPointColumn, ...]
    unit: Fraction

    @property
    def dimensions(self) -> int:
        """How many columns."""
        return len(self.columns)

    @property
    def largest(self) -> NDArray[np.int64]:
        """The largest whole number of each column."""
        return np.array([column.largest for column in self.columns], dtype=np.int64)

    @property
    def diagonal(self) -> int:
        """The largest square of a distance."""
        return sum(column.largest**2 for column in self.columns)

    @property
    def fraction(self) -> int:
        """Binary digits of a centre after the point: as many as leave distances in 32 bits, or 6.

        With the most columns and the highest precision distances take 58 bits.
        """
        for fraction in _FRACTIONS:
            if self._reach(fraction).bit_length() < _NARROW_BITS:
                return fraction
        return _WIDE_FRACTION

    @property
    def differences(self) -> Bounds:
        """Bounds of the difference of two half squares of distances, in units of 2**-fraction."""
        reach = self._reach(self.fraction)
        return Bounds(-reach, reach)

    @property
    def width(self) -> int:
        """Bits of the words in which these are computed."""
        return self.differences.sign_bits + 1

    def _reach(self, fraction: int) -> int:
        return (self.diagonal << fraction) // 2 + 2

    def whole(self, data: Data, names: Sequence[str]) -> NDArray[np.uint64]:
        """The whole numbers of the local cells, shape (n, m).

        Raises:
            DomainError: a value lies outside its bounds, or the columns have different lengths.
        """
        if len({len(data[name]) for name in names}) != 1:
            raise DomainError(
                "The columns of this side have different lengths.", "Give every column one value per row."
            )
        columns = {column.name: column for column in self.columns}
        return np.stack([columns[name].whole(data[name].array) for name in names], axis=1)

    def check_stated(self, centres: Sequence[Sequence[Fraction]], names: Sequence[str]) -> None:
        """Check that stated centres lie within the bounds of these columns.

        Raises:
            DomainError: one does not.
        """
        for centre in centres:
            for column, value in zip(self.columns, centre, strict=True):
                if column.name in names and not 0 <= column.position(value) <= column.largest:
                    raise DomainError(
                        f"A given centre lies outside the declared bounds of column {column.name!r}.",
                        "Choose a centre inside them.",
                    )

    def stated(self, centres: Sequence[Sequence[Fraction]]) -> NDArray[np.int64]:
        """Stated centres in units of 2**-fraction, shape (k, d).

        Raises:
            UsageError: one lies outside the bounds.
        """
        self.check_stated(centres, [column.name for column in self.columns])
        held = [
            [column.position(value) for column, value in zip(self.columns, c, strict=True)] for c in centres
        ]
        return np.array([[round(value * 2**self.fraction) for value in c] for c in held], dtype=np.int64)

    def real(self, centre: Sequence[int]) -> list[float]:
        """A centre in real units, from units of 2**-fraction."""
        return [
            float(column.real(Fraction(int(value), 1 << self.fraction)))
            for column, value in zip(self.columns, centre, strict=True)
        ]


def fixed_point_columns(
    declared: Mapping[str, DeclaredRange], precision: int, scaling: Scaling, parts: int = 1
) -> FixedPointColumns:
    """Columns as they are computed with, by one precision.

    Args:
        declared: the columns, in their order.
        precision: bits of a cell of the widest column.
        scaling: what distances are measured in.
        parts: cells that a value is the sum of.

    Raises:
        UsageError: a column is constant and is to be scaled by its range.
        DomainError: a range is too wide to be computed with, or too narrow beside the widest one.
    """
    most = (1 << precision) - 1
    columns = list(declared.items())
    if scaling is Scaling.RANGE:
        constant = [name for name, column in columns if not column.range]
        if constant:
            raise UsageError(
                f"Column {constant[0]!r} is declared to have one value only; it has no range to scale by.",
                "Leave the column out of the job.",
            )
        factors = [Fraction(most, column.range) for _, column in columns]
        unit = Fraction(most)
    else:
        digits = max(column.scale for _, column in columns)
        fine = [10 ** (digits - column.scale) for _, column in columns]
        widest = max(1, *(column.range * units for (_, column), units in zip(columns, fine, strict=True)))
        common = Fraction(most // widest) if widest <= most else Fraction(most, widest)
        factors = [units * common for units in fine]
        unit = common * 10**digits
    for (name, column), factor in zip(columns, factors, strict=True):
        if 2 * factor.numerator * column.range + factor.denominator >= 1 << 62:
            raise DomainError(
                f"The bounds of column {name!r} are too wide.", "Declare narrower bounds in the catalog."
            )
    fixed = tuple(
        FixedPointColumn(name, column, factor, parts)
        for (name, column), factor in zip(columns, factors, strict=True)
    )
    vanished = [column.name for column in fixed if column.declared.range and not column.part]
    if vanished:
        raise DomainError(
            f"The range of column {vanished[0]!r} is too narrow beside the widest one: "
            "all its values would become equal.",
            "Raise the precision, scale by range, or choose other units.",
        )
    return FixedPointColumns(fixed, unit)
