"""Poisson models over matched rows: expected counts by angles, at a level that is always the same.

    counts y, matches m, exposures as offsets o; n matches, Y all counts
      right       X' m y (n / 4) / Y, once: as if counts were a quarter on average
      each step   E = m exp(X b + o),  g = right - X' E,  H = X' E X
      in the end  intercept + log Y - log(n / 4),  H**-1 (n / 4) / Y

So what counts are in size does not matter on the way, and the range of the exponential lies around their
average. With offsets the first intercept is the one that gives that average. Offsets count from the longest
exposure, which nothing has to be above.
"""

from __future__ import annotations

from math import log
from typing import Final

from typing_extensions import override

from smc.analyses.models.matched_expected import LEVEL, LEVEL_BITS, expect, within_reach
from smc.analyses.models.matched_newton import Found, Point, SteepFamily
from smc.analyses.models.matched_rows import MatchedRows
from smc.analyses.models.matched_sides import COEFFICIENT_BITS
from smc.analyses.models.matched_sums import constants, right_of, right_within, scale
from smc.secret.reals.logarithms import SCALE, logarithms
from smc.secret.reals.reals import SecretReals, join
from smc.secret.sharing.fixed import Fixed

_LARGEST: Final = 16
"""No sum over so many rows is larger than 2**4 times their number, in the scale of expectations."""

_PART_BITS: Final = 26
_SPREAD: Final = 1 << 12
"""Variances of coefficients are this over the sum of counts at most."""

_MOST_VARIANCE: Final = 4
"""Of a coefficient of covariates from -1 to 1."""

_ROOM: Final = 59
"""Bits of a variance and of the sum of counts together."""


_FIRST_INTERCEPT: Final = 2.0
_TOTAL_BITS: Final = 10


class Poisson(SteepFamily):
    """Of counts.

    Args:
        matched: the rows, or the first of them.
    """

    def __init__(self, matched: MatchedRows) -> None:
        super().__init__(matched, (_LARGEST * matched.most).bit_length())
        outcome = matched.outcome
        most = max(1, outcome.ints.bounds.upper) * matched.most
        self.total = SecretReals(outcome.ints.sum()).within(1, most)
        self.count = SecretReals(matched.ones.ints.sum()).within(1, matched.most)
        sums = matched.rows.transposed(outcome)[matched.places].known(-most, most)
        bits = min(_PART_BITS, _ROOM - most.bit_length() - sums.scale)
        parts = sums.over(self.total.rescale(sums.scale), bits)
        self._right = scale(parts * self.count, LEVEL_BITS)

    @override
    def first(self) -> SecretReals:
        size = len(self.matched.places)
        if self.matched.offset is None:
            return constants(self.count.rescale(SCALE), [LEVEL] + [0.0] * (size - 1))
        start = constants(self.count.rescale(COEFFICIENT_BITS), [_FIRST_INTERCEPT] + [0.0] * (size - 1))
        total = expect(self.matched, start).sum()
        total = total.within(2.0**-_TOTAL_BITS, total.upper).rescale(_TOTAL_BITS)
        both = logarithms(join([self.count, total]))
        intercept = both[:1] - both[1:] + Fixed.of(_FIRST_INTERCEPT + LEVEL, SCALE)
        return join([intercept, constants(intercept, [0.0] * (size - 1))])

    @override
    def at(self, start: SecretReals) -> Point:
        weights = expect(self.matched, start)
        found = right_of(self.matched.rows.transposed(weights), self.matched, self.bits)
        gradient = right_within(self._right, self.bits) - found
        return Point(start, start, gradient, weights)

    @override
    def state(self, start: SecretReals) -> SecretReals:
        return within_reach(self.matched, start)


def in_counts(family: Poisson, found: Found[Poisson], longest: float) -> tuple[SecretReals, SecretReals]:
    """Coefficients and their variances in the unit of counts and exposures.

    Args:
        family: of all rows.
        found: what its steps lead to.
        longest: the exposure that offsets count from.
    """
    logs = logarithms(join([family.total, family.count]))
    level = logs[:1] - logs[1:] + Fixed.of(-LEVEL - log(longest), SCALE)
    coefficients = join([found.coefficients[:1] + level, found.coefficients[1:]])
    variances, count = found.variances, family.count
    excess = variances.ints.bounds.upper.bit_length() + count.ints.bounds.upper.bit_length() - _ROOM
    variances = variances.rescale(variances.scale - max(0, excess))
    spread = scale(variances * count, LEVEL_BITS).within(0, _SPREAD)
    bits = _ROOM - family.total.ints.bounds.upper.bit_length()
    held = spread.rescale(min(spread.scale, bits))
    enough = family.total * _MOST_VARIANCE - held
    enough = enough.within(0, enough.upper)
    return coefficients, held.over(family.total, bits, _MOST_VARIANCE).given(enough)
