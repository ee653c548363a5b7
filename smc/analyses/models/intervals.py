"""Time cut into intervals within which the hazard of a Cox model is taken for constant.

The side with the times chooses the intervals, so that about as many of its events fall into each, and tells
nobody. A row is followed through a part of each interval, from 0 to 1, so that the likelihood is that of
counts of events with these parts as exposures. As intervals become shorter, it becomes that of Cox.

References: Holford, Life tables with concomitant information, Biometrics 1976; Friedman, Piecewise
exponential models for survival data with covariates, Annals of Statistics 1982; Breslow, Covariance analysis
of censored survival data, Biometrics 1974.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.models.design import Floats, Ints

INTERVALS: Final = 32
"""At most; fewer where there are not enough events."""

PERIODS: Final = 8
"""So many periods of intervals: averages of those at risk, by which a step is found, are taken over these."""

EACH: Final = INTERVALS // PERIODS

_FEWEST_EVENTS: Final = 8
"""In an interval, of the rows of the side that has the times."""


@dataclass(frozen=True, slots=True)
class Intervals:
    """Intervals, at most `INTERVALS`, spread evenly over as many places, of which the others stay empty.

    Attributes:
        ends: ascending, shape (k + 1,): an interval is from one, exclusive, to the next, inclusive; empty
            where there is no event.
    """

    ends: Ints = field(repr=False)

    @classmethod
    def of(cls, times: Ints, events: NDArray[np.bool_]) -> Intervals:
        """Of the times of rows, and whether they ended with the event."""
        when = np.sort(times[events])
        if not len(when):
            return cls(np.zeros(0, dtype=np.int64))
        count = max(1, min(INTERVALS, len(when) // _FEWEST_EVENTS))
        last = when[-(-np.arange(1, count + 1) * len(when) // count) - 1]
        return cls(np.concatenate([[when[0] - 1], np.unique(last)]).astype(np.int64))

    @property
    def places(self) -> Ints:
        """Of the intervals among `INTERVALS`, so that periods have about as many each."""
        count = max(0, len(self.ends) - 1)
        return np.arange(count) * INTERVALS // max(1, count)

    def follow_up(self, times: Ints) -> Floats:
        """Through which part of each interval rows are followed, shape (n, `INTERVALS`)."""
        found = np.zeros((len(times), INTERVALS))
        if len(self.ends):
            parts = (times[:, None] - self.ends[:-1]) / np.diff(self.ends)
            found[:, self.places] = np.clip(parts, 0, 1)
        return found

    def mark_events(self, times: Ints, events: NDArray[np.bool_]) -> Ints:
        """In which interval each event happened, 0 or 1, shape (n, `INTERVALS`)."""
        found = np.zeros((len(times), INTERVALS), dtype=np.int64)
        rows = np.flatnonzero(events)
        found[rows, self.places[np.searchsorted(self.ends[1:], times[rows])]] = 1
        return found


def piecewise(
    covariates: Floats, followed: Floats, happened: Ints, coefficients: Floats
) -> tuple[Floats, Floats]:
    """Gradient and information of the likelihood, hazards chosen so that it is largest.

    Args:
        covariates: shape (n, p).
        followed: see `Intervals.follow_up`.
        happened: see `Intervals.mark_events`.
        coefficients: shape (p,).

    Returns:
        Shapes (p,) and (p, p).
    """
    risk = np.exp(covariates @ coefficients)
    events, exposed = happened.sum(axis=0), followed.T @ risk
    some = np.where(exposed > 0, exposed, 1)
    expected = risk * (followed @ (events / some))
    average = (followed.T @ (risk[:, None] * covariates)) / some[:, None]
    gradient = covariates.T @ (happened.sum(axis=1) - expected)
    return gradient, (covariates * expected[:, None]).T @ covariates - (average * events[:, None]).T @ average


def in_periods(followed: Floats, happened: Ints) -> Floats:
    """Through which part of each period rows are followed, by the hazard of its intervals, shape (n, 8).

    Args:
        followed: see `Intervals.follow_up`; of all rows of a side, whose hazards these are.
        happened: see `Intervals.mark_events`.
    """
    exposed = followed.sum(axis=0)
    hazards = happened.sum(axis=0) / np.where(exposed > 0, exposed, 1)
    weighed = (followed * hazards).reshape(-1, PERIODS, EACH).sum(axis=2)
    totals = hazards.reshape(PERIODS, EACH).sum(axis=1)
    found: Floats = weighed / np.where(totals > 0, totals, 1)
    return found
