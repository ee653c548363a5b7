"""Counts of the original, estimated from a release of SPLU-Gen.

Rows are counted by state: whether the predicate over non-sensitive columns holds, and for each sensitive
column of the question whether the value is among those asked for. What a row's state becomes is a Kronecker
product of 2 x 2 matrices, one a column, each with the rows "not among" and "among":

    [ 1 - b   b     ]
    [ r       1 - r ]

r is the probability that a row leaves the set, b that one enters it. For one value of count f in n rows
r = 1 - 1 / gamma; there are gamma f rows with the value among their decoys, (gamma - 1) f of them among the
n - f others, so that b = r f / (n - f). The paper's equations 6 to 9 have f / n for b, with which the count
of a value in the whole table is not the published one that Theorem 2 has, but up to 1 / gamma less;
`estimate_as_printed` is theirs, for comparison.

For a set of values, how often two values share a group is taken as u_s u_t, with u such that it fits all
counts: what groups have after their trades, see `generation.partition`.

Reference: Fu et al., Small sum privacy and large sum utility in data publishing, 2014, sections 4 and 5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Bool = NDArray[np.bool_]

NORMAL_95: Final = 1.959963984540054
_BLIND: Final = 1e-6
_ROUNDS: Final = 5000
_TOLERANCE: Final = 1e-7


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimated count.

    Attributes:
        count: at least 0.
        low: lower end of the 95 % interval.
        high: upper end.
        rounds: of the iterative Bayesian method; 0 where the likelihood has its maximum in closed form.
        converged: whether the last round changed no state by more than 1e-7 of all rows.
    """

    count: float
    low: float
    high: float
    rounds: int = 0
    converged: bool = True


@dataclass(frozen=True, slots=True)
class Blur:
    """What happens to a set of values of one column.

    Attributes:
        leaving: r above, in [0, 1 - 1 / gamma].
    """

    leaving: float

    @classmethod
    def of(cls, counts: Float, chosen: Bool, gamma: int) -> Blur:
        """The blur of a set of values.

        Args:
            counts: published, of each value of the domain, shape (v,).
            chosen: the values asked for, shape (v,).
            gamma: the size of decoy groups.
        """
        inside = float(counts[chosen].sum())
        if int(chosen.sum()) == 1 or inside == 0:
            return cls(1 - 1 / gamma)
        if inside == counts.sum():
            return cls(0.0)
        weights = _weights(counts, gamma)
        part, total = float(weights[chosen].sum()), float(weights.sum())
        return cls(min(1 - 1 / gamma, part * (total - part) / (gamma * inside)))

    def matrix(self, share: Float) -> Float:
        """The transition matrix.

        Args:
            share: of the rows that are in the set, any shape.

        Returns:
            Of the same shape and (2, 2) behind it; rows are states before, columns after.
        """
        rest = np.maximum(1 - share, 1e-12)
        entering = np.minimum(self.leaving * share / rest, 1.0)
        leaving = np.full_like(entering, self.leaving)
        return np.stack(
            [np.stack([1 - entering, entering], -1), np.stack([leaving, 1 - leaving], -1)], axis=-2
        )


def estimate(observed: Float, blurs: Sequence[Blur]) -> Estimate:
    """The count of rows in the last state of all, with a 95 % interval.

    The interval follows from the covariance of the published counts given the original ones, carried over by
    the derivatives of the closed form (delta method), and widened at small counts as a score interval.

    Args:
        observed: published rows by state, shape (2, 2, ..., 2): the predicate over non-sensitive columns
            first, then a sensitive column each.
        blurs: of the sensitive columns, in this order.
    """
    observed = np.asarray(observed, dtype=np.float64)
    total, inside = float(observed.sum()), float(observed[1].sum())
    if not blurs or inside == 0:
        return Estimate(inside, inside, inside)
    matrices = _matrices(observed, blurs)
    if min(float(np.linalg.det(one)) for one in matrices) < _BLIND:
        return Estimate(inside * _independent(observed), 0.0, inside)
    free = _invert(observed[None], blurs)[0]
    counts, rounds, converged = free, 0, True
    if free.min() < 0:
        counts, rounds, converged = iterate(
            np.maximum(free, total * 1e-9), observed, lambda _: matrices, _TOLERANCE * total
        )
    spread = _Spread(np.maximum(counts, 0), _gradient(observed, blurs), blurs)
    shares = np.array([_share(observed, axis) for axis in range(1, observed.ndim)])
    growth = spread.growth(shares)
    target = (-1,) * observed.ndim
    middle = float(free[target]) + NORMAL_95**2 * growth / 2
    half = NORMAL_95 * np.sqrt(spread.total(shares) + (NORMAL_95 * growth) ** 2 / 4)
    low, high = (float(np.clip(end, 0, inside)) for end in (middle - half, middle + half))
    count = float(np.clip(counts[target], 0, inside))
    return Estimate(count, min(low, count), max(high, count), rounds, converged)


def estimate_as_printed(observed: Float, gammas: Sequence[int], tolerance: float = 0.01) -> Estimate:
    """The paper's own iteration: equations 13 and 14, b = f / n, until no state changes by 1 %; no interval.

    Args:
        observed: as in `estimate`.
        gammas: of the sensitive columns.
        tolerance: the largest relative change of a state in the last round.
    """
    observed = np.asarray(observed, dtype=np.float64)

    def matrices(counts: Float) -> list[Float]:
        shares = [_share(counts, axis) for axis in range(1, counts.ndim)]
        return [
            np.array([[1 - share, share], [1 - 1 / gamma, 1 / gamma]])
            for share, gamma in zip(shares, gammas, strict=True)
        ]

    found, rounds, converged = iterate(observed, observed, matrices, tolerance, relative=True)
    count = float(found[(-1,) * observed.ndim])
    return Estimate(count, count, count, rounds, converged)


def iterate(
    start: Float,
    observed: Float,
    matrices: Callable[[Float], Sequence[Float]],
    tolerance: float,
    *,
    relative: bool = False,
) -> tuple[Float, int, bool]:
    """The iterative Bayesian method: expectation maximisation of the likelihood of the published counts.

    Args:
        start: first guess of the original counts by state, shape (2, ..., 2).
        observed: published counts, of the same shape.
        matrices: of a guess the transition matrix of each axis but the first, on which nothing changes.
        tolerance: it ends where a round changes no state by more, rows or parts of the state.
        relative: whether `tolerance` is a part of the state.

    Returns:
        The counts, the number of rounds, and whether it ended before 5,000.

    Reference: the paper, equation 14.
    """
    counts = start
    for number in range(1, _ROUNDS + 1):
        fresh = _round(counts, observed, matrices(counts))
        change = np.abs(fresh - counts)
        if relative:
            change = np.divide(change, counts, out=np.zeros_like(change), where=counts > 0)
        elif number % 4 == 0:
            fresh = _further(counts, fresh, _round(fresh, observed, matrices(fresh)))
        counts = fresh
        if change.max() <= tolerance:
            return counts, number, True
    return counts, _ROUNDS, False


def _round(counts: Float, observed: Float, matrices: Sequence[Float]) -> Float:
    expected = _apply(counts, [one.T for one in matrices])
    ratio = np.divide(observed, expected, out=np.zeros_like(observed), where=expected > 0)
    found: Float = counts * _apply(ratio, matrices)
    return found


def _further(counts: Float, once: Float, twice: Float) -> Float:
    """A step where rounds lead, within what counts may be; all that follow are rounds again.

    Reference: Varadhan and Roland, Simple and globally convergent methods for accelerating the convergence of
    any EM algorithm, Scandinavian Journal of Statistics 2008 (SQUAREM, step length of the third kind).
    """
    first, second = once - counts, twice - 2 * once + counts
    bend = float(np.linalg.norm(second))
    length = max(1.0, float(np.linalg.norm(first)) / bend) if bend > 0 else 1.0
    found: Float = np.maximum(counts + 2 * length * first + length**2 * second, twice / 10)
    scaled: Float = found * (twice.sum() / found.sum())
    return scaled


@dataclass(frozen=True, slots=True)
class _Spread:
    """The variance of an estimate that is linear in the published counts.

    Attributes:
        counts: original, by state.
        slope: derivatives of the estimate, by state.
        blurs: of the sensitive columns.
    """

    counts: Float
    slope: Float
    blurs: Sequence[Blur]

    def by_row(self, shares: Float) -> Float:
        """What a row of each state adds."""
        matrices = [blur.matrix(share) for blur, share in zip(self.blurs, shares, strict=True)]
        return _apply(self.slope**2, matrices) - _apply(self.slope, matrices) ** 2

    def total(self, shares: Float) -> float:
        """The variance, if sets have these shares of all rows."""
        return float((self.counts * self.by_row(shares)).sum())

    def growth(self, shares: Float) -> float:
        """By how much it grows with every row that is in the last state and not in another; at least 0."""
        others = self.counts[1].copy()
        others[(-1,) * others.ndim] = 0
        weight = max(float(others.sum()), 1e-9)
        each = self.by_row(shares)
        outside = np.array([np.take(others, 0, axis=axis).sum() for axis in range(others.ndim)]) / weight
        moved = shares + outside / self.counts.sum()
        gone = float((others * each[1]).sum()) / weight
        came = float(each[(-1,) * each.ndim])
        return max(0.0, came - gone + self.total(moved) - self.total(shares))


def _weights(counts: Float, gamma: int) -> Float:
    """The u of which u_s (sum of u - u_s) = (gamma - 1) f_s for every value s."""
    wanted = (gamma - 1) * counts
    found: Float = wanted / np.sqrt(max(float(wanted.sum()), 1e-12))
    for _ in range(200):
        rest = np.maximum(found.sum() - found, 1e-12)
        fresh = np.sqrt(found * wanted / rest)
        if np.abs(fresh - found).max() <= 1e-12 * fresh.max():
            break
        found = fresh
    return found


def _share(counts: Float, axis: int) -> float:
    return float(np.take(counts, 1, axis=axis).sum() / counts.sum())


def _independent(observed: Float) -> float:
    """The share of the last state if nothing had to do with anything."""
    return float(np.prod([_share(observed, axis) for axis in range(1, observed.ndim)]))


def _matrices(observed: Float, blurs: Sequence[Blur]) -> list[Float]:
    return [blur.matrix(np.asarray(_share(observed, axis))) for axis, blur in enumerate(blurs, 1)]


def _apply(states: Float, matrices: Sequence[Float]) -> Float:
    """The Kronecker product of the matrices times a vector of states, axis by axis; the first axis stays."""
    for axis, matrix in enumerate(matrices, 1):
        states = np.moveaxis(np.tensordot(matrix, states, axes=(1, axis)), 0, axis)
    return states


def _invert(observed: Float, blurs: Sequence[Blur]) -> Float:
    """The counts that the published ones are the expectation of, unbounded; shape (batch, 2, ..., 2)."""
    total = observed.reshape(len(observed), -1).sum(axis=1)
    inverses = []
    for axis, blur in enumerate(blurs, 2):
        share = np.take(observed, 1, axis=axis).reshape(len(observed), -1).sum(axis=1) / total
        inverses.append(np.linalg.inv(blur.matrix(share)))
    found = observed
    for axis, inverse in enumerate(inverses, 2):
        moved = np.moveaxis(found, axis, -1)
        found = np.moveaxis(np.einsum("b...i,bij->b...j", moved, inverse), -1, axis)
    return found


def _gradient(observed: Float, blurs: Sequence[Blur]) -> Float:
    """The derivatives of the last state of `_invert` by the published counts, shape of `observed`."""
    step = max(1e-5 * float(observed.sum()), 1e-3)
    size = observed.size
    moves = step * np.eye(size).reshape(size, *observed.shape)
    both = _invert(np.concatenate([observed + moves, observed - moves]), blurs).reshape(2, size, size)
    slope: Float = (both[0, :, -1] - both[1, :, -1]) / (2 * step)
    return slope.reshape(observed.shape)
