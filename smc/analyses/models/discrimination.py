"""How well a logistic model tells apart those with and without the outcome: AUC with its interval.

    each side    histograms of the scores of its rows with and without the outcome, 512 bins
    in secret    ranks of the bins among the rows of both, products with the histograms
    opened       how many have the outcome, the AUC and what its variance is made of, rounded

Rows in one bin count as ties, by half. The histograms are never opened, and no curve is.

Reference: DeLong, DeLong and Clarke-Pearson, Comparing the areas under two or more correlated receiver
operating characteristic curves, Biometrics 1988, in terms of placements.
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


@dataclass(frozen=True, slots=True)
class Discrimination:
    """What is opened, each but the first a part of the rows, or of its square or cube.

    Attributes:
        positives: rows with the outcome, of both.
        rows: of both.
        area: sum over those with the outcome of how many without it score less.
        placed: sum of the squares of that.
        placed_others: the same of those without the outcome, by how many with it score more.
    """

    positives: int
    rows: int
    area: float
    placed: float
    placed_others: float

    @property
    def auc(self) -> float | None:
        """The area under the curve; None where all rows have one outcome."""
        first, second = self._parts
        return self.area / (first * second) if first > 0 and second > 0 else None

    @property
    def error(self) -> float | None:
        """Its standard error after DeLong."""
        auc = self.auc
        if auc is None or min(self.positives, self.rows - self.positives) < 2:
            return None
        first, second = self._parts
        of_first = max(0.0, self.placed / (first * second**2) - auc**2) / (self.positives - 1)
        of_second = max(0.0, self.placed_others / (second * first**2) - auc**2)
        return sqrt(of_first + of_second / (self.rows - self.positives - 1))

    @property
    def _parts(self) -> tuple[float, float]:
        return self.positives / self.rows, 1 - self.positives / self.rows


def histograms(rows: ModelRows, coefficients: Floats) -> Floats:
    """How many of the local rows without and with the outcome have which scores, shape (2, `BINS`)."""
    score = np.clip(rows.covariates @ coefficients, -WIDEST, WIDEST)
    place = np.minimum(BINS - 1, ((score + WIDEST) * (BINS / (2 * WIDEST))).astype(np.int64))
    return np.stack([np.bincount(place[rows.outcome == each], minlength=BINS) for each in (0, 1)]).astype(
        np.float64
    )


def joint_figures(session: Session, own: Floats, rows: int, total: int) -> list[SecretReals]:
    """What is to be opened, of the histograms of both.

    Args:
        session: this side of the run.
        own: histograms of the local rows.
        rows: the larger number of rows of a side, public.
        total: rows of both, public.
    """
    counts = SecretReals.sum_of_both(session, own, 0, rows, 0).known(0, total)
    parts = _part_of(counts, total)
    without, with_ = parts[:1], parts[1:]
    below = _part_of(_twice(counts[:1].cumsum(), counts[:1], total), 2 * total)
    above = _part_of(_twice(counts[1:].cumsum(reverse=True), counts[1:], total), 2 * total)
    area = (with_ * below).known(0, 1)
    figures = (area, (area * below).known(0, 1), ((without * above).known(0, 1) * above).known(0, 1))
    return [counts[1:].sum().known(0, total), *(_shown(figure) for figure in figures)]


def read_figures(opened: Sequence[Floats], total: int) -> Discrimination:
    """What came out of the opening of `joint_figures`."""
    return Discrimination(int(opened[0][0]), total, *(float(figure[0]) for figure in opened[1:]))


def plainly(sides: Sequence[ModelRows], coefficients: Floats) -> Discrimination:
    """The same in the clear."""
    without, with_ = np.sum([histograms(rows, coefficients) for rows in sides], axis=0)
    total = int(without.sum() + with_.sum())
    below = (np.cumsum(without) - without / 2) / total
    above = (np.cumsum(with_[::-1])[::-1] - with_ / 2) / total
    sums = (with_ @ below, with_ @ below**2, without @ above**2)
    return Discrimination(int(with_.sum()), total, *(float(each) / total for each in sums))


def _part_of(counts: SecretReals, total: int) -> SecretReals:
    """Counts as parts of a public number."""
    factor = Fixed.of(1 / total, _RECIPROCAL_BITS)
    parts = counts.ints * factor
    return SecretReals(parts, counts.statements).rescale(_FRACTION_BITS).known(0, 1)


def _twice(sums: SecretReals, counts: SecretReals, total: int) -> SecretReals:
    """Twice what is below a bin and half of what is in it."""
    return (sums.known(0, total) * 2 - counts).known(0, 2 * total)


def _shown(parts: SecretReals) -> SecretReals:
    return parts.sum().known(0, 1).rescale(_SHOWN_BITS)
