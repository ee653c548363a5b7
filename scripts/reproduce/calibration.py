"""How often an attack succeeds where w words are shared, and from how many on it is to be taken for one.

Reference: thesis, section 6.2.3, Figure 6.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.stats import beta

from anonymizer.errors import TableError

FEWEST: Final = 20
"""Fewer documents calibrate nothing."""


@dataclass(frozen=True, slots=True)
class Observation:
    """A document whose names are known.

    Attributes:
        shared: w, the most words that a hit shares with it.
        succeeded: whether a hit has a name.
    """

    shared: int
    succeeded: bool


@dataclass(frozen=True, slots=True)
class SuccessRate:
    """How often attacks succeeded.

    Attributes:
        shared: w.
        documents: with this w.
        succeeded: of these.
        low: of the probability of success, the lower end of its interval (Clopper-Pearson).
        high: the upper end.
    """

    shared: int
    documents: int
    succeeded: int
    low: float
    high: float

    @property
    def rate(self) -> float:
        """The part that succeeded."""
        return self.succeeded / self.documents


def rates(observations: Sequence[Observation], confidence: float = 0.95) -> tuple[SuccessRate, ...]:
    """Figure 6.3: the rate of success for each w that occurs, with its own interval.

    Args:
        observations: one for each document: hits of one document are not independent.
        confidence: of each interval, between 0 and 1.

    Raises:
        TableError: there are fewer than 20 documents, or the confidence is out of range.
    """
    _check(observations, confidence)
    shared = np.array([one.shared for one in observations])
    succeeded = np.array([one.succeeded for one in observations])
    found = []
    for w in np.unique(shared):
        n, k = int(np.sum(shared == w)), int(np.sum(succeeded[shared == w]))
        alpha = (1 - confidence) / 2
        low = float(beta.ppf(alpha, k, n - k + 1)) if k else 0.0
        high = float(beta.ppf(1 - alpha, k + 1, n - k)) if k < n else 1.0
        found.append(SuccessRate(int(w), n, k, low, high))
    return tuple(found)


def threshold(observations: Sequence[Observation], probability: float, confidence: float = 0.95) -> int:
    """The largest w of which documents that share fewer words are found with at most this probability.

    Documents below it are let go, so that what counts is how many of them are found all the same. The bound
    is Clopper-Pearson's upper one for all documents below, with a confidence for all thresholds together
    (Bonferroni), so that the choice among them does not spoil it. It is about documents and an engine like
    those of the observations, and says nothing of others.

    Args:
        observations: one for each document.
        probability: that is borne for documents below the threshold, between 0 and 1.
        confidence: of the bound, between 0 and 1.

    Returns:
        1 or more, to be given to `SharedWords`.

    Raises:
        TableError: there are too few documents to show so low a probability, or too many of those that share
            few words were found; or an argument is out of range.
    """
    _check(observations, confidence)
    if not 0 < probability < 1:
        raise TableError(f"A probability of {probability} is out of range.", "Take one between 0 and 1.")
    shared = np.array([one.shared for one in observations])
    succeeded = np.array([one.succeeded for one in observations])
    candidates = [int(w) + 1 for w in np.unique(shared)]
    alpha = (1 - confidence) / len(candidates)
    best = None
    for w in candidates:
        n, k = int(np.sum(shared < w)), int(np.sum(succeeded[shared < w]))
        if k < n and float(beta.ppf(1 - alpha, k + 1, n - k)) <= probability:
            best = w
    if best is None:
        least = int(np.ceil(np.log(alpha) / np.log1p(-probability)))
        raise TableError(
            f"No threshold has a probability of at most {probability:g} below it with a confidence of "
            f"{confidence:g}.",
            f"At least {least:,} documents without success are needed below it, and there are "
            f"{int(np.sum(~succeeded)):,} in all; give more documents, or bear a higher probability.",
        )
    return best


def _check(observations: Sequence[Observation], confidence: float) -> None:
    if len(observations) < FEWEST:
        raise TableError(
            f"{len(observations)} documents are too few to calibrate with.", f"Give {FEWEST} or more."
        )
    if not 0 < confidence < 1:
        raise TableError(f"A confidence of {confidence} is out of range.", "Take one between 0 and 1.")
