"""Columns that are derived from two numbers of a row: their difference, their ratio, the body mass index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from commons.settings.bounds import Between, OneOf
from commons.settings.marks import Read, UnfitError, Unread
from smc.analyses.derived.stated import MAX_BOUND, Ends, narrow
from smc.analyses.records.numbers import number
from smc.analyses.studies.columns import Schema
from smc.errors import UsageError

Ints = NDArray[np.int64]

DIFFERENCE: Final = "difference"
RATIO: Final = "ratio"
BODY_MASS_INDEX: Final = "body-mass-index"
COMPUTED: Final = (DIFFERENCE, RATIO, BODY_MASS_INDEX)
MAX_DECIMALS: Final = 9
DECIMALS: Final = 2
"""Of a ratio or body mass index whose table states none."""

_KILOGRAM: Final = "kg"
_METRES: Final = {"m": 1, "cm": 100}
"""Units of heights, and how many are a metre."""
_LARGEST: Final = 1 << 61


def _parse_numbers(value: Any, place: str) -> tuple[str, str]:
    if (
        not isinstance(value, Sequence)
        or isinstance(value, str)
        or len(value) != 2
        or not all(isinstance(each, str) and each for each in value)
        or value[0] == value[1]
    ):
        raise UsageError(f"{place} does not name two different columns.", 'Write ["...", "..."].')
    return value[0], value[1]


def _parse_bound(value: Any, place: str) -> Fraction:
    return number(value, place)


_NUMBERS: Final = Read(
    _parse_numbers, {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}
)
_BOUND: Final = Read(_parse_bound, {"type": ["string", "integer"]})


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """A number from two numbers of the same row.

    A ratio is rounded to the nearest of its decimals, halves upwards. The second number of a ratio and the
    height of a body mass index are declared to be positive.

    Attributes:
        name: of the derived column.
        numbers: two columns of numbers.
        compute: one of `COMPUTED`: the first minus the second; the first divided by the second; or the first,
            in kg, divided by the square of the second, in m or cm.
        decimals: of the result; None for those of the columns, or `DECIMALS` of a quotient.
        lower: what is less counts as this, in real units; None to take what follows from the columns.
        upper: what is more counts as this; likewise.

    Raises:
        UnfitError: a difference states decimals.
    """

    name: Annotated[str, Unread()]
    numbers: Annotated[tuple[str, str], _NUMBERS]
    compute: Annotated[str, OneOf(COMPUTED)]
    decimals: Annotated[int | None, Between(0, MAX_DECIMALS)] = None
    lower: Annotated[Fraction | None, _BOUND] = None
    upper: Annotated[Fraction | None, _BOUND] = None

    def __post_init__(self) -> None:
        if self.compute == DIFFERENCE and self.decimals is not None:
            raise UnfitError(
                "decimals", "is not for a difference, which has those of its columns", "Leave it out."
            )

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that it is derived from."""
        return self.numbers

    @override
    def __str__(self) -> str:
        one, two = self.numbers
        words = {
            DIFFERENCE: f"{one} - {two}",
            RATIO: f"{one} / {two}, to {self._quotient_decimals} decimals",
            BODY_MASS_INDEX: f"body mass index of {one} and {two}, to {self._quotient_decimals} decimals",
        }
        low, high = ("" if bound is None else str(float(bound)) for bound in (self.lower, self.upper))
        return f"{self.name} = {words[self.compute]}" + (f", clamped to {low}..{high}" if low or high else "")

    def schema(self, schemas: Mapping[str, Schema], *, exact: bool) -> Schema:
        """Its declaration.

        Args:
            schemas: of its sources, which have bounds.
            exact: whether figures are released without noise.

        Raises:
            UsageError: a source is not a number, or has no bounds; units do not fit; the divisor may be 0;
                or bounds do not fit.
        """
        one, two = (self._source(name, schemas) for name in self.numbers)
        formula = self._formula(one, two)
        stated = self._held_bounds(formula.scale)
        lower, upper = narrow(self.name, formula.bounds(one, two), stated, exact=exact)
        kind = "decimal" if formula.scale else "integer"
        return Schema(kind, formula.scale, lower, upper, unit=self._unit(one, two))

    def values(self, columns: Mapping[str, Ints], schemas: Mapping[str, Schema]) -> Ints:
        """The number of each row. A row whose cells are missing may hold anything and gives some number."""
        one, two = (schemas[name] for name in self.numbers)
        formula = self._formula(one, two)
        first, second = (
            np.clip(columns[name], schema.lower, schema.upper)
            for name, schema in zip(self.numbers, (one, two), strict=True)
        )
        found = formula.of(first, second)
        lower, upper = self._held_bounds(formula.scale)
        return found if (lower, upper) == (None, None) else np.clip(found, lower, upper)

    @property
    def _place(self) -> str:
        return f"derived.{self.name}"

    @property
    def _quotient_decimals(self) -> int:
        return DECIMALS if self.decimals is None else self.decimals

    def _source(self, name: str, schemas: Mapping[str, Schema]) -> Schema:
        schema = schemas[name]
        if schema.kind not in ("integer", "decimal") or schema.is_date:
            raise UsageError(
                f"{self._place}: column {name!r} does not hold numbers.",
                "Name a column that the catalog declares as integer or decimal; for dates write from and to.",
            )
        if schema.lower is None or schema.upper is None:
            raise UsageError(
                f"{self._place}: column {name!r} has no bounds, so that the result would have none.",
                "Declare lower and upper of the column in the catalog.",
            )
        return schema

    def _formula(self, one: Schema, two: Schema) -> _Formula:
        if self.compute == DIFFERENCE:
            scale = max(one.scale, two.scale)
            found = _Formula(scale, 10 ** (scale - one.scale), 10 ** (scale - two.scale), power=0)
        else:
            if two.lower is None or two.lower <= 0:
                raise UsageError(
                    f"{self._place}: column {self.numbers[1]!r} may be 0 or less by its declared bounds, and "
                    "the first column is divided by it.",
                    "Declare a lower bound above 0 in the catalog.",
                )
            power, per_metre = 1, 1
            if self.compute == BODY_MASS_INDEX:
                power, per_metre = 2, self._per_metre(one, two)
            scale = self._quotient_decimals
            above = 10 ** (scale + power * two.scale) * per_metre**power
            common = Fraction(above, 10**one.scale)
            found = _Formula(scale, common.numerator, common.denominator, power)
        if found.largest(one, two) >= _LARGEST:
            raise UsageError(
                f"{self._place}: numbers on the way could exceed 61 bits.",
                "Ask for fewer decimals, or declare narrower bounds in the catalog.",
            )
        return found

    def _per_metre(self, weight: Schema, height: Schema) -> int:
        if weight.unit != _KILOGRAM or height.unit not in _METRES:
            raise UsageError(
                f"{self._place}: a body mass index is of a weight in kg and a height in m or cm; the columns "
                f"are declared in {weight.unit or 'no unit'!r} and {height.unit or 'no unit'!r}.",
                'Declare unit = "kg" and unit = "cm" in the catalog.',
            )
        return _METRES[height.unit]

    def _unit(self, one: Schema, two: Schema) -> str:
        if self.compute == BODY_MASS_INDEX:
            return "kg/m^2"
        if self.compute == RATIO:
            return "" if one.unit == two.unit else f"{one.unit or '1'}/{two.unit or '1'}"
        if one.unit != two.unit:
            raise UsageError(
                f"{self._place}: the columns are declared in different units, {one.unit or 'none'!r} and "
                f"{two.unit or 'none'!r}.",
                "Name columns of the same unit, or ask for their ratio.",
            )
        return one.unit

    def _held_bounds(self, scale: int) -> Ends:
        found = []
        for key, bound in (("lower", self.lower), ("upper", self.upper)):
            held = None if bound is None else bound * 10**scale
            if held is not None and (held.denominator != 1 or abs(held) > MAX_BOUND):
                raise UsageError(
                    f"{self._place}.{key} has more than {scale} decimals, or is too large.",
                    "Round it, or ask for more decimals.",
                )
            found.append(None if held is None else int(held))
        return found[0], found[1]


@dataclass(frozen=True, slots=True)
class _Formula:
    """How held values of two columns make one of the result.

    Attributes:
        scale: decimals of the result.
        first: what the first value is multiplied by.
        second: what the second value, or its power, is multiplied by.
        power: 0 to subtract the second value, 1 to divide by it, 2 to divide by its square.
    """

    scale: int
    first: int
    second: int
    power: int

    def of(self, one: Ints, two: Ints) -> Ints:
        """The result; of quotients rounded, halves upwards."""
        above = one * self.first
        if not self.power:
            return above - two * self.second
        below = two**self.power * self.second
        return (2 * above + below) // (2 * below)

    def bounds(self, one: Schema, two: Schema) -> tuple[int, int]:
        """Of the result: it is monotone in either value, and so is rounding."""
        corners = product((one.lower, one.upper), (two.lower, two.upper))
        found = [int(self.of(np.array([a]), np.array([b]))[0]) for a, b in corners]
        return min(found), max(found)

    def largest(self, one: Schema, two: Schema) -> int:
        """A bound on what is computed with."""
        first, second = (max(abs(schema.lower or 0), abs(schema.upper or 0)) for schema in (one, two))
        power = second**2 if self.power == 2 else second
        return 2 * (first * self.first + power * self.second)
