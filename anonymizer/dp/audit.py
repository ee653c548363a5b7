"""Audits: the least privacy loss that outputs on two neighbouring tables prove, whatever was claimed.

An adversary who sees one output guesses which table it was made from. How often the guess is right on either
table bounds epsilon from below, up to a stated probability of error. A bound above the claim refutes it; one
below proves nothing.

References: Clopper and Pearson, The use of confidence or fiducial limits, Biometrika 26, 1934; Ding, Wang,
Wang, Zhang and Kifer, Detecting violations of differential privacy, CCS 2018 (events are chosen on one half
of the outputs and counted on the other).
"""

from __future__ import annotations

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
    chosen = _best([one[::2] for one in samples], delta, wrong)
    if chosen is None:
        return 0.0
    threshold, above, swapped = chosen
    held = [one[1::2] for one in (samples[::-1] if swapped else samples)]
    hits = [int((one >= threshold).sum() if above else (one < threshold).sum()) for one in held]
    return event_loss(hits[0], hits[1], (len(held[0]), len(held[1])), delta, wrong)


def _best(samples: list[Float], delta: float, wrong: float) -> tuple[float, bool, bool] | None:
    """The threshold, whether the event lies above it, and whether the second table comes first."""
    thresholds = np.unique(np.quantile(np.concatenate(samples), np.linspace(0, 1, 51)))
    best, chosen = -inf, None
    for swapped in (False, True):
        one, two = samples[::-1] if swapped else samples
        for threshold in thresholds.tolist():
            for above in (True, False):
                hits = [int((x >= threshold).sum() if above else (x < threshold).sum()) for x in (one, two)]
                found = event_loss(hits[0], hits[1], (len(one), len(two)), delta, wrong)
                if found > best:
                    best, chosen = found, (threshold, above, swapped)
    return chosen
