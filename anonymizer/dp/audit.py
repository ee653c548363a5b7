"""Audits: the least privacy loss that outputs on two neighbouring tables prove, whatever was claimed.

An adversary who sees one output guesses which table it was made from. How often the guess is right on either
table bounds epsilon from below, up to a stated probability of error. A bound above the claim refutes it; one
below proves nothing.

References: Clopper and Pearson, The use of confidence or fiducial limits, Biometrika 26, 1934; Ding, Wang,
Wang, Zhang and Kifer, Detecting violations of differential privacy, CCS 2018 (events are chosen on one half
of the outputs and counted on the other).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import inf, log

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta

from anonymizer.errors import SpecError

Float = NDArray[np.float64]


def clopper_pearson(hits: int, runs: int, wrong: float) -> tuple[float, float]:
    """Bounds of a probability.

    Args:
        hits: how often the event was seen, 0 to `runs`.
        runs: how often it could have been, 1 or more.
        wrong: the probability with which each bound may be wrong, in (0, 0.5).

    Returns:
        The lower and the upper bound, in [0, 1].

    Raises:
        SpecError: an argument is out of range.
    """
    if not (runs >= 1 and 0 <= hits <= runs):
        raise SpecError(f"{hits} hits in {runs} runs are impossible.", "Count hits among the runs.")
    if not 0 < wrong < 0.5:
        raise SpecError(f"The probability of error is {wrong}.", "Choose one in (0, 0.5), such as 1e-6.")
    low = float(beta.ppf(wrong, hits, runs - hits + 1)) if hits else 0.0
    high = float(beta.isf(wrong, hits + 1, runs - hits)) if hits < runs else 1.0
    return low, high


def event_loss(first: int, second: int, runs: tuple[int, int], delta: float, wrong: float) -> float:
    """The least epsilon that the frequencies of one event prove, at least 0.

    Args:
        first: how often the event was seen in runs on one table.
        second: the same on its neighbour.
        runs: how many there were on each.
        delta: the probability that the claim leaves out.
        wrong: the probability with which the bound may be wrong, in (0, 0.5).

    Raises:
        SpecError: as `clopper_pearson`.
    """
    low = clopper_pearson(first, runs[0], wrong / 2)[0] - delta
    high = clopper_pearson(second, runs[1], wrong / 2)[1]
    return max(0.0, log(low / high)) if low > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Event:
    """What an attacker looks for in an output: a number that is at least a threshold, or less.

    Attributes:
        threshold: of the number.
        above: whether it is to be at least the threshold.
        swapped: whether outputs on the second table show it more often.
    """

    threshold: float
    above: bool
    swapped: bool

    def hits(self, values: Float) -> int:
        """How many of the numbers, shape (r,), it is true of."""
        reached = int((values >= self.threshold).sum())
        return reached if self.above else len(values) - reached

    def counts(self, first: Float, second: Float) -> tuple[int, int]:
        """The hits where it is commoner and where it is rarer."""
        one, two = (second, first) if self.swapped else (first, second)
        return self.hits(one), self.hits(two)

    def loss(self, first: Float, second: Float, delta: float, wrong: float) -> float:
        """The least epsilon that it proves, counted on outputs by which it was not chosen."""
        runs = (len(second), len(first)) if self.swapped else (len(first), len(second))
        return event_loss(*self.counts(first, second), runs, delta, wrong)


def best_event(first: Float, second: Float, delta: float, wrong: float) -> tuple[float, Event]:
    """The event that proves most of outputs on two tables.

    Args:
        first: one finite number of each output on one table, shape (r,), r at least 1.
        second: the same on its neighbour, shape (s,).
        delta: the probability that the claim leaves out.
        wrong: as in `event_loss`, for a single event: the choice is not counted.

    Returns:
        What it seems to prove, -inf for less than nothing; and the event.
    """
    both = np.concatenate([first, second])
    thresholds = np.unique(np.quantile(both, np.linspace(0, 1, 51), method="lower"))
    reached = [len(one) - np.searchsorted(np.sort(one), thresholds) for one in (first, second)]
    best, chosen = -inf, Event(float(thresholds[0]), True, False)
    for swapped in (False, True):
        one, two = (1, 0) if swapped else (0, 1)
        sizes = [len(first), len(second)]
        lows, highs = _bounds(sizes[one], wrong / 2)[0], _bounds(sizes[two], wrong / 2)[1]
        for above in (True, False):
            hits = [count if above else size - count for count, size in zip(reached, sizes, strict=True)]
            with np.errstate(divide="ignore", invalid="ignore"):
                found = np.log(np.maximum(lows[hits[one]] - delta, 0.0) / highs[hits[two]])
            place = int(found.argmax())
            if found[place] > best:
                best, chosen = float(found[place]), Event(float(thresholds[place]), above, swapped)
    return best, chosen


@lru_cache(maxsize=64)
def _bounds(runs: int, wrong: float) -> tuple[Float, Float]:
    """`clopper_pearson` of all numbers of hits, shapes (runs + 1,)."""
    hits = np.arange(runs + 1)
    low, high = np.zeros(runs + 1), np.ones(runs + 1)
    low[1:] = beta.ppf(wrong, hits[1:], runs - hits[1:] + 1)
    high[:-1] = beta.isf(wrong, hits[:-1] + 1, runs - hits[:-1])
    return low, high


def loss_at_least(first: ArrayLike, second: ArrayLike, *, delta: float = 0.0, wrong: float = 1e-6) -> float:
    """The least epsilon that a statistic of outputs on two neighbouring tables proves.

    Events are "at least t" and "less than t", each with either table first. The threshold is chosen on the
    outputs of even number and counted on the others, so that the choice costs no confidence.

    Args:
        first: one number of each output on one table, shape (r,), r at least 4; for the strongest audit its
            log-likelihood ratio.
        second: the same on its neighbour, shape (s,).
        delta: the probability that the claim leaves out.
        wrong: the probability with which the bound may be wrong, in (0, 0.5).

    Returns:
        A lower bound on every epsilon for which the claim could hold with this delta, at least 0. With
        `wrong` 1e-6 no more than about log(r / 29) is ever proved.

    Raises:
        SpecError: a sample has fewer than four outputs or is not of numbers; or as `clopper_pearson`.
    """
    samples = [np.asarray(one, dtype=np.float64) for one in (first, second)]
    if min(len(one) for one in samples) < 4 or any(np.isnan(one).any() for one in samples):
        raise SpecError("An audit needs four numbers or more of each table.", "Run it more often.")
    one, two = samples
    _, event = best_event(one[::2], two[::2], delta, wrong)
    return event.loss(one[1::2], two[1::2], delta, wrong)
