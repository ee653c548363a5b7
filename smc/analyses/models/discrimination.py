"""How well a logistic model tells apart those with and without the outcome: AUC with its interval.

    each side    histograms of the scores of its rows with and without the outcome, 512 bins
    in secret    ranks of the bins among the rows of both, products with the histograms
    opened       how many have the outcome, and the AUC, rounded

Rows in one bin count as ties, by half. The histograms are never opened, and no curve is.

A side that brings a thousand rows of one score reads from the AUC how many cases of the other side lie beyond
that score, a cut of its choice that no limit looks at. One row changes the sum that is opened by at most
1 / N where N rows are the other side's, whatever is brought beside them. So under limits it is rounded to a
unit of m / N or more of the smaller side: m persons move it by one unit at most. But rows of its own also put
the border between two units where a side wants it, so that one job says whether at most k cases are beyond:
such jobs give results about single rows.

Reference: Hanley and McNeil, The meaning and use of the area under a receiver operating characteristic (ROC)
curve, Radiology 1982, for the standard error by the area alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np

from smc.analyses.models.design import Floats, ModelRows
from smc.protocols.session import Session
from smc.secret.reals.reals import SecretReals
from smc.secret.sharing.fixed import Fixed

BINS: Final = 512
WIDEST: Final = 8.0
"""Scores beyond count as this."""

_FRACTION_BITS: Final = 24
_SHOWN_BITS: Final = 16
_RECIPROCAL_BITS: Final = 46
TWO_SIDED_95: Final = 1.959963984540054
_WIDEST_UNIT: Final = 0.1
"""Of the area under the curve: of one that is rounded to more the interval alone is told."""


@dataclass(frozen=True, slots=True)
class Discrimination:
    """What is opened.

    Attributes:
        positives: rows with the outcome, of both.
        rows: of both.
        area: sum over those with the outcome of how many without it score less, as a part of the square of
            the rows.
        unit: to which the area was rounded; 0 if it was not.
    """

    positives: int
    rows: int
    area: float
    unit: float = 0.0

    @property
    def auc(self) -> float | None:
        """The area under the curve; None where all rows have one outcome, or rounding leaves nothing."""
        return min(1.0, self.area / self._pairs) if self._pairs > self.unit / _WIDEST_UNIT else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Of 95 %, of all areas that are rounded to this one: each end with the error of the sample there."""
        if min(self.positives, self.rows - self.positives) < 2:
            return None
        low, high = ((self.area + side * self.unit / 2) / self._pairs for side in (-1, 1))
        low, high = max(0.0, low), min(1.0, high)
        ends = low - TWO_SIDED_95 * self._error(low), high + TWO_SIDED_95 * self._error(high)
        return max(0.0, ends[0]), min(1.0, ends[1])

    def _error(self, area: float) -> float:
        """The standard error of an area."""
        first, second = self.positives, self.rows - self.positives
        of_first = area / (2 - area) - area**2
        of_second = 2 * area**2 / (1 + area) - area**2
        variance = area * (1 - area) + (first - 1) * of_first + (second - 1) * of_second
        return sqrt(max(0.0, variance) / (first * second))

    @property
    def _pairs(self) -> float:
        """Pairs of different outcomes as a part of the square of the rows."""
        return self.positives * (self.rows - self.positives) / self.rows**2


def histograms(rows: ModelRows, coefficients: Floats) -> Floats:
    """How many of the local rows without and with the outcome have which scores, shape (2, `BINS`)."""
    score = np.clip(rows.covariates @ coefficients, -WIDEST, WIDEST)
    place = np.minimum(BINS - 1, ((score + WIDEST) * (BINS / (2 * WIDEST))).astype(np.int64))
    return np.stack([np.bincount(place[rows.outcome == each], minlength=BINS) for each in (0, 1)]).astype(
        np.float64
    )


def shown_bits(rows: int, indistinct: int) -> int:
    """Fractional bits of the area.

    Args:
        rows: of the smaller side, public.
        indistinct: how many persons must not show; 0 where nothing is rounded by that.
    """
    if not indistinct:
        return _SHOWN_BITS
    return max(0, min(_SHOWN_BITS, rows.bit_length() - 1 - (indistinct - 1).bit_length()))


def joint_figures(session: Session, own: Floats, rows: int, total: int, bits: int) -> list[SecretReals]:
    """What is to be opened, of the histograms of both.

    Args:
        session: this side of the run.
        own: histograms of the local rows.
        rows: the larger number of rows of a side, public.
        total: rows of both, public.
        bits: as of `shown_bits`.
    """
    counts = SecretReals.sum_of_both(session, own, 0, rows, 0).known(0, total)
    parts = _part_of(counts, total)
    without, with_ = counts[:1], parts[1:]
    below = _part_of((without.cumsum().known(0, total) * 2 - without).known(0, 2 * total), 2 * total)
    area = (with_ * below).known(0, 1).sum().known(0, 1).rescale(bits)
    return [counts[1:].sum().known(0, total), area]


def read_figures(opened: Sequence[Floats], total: int, bits: int) -> Discrimination:
    """What came out of the opening of `joint_figures`."""
    return Discrimination(int(opened[0][0]), total, float(opened[1][0]), 2.0**-bits)


def plainly(sides: Sequence[ModelRows], coefficients: Floats) -> Discrimination:
    """The same in the clear, not rounded."""
    without, with_ = np.sum([histograms(rows, coefficients) for rows in sides], axis=0)
    total = int(without.sum() + with_.sum())
    below = (np.cumsum(without) - without / 2) / total
    return Discrimination(int(with_.sum()), total, float(with_ @ below) / total)


def _part_of(counts: SecretReals, total: int) -> SecretReals:
    """Counts as parts of a public number."""
    factor = Fixed.of(1 / total, _RECIPROCAL_BITS)
    parts = counts.ints * factor
    return SecretReals(parts, counts.statements).rescale(_FRACTION_BITS).known(0, 1)
