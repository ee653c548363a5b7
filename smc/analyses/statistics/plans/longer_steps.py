"""Whether curves with longer steps would say more for the same loss: noise is drawn for each step.

The number of rows at risk is a sum of noisy cells, and with many short steps the noise in it soon outweighs
the rows; what the steps tell of single days is lost in the noise of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import Final

import numpy as np

from smc.analyses.records.numbers import text
from smc.analyses.statistics.kinds.survival.noisy import Redrawn
from smc.analyses.statistics.kinds.survival.statistic import Survival
from smc.analyses.statistics.plans.planned import Planned
from smc.analyses.statistics.queries.rows import Ints
from smc.numeric.random import Randomness

_PART: Final = 0.5
"""Steps are short enough where noise makes no more than this part of the standard error of curves."""

_FACTORS: Final = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 60)


def advise_steps(plans: Sequence[Planned], entries: Sequence[Ints], sides: int) -> tuple[str, ...]:
    """What to say of queries about survival whose steps are so short that the noise decides.

    Args:
        plans: of all queries.
        entries: of each the local ones.
        sides: how often they count, as of `smc.analyses.statistics.plans.precision.expected_precision`.
    """
    found = (
        _advise(planned.statistic, sides * own[0, : planned.statistic.layout.size])
        for planned, own in zip(plans, entries, strict=True)
        if isinstance(planned.statistic, Survival)
    )
    return tuple(said for said in found if said)


@dataclass(frozen=True, slots=True)
class _Judged:
    """Curves as they can be expected.

    Attributes:
        reach: until when all of them are shown, in held units of the times.
        part: the largest part of a standard error that noise makes.
    """

    reach: int
    part: float

    @property
    def says_more_of_rows(self) -> bool:
        """Whether noise is the smaller part everywhere."""
        return self.part <= _PART


def _advise(statistic: Survival, cells: Ints) -> str:
    layout, asked = statistic.layout, statistic.query.follow_up
    now = _judge(statistic, cells)
    if asked is None or (now.says_more_of_rows and now.reach == layout.step * layout.steps):
        return ""
    usable = [factor for factor in _FACTORS if layout.steps % factor == 0]
    tried = [
        (factor, _judge(replace(statistic, layout=layout.coarser(factor)), layout.merge(cells, factor)))
        for factor in usable
    ]
    better = [
        (factor, one)
        for factor, one in tried
        if one.says_more_of_rows
        and one.reach >= now.reach
        and (one.reach > now.reach or not now.says_more_of_rows)
    ]
    if not better:
        return (
            f"{statistic.query.name}: for so few rows noise is the larger part of the error of curves, or "
            "ends them early; raise epsilon, or compare fewer groups."
        )
    factor, best = max(better, key=lambda each: (each[1].reach, -each[0]))
    step = (asked.step or asked.every) * factor
    key = "step" if step < asked.every else "every"
    unit = 10 ** statistic.schemas[0].scale
    until, earlier = (text(Fraction(one.reach, unit)) for one in (best, now))
    return (
        f'{statistic.query.name}: with {key} = "{text(step)}" curves would reach {until} instead of '
        f"{earlier}, and noise would be the smaller part of their error."
    )


def _judge(statistic: Survival, cells: Ints) -> _Judged:
    random = Randomness.from_seed(b"", statistic.query.name)
    layout = statistic.layout
    redrawn = Redrawn.of(layout, cells.astype(np.float64), statistic.distributions[0], random)
    reach, worst = layout.steps, 0.0
    for group in range(len(layout.groups)):
        figures = redrawn.figures(group, 1, 0)
        shown = np.isfinite(figures.survival)
        reach = min(reach, (int(shown.sum()) - 1) * layout.stride)
        varies = shown & (figures.variance > 0)
        if figures.noise is not None and varies.any():
            worst = max(worst, float((figures.noise[varies] / figures.variance[varies]).max()))
    return _Judged(reach * layout.step, sqrt(worst))
