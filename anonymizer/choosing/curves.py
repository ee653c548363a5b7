"""Curves over epsilon that are monotone and positive, and which of them fits best.

    reciprocal-1     a / e + b                  Eq. 13
    reciprocal-2     a / e^2 + b / e + c        Eq. 15
    exponential      a exp(-r e) + b
    polynomial       of degree 3 in e
    log-polynomial   of degree 3 in ln e

Fitted without constraints the paper's curves become negative (its Table 2). Here a curve is its least value
on the domain plus a sum of shapes that are 0 there and do not fall towards the other end, with weights of 0
and more, so that it is monotone and not negative between the ends, for which alone it is claimed. Shapes of
polynomials are those of Bernstein: with coefficients in order the polynomial is monotone.
Reference: the RoD paper, sections 3.2.5 and 3.3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BPoly
from scipy.optimize import minimize_scalar, nnls

from anonymizer.errors import TableError

Float = NDArray[np.float64]
Direction = Literal["falling", "rising"]

MIN_POINTS: Final = 6
"""So many different epsilons a curve is chosen by."""
_DEGREE: Final = 3
_RATES: Final = (-3.0, 3.0)
"""Logarithms to base 10 of rates of the exponential curve, by the width of the domain."""

Shapes = Callable[[Float], Float]
"""From epsilons, shape (n,), to functions that fall with epsilon, shape (n, k)."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve over epsilon.

    Attributes:
        family: its name.
        ends: the domain; beyond it the curve stays what it is at the end.
        direction: whether it falls or rises with epsilon.
        base: its least value, 0 or more.
        weights: of the shapes, 0 or more.
        shapes: functions that fall with epsilon.
        error: root of the mean squared error, on epsilons that were left out in turn; NaN if none was.
    """

    family: str
    ends: tuple[float, float]
    direction: Direction
    base: float
    weights: tuple[float, ...]
    shapes: Shapes = field(repr=False, compare=False)
    error: float = float("nan")

    def __call__(self, epsilons: Float) -> Float:
        """Values, shape (n,)."""
        inside = np.clip(np.asarray(epsilons, dtype=np.float64), *self.ends)
        values: Float = (
            self.base + _normalize_shapes(self.shapes, inside, self.ends, self.direction) @ self.weights
        )
        return values


def _normalize_shapes(
    shapes: Shapes, epsilons: Float, ends: tuple[float, float], direction: Direction
) -> Float:
    """The shapes moved to be 0 at the end where the curve is least, and turned to grow from there."""
    least = np.array([ends[1] if direction == "falling" else ends[0]])
    moved = shapes(epsilons) - shapes(least)
    return moved if direction == "falling" else -moved


def _reciprocal(degree: int) -> Callable[[tuple[float, float]], Shapes]:
    def of(ends: tuple[float, float]) -> Shapes:
        return lambda epsilons: np.stack([(ends[0] / epsilons) ** (k + 1) for k in range(degree)], axis=1)

    return of


def _polynomial(scale: Callable[[Float], Float]) -> Callable[[tuple[float, float]], Shapes]:
    """Bernstein polynomials whose first coefficients are 1 and the others 0: they fall, and span all."""

    def of(ends: tuple[float, float]) -> Shapes:
        low, high = scale(np.array(ends))
        coefficients = (np.arange(_DEGREE + 1)[:, None] <= np.arange(_DEGREE)[None, :]).astype(np.float64)
        basis = BPoly(coefficients[:, None, :], np.array([0.0, 1.0]))
        return lambda epsilons: basis(np.clip((scale(epsilons) - low) / (high - low), 0, 1))

    return of


FAMILIES: Final[Mapping[str, Callable[[tuple[float, float]], Shapes]]] = MappingProxyType(
    {
        "reciprocal-1": _reciprocal(1),
        "reciprocal-2": _reciprocal(2),
        "polynomial": _polynomial(lambda epsilons: epsilons),
        "log-polynomial": _polynomial(np.log),
    }
)
"""Those with fixed shapes; the exponential curve has a rate to find."""
WORDS: Final = ("reciprocal-1", "reciprocal-2", "exponential", "polynomial", "log-polynomial")


def fit_curve(
    family: str,
    epsilons: Float,
    values: Float,
    ends: tuple[float, float],
    direction: Direction,
    weights: Float | None = None,
) -> Curve:
    """Fit a curve by least squares.

    Args:
        family: one of `WORDS`.
        epsilons: within the ends, shape (n,); one may occur several times.
        values: 0 or more, shape (n,).
        ends: the least and the largest epsilon of the domain.
        direction: whether values fall or rise with epsilon.
        weights: of the errors, above 0, shape (n,); all 1 if None.

    Raises:
        TableError: there are no points, a value is negative or not finite, or the domain is empty.
    """
    _check(epsilons, values, ends)
    scales = np.ones(len(values)) if weights is None else weights
    if family != "exponential":
        shapes = FAMILIES[family](ends)
        base, found, _ = _solve(shapes, epsilons, values, ends, direction, scales)
        return Curve(family, ends, direction, base, found, shapes)
    width = ends[1] - ends[0]

    def of(power: float) -> Shapes:
        rate = 10.0**power / width
        return lambda given: np.exp(-rate * (given - ends[0]))[:, None]

    def error_of(power: float) -> float:
        return _solve(of(power), epsilons, values, ends, direction, scales)[2]

    # The error has several valleys where few points lie in the steep part: look at a grid, then close by.
    grid = np.linspace(*_RATES, 25)
    start = float(grid[int(np.argmin([error_of(power) for power in grid]))])
    step = grid[1] - grid[0]
    best = minimize_scalar(error_of, bounds=(start - step, start + step), method="bounded")
    shapes = of(float(best.x))
    base, found, _ = _solve(shapes, epsilons, values, ends, direction, scales)
    return Curve(family, ends, direction, base, found, shapes)


def choose_curve(
    epsilons: Float, values: Float, direction: Direction, *, relative: bool = False
) -> tuple[Curve, Mapping[str, float]]:
    """Fit all families, and take the one that predicts best what it has not seen.

    Each epsilon but the least and the largest is left out in turn, with all its repetitions; the error is
    that of the others' curve against the mean there. The ends stay, since no choice is made beyond them.

    Args:
        epsilons: at least `MIN_POINTS` different ones, shape (n,).
        values: as `fit_curve`.
        direction: as `fit_curve`.
        relative: whether errors count by the mean at their epsilon, where all values are above 0: figures
            often go through several orders of magnitude.

    Returns:
        The curve through all points, and the error of each family.

    Raises:
        TableError: there are too few epsilons; or as `fit_curve`.
    """
    places = np.unique(epsilons)
    if len(places) < MIN_POINTS:
        raise TableError(
            f"A curve needs {MIN_POINTS} different epsilons; there are {len(places)}.", "Try more."
        )
    ends = (float(places[0]), float(places[-1]))
    weights = mean_weights(epsilons, values) if relative else np.ones(len(values))
    errors = {}
    for family in WORDS:
        missed = []
        for place in places[1:-1]:
            kept = epsilons != place
            curve = fit_curve(family, epsilons[kept], values[kept], ends, direction, weights[kept])
            gap = float(curve(np.array([place]))[0] - values[~kept].mean())
            missed.append(gap * float(weights[~kept][0]))
        errors[family] = float(np.sqrt(np.mean(np.square(missed))))
    best = min(WORDS, key=lambda family: errors[family])
    curve = fit_curve(best, epsilons, values, ends, direction, weights)
    return Curve(best, ends, direction, curve.base, curve.weights, curve.shapes, errors[best]), errors


def mean_weights(epsilons: Float, values: Float) -> Float:
    """One by the mean of the values at each epsilon; all 1 where a value is 0."""
    if not (values > 0).all():
        return np.ones(len(values))
    _, which, counts = np.unique(epsilons, return_inverse=True, return_counts=True)
    return np.asarray((counts / np.bincount(which, values))[which], dtype=np.float64)


def _solve(
    shapes: Shapes,
    epsilons: Float,
    values: Float,
    ends: tuple[float, float],
    direction: Direction,
    weights: Float,
) -> tuple[float, tuple[float, ...], float]:
    """The base, the weights, and the root of the squared error."""
    columns = _normalize_shapes(shapes, epsilons, ends, direction)
    matrix = np.column_stack([np.ones(len(epsilons)), columns])
    found, missed = nnls(matrix * weights[:, None], values * weights)
    return float(found[0]), tuple(map(float, found[1:])), float(missed)


def _check(epsilons: Float, values: Float, ends: tuple[float, float]) -> None:
    if not len(epsilons) or len(epsilons) != len(values) or not 0 < ends[0] < ends[1]:
        raise TableError("A curve has no points, or no range of epsilon.", "Try several epsilons above 0.")
    if not np.isfinite(values).all() or (values < 0).any():
        raise TableError("A value to draw a curve through is negative or not finite.", "Use another figure.")
    if epsilons.min() < ends[0] or epsilons.max() > ends[1]:
        raise TableError("A point lies outside of the range of the curve.", "Widen the range.")
