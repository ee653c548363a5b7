"""The thesis's t-test with dummy records: t with normal noise scaled to its smooth sensitivity.

This is a mechanism for one table in the clear, for study; joint jobs have a test of their own. By itself t
has no bounded sensitivity, as a group may not vary. Two different dummy records r_1, r_2 in both groups,
which nobody changes, keep the variances above 0. Values are in [0, m]; the distance H(D, D') of tables of
records (group, value) is the number of records that differ.

With a beta-smooth bound S on the sensitivity of t(D + r), the release t(D + r) + S(D) / alpha * N(0, 1) is
(epsilon, delta)-differentially private for alpha = epsilon / (5 sqrt(2 ln(2/delta))) and
beta = epsilon / (4 (1 + ln(2/delta))) (theorem 7.2 with definitions 7.1 and 7.4).

**What the guarantee does not say**: the dummy records themselves are not protected, and section 7.3 asks that
the attacker does not know them. S has to be smooth. Algorithm 8's value is not, and noise of it breaks the
promise: of tables of four records, epsilon 5 and delta 0.01, two neighbours have a delta of 0.024. It follows
one path of tables, the one on which the variance falls fastest, and leaves out those on which the means part.
`smooth` bounds both over all tables at a distance instead and is a smooth bound:

    gap_k    = most |mean_A - mean_B| after k changes, as if each group could have k for itself: its least
               values leave and values m come, or its largest values leave and values 0 come
    square_k = least s**2_A / n_A + s**2_B / n_B after k changes, in the same way: the values outside the
               best window of the sorted ones leave, and the mean of the others comes
    t_k      = gap_k / sqrt(square_k),     S = max over k of e**(-beta k) (t_k + t_(k+1))

What can be reached from D in k changes can be reached from a neighbour in k + 1, so t_k(D) <= t_(k+1)(D'),
and the sensitivity at a table is at most |t| there plus |t'| at a neighbour.

`algorithm_8` is the thesis's: equation 7.8 along the path, also for a record that moves from B to A, which
7.8 leaves to symmetry, with s_m**2 as the least variance that a change leaves in either group. Replacing the
farthest value by the mean of the others always leaves less than removing it, so the second term of 7.19,
misprinted sign or not, never decides. A record that comes (7.20) leaves less than both only where the dummies
are farther from the mean than all values; the path itself replaces values.

`smooth` takes O(n log n) for sorting, and O(k) for each of K distances k until nothing farther can decide: K
is at most n, and about the logarithm of n by beta.

References: thesis, chapter 7; Nissim, Raskhodnikova and Smith, Smooth sensitivity and sampling in private
data analysis, STOC 2007, definition 2.2 and lemma 2.9.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_ind_from_stats

from anonymizer.dp.smooth import Smooth, check_formulas, divisor, smoothness
from anonymizer.errors import SpecError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Sample(NamedTuple):
    """What a test needs of one group: its size, its mean, and its variance with size - 1 below."""

    size: int
    mean: float
    variance: float


class Welch(NamedTuple):
    """Welch's test: t, its degrees of freedom, and the two-sided p-value."""

    t: float
    freedom: float
    p_value: float


@dataclass(frozen=True, slots=True)
class SmoothTTest:
    """The mechanism.

    Attributes:
        epsilon: positive; up to 10 for `release`, beyond which its formulas are for study.
        delta: in (0, 1).
        most: m; values are in [0, m].
        dummies: the two dummy records, different and in [0, m].
    """

    epsilon: float
    delta: float
    most: float
    dummies: tuple[float, float]

    def __post_init__(self) -> None:
        check_formulas(self.epsilon, self.delta)
        if self.dummies[0] == self.dummies[1] or not all(0 <= dummy <= self.most for dummy in self.dummies):
            raise SpecError(
                "The dummy records are not two different values from 0 to the largest value.",
                "Choose two that the attacker does not know.",
            )

    @property
    def alpha(self) -> float:
        """What the smooth bound is divided by."""
        return divisor(self.epsilon, self.delta)

    @property
    def beta(self) -> float:
        """The smoothness."""
        return smoothness(self.epsilon, self.delta)

    def exact(self, a: Floats, b: Floats) -> Welch:
        """Welch's test of both groups with the dummy records.

        Args:
            a: values of the first group in [0, m], shape (n_A,); it may be empty: which group a record is in
                is protected, so that only the number of all records is looked at.
            b: values of the second group, shape (n_B,).

        Raises:
            SpecError: there are fewer than two records, or a value is out of range. So do the other methods.
        """
        a, b = self._records(a, b)
        one, two = (_sample(np.concatenate([group, self.dummies])) for group in (a, b))
        tested = ttest_ind_from_stats(
            one.mean, sqrt(one.variance), one.size, two.mean, sqrt(two.variance), two.size, equal_var=False
        )
        below = sum((g.variance / g.size) ** 2 / (g.size - 1) for g in (one, two))
        above = (one.variance / one.size + two.variance / two.size) ** 2
        return Welch(float(tested.statistic), above / below, float(tested.pvalue))

    def release(self, a: Floats, b: Floats) -> float:
        """The statistic with noise drawn by OpenDP; see the module for what is guaranteed.

        The statistic and the bound are computed in double precision, of whose rounding the theorem does not
        speak: this is for studies, and no method of a release offers it.
        """
        budget = Smooth(self.epsilon, self.delta)
        return float(budget.release([self.exact(a, b).t], self.smooth(a, b))[0])

    def local(self, a: Floats, b: Floats) -> float:
        """The local sensitivity of t with dummy data, exactly (Definition 7.3); O(n).

        A record leaves one group and comes into the same or the other, with any value in [0, m]. As a
        function of that value t is a line divided by the root of a parabola: it is largest and least at 0, at
        m, or where its only derivative is zero.
        """
        a, b = self._records(a, b)
        groups = [np.concatenate([group, self.dummies]) for group in (a, b)]
        here = self.exact(a, b).t
        worst = 0.0
        for left, values in enumerate((a, b)):
            if not len(values):
                continue
            for into in (0, 1):
                found = [_without(groups[left], values), _constant(groups[1 - left], len(values))]
                parts = found if left == 0 else found[::-1]
                worst = max(worst, float(np.abs(_reached(parts, into, self.most) - here).max()))
        return worst

    def smooth(self, a: Floats, b: Floats) -> float:
        """The smooth bound on the sensitivity of t."""
        a, b = self._records(a, b)
        total = len(a) + len(b)
        groups = [_Extremes(np.sort(group), total, self.most, self.dummies) for group in (a, b)]
        least = (self.dummies[0] - self.dummies[1]) ** 2 / ((total + 1) * (total + 2))
        bound = 2 * self.most / sqrt(least)
        best, before = 0.0, _largest_t(groups, 0)
        for changes in range(total + 1):
            after = _largest_t(groups, min(changes + 1, total))
            best = max(best, exp(-self.beta * changes) * (before + after))
            if exp(-self.beta * (changes + 1)) * bound <= best:
                break
            before = after
        return best

    def algorithm_8(self, a: Floats, b: Floats) -> float:
        """The thesis's value for the smooth sensitivity, which is not smooth."""
        path = self.path(a, b)
        return float((np.exp(-self.beta * np.arange(len(path))) * path).max())

    def path(self, a: Floats, b: Floats) -> Floats:
        """Equation 7.8 on the tables of Algorithm 8, whatever epsilon and delta, shape (n_A + n_B,)."""
        a, b = self._records(a, b)
        groups = [_Shrinking(np.sort(group), self.dummies) for group in (a, b)]
        bounds = np.empty(len(a) + len(b))
        for changes in range(len(bounds)):
            least = [group.after_change() for group in groups]
            gap = abs(groups[0].mean - groups[1].mean)
            bounds[changes] = local_bound(groups[0].size, groups[1].size, gap, min(least), self.most)
            groups[least.index(min(least))].change()
        return bounds

    def _records(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Both groups, checked."""
        groups = [np.asarray(group, dtype=np.float64) for group in (a, b)]
        for name, group in zip("AB", groups, strict=True):
            if group.ndim != 1:
                raise SpecError(f"Group {name} is not a row of numbers.", "Give an array of one dimension.")
            wrong = int((~((group >= 0) & (group <= self.most))).sum())
            if wrong:
                raise SpecError(
                    f"Group {name} has {wrong} values that are not numbers in [0, {self.most:g}].",
                    "Take gaps out, clamp values, or choose a larger m from general knowledge.",
                )
        if len(groups[0]) + len(groups[1]) < 2:
            raise SpecError(
                f"There are {len(groups[0]) + len(groups[1])} records, and a t-test compares two groups.",
                "Give two records or more; dummy records do not count.",
            )
        return groups[0], groups[1]


def local_bound(first: int, second: int, gap: float, variance: float, most: float) -> float:
    """Equation 7.8: a bound on the sensitivity of t at one table.

    Args:
        first: records of the first group, dummies included.
        second: of the second group.
        gap: the absolute difference of the means.
        variance: the least that either group has, before or after a change.
        most: m.
    """
    reach = most / min(first, second)
    here = sqrt(first * second / (first + second))
    bound = 2 * here * (gap + reach)
    for fewer, more in ((first, second), (second, first)):
        moved = sqrt((fewer - 1) * (more + 1) / (first + second))
        bound = max(bound, (here + moved) * (gap + 2 * reach))
    return bound / sqrt(variance)


Sums = tuple[int, Floats, Floats]
"""Of a group in several cases its size, its sums and the sums of squares about its means."""


def _constant(values: Floats, cases: int) -> Sums:
    mean = values.mean()
    squares = ((values - mean) ** 2).sum()
    return len(values), np.full(cases, mean), np.full(cases, squares)


def _without(values: Floats, leaving: Floats) -> Sums:
    """The group without each of the values that may leave."""
    size, (mean, *_), (squares, *_) = _constant(values, 1)
    means = mean + (mean - leaving) / (size - 1)
    return size - 1, means, np.maximum(squares - (leaving - mean) ** 2 * size / (size - 1), 0.0)


def _reached(parts: list[Sums], into: int, most: float) -> Floats:
    """The largest and least t when a value comes into a group, and those at 0 and m, shape (3, cases)."""
    size, means, squares = parts[into]
    other_size, other_means, other_squares = parts[1 - into]
    sign = 1.0 if into == 0 else -1.0
    # with v the distance of the value from the mean, t = (p + q v) / sqrt(r + u v**2)
    p, q = sign * (means - other_means), sign / (size + 1)
    r = squares / ((size + 1) * size) + other_squares / (other_size * (other_size - 1))
    u = (size / (size + 1)) / ((size + 1) * size)
    with np.errstate(divide="ignore", invalid="ignore"):
        vertex = np.where(p == 0, 0.0, q * r / (p * u))
    ends = np.stack([-means, most - means, np.clip(vertex, -means, most - means)])
    reached: Floats = (p + q * ends) / np.sqrt(r + u * ends**2)
    return reached


def _sample(values: Floats) -> Sample:
    mean = float(values.mean())
    return Sample(len(values), mean, float(((values - mean) ** 2).sum()) / (len(values) - 1))


def _largest_t(groups: list[_Extremes], changes: int) -> float:
    (low_a, high_a), (low_b, high_b) = (group.means(changes) for group in groups)
    square = sum(group.least_square(changes) for group in groups)
    return max(high_a - low_b, high_b - low_a) / sqrt(square)


class _Extremes:
    """How far the mean and the spread of a group can go.

    Args:
        values: sorted, shape (n,).
        total: records of both groups.
        most: m.
        dummies: the records that stay.
    """

    def __init__(self, values: Floats, total: int, most: float, dummies: tuple[float, float]) -> None:
        self._count = len(values)
        self._total = total
        self._middle = sum(dummies) / 2
        self._low, self._high = -self._middle, most - self._middle
        self._fixed = (dummies[0] - dummies[1]) ** 2 / 2
        centred = values - self._middle
        self._sums = np.concatenate([[0.0], np.cumsum(centred)])
        self._squares = np.concatenate([[0.0], np.cumsum(centred**2)])
        self._spreads: list[float] = []

    def means(self, changes: int) -> tuple[float, float]:
        """The least and the largest mean after so many changes."""
        gone, sizes = self._reachable(changes)
        come = sizes - 2 - (self._count - gone)
        low = (self._sums[self._count - gone] + come * self._low) / sizes
        high = (self._sums[-1] - self._sums[gone] + come * self._high) / sizes
        return self._middle + float(low.min()), self._middle + float(high.max())

    def least_square(self, changes: int) -> float:
        """The least variance over size after so many changes."""
        gone, sizes = self._reachable(changes)
        self._spreads += [self._spread(removed) for removed in range(len(self._spreads), len(gone))]
        return float((np.array(self._spreads[: len(gone)]) / (sizes * (sizes - 1.0))).min())

    def _reachable(self, changes: int) -> tuple[Ints, Ints]:
        """How many values may leave, and the largest size with dummies after that."""
        gone = np.arange(min(changes, self._count) + 1)
        return gone, np.minimum(self._count - gone + changes, self._total) + 2

    def _spread(self, removed: int) -> float:
        """The least sum of squares about the mean of all but so many values, and the dummies."""
        kept = self._count - removed
        sums = self._sums[kept:] - self._sums[: removed + 1]
        squares = self._squares[kept:] - self._squares[: removed + 1]
        return max(float((squares - sums**2 / (kept + 2)).min()), 0.0) + self._fixed


class _Shrinking:
    """A group whose farthest values are replaced, one after the other, by the mean of the others.

    Args:
        values: sorted, shape (n,).
        dummies: the records that stay.
    """

    def __init__(self, values: Floats, dummies: tuple[float, float]) -> None:
        held = _sample(np.concatenate([values, dummies]))
        self.size = len(values) + 2
        self.mean = held.mean
        self._spread = held.variance * (self.size - 1)
        self._values = values
        self._left, self._right = 0, len(values) - 1

    def after_change(self) -> float:
        """The least variance that one change can leave."""
        _, distance = self._farthest()
        replaced = (self._spread - self.size * distance**2 / (self.size - 1)) / (self.size - 1)
        return min(replaced, self._spread / self.size)

    def change(self) -> None:
        """Replace the farthest value."""
        at_left, distance = self._farthest()
        if self._left > self._right:
            return
        value = float(self._values[self._left if at_left else self._right])
        self._spread -= self.size * distance**2 / (self.size - 1)
        self.mean += (self.mean - value) / (self.size - 1)
        self._left, self._right = (self._left + 1, self._right) if at_left else (self._left, self._right - 1)

    def _farthest(self) -> tuple[bool, float]:
        if self._left > self._right:
            return True, 0.0
        left = abs(float(self._values[self._left]) - self.mean)
        right = abs(float(self._values[self._right]) - self.mean)
        return left >= right, max(left, right)
