"""The largest epsilon that keeps a limit of risk, or the least that has the best utility within it.

A curve is fitted through the risks of trial releases. Where it crosses the limit, about half of the releases
keep it. What is chosen lies below: one release in twenty at most is expected beyond the limit, by the scatter
of single releases around the curve and by that of curves that are fitted to trials drawn anew (bootstrap).
Reference: the RoD paper, sections 3.2.5 and 3.4. Its curves of risk and utility meet in epsilon, which is all
that its "multidimensional curve" comes to; it has no uncertainty.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from anonymizer.choosing.curves import Curve, choose_curve, fit_curve, mean_weights
from anonymizer.choosing.figures import Figure
from anonymizer.choosing.trials import Trials
from anonymizer.errors import SpecError, UnreachableError
from anonymizer.tables.randomness import Randomness

Float = NDArray[np.float64]
Goal = Literal["largest", "utility"]

GOALS: Final[tuple[Goal, ...]] = ("largest", "utility")
CONFIDENCE: Final = 0.95
DRAWS: Final = 200
_GRID: Final = 400


@dataclass(frozen=True, slots=True)
class Fit:
    """A curve through the trials, and how sure it is.

    Attributes:
        curve: the best of the families.
        errors: of each family, on epsilons that were left out.
        grid: epsilons, shape (g,).
        low: of a single release, the quantile (1 - `CONFIDENCE`) at each, shape (g,).
        high: the quantile `CONFIDENCE`.
        curves: of trials drawn anew, shape (draws, g).
    """

    curve: Curve
    errors: dict[str, float]
    grid: Float = field(repr=False)
    low: Float = field(repr=False)
    high: Float = field(repr=False)
    curves: Float = field(repr=False)


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen.

    Attributes:
        epsilon: to release with.
        goal: what was looked for.
        limit: of the figure of risk.
        crossing: where the curve itself crosses the limit; the end of the range if it does not.
        interval: 95 % interval of the crossing, within the range.
        at_end: whether the limit is kept at the largest epsilon that was tried, so that a larger one might be
            allowed too.
        risk: expected at epsilon, and the bound that one release in twenty is expected beyond.
        utility: expected at epsilon.
        trials: what it is chosen by.
        risk_fit: the curve of risk.
        utility_fit: the curve of utility.
    """

    epsilon: float
    goal: Goal
    limit: float
    crossing: float
    interval: tuple[float, float]
    at_end: bool
    risk: tuple[float, float]
    utility: float
    trials: Trials = field(repr=False)
    risk_fit: Fit = field(repr=False)
    utility_fit: Fit = field(repr=False)

    @property
    def story(self) -> str:
        """Where the curve crosses the limit, a sentence."""
        low, high = self.interval
        if self.crossing >= self.risk_fit.grid[-1]:
            return "The curve does not cross the limit at the epsilons that were tried."
        return (
            f"The curve ({self.risk_fit.curve.family}) crosses the limit at epsilon {self.crossing:.4g}, "
            f"95 % interval {low:.4g} to {high:.4g}: there about half of the releases keep it."
        )


def choose(trials: Trials, limit: float, goal: Goal = "largest", seed: int | None = None) -> Choice:
    """Choose epsilon.

    Args:
        trials: at six epsilons or more.
        limit: of the figure of risk: an upper one where less is better, a lower one where more is.
        goal: "largest": the largest epsilon that keeps the limit; "utility": the least one below it whose
            expected utility is within its uncertainty of the best.
        seed: of the trials drawn anew; None is the operating system's randomness.

    Raises:
        SpecError: the limit is negative or not finite, or the goal is unknown.
        UnreachableError: at no epsilon that was tried the limit is kept.
    """
    if not (np.isfinite(limit) and limit >= 0):
        raise SpecError(f"The limit is {limit}.", "Give a number of 0 or more.")
    if goal not in GOALS:
        raise SpecError(f"The goal {goal!r} is unknown.", f"Choose one of {', '.join(GOALS)}.")
    epsilons = trials.column("epsilon")
    randomness = Randomness(seed, "choice of epsilon")
    risk = fit(epsilons, trials.column("risk"), trials.risk, randomness)
    utility = fit(epsilons, trials.column("utility"), trials.utility, randomness)
    bound = risk.high if trials.risk.better == "less" else risk.low
    kept = _first_run(_keeps(trials.risk, bound, limit))
    if not kept:
        worst = "at least" if trials.risk.better == "less" else "at most"
        raise UnreachableError(
            f"At no epsilon that was tried the limit {limit:.4g} of {trials.risk.title} is kept; at epsilon "
            f"{risk.grid[0]:.4g} one release in twenty is expected to have {worst} {bound[0]:.4g}.",
            "Allow more risk, try smaller epsilons, or repeat more often.",
        )
    crossings = [_crossing(trials.risk, risk.grid, one, limit) for one in risk.curves]
    interval = (float(np.quantile(crossings, 0.025)), float(np.quantile(crossings, 0.975)))
    place = kept - 1 if goal == "largest" else _least_as_good(utility, kept, trials.utility)
    return Choice(
        _round_down(float(risk.grid[place]), float(risk.grid[0])),
        goal,
        limit,
        _crossing(trials.risk, risk.grid, risk.curve(risk.grid), limit),
        interval,
        kept == len(risk.grid),
        (float(risk.curve(risk.grid)[place]), float(bound[place])),
        float(utility.curve(utility.grid)[place]),
        trials,
        risk,
        utility,
    )


def fit(epsilons: Float, values: Float, figure: Figure, randomness: Randomness) -> Fit:
    """Fit a curve, and say how sure it is by drawing the trials anew.

    Args:
        epsilons: of the trials, each at least twice.
        values: of the figure.
        figure: says whether it falls or rises.
        randomness: to draw from.

    Raises:
        TableError: as `choose_curve`.
    """
    curve, errors = choose_curve(epsilons, values, figure.direction, relative=True)
    grid = np.geomspace(*curve.ends, _GRID)
    places, which, counts = np.unique(epsilons, return_inverse=True, return_counts=True)
    scale = _Scale(float(values.min()))
    moved, seen = scale.to(values), scale.to(curve(epsilons))
    means = np.bincount(which, moved) / counts
    # A few releases around their own mean scatter less than they do around the true one.
    scatter = (moved - means[which]) * np.sqrt(counts / np.maximum(counts - 1, 1))[which]
    order = np.argsort(which, kind="stable")
    starts = np.cumsum(counts) - counts
    curves = np.empty((DRAWS, _GRID))
    for draw in range(DRAWS):
        drawn = order[starts[which] + (randomness.uniform(len(values)) * counts[which]).astype(np.int64)]
        anew = np.maximum(scale.back(means[which] + scatter[drawn]), 0.0)
        weights = mean_weights(epsilons, anew)
        curves[draw] = fit_curve(curve.family, epsilons, anew, curve.ends, figure.direction, weights)(grid)
    squares = np.asarray(np.bincount(which, np.square(moved - seen)), dtype=np.float64)
    reach = _reach(squares, counts, places, grid)
    middle = scale.to(curve(grid))
    half = np.sqrt(np.square(reach) + np.square(ndtri(CONFIDENCE)) * scale.to(curves).var(axis=0))
    low, high = scale.back(middle - half), scale.back(middle + half)
    return Fit(curve, dict(errors), grid, np.maximum(low, 0.0), high, curves)


@dataclass(frozen=True, slots=True)
class _Scale:
    """Logarithms where all values are above 0, since scatter then goes with the value; else as they are.

    Attributes:
        least: of the values.
    """

    least: float

    def to(self, values: Float) -> Float:
        """A curve may touch 0 where no value does: it counts as a tenth of the least."""
        return np.log(np.maximum(values, self.least / 10)) if self.least > 0 else values

    def back(self, moved: Float) -> Float:
        """The other way round."""
        return np.exp(moved) if self.least > 0 else moved


def _reach(squares: Float, counts: NDArray[Any], places: Float, grid: Float) -> Float:
    """How far beyond the curve one release in twenty lies, shape (g,).

    Few releases at one epsilon say little of their scatter: it is taken together with that of both
    neighbours, what the curve misses included, by Student's t.
    """
    last = len(places)
    reaches = []
    for place in range(last):
        some = slice(max(0, min(place - 1, last - 3)), min(last, max(place + 2, 3)))
        free = int(counts[some].sum()) - 1
        reaches.append(float(stdtrit(free, CONFIDENCE)) * np.sqrt(squares[some].sum() / free))
    return np.asarray(np.interp(np.log(grid), np.log(places), reaches), dtype=np.float64)


def _keeps(figure: Figure, values: Float, limit: float) -> NDArray[np.bool_]:
    return values <= limit if figure.better == "less" else values >= limit


def _first_run(kept: NDArray[np.bool_]) -> int:
    """How many epsilons from the least on keep the limit without a gap."""
    missed = np.flatnonzero(~kept)
    return int(missed[0]) if len(missed) else len(kept)


def _crossing(figure: Figure, grid: Float, values: Float, limit: float) -> float:
    """The largest epsilon up to which values keep a limit; the least of the grid if none does."""
    return float(grid[max(0, _first_run(_keeps(figure, values, limit)) - 1)])


def _least_as_good(fit: Fit, kept: int, figure: Figure) -> int:
    """The first of the kept epsilons whose utility is as good as the best, but for a standard error."""
    values, sign = fit.curve(fit.grid)[:kept], 1.0 if figure.better == "more" else -1.0
    best = int(np.argmax(sign * values))
    error = float(fit.curves[:, best].std())
    return int(np.flatnonzero(sign * values >= sign * values[best] - error)[0])


def _round_down(epsilon: float, least: float) -> float:
    """Two digits, not above what was found and not below what was tried."""
    power = 10.0 ** (np.floor(np.log10(epsilon)) - 1)
    return max(least, float(f"{np.floor(epsilon / power * (1 + 1e-9)) * power:.2g}"))
