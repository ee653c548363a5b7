"""Cox models over matched rows, by intervals of time (`smc.analyses.models.intervals`).

    members m, events d, parts Z of intervals through which rows are followed; n matches
      each step   E = m exp(a + X b),  S = Z' E at risk,  hazards l = D / S for D events of each interval
                  w = E (Z l), what each match is expected to have,  g = X' (d - w)
                  H = X' w X - sum over periods D M M',  M the average covariates of those at risk
      a           is kept so that E is a quarter on average; the likelihood does not depend on it

H has averages over 8 periods of intervals, which the intervals' own differ from by little; it is what steps
and standard errors are made of, while the gradient is that of the intervals. So is the point where it is 0.
"""

from __future__ import annotations

from math import ceil
from typing import Final

from typing_extensions import override

from smc.analyses.models.matched_expected import LEVEL, LEVEL_BITS, expect, within_reach
from smc.analyses.models.matched_newton import Point, SteepFamily
from smc.analyses.models.matched_rows import MatchedRows
from smc.analyses.models.matched_sums import clip, constants, fraction_bits, matrix_of, right_of, scale
from smc.analyses.models.matched_times import HAZARD_SCALE, MOST_HAZARD, by_period
from smc.analyses.models.run import Sizes
from smc.errors import UsageError
from smc.secret.ints import SecretInts
from smc.secret.reals.logarithms import SCALE
from smc.secret.reals.near import multiply, public, shift
from smc.secret.reals.reals import SecretReals, join
from smc.secret.sharing.bounds import Bounds

_RISK_BITS: Final = 10
"""Fractional bits of what is at risk, which is divided by; fewer, where there are very many rows."""

_DIVISION_ROOM: Final = 60 - HAZARD_SCALE - MOST_HAZARD.bit_length() + 1
"""Bits of what is divided by, fractional ones with it."""

_LEAST_RISK: Final = 2.0**-6
_MOST_RISK: Final = 16
"""For each match; it is a quarter on average."""

_AVERAGE_BITS: Final = 16
_RECIPROCAL_BITS: Final = 50
"""Less those of the number of slots."""

_TOTAL_BITS: Final = 4


class Cox(SteepFamily):
    """Of times until an event.

    Args:
        matched: the rows, or the first of them.
        sizes: what is public of sums over all.

    Raises:
        UsageError: the rows have no times.
    """

    def __init__(self, matched: MatchedRows, sizes: Sizes) -> None:
        super().__init__(matched, sizes.bits)
        times = matched.times
        if times is None:
            raise UsageError("The rows of a Cox model have no times.", "Align them with times.")
        self._times, most = times, Bounds(0, matched.most)
        self._events = times.events(matched.outcome).with_bounds(most)
        self._none = SecretInts.from_bits(self._events == 0)
        self._period_events = by_period(self._events).with_bounds(most)
        self._no_period = SecretInts.from_bits(self._period_events == 0)
        count = SecretReals(matched.ones.ints.sum()).within(1, matched.most)
        self._share = count.reciprocal(_RECIPROCAL_BITS - len(matched.member).bit_length())
        self._expected = matched.ones
        self._averages = self._share

    @override
    def first(self) -> SecretReals:
        size = len(self.matched.places)
        return constants(self._share.rescale(SCALE), [LEVEL] + [0.0] * (size - 1))

    @override
    def at(self, start: SecretReals) -> Point:
        matched = self.matched
        self._expected = expect(matched, start)
        weights = self._weights()
        happened = matched.outcome.rescale(weights.scale)
        gradient = right_of(matched.rows.transposed(happened - weights), matched, self.bits)
        return Point(start, start[1:], gradient[1:], weights)

    @override
    def information(self, point: Point) -> SecretReals:
        matched = self.matched
        sums = matched.rows.between(self._expected, self._times.periods)[matched.places].T
        top = ceil(sums.upper)
        sums = sums.rescale(_RISK_BITS)
        risk = (sums[:, :1] + SecretReals(self._no_period).reshape(-1, 1)).within(_LEAST_RISK, top + 1)
        risk, inner = _repeat(risk, len(point.coefficients)), sums[:, 1:]
        ends = [side.within(0, 2 * top + 1) for side in (risk - inner, risk + inner)]
        self._averages = inner.over(risk, _AVERAGE_BITS).given(*ends)
        events = _repeat(SecretReals(self._period_events).reshape(-1, 1), len(point.coefficients))
        taken = (self._averages * events).T @ self._averages
        weights = _summable(matched, point.weights, 2)
        whole = matrix_of(matched.rows.gram(weights), matched, self.bits)[1:, 1:]
        most = 1 << self.bits
        return (whole - taken.within(-most, most).rescale(whole.scale)).within(-most, most)

    @override
    def move(self, point: Point, step: SecretReals) -> SecretReals:
        """The coefficients by no more than 1 each, and the level so that expectations stay what they are."""
        cut = clip(step, 1)
        total = self._expected.sum().rescale(_TOTAL_BITS)
        part = scale(total * self._share, -LEVEL_BITS).rescale(SCALE)
        level = clip(-part + 1, 1)
        lead = (self._averages[0] * cut).sum()
        return point.start + join([level - lead, cut])

    @override
    def state(self, start: SecretReals) -> SecretReals:
        return within_reach(self.matched, start)

    def _weights(self) -> SecretReals:
        """What each match is expected to have until its time ends, shape (slots,)."""
        expectations = self._expected
        most = _MOST_RISK * self.matched.most
        bits = min(_RISK_BITS, _DIVISION_ROOM - most.bit_length())
        risk = self._times.at_risk(expectations).rescale(bits) + SecretReals(self._none)
        risk = risk.within(max(_LEAST_RISK, 2.0**-bits), most)
        events = SecretReals(self._events)
        enough = (risk * MOST_HAZARD - events).within(0, MOST_HAZARD * most)
        hazards = events.over(risk, HAZARD_SCALE, MOST_HAZARD).given(enough)
        total = hazards.sum().within(0, MOST_HAZARD)
        cumulative = self._times.hazards(hazards.given(total))
        (words,) = multiply(expectations.session, (expectations.ints.shares, cumulative.ints.shares))
        scale = expectations.scale + cumulative.scale
        bounds = expectations.ints.bounds * cumulative.ints.bounds
        product = SecretReals(
            SecretInts.from_shares(expectations.session, words, bounds, scale), cumulative.statements
        )
        return _summable(self.matched, product, 1)


def _summable(matched: MatchedRows, values: SecretReals, factors: int) -> SecretReals:
    """Numbers with so few fractional bits as sums leave room for, right on average; see `fraction_bits`."""
    ints = values.ints
    scale = fraction_bits(matched, (ints.bounds.magnitude >> values.scale) + 1, factors)
    drop = values.scale - scale
    if drop <= 0:
        return values
    (words,) = shift(ints.session, (ints.shares, ints.bounds, drop))
    bounds = Bounds((ints.bounds.lower >> drop) - 1, (ints.bounds.upper >> drop) + 1)
    # What a shift leaves out is one on average.
    held = SecretInts.from_shares(ints.session, words + public(ints.session, 1), bounds, scale)
    return SecretReals(held, values.statements)


def _repeat(column: SecretReals, count: int) -> SecretReals:
    """A column, so many times side by side."""
    return column[:, [0] * count]
