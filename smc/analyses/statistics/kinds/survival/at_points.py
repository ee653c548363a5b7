"""Figures of a group from those at the points that are shown, where the steps between stay secret.

Survival, its variance, incidences and rows at risk are known at some points. What is an integral over the
steps is worked out along straight lines between shown points: restricted means, and the variances of these
and of incidences. Of an interval the variance V of log S grows by a, while S falls by the part x; then about
x / (a (1 - x)) rows were at risk in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.curves import Shows
from smc.analyses.statistics.kinds.survival.figures import GroupFigures
from smc.analyses.statistics.kinds.survival.life_table import Floats, falling

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class OpenedGroup:
    """What opened of a group; figures where they are not shown hold anything.

    Attributes:
        shown: where figures are known, of each kind of `Shows`, shape (kinds, points + 1).
        at_risk: rows followed beyond the start and each point.
        survival: the part without any event.
        variance: of its logarithm.
        competing: the part with each competing event, shape (kinds of events - 1, points + 1).
    """

    shown: Mask
    at_risk: Floats
    survival: Floats
    variance: Floats
    competing: Floats


def group_figures(opened: OpenedGroup, mean_points: int, stride: int) -> GroupFigures | None:
    """The figures of a group; None where nothing of it is shown.

    Args:
        opened: what opened.
        mean_points: points of the restricted mean; 0 where it is not asked.
        stride: steps between points.
    """
    length = opened.shown.shape[1]
    places = np.flatnonzero(opened.shown[Shows.EVENTS])
    if not len(places) or places[0]:
        return None
    height = falling(opened.survival[places])
    logarithmic = np.maximum.accumulate(np.maximum(opened.variance[places], 0.0))
    mean = None
    if mean_points and mean_points in places:
        until = int(np.flatnonzero(places == mean_points)[0]) + 1
        times = places[:until].astype(np.float64) * stride
        mean = _restricted_mean(times, height[:until], logarithmic[:until])
    kinds = opened.shown[Shows.KINDS, places]
    others = np.maximum.accumulate(np.clip(opened.competing[:, places[kinds]], 0, 1), axis=1)
    own = np.clip(1 - height[kinds] - others.sum(axis=0), 0, 1)
    chances = np.concatenate([own[None], others])
    spread = _incidence_variance(height[kinds], logarithmic[kinds], chances)
    at_risk = np.where(opened.shown[Shows.LEAVERS], opened.at_risk, np.nan)
    return GroupFigures(
        round(float(opened.at_risk[0])),
        at_risk,
        _place(height, places, length),
        _place(height**2 * logarithmic, places, length),
        None,
        _place(chances, places[kinds], length),
        _place(spread, places[kinds], length),
        mean,
    )


def _place(values: Floats, places: NDArray[np.intp], length: int) -> Floats:
    found: Floats = np.full((*values.shape[:-1], length), np.nan)
    found[..., places] = values
    return found


def _restricted_mean(times: Floats, height: Floats, logarithmic: Floats) -> tuple[float, float]:
    """The area below straight lines, and its variance."""
    areas = np.diff(times) * (height[1:] + height[:-1]) / 2
    rest = np.concatenate([areas[::-1].cumsum()[::-1], [0.0]])
    later = (rest[1:] + rest[:-1]) / 2
    return float(areas.sum()), float((later**2 * np.diff(logarithmic)).sum())


def _incidence_variance(height: Floats, logarithmic: Floats, chances: Floats) -> Floats:
    """As `smc.analyses.statistics.kinds.survival.life_table.incidence` has it, of intervals for steps."""
    before, grown = height[:-1], np.diff(logarithmic)
    fallen = np.clip(1 - np.divide(height[1:], before, out=np.ones_like(before), where=before > 0), 0, 1)
    rows = np.divide(fallen, grown * (1 - fallen), out=np.zeros_like(fallen), where=grown * (1 - fallen) > 0)
    part = np.clip(np.diff(chances, axis=1), 0, None)
    own = np.divide(part, before, out=np.zeros_like(part), where=before > 0)
    per_row = np.divide(own, rows, out=np.zeros_like(own), where=rows > 0)
    added = before**2 * per_row * (1 - own)
    cross = before * per_row
    found = np.zeros_like(chances)
    for end in range(1, chances.shape[1]):
        apart = chances[:, end : end + 1] - chances[:, 1 : end + 1]
        found[:, end] = (apart**2 * grown[:end] + added[:, :end] - 2 * apart * cross[:, :end]).sum(axis=1)
    return np.maximum(found, 0)
