"""Numbers, dates and intervals as people read them."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from fractions import Fraction
from math import floor, isfinite, log10
from typing import Any, Final

PLUS_MINUS: Final = "±"
ASCII_PLUS_MINUS: Final = "+-"

Number = int | float | Fraction

_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,400}(\.[0-9]{1,400})?|[+-]?[0-9]{1,400}/[0-9]{1,400}")
_FIRST: Final = dt.date(1970, 1, 1)
_WHOLE: Final = 10**15
"""Floats from here on are not exact in their last digits, and get an exponent."""

_MAX_DIGITS: Final = 12
_EVEN: Final = Fraction(1, 10)
"""Ends whose middle lies within this part of their half width from the value are written as `±`, with the
larger of both distances."""


def number(cell: Any) -> Number | None:
    """A cell as a number: an integer, a float, or a text such as `12.50` or `2/7`; None if it is none."""
    if isinstance(cell, bool):
        return None
    if isinstance(cell, int | float):
        return cell
    if isinstance(cell, str) and _NUMBER.fullmatch(cell):
        try:
            return Fraction(cell)
        except ZeroDivisionError:
            return None
    return None


def number_text(cell: Any) -> str:
    """A number with six digits, but no digit before the point left out; a text as it stands."""
    if not isinstance(cell, float):
        return str(cell)
    if 1e6 <= abs(cell) < _WHOLE:
        return f"{cell:.0f}"
    return f"{cell:.6g}"


def date_text(days: Number) -> str:
    """The date so many days after 1970-01-01, rounded; the number where there is no such date."""
    try:
        return (_FIRST + dt.timedelta(days=round(days))).isoformat()
    except (OverflowError, ValueError):
        return number_text(float(days))


@dataclass(frozen=True, slots=True)
class Estimated:
    """A figure with the ends of its 95 % interval.

    Attributes:
        value: the figure; None where there is none.
        lower: end of the interval; None where there is none.
        upper: the same.
        is_date: whether all three are days since 1970-01-01.
    """

    value: Number | None
    lower: Number | None
    upper: Number | None
    is_date: bool = False

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval; None where there is none, or it is of no width."""
        if self.lower is None or self.upper is None or self.upper <= self.lower:
            return None
        return float(Fraction(self.upper) - Fraction(self.lower)) / 2

    def text(self, plus_minus: str = PLUS_MINUS) -> str:
        """`52.41 ± 0.27`, or `73 [71, 76]` where the value is not in the middle.

        The half width, or the distance to the nearer end, has two digits, or all before the point, and the
        value as many after it.
        """
        half = self.half_width
        if half is None or self.lower is None or self.upper is None:
            return "-" if self.value is None else self._one(self.value, None)
        digits = 0 if self._is_whole else _digits(half)
        if self.value is not None and self._is_even(half):
            reach = float(
                max(Fraction(self.upper) - Fraction(self.value), Fraction(self.value) - Fraction(self.lower))
            )
            width = f"{reach:.{digits}f}"
            unit = " days" if self.is_date else ""
            return f"{self._one(self.value, digits)} {plus_minus} {width}{unit}"
        if self.value is not None and not self._is_whole:
            near = (abs(float(Fraction(end) - Fraction(self.value))) for end in (self.lower, self.upper))
            digits = max([digits, *(_digits(distance) for distance in near if distance)])
        value = "-" if self.value is None else self._one(self.value, digits)
        return f"{value} [{self._one(self.lower, digits)}, {self._one(self.upper, digits)}]"

    @property
    def _is_whole(self) -> bool:
        ends = (self.value, self.lower, self.upper)
        return all(one is None or isinstance(one, int) for one in ends)

    def _is_even(self, half: float) -> bool:
        if self.value is None or self.lower is None or self.upper is None:
            return False
        middle = (Fraction(self.lower) + Fraction(self.upper)) / 2
        return abs(middle - Fraction(self.value)) <= _EVEN * Fraction(half)

    def _one(self, number: Number, digits: int | None) -> str:
        if self.is_date:
            return date_text(number)
        if isinstance(number, int):
            return str(number)
        if digits is None:
            return number_text(float(number))
        return f"{float(number):.{digits}f}"


def estimate_in_cells(value: Any, lower: Any, upper: Any, *, is_date: bool = False) -> Estimated | None:
    """The figure in three cells; None if a cell is neither a finite number nor missing."""
    found = [None if cell is None else number(cell) for cell in (value, lower, upper)]
    for cell, one in zip((value, lower, upper), found, strict=True):
        if (cell is not None and one is None) or (isinstance(one, float) and not isfinite(one)):
            return None
    return Estimated(found[0], found[1], found[2], is_date)


def _digits(half: float) -> int:
    return min(_MAX_DIGITS, max(0, 1 - floor(log10(half))))
