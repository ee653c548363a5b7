"""Noisy sums of products of columns, and the intervals of figures that follow from them.

Each figure fulfils an equation that is linear in the exact sums once some nuisances are given, so that of
noisy sums it has a known law: with S_x, S_xy, ... the sums and N rows,

    mean m            S_x - m N = 0
    covariance c      S_xy - m_x S_y - m_y S_x + m_x m_y N - c (N - 1) = 0            given the means
    correlation r     Q_xy - r / 2 (t Q_xx + Q_yy / t) = 0                given means and t**2 = Q_yy / Q_xx

where Q are the centred sums, S_xy - m_x S_y - m_y S_x + m_x m_y N. A tenth of the allowed probability of
missing goes to intervals of the nuisances; whatever these are within their intervals, the values of the
figure that the rest does not exclude form the interval (Berger and Boos, P values maximized over a confidence
set for the nuisance parameter, JASA 89, 1994). As the equations hardly depend on nuisances near their values,
it is little wider than the noise asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import inf, sqrt
from typing import Final

from smc.analyses.records.noisy_means import Ends, edges, mean_ends
from smc.secret.noise.distribution import Distribution
from smc.secret.noise.joint_law import JointLaw

Monomial = tuple[int, ...]
"""A product of columns, by their places; the empty one counts rows."""

NUISANCES: Final = Fraction(1, 10)
"""The part of the allowed probability of missing that goes to nuisances."""


@dataclass(frozen=True, slots=True)
class NoisySums:
    """Sums with noise of known law.

    Attributes:
        sums: in held units about the centres of the columns' bounds.
        noises: of each sum.
        halves: the most by which values of each column differ from its centre.
    """

    sums: Mapping[Monomial, float] = field(repr=False)
    noises: Mapping[Monomial, Distribution] = field(repr=False)
    halves: Sequence[int]

    def mean(self, place: int, miss: Fraction) -> Ends:
        """The interval of a column's mean."""
        noises = (self.noises[place,], self.noises[()])
        bounds = (-float(self.halves[place]), float(self.halves[place]))
        return mean_ends(self.sums[place,], self.sums[()], noises, miss, bounds)

    def covariance(self, first: int, second: int, miss: Fraction) -> Ends:
        """The interval of the sample covariance of two columns, or of the variance of one."""
        places = tuple(dict.fromkeys((first, second)))
        part = miss * NUISANCES / len(places)
        means = {place: self.mean(place, part) for place in places}
        return self._covariance(first, second, means, miss * (1 - NUISANCES))

    def correlation(self, miss: Fraction) -> Ends:
        """The interval of the correlation of the columns 0 and 1."""
        part = miss * NUISANCES / 4
        means = {place: self.mean(place, part) for place in (0, 1)}
        (least_x, most_x), (least_y, most_y) = (
            self._covariance(place, place, means, part) for place in (0, 1)
        )
        if min(least_x, least_y) <= 0:
            return -1.0, 1.0
        ratios = (sqrt(least_y / most_x), sqrt(most_y / least_x))
        joint, *own = (self._centre(*pair, means) for pair in ((0, 1), (0, 0), (1, 1)))
        low = _balance(own[0][0], own[1][0], ratios)[0]
        high = _balance(own[0][1], own[1][1], ratios)[1]

        def tail(value: float) -> float:
            less, more = sorted((value / 2 * low, value / 2 * high))
            gap = max(0.0, joint[0] - more, less - joint[1])
            return self._law(_correlation_factors(value, means, ratios)).tail(gap)

        middle = 2 * sum(joint) / (low + high) if low + high > 0 else 0.0
        return edges(min(max(middle, -1.0), 1.0), (-1.0, 1.0), tail, miss * (1 - NUISANCES))

    def _law(self, factors: Mapping[Monomial, float]) -> JointLaw:
        return JointLaw.of([(factor, self.noises[name]) for name, factor in factors.items()])

    def _covariance(self, first: int, second: int, means: Mapping[int, Ends], miss: Fraction) -> Ends:
        """Of n >= 2 values within `half` of a centre it is at most n / (n - 1) <= 2 times both halves."""
        most = 2.0 * self.halves[first] * self.halves[second]
        bounds = (0.0 if first == second else -most, most)
        count = self.sums[()] - 1
        if count <= JointLaw.of([(1, self.noises[()])]).width(miss):
            return bounds
        low, high = self._centre(first, second, means)
        corners = [one * two for one, two in _corners(first, second, means)]
        linear: dict[Monomial, float] = {(first,): _reach(means[second])}
        linear[second,] = linear.get((second,), 0.0) + _reach(means[first])

        def tail(value: float) -> float:
            gap = max(0.0, low - value * count, value * count - high)
            rows = max(abs(corner - value) for corner in corners)
            return self._law({(first, second): 1.0, **linear, (): rows}).tail(gap)

        middle = (low + high) / 2 / count
        return edges(min(max(middle, bounds[0]), bounds[1]), bounds, tail, miss)

    def _centre(self, first: int, second: int, means: Mapping[int, Ends]) -> Ends:
        """The least and most of the centred sum, over all means within their intervals."""
        both, one, two, count = (self.sums[name] for name in ((first, second), (first,), (second,), ()))

        def centre(first_mean: float, second_mean: float) -> float:
            return both - first_mean * two - second_mean * one + first_mean * second_mean * count

        found = [centre(*corner) for corner in _corners(first, second, means)]
        if first == second and count > 0:
            lowest = min(max(one / count, means[first][0]), means[first][1])
            found.append(centre(lowest, lowest))
        return min(found), max(found)


def _corners(first: int, second: int, means: Mapping[int, Ends]) -> Iterable[Ends]:
    """Pairs of means at the ends of their intervals; of one column the same twice, and 0 if it is between."""
    if first != second:
        return product(means[first], means[second])
    low, high = means[first]
    return [(end, end) for end in (low, high, *([0.0] if low < 0 < high else []))]


def _reach(ends: Ends) -> float:
    return max(map(abs, ends))


def _balance(first: float, second: float, ratios: Ends) -> Ends:
    """The least and most of t * first + second / t, over all t within an interval of positive ends."""
    found = [ratio * first + second / ratio for ratio in ratios]
    lowest = sqrt(second / first) if first > 0 and second > 0 else inf
    if ratios[0] < lowest < ratios[1]:
        found.append(2 * sqrt(first * second))
    return min(found), max(found)


def _correlation_factors(value: float, means: Mapping[int, Ends], ratios: Ends) -> dict[Monomial, float]:
    """The most by which the noise of each sum counts in the equation of a correlation."""
    pairs = list(product(*means.values()))
    rows = [
        abs(one * two - value / 2 * balanced)
        for one, two in pairs
        for balanced in _balance(one**2, two**2, ratios)
    ]
    # between the corners of the means the squares can be this much less than on the lines that join them
    bend = sum(
        (high - low) ** 2 / 4 * ratio
        for (low, high), ratio in zip(means.values(), (ratios[1], 1 / ratios[0]), strict=True)
    )
    return {
        (0, 1): 1.0,
        (0, 0): abs(value) * ratios[1] / 2,
        (1, 1): abs(value) / ratios[0] / 2,
        (0,): max(abs(value * ratio * one - two) for one, two in pairs for ratio in ratios),
        (1,): max(abs(value * two / ratio - one) for one, two in pairs for ratio in ratios),
        (): max(rows) + abs(value) / 2 * bend,
    }
