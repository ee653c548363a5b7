"""The public sizes of reciprocals by `smc.secret.reals.reciprocals`: stages, table of starts, largest error.

A count below 2**L is raised to z, with 2**(W-2) <= z < 2**W but for what the comparisons leave out: first by
the power of 4**g that brings it into the upper g pairs of octaves, then by the power of 4. A start is the
best line A - B z of the piece of an octave in which z lies, as its leading bits say.

All is computed in fractions, so that both parties have the same table on all machines.

Reference: the best line for 1 / z is that of Chebyshev, see `smc.secret.division.newton_steps`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil, floor
from typing import Final

from smc.errors import DomainError
from smc.secret.division.newton_steps import Line
from smc.secret.sharing.bounds import Bounds

PIECES: Final = 3
"""Lines in an octave: with more, comparisons cost more than the product they save."""

GUARD_BITS: Final = 4
"""Fractional bits that are carried along with the reciprocal."""

_SLOPE_BITS: Final = 8
"""More bits than z has a start, so that slopes are whole numbers."""

_LEAST_WIDTH: Final = 12
_MOST_WIDTH: Final = 26
_ROOM_BITS: Final = 61

_STAGE_BITS: Final = 9
"""A comparison with a power of 4 in the second stage leaves out what is less than its part of 2**-9."""

_TABLE_BITS: Final = 6
"""One with an end of a piece leaves out bits below 2**-6 of the smallest z."""


@dataclass(frozen=True, slots=True)
class ReciprocalSteps:
    """What is public of reciprocals.

    Attributes:
        upper: the largest count.
        bits: fractional bits of the reciprocals.
        group: g, pairs of octaves that the first stage leaves open.
    """

    upper: int
    bits: int
    group: int

    @classmethod
    def of(cls, upper: int, bits: int) -> list[ReciprocalSteps]:
        """All ways that fit words of 64 bits.

        Args:
            upper: the largest count, at least 1.
            bits: fractional bits of the reciprocals.

        Raises:
            DomainError: the counts have more than 26 bits, or the reciprocals too many or too few.
        """
        pairs = -(-upper.bit_length() // 2)
        ways = [cls(upper, bits, group) for group in range(1, pairs + 1)]
        if (
            ways[0].width > _MOST_WIDTH
            or not 1 <= bits <= _ROOM_BITS - GUARD_BITS - 2
            or ways[0].fraction < bits // 4
        ):
            raise DomainError(
                f"A reciprocal with {bits} fractional bits of counts up to {upper} does not fit a word.",
                f"Take counts of at most {_MOST_WIDTH} bits, and no more than 48 fractional bits.",
            )
        return ways

    @property
    def pairs(self) -> int:
        """Pairs of octaves that counts span."""
        return -(-self.upper.bit_length() // 2)

    @property
    def padding(self) -> int:
        """By how many bits all counts are raised, so that they have as many as a start needs."""
        return max(0, _LEAST_WIDTH - 2 * self.pairs)

    @property
    def width(self) -> int:
        """W."""
        return 2 * self.pairs + self.padding

    @property
    def point(self) -> int:
        """p: a start is about 2**p / z."""
        return 2 * self.width + _SLOPE_BITS

    @property
    def first(self) -> tuple[int, ...]:
        """Exponents of the powers of two that counts are compared with in the first stage, ascending."""
        stages = -(-self.pairs // self.group)
        return tuple(2 * (self.pairs - self.group * place) for place in range(stages - 1, 0, -1))

    @property
    def first_bounds(self) -> Bounds:
        """Of counts less these powers."""
        return Bounds(1 - (1 << self.first[-1]), self.upper - (1 << self.first[0]))

    @property
    def second(self) -> tuple[int, ...]:
        """Those of the second stage, of raised counts without padding."""
        return tuple(2 * (self.pairs - place) for place in range(self.group - 1, 0, -1))

    @property
    def second_shift(self) -> int:
        """Bits that these comparisons leave out."""
        return max(0, self.second[0] - _STAGE_BITS)

    @property
    def second_bounds(self) -> Bounds:
        """Of raised counts less these powers, without the bits that are left out."""
        least = 1 << max(0, 2 * (self.pairs - self.group))
        lower = (least - (1 << self.second[-1])) >> self.second_shift
        return Bounds(lower - 1, ((1 << 2 * self.pairs) - (1 << self.second[0])) >> self.second_shift)

    @property
    def largest(self) -> int:
        """Z is below: a power of 4 may have been missed by what its comparison leaves out."""
        top = 1 << self.width
        missed = 2 << self.second_shift if self.second else 0
        # What is missed of a power of 4 is raised as far as that power.
        return top + (top * missed >> self.second[0] if self.second else 0)

    @property
    def table_shift(self) -> int:
        """Bits that the comparisons with ends of pieces leave out."""
        return self.width - 2 - _TABLE_BITS

    @property
    def table_bounds(self) -> Bounds:
        """Of z less starts of pieces, without the bits that are left out."""
        lines = self.lines
        lower = ((1 << (self.width - 2)) - lines[-1].start) >> self.table_shift
        return Bounds(lower - 1, (self.largest - lines[1].start) >> self.table_shift)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The starts, by where they begin."""
        return _table(self)[0]

    @property
    def start_error(self) -> Fraction:
        """The largest |e| of a start."""
        return _table(self)[1]

    @property
    def small(self) -> int:
        """|e| is below 2**-small."""
        return floor(1 / self.start_error).bit_length() - 1

    @property
    def quotient_bits(self) -> int:
        """Fractional bits of the reciprocal on the way."""
        return self.bits + GUARD_BITS

    @property
    def fraction(self) -> int:
        """Fractional bits of e, as many as leave room for its products."""
        room = _ROOM_BITS - self.quotient_bits - 1 + self.small
        return min(self.point, room, _ROOM_BITS // 2 + self.small)

    @property
    def quotient_bounds(self) -> Bounds:
        """Of the reciprocal on the way, in its units."""
        most = ceil((1 << self.quotient_bits) * (1 + 2 * self.start_error)) + 8
        return Bounds(-8, most)

    @property
    def raw_bounds(self) -> Bounds:
        """Of F x."""
        return Bounds(0, ceil((1 << self.point) * (1 + self.start_error)))

    @property
    def rest_bounds(self) -> Bounds:
        """Of e 2**p."""
        most = ceil((1 << self.point) * self.start_error)
        return Bounds(-most, most)

    @property
    def small_bounds(self) -> Bounds:
        """Of e, with its fractional bits."""
        most = ceil((1 << self.fraction) * self.start_error) + 2
        return Bounds(-most, most)

    @property
    def error(self) -> tuple[Fraction, Fraction]:
        """How far a reciprocal can be off: an absolute part, and one that is a part of the reciprocal."""
        ulp = Fraction(1, 1 << self.fraction)
        absolute = Fraction(2, 1 << self.bits) + Fraction(8, 1 << self.quotient_bits)
        return absolute, self.start_error**4 + 6 * ulp

    @property
    def result_bounds(self) -> Bounds:
        """Of what comes out."""
        absolute, part = self.error
        unit = 1 << self.bits
        least = floor((Fraction(1, self.upper) * (1 - part) - absolute) * unit)
        return Bounds(least, ceil((1 + part + absolute) * unit))


@cache
def _table(steps: ReciprocalSteps) -> tuple[tuple[Line, ...], Fraction]:
    """The lines, and the largest |1 - z x / 2**p|."""
    quarter, unit = 1 << (steps.width - 2), 1 << steps.point
    starts = [
        Fraction((PIECES + place) << octave, PIECES) * quarter
        for octave in range(2)
        for place in range(PIECES)
    ]
    ends = [*starts[1:], Fraction(steps.largest)]
    lines, error = [], Fraction(0)
    for start, end in zip(starts, ends, strict=True):
        first, last = Fraction(floor(start)), end + (2 << steps.table_shift)
        middle, half = (first + last) / 2, (last - first) / 2
        steep = 2 / (2 * middle**2 - half**2)
        slope = round(steep * unit)
        constant = round(steep * middle * unit + slope * middle)
        lines.append(Line(floor(start), constant, slope))
        peak = Fraction(constant, 2 * slope)
        places = [first, last, *([peak] if first <= peak <= last else [])]
        error = max(error, *(abs(1 - z * (constant - slope * z) / unit) for z in places))
    return tuple(lines), error
