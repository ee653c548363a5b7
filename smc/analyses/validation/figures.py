"""From noisy numbers of rows by score and outcome to figures about the model; all of it is local.

Of the area under the curve the variance is that of sampling, by placements within the cells (DeLong, DeLong
and Clarke-Pearson, Biometrics 1988), plus that of the noise, to first order; of rates likewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.records.numbers import text
from smc.analyses.studies.outcome import Table
from smc.analyses.validation.parameters import ValidationParameters

Floats = NDArray[np.float64]

NORMAL_95: Final = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its variances.

    Attributes:
        value: of the figure.
        sampling: what other rows of the same kind would vary it by.
        noise: what noise varies it by.
    """

    value: float
    sampling: float
    noise: float

    def cells(self) -> tuple[float, float, float, float]:
        """Value, both ends of the 95 % interval of both, and half the width of that of noise alone."""
        reach = NORMAL_95 * sqrt(self.sampling + self.noise)
        ends = max(0.0, self.value - reach), min(1.0, self.value + reach)
        return self.value, *ends, NORMAL_95 * sqrt(self.noise)


@dataclass(frozen=True, slots=True)
class ScoreCounts:
    """Rows by score and outcome, with noise.

    Attributes:
        negative: rows between the cuts whose outcome is 0, shape (cuts + 1,).
        positive: those whose outcome is 1.
        variance: of the noise of each number.

    Numbers that limits withhold are NaN, and what they belong to has no figure.
    """

    negative: Floats
    positive: Floats
    variance: float

    def area(self) -> Figure | None:
        """The chance that a row with the outcome has a higher score than one without; ties count half."""
        below, above = self.negative.sum(), self.positive.sum()
        # not so where one is withheld, either
        if not min(below, above) > NORMAL_95 * sqrt(self.variance * len(self.negative)):
            return None
        under = (np.cumsum(self.negative) - self.negative / 2) / below
        over = (above - np.cumsum(self.positive) + self.positive / 2) / above
        value = float((self.positive * under).sum() / above)
        spread = (self.positive.clip(0) * (under - value) ** 2).sum() / above**2
        spread += (self.negative.clip(0) * (over - value) ** 2).sum() / below**2
        steep = (((under - value) / above) ** 2).sum() + (((over - value) / below) ** 2).sum()
        return Figure(min(max(value, 0.0), 1.0), float(spread), float(self.variance * steep))

    def rate(self, part: Sequence[float], whole: Sequence[float]) -> Figure | None:
        """The part that some numbers have of others, which hold them and come first among them."""
        top, bottom = float(sum(part)), float(sum(whole))
        if not bottom > NORMAL_95 * sqrt(self.variance * len(whole)):
            return None
        value = min(max(top / bottom, 0.0), 1.0)
        rest = len(whole) - len(part)
        noise = self.variance * (len(part) * (1 - value) ** 2 + rest * value**2) / bottom**2
        return Figure(value, value * (1 - value) / bottom, noise)

    def brier(self, middles: Floats) -> Figure | None:
        """The mean squared distance of outcomes from chances, taken for the middles of their cells."""
        rows = float(self.negative.sum() + self.positive.sum())
        if not rows > NORMAL_95 * sqrt(2 * self.variance * len(middles)):
            return None
        losses = np.concatenate([middles**2, (1 - middles) ** 2])
        numbers = np.concatenate([self.negative, self.positive])
        value = float((numbers * losses).sum() / rows)
        spread = float((numbers.clip(0) * (losses - value) ** 2).sum() / rows**2)
        noise = float(self.variance * ((losses - value) ** 2).sum() / rows**2)
        return Figure(min(max(value, 0.0), 1.0), spread, noise)


def tables_of(
    parameters: ValidationParameters, numbers: Sequence[int | None], variance: float
) -> tuple[Table, ...]:
    """The result: figures, rows by score, and rows by prediction.

    Args:
        parameters: of the job.
        numbers: rows by score, without the outcome and then with it; None where limits withhold them.
        variance: of the noise of each.
    """
    half = len(numbers) // 2
    held = np.array(numbers, dtype=np.float64)
    counts = ScoreCounts(held[:half], held[half:], variance)
    return _figures(parameters, counts), _by_score(parameters, counts), _by_prediction(parameters, counts)


def _figures(parameters: ValidationParameters, counts: ScoreCounts) -> Table:
    place = parameters.bins.index(parameters.predicted) + 1
    false, true = counts.negative[place:].tolist(), counts.positive[place:].tolist()
    without, missed = counts.negative[:place].tolist(), counts.positive[:place].tolist()
    found: dict[str, Figure | None] = {
        "area under the curve": counts.area(),
        "sensitivity": counts.rate(true, true + missed),
        "specificity": counts.rate(without, without + false),
        "positive predictive value": counts.rate(true, true + false),
        "negative predictive value": counts.rate(without, without + missed),
    }
    if parameters.has_chances:
        found["Brier score"] = counts.brier(_middles(parameters))
    names = ("value", "lower_95", "upper_95", "noise_alone")
    columns: dict[str, list[Any]] = {"figure": [*found]} | {name: [] for name in names}
    for figure in found.values():
        cells = (None,) * 4 if figure is None else figure.cells()
        for name, cell in zip(names, cells, strict=True):
            columns[name].append(cell)
    return Table("validation", columns)


def _by_score(parameters: ValidationParameters, counts: ScoreCounts) -> Table:
    """Of each cell the rows, those with the outcome, and their part, beside what the model says."""
    ends = ["", *map(text, parameters.bins), ""]
    columns: dict[str, list[Any]] = {
        "from": [end or None for end in ends[:-1]],
        "to": [end or None for end in ends[1:]],
        "rows": _whole(counts.negative + counts.positive),
        "with_outcome": _whole(counts.positive),
        "part": [],
        "part_lower_95": [],
        "part_upper_95": [],
    }
    if parameters.has_chances:
        columns["predicted"] = _middles(parameters).tolist()
    for with_outcome, without in zip(counts.positive.tolist(), counts.negative.tolist(), strict=True):
        part = counts.rate([with_outcome], [with_outcome, without])
        cells = (None, None, None) if part is None else part.cells()[:3]
        for name, cell in zip(("part", "part_lower_95", "part_upper_95"), cells, strict=True):
            columns[name].append(cell)
    return Table("by score", columns)


def _by_prediction(parameters: ValidationParameters, counts: ScoreCounts) -> Table:
    place = parameters.bins.index(parameters.predicted) + 1
    sides = (counts.positive, counts.negative)
    return Table(
        "by prediction",
        {
            "outcome": [1, 0],
            "predicted_1": _whole(np.array([side[place:].sum() for side in sides])),
            "predicted_0": _whole(np.array([side[:place].sum() for side in sides])),
        },
    )


def _whole(numbers: Floats) -> list[int | None]:
    return [None if isnan(each) else round(each) for each in numbers.tolist()]


def _middles(parameters: ValidationParameters) -> Floats:
    ends = np.array([0.0, *map(float, parameters.bins), 1.0])
    found: Floats = (ends[1:] + ends[:-1]) / 2
    return found
