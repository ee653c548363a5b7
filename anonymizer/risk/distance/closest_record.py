"""The distance to the closest record against a hold-out, and membership inference by it.

A release that was made of some records must not lie nearer to them than to others of the same kind. Of each
released record it is asked whether the nearest record is one that the release was made of or one of as many
held
out: one half is what chance gives. Membership inference turns this round: who has a candidate's record takes
the distance to the nearest released one, and says "was there" if it is small. Against records held out the
attacker's gain over guessing is measured, by the area under the ROC curve and by the hits at a false alarm of
1 %.
References: Platzer and Reutterer, Holdout-based empirical assessment of mixed-type synthetic data, Frontiers
in Big Data 4, 2021; Yeom et al., Privacy risk in machine learning, CSF 2018 (advantage); Hanley and McNeil,
The meaning and use of the area under a ROC curve, Radiology 143, 1982 (interval); Carlini et al., Membership
inference attacks from first principles, IEEE S&P 2022 (low false alarms).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np
import scipy

from anonymizer.errors import TableError
from anonymizer.risk.attacks.outcome import Rate
from anonymizer.risk.distance.space import Float, nearest
from anonymizer.tables.randomness import Randomness

FALSE_ALARM: Final = 0.01
MIN_CONTROL: Final = 100
"""Fewer held-out records have no 1 % to speak of."""


@dataclass(frozen=True, slots=True)
class ClosestRecord:
    """Which records released ones are nearest to.

    Attributes:
        closer: released records whose nearest record is one that the release was made of; ties count as
            chance would have it.
        fifth: the 5th percentile of the distances to the original.
        fifth_held_out: the 5th percentile of the distances to the records held out.
    """

    closer: Rate
    fifth: float
    fifth_held_out: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The confidence interval of the part of `closer`; one that lies above 1/2 shows copying."""
        return self.closer.interval(level)


@dataclass(frozen=True, slots=True)
class Membership:
    """What an attacker learns of who was in the original.

    Attributes:
        area: under the ROC curve; 1/2 is guessing.
        interval: of the area, 95 %.
        advantage: the largest true minus false alarm rate, over all thresholds: an optimist's figure, as the
            threshold is chosen afterwards.
        hits: members that are found where at most 1 % of the others are accused.
    """

    area: float
    interval: tuple[float, float]
    advantage: float
    hits: Rate


def closest_record(
    original: Float, release: Float, held_out: Float, seed: int | None = None
) -> ClosestRecord:
    """Compare the distances to the original and to as many records held out.

    Args:
        original: that the release was made of, shape (m, d).
        release: shape (n, d).
        held_out: of the same population, shape (h, d); of the larger of both, as many as the smaller has are
            drawn.
        seed: of the draw and of ties; None is the operating system's randomness.

    Raises:
        TableError: a table has no rows.
    """
    if not len(release) or not len(held_out) or not len(original):
        raise TableError("A table has no rows.", "Give at least one of original, release and hold-out.")
    random = Randomness(seed, "closest record")
    size = min(len(original), len(held_out))
    own, other = (each[random.sample(len(each), size)] for each in (original, held_out))
    to_own, to_other = nearest(release, own), nearest(release, other)
    coins = random.words(len(release)) % np.uint64(2) == 0
    closer = np.where(to_own == to_other, coins, to_own < to_other)
    return ClosestRecord(
        Rate(int(closer.sum()), len(closer)),
        float(np.quantile(to_own, 0.05)),
        float(np.quantile(to_other, 0.05)),
    )


def membership(original: Float, release: Float, held_out: Float) -> Membership:
    """Attack membership by the distance to the nearest released record.

    Args:
        original: the members, shape (m, d).
        release: shape (n, d).
        held_out: of the same population and not members, shape (h, d).

    Raises:
        TableError: the original or the release has no rows, or fewer than 100 are held out.
    """
    if not len(original) or len(held_out) < MIN_CONTROL:
        raise TableError(
            f"Membership inference needs members and {MIN_CONTROL} records held out; there are "
            f"{len(original)} and {len(held_out)}.",
            "Hold more rows out.",
        )
    inside, outside = nearest(original, release), nearest(held_out, release)
    ranks = scipy.stats.rankdata(np.concatenate([-inside, -outside]))
    m, h = len(inside), len(outside)
    area = float((ranks[:m].sum() - m * (m + 1) / 2) / (m * h))
    thresholds = np.unique(np.concatenate([inside, outside]))
    true = np.searchsorted(np.sort(inside), thresholds, side="right") / m
    false = np.searchsorted(np.sort(outside), thresholds, side="right") / h
    allowed = np.flatnonzero(false <= FALSE_ALARM)
    hits = round(float(true[allowed[-1]]) * m) if len(allowed) else 0
    return Membership(area, _area_interval(area, m, h), float(max(0.0, (true - false).max())), Rate(hits, m))


def _area_interval(area: float, m: int, h: int) -> tuple[float, float]:
    """Hanley and McNeil's, 95 %."""
    first, second = area / (2 - area), 2 * area * area / (1 + area)
    variance = (area * (1 - area) + (m - 1) * (first - area * area) + (h - 1) * (second - area * area)) / (
        m * h
    )
    half = float(scipy.special.ndtri(0.975)) * sqrt(max(0.0, variance))
    return max(0.0, area - half), min(1.0, area + half)
