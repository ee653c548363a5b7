"""Cox models over matched rows, by intervals of time (`smc.analyses.models.intervals`).

    members m, events d, parts Z of intervals through which rows are followed; n matches
      each step   E = m exp(a + X b),  S = Z' E at risk,  hazards l = D / S for D events of each interval
                  w = E (Z l), what each match is expected to have,  g = X' (d - w)
                  H = X' w X - sum over periods D M M',  M the average covariates of those at risk
      a           is kept so that E is a quarter on average: it is no part of the likelihood

H has averages over 8 periods of intervals, which the intervals' own differ from by little; it is what steps
and standard errors are made of, while the gradient is that of the intervals. So is the point where it is 0.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from typing_extensions import override

from smc.analyses.models.matched_expected import LEVEL, LEVEL_BITS, expected, within_reach
from smc.analyses.models.matched_newton import Point, SteepFamily
from smc.analyses.models.matched_rows import MatchedRows
from smc.analyses.models.matched_sums import clipped, constants, matrix_of, right_of, scaled
from smc.analyses.models.matched_times import HAZARD_SCALE, MOST_HAZARD, by_period
from smc.analyses.models.run import Sizes
from smc.secret.ints import SecretInts
from smc.secret.reals.logarithms import SCALE
from smc.secret.reals.near import multiplied, public, shifted
from smc.secret.reals.reals import SecretReals, join
from smc.secret.sharing.bounds import Bounds

_RISK_BITS: Final = 10
"""Fractional bits of what is at risk, which hazards are divided by."""

_LEAST_RISK: Final = 2.0**-6
_REST_SCALE: Final = 16
_AVERAGE_BITS: Final = 16
_RECIPROCAL_BITS: Final = 34
_SUM_BITS: Final = 4


class Cox(SteepFamily):
    """Of times until an event.

    Args:
        matched: the rows, or the first of them.
        sizes: what is public of sums over all.
    """

    def __init__(self, matched: MatchedRows, sizes: Sizes) -> None:
        super().__init__(matched)
        if matched.times is None:
            raise ValueError("The rows have no times.")
        self._bits, self._times = sizes.bits, matched.times
        self._events = self._times.events(matched.outcome).bounded(Bounds(0, matched.most))
        self._none = SecretInts.from_bits(self._events == 0)
        self._period_events = by_period(self._events).bounded(Bounds(0, matched.most))
        self._no_period = SecretInts.from_bits(self._period_events == 0)
        count = SecretReals(matched.ones.ints.sum()).within(1, matched.most)
        self._share = count.reciprocal(_RECIPROCAL_BITS)
        self._averages: SecretReals | None = None
        self._level: SecretReals | None = None

    @override
    def first(self) -> SecretReals:
        like = self.matched.ones.rescale(SCALE)
        return constants(like, [LEVEL] + [0.0] * (len(self.matched.places) - 1))

    @override
    def at(self, start: SecretReals) -> Point:
        matched = self.matched
        self._expected = expected(matched, start)
        weights = self._weights(self._expected)
        one = 1 << weights.scale
        rests = matched.outcome.ints * one
        held = SecretReals(
            SecretInts.from_shares(rests.session, rests.shares, rests.bounds, weights.scale)
        )
        gradient = right_of(matched.rows.transposed(held - weights), matched, self._bits)
        return Point(start, start[1:], gradient[1:], weights)

    def _weights(self, expectations: SecretReals) -> SecretReals:
        """What each match is expected to have until its time ends."""
        risk = self._times.at_risk(expectations)
        top = risk.upper
        risk = risk.rescale(_RISK_BITS) + SecretReals(self._none)
        risk = risk.within(_LEAST_RISK, top)
        events = SecretReals(self._events)
        enough = (risk * MOST_HAZARD - events).within(0, MOST_HAZARD * (top + 1))
        hazards = events.over(risk, HAZARD_SCALE, MOST_HAZARD).given(enough)
        total = hazards.sum().within(0, MOST_HAZARD)
        cumulative = self._times.hazards(hazards.given(total))
        session = expectations.session
        (words,) = multiplied(session, (expectations.ints.shares, cumulative.ints.shares))
        bounds = expectations.ints.bounds * cumulative.ints.bounds
        drop = expectations.scale + cumulative.scale - _REST_SCALE
        words = words + public(session, 1 << (drop - 1))
        (words,) = shifted(session, (words, bounds + Bounds(0, 1 << drop), drop))
        most = (bounds.magnitude >> drop) + 2
        ints = SecretInts.from_shares(session, words, Bounds(-most, most), _REST_SCALE)
        return SecretReals(ints, cumulative.statements)

    @override
    def information(self, point: Point) -> SecretReals:
        matched = self.matched
        sums = matched.rows.between(self._expected, self._times.periods)[matched.places].T
        risk = sums[:, :1]
        whole = matrix_of(matched.rows.gram(self._narrow(point.weights)), matched, self._bits)
        top = risk.upper
        empty = SecretReals(self._no_period).reshape(-1, 1)
        risk = (risk.rescale(_RISK_BITS) + empty).within(_LEAST_RISK, top)
        inner = sums[:, 1:].rescale(_RISK_BITS)
        size = inner.shape[1]
        spread = SecretReals(risk.ints[:, [0] * size], risk.statements)
        ends = [(spread - inner).within(0, 2 * top), (spread + inner).within(0, 2 * top)]
        averages = inner.over(spread, _AVERAGE_BITS).given(*ends)
        self._averages = averages
        events = SecretReals(self._period_events).reshape(-1, 1)
        taken = (averages * SecretReals(events.ints[:, [0] * size])).T @ averages
        rest = taken.within(-(1 << self._bits), 1 << self._bits).rescale(whole.scale)
        return whole[1:, 1:] - rest

    def _narrow(self, weights: SecretReals) -> SecretReals:
        return weights

    @override
    def moved(self, point: Point, step: SecretReals) -> SecretReals:
        step = clipped(step, 1)
        assert self._averages is not None
        return join([point.start, step])

    @override
    def stated(self, start: SecretReals) -> SecretReals:
        return within_reach(self.matched, start)
