"""The public sizes of a division by `smc.secret.division.newton`: its table of starts, and its largest error.

A divisor is raised to W bits, of which the highest g octaves are used. Its 14 leading bits h choose one of
k lines for each octave, those whose first bits after the leading one are the same, and a start is

    x = constant - slope h,  about 2**p / z,

the line that is least off in the worst case over all z that it can be taken for: a threshold is missed by
what its comparison leaves out, and leading bits can be one too small. All is computed in fractions, so that
both parties have the same table on all machines.

Reference: the best line for 1 / z is that of Chebyshev; see `smc.secret.division.newton`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil
from typing import Final

from smc.secret.sharing.bounds import LIMIT, Bounds

OCTAVES: Final = 2
"""g: so many octaves does the normalised divisor span; a comparison of the divisor for each g of its bits."""

_HEAD_BITS: Final = 14
"""Leading bits of the normalised divisor that a line is taken at."""

_SLOPE_BITS: Final = 8
"""More bits than those has a start, so that slopes are whole numbers."""

GUARD_BITS: Final = 4
"""Fractional bits that are carried along with the quotient."""

_NUMERATOR_BITS: Final = 5
"""Bits that are kept of the numerator below a unit of the quotient."""


_ROOM_BITS: Final = 61
"""Most bits of a product, with its sign."""

_MAX_ERROR: Final = Fraction(1, 8)
_MAX_TESTED: Final = 4


@dataclass(frozen=True, slots=True)
class Line:
    """A start x = `constant` - `slope` h, from threshold `start` of h on."""

    start: int
    constant: int
    slope: int


@dataclass(frozen=True, slots=True)
class Steps:
    """What is public of a division.

    Attributes:
        numerator: bounds of n.
        divisor: bounds of y.
        largest: of the quotients.
        pieces: k, lines in an octave.
        squared: whether the factor 1 + e**2 is taken.
    """

    numerator: Bounds
    divisor: Bounds
    largest: int
    pieces: int
    squared: bool

    @classmethod
    def of(cls, numerator: Bounds, divisor: Bounds, largest: int) -> list[Steps]:
        """All ways that are exact within words of 64 bits.

        Args:
            numerator: bounds of n, not negative.
            divisor: bounds of y, positive.
            largest: of the quotients.
        """
        ways = [cls(numerator, divisor, largest, k, s) for k in (8, 16) for s in (False, True)]
        return [way for way in ways if way._fits]

    @property
    def lowest(self) -> int:
        """The divisor has more bits than this."""
        return self.divisor.lower.bit_length() - 1

    @property
    def raised(self) -> int:
        """By how many times g bits the smallest divisors are raised."""
        return (self.divisor.upper.bit_length() - 1 - self.lowest) // OCTAVES

    @property
    def width(self) -> int:
        """W: the normalised divisor is below 2**W."""
        return max(_HEAD_BITS, self.lowest + OCTAVES * (self.raised + 1))

    @property
    def padding(self) -> int:
        """By how many bits all divisors are raised, so that they have as many as a head."""
        return self.width - self.lowest - OCTAVES * (self.raised + 1)

    @property
    def head_shift(self) -> int:
        """The leading bits are those above this one."""
        return self.width - _HEAD_BITS

    @property
    def point(self) -> int:
        """p: a start is about 2**p / z."""
        return self.width + _HEAD_BITS + _SLOPE_BITS

    @property
    def numerator_shift(self) -> int:
        """Bits of the raised numerator that are left out."""
        return max(0, self.width - OCTAVES - _NUMERATOR_BITS)

    @property
    def compared_bits(self) -> int:
        """Bits of the comparisons with thresholds: two or three digits of the comparison."""
        return 8 if self.pieces <= 8 else 12

    @property
    def coarse(self) -> int:
        """Bits of the head that these comparisons leave out."""
        return _HEAD_BITS - self.compared_bits

    @property
    def raised_numerator(self) -> int:
        """The largest N: where the divisor is raised much, the quotient bounds the numerator."""
        found = 1
        for place in range(self.raised + 1):
            most = min(self.divisor.upper, (1 << (self.lowest + OCTAVES * (place + 1))) - 1)
            most_numerator = min(self.numerator.upper, (self.largest + 1) * most - 1)
            found = max(found, most_numerator << (OCTAVES * (self.raised - place) + self.padding))
        return found

    @property
    def first_bounds(self) -> Bounds:
        """Of q 2**(p - shift), the first quotient: below 0 where the numerator was shortened to -1."""
        most = ceil((self.largest + 1) * (1 + self.error) * (1 << (self.point - self.numerator_shift)))
        return Bounds(-2 * max(line.constant for line in self.lines), most)

    @property
    def rest_bounds(self) -> Bounds:
        """Of e 2**p."""
        most = ceil(self.error * (1 << self.point))
        return Bounds(-most, most)

    @property
    def fraction(self) -> int:
        """f: fractional bits of e, as many as leave room for its square and its product with the quotient."""
        quotient = (2 * (self.largest + 2) << GUARD_BITS).bit_length()
        small = int(1 / self.error).bit_length() - 1
        return min(self.point, _ROOM_BITS - quotient + small, _ROOM_BITS // 2 + small)

    @property
    def error(self) -> Fraction:
        """The largest size of e."""
        return _table(self)[1]

    @property
    def lines(self) -> tuple[Line, ...]:
        """The starts, by their thresholds."""
        return _table(self)[0]

    @property
    def spread(self) -> tuple[Fraction, Fraction]:
        """How far what comes out before it is rounded can be below and above n / y."""
        e, most = self.error, self.largest + 1
        unit, ulp = Fraction(1, 1 << GUARD_BITS), Fraction(1, 1 << self.fraction)
        # No factor is larger than this: 1 + e with its rounding, and their products.
        growth = (1 + e + 4 * ulp) ** 2
        # A shift without the carry is up to two too small.
        numerator = Fraction(2 << self.numerator_shift, 1 << (self.width - OCTAVES))
        # Of e this is made one too small or too large.
        below = (numerator + 2 * unit + most * ulp) * growth + 2 * unit
        above = most * ulp * growth
        if not self.squared:
            return below + most * e**2, above
        # Of e**2, 2 |e| + 2**-f too large and two more than that too small.
        below = (below + most * (2 * e + 2) * ulp) * growth + 2 * unit
        above = (above + most * (2 * e + ulp) * ulp) * growth
        return below + most * e**4, above

    @property
    def lifted(self) -> int:
        """What is taken off before rounding, in units of 2**-GUARD_BITS, so that nothing is too large."""
        return ceil(self.spread[1] * (1 << GUARD_BITS))

    @property
    def tested(self) -> int:
        """How many multiples of y may be left."""
        below = self.spread[0] + Fraction(self.lifted, 1 << GUARD_BITS)
        # Rounding leaves out the carry, which is one more.
        return ceil(below) + 1

    @property
    def value_bounds(self) -> Bounds:
        """Of the quotient with its fractional bits, at any time."""
        most = ceil((self.largest + 1) * (1 + self.error)) + 1
        return Bounds(-(self.tested << GUARD_BITS), most << GUARD_BITS)

    @property
    def left_bounds(self) -> Bounds:
        """Of what is left of n, less multiples of y."""
        return Bounds(-self.tested * self.divisor.upper, self.tested * self.divisor.upper)

    def reached_bounds(self, *, zeros: bool = False) -> Bounds:
        """Of the divisor less powers of two; where it can be 0 also less its lower bound."""
        highest = 1 << (self.lowest + OCTAVES * self.raised)
        if zeros:
            # With one octave nothing is compared with a power of two, and the lower bound is the largest.
            return Bounds(-max(highest, self.divisor.lower), self.divisor.upper - self.divisor.lower)
        return Bounds(self.divisor.lower - highest, self.divisor.upper - (2 << self.lowest))

    @property
    def compared_bounds(self) -> Bounds:
        """Of the leading bits less thresholds, without those that are left out."""
        first, last = self.lines[1].start, self.lines[-1].start
        lower = (1 << (_HEAD_BITS - OCTAVES)) - 1 - last
        return Bounds((lower >> self.coarse) - 1, ((1 << _HEAD_BITS) - first) >> self.coarse)

    @property
    def more_bounds(self) -> Bounds:
        """Of the quotient times e, and times e**2, with the fractional bits of both."""
        most = (ceil(self.error * (1 << self.fraction)) + 2) * self.value_bounds.magnitude
        return Bounds(-most, most)

    @property
    def square_bounds(self) -> Bounds:
        """Of e**2, with the fractional bits of both."""
        return Bounds(0, (ceil(self.error * (1 << self.fraction)) + 2) ** 2)

    @property
    def quotient_shift(self) -> int:
        """Bits of the first quotient below those that are carried along."""
        return self.point - self.numerator_shift - GUARD_BITS

    @property
    def rest_shift(self) -> int:
        """Bits of e that are left out."""
        return self.point - self.fraction

    @property
    def _fits(self) -> bool:
        half = LIMIT >> 1
        return (
            self.error <= _MAX_ERROR
            and self.raised_numerator < half
            and self.first_bounds.upper < half
            and (1 << self.point) * (1 + self.error) < half
            and self.fraction > GUARD_BITS
            and self.more_bounds.upper < half
            and self.square_bounds.upper < half
            and self.left_bounds.magnitude < half
            and self.tested <= _MAX_TESTED
        )


@cache
def _table(steps: Steps) -> tuple[tuple[Line, ...], Fraction]:
    """The lines, and the largest |1 - z x / 2**p| for any z, however it is rounded."""
    shift = steps.head_shift
    # The head is z / 2**shift rounded down, or one less: on average one too small.
    slack = 1 if shift else 0
    unit = 1 << (steps.point - shift)
    starts = [
        Fraction((steps.pieces + place) << octave, steps.pieces) * (1 << (_HEAD_BITS - OCTAVES))
        for octave in range(OCTAVES)
        for place in range(steps.pieces)
    ]
    ends = [*starts[1:], Fraction(1 << _HEAD_BITS)]
    lines, error = [], Fraction(0)
    for start, end in zip(starts, ends, strict=True):
        # A threshold may be missed by what its comparison leaves out, and by what the head is too small.
        first, last = start, end + (1 << steps.coarse) + 2 * slack
        middle, half = (first + last) / 2, (last - first) / 2
        steep = 2 / (2 * middle**2 - half**2)
        slope = round(steep * unit)
        constant = round(steep * middle * unit + slope * middle) - slope * slack
        lines.append(Line(ceil(start), constant, slope))

        def off(value: Fraction, line: Line = lines[-1]) -> Fraction:
            return 1 - value * (line.constant + line.slope * slack - line.slope * value) / unit

        peak = Fraction(lines[-1].constant + slope * slack, 2 * slope) if slope else first
        places = [first, last, *([peak] if first <= peak <= last else [])]
        largest = max(abs(off(place)) for place in places)
        error = max(error, largest + slack * last * slope / unit)
    return tuple(lines), error
