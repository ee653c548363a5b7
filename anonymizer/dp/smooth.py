"""Noise by smooth sensitivity: as much as this table needs, and no table beside it shows by how much.

A bound S on the local sensitivity is beta-smooth if S(D) <= e**beta S(D') for all neighbours. Then
q(D) + S(D) / alpha * N(0, 1) is (epsilon, delta)-differentially private. Neighbours have one record replaced.

References: Nissim, Raskhodnikova and Smith, Smooth sensitivity and sampling in private data analysis, STOC
2007 (Definitions 2.1 and 2.2, Proposition 3.4); thesis, Definitions 2.5 to 2.7 and Theorem 2.2, of which the
printed "2 ln 2 / delta" means 2 ln(2 / delta) (erratum 19).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, isfinite, log, sqrt
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonymizer.dp.noise import mechanism
from anonymizer.errors import SpecError

Float = NDArray[np.float64]

MAX_EPSILON: Final = 10.0
"""The theorem is about small epsilon: of the median of six values delta is exceeded from epsilon 25 on (delta
0.01), 30 (1e-3) and 40 (1e-6); with 40 and 0.01 the exact one is 0.054."""


@dataclass(frozen=True, slots=True)
class Smooth:
    """The budget of a release by smooth sensitivity (Theorem 2.2), whose proof is for small epsilon.

    Attributes:
        epsilon: in (0, 10].
        delta: in (0, 1).
        outputs: k, the figures that are released together.

    Raises:
        SpecError: one is out of range.
    """

    epsilon: float
    delta: float
    outputs: int = 1

    def __post_init__(self) -> None:
        check_formulas(self.epsilon, self.delta, self.outputs)
        if self.epsilon > MAX_EPSILON:
            raise SpecError(
                f"epsilon is {self.epsilon}, above {MAX_EPSILON:g}, where the theorem of smooth sensitivity "
                "does not hold.",
                "Choose a smaller one, such as 1.0; or noise by the largest change, see "
                "anonymizer.dp.mechanisms.",
            )

    @property
    def alpha(self) -> float:
        """What the smooth bound is divided by."""
        return divisor(self.epsilon, self.delta)

    @property
    def beta(self) -> float:
        """The smoothness."""
        return smoothness(self.epsilon, self.delta, self.outputs)

    def release(self, figures: ArrayLike, sensitivity: float) -> Float:
        """Figures with noise, drawn by OpenDP.

        Args:
            figures: of this table, shape (k,).
            sensitivity: a beta-smooth bound at this table, at least 0; 0 adds no noise.

        Returns:
            Shape (k,). The figures are computed in double precision, of whose rounding the theorem does not
            speak.

        Raises:
            SpecError: there are other than k figures, or something is not finite.
        """
        given = np.atleast_1d(np.asarray(figures, dtype=np.float64))
        if given.shape != (self.outputs,) or not np.isfinite(given).all():
            raise SpecError(f"These are not {self.outputs} finite figures.", "Give as many as outputs.")
        if not (isfinite(sensitivity) and sensitivity >= 0):
            raise SpecError(f"The sensitivity is {sensitivity}.", "Give a smooth bound, at least 0.")
        noisy = mechanism("gaussian", sensitivity / self.alpha, whole=False)
        return np.array(noisy(given.tolist()), dtype=np.float64)


def check_formulas(epsilon: float, delta: float, outputs: int = 1) -> None:
    """Check what `divisor` and `smoothness` are defined for, which is more than their theorem holds for.

    Raises:
        SpecError: epsilon is not positive and finite, delta not in (0, 1), or there is no output.
    """
    if not (isfinite(epsilon) and epsilon > 0 and 0 < delta < 1 and outputs >= 1):
        raise SpecError(
            f"Smooth sensitivity is not defined with epsilon {epsilon}, delta {delta} and {outputs} outputs.",
            "Choose epsilon above 0, delta between 0 and 1, and one output or more.",
        )


def divisor(epsilon: float, delta: float) -> float:
    """What a smooth bound is divided by for the standard deviation of the noise (Theorem 2.2), alpha."""
    return epsilon / (5 * sqrt(2 * log(2 / delta)))


def smoothness(epsilon: float, delta: float, outputs: int = 1) -> float:
    """The beta for which the bound has to be smooth (Theorem 2.2)."""
    return epsilon / (4 * (outputs + log(2 / delta)))


def median_local(values: ArrayLike, low: float, high: float) -> float:
    """The local sensitivity of the median, exactly; of an even number it is the mean of the middle two.

    Args:
        values: in [low, high], shape (n,), n at least 1.
        low: the least that a value can be.
        high: the largest.

    Raises:
        SpecError: there is no value, or one lies outside.
    """
    return _largest_move(np.concatenate([[low], np.sort(_within(values, low, high)), [high]]), 0)


def median_smooth(values: ArrayLike, low: float, high: float, beta: float) -> float:
    """The smooth sensitivity of the median, exactly (Proposition 3.4): O(n log n) and O(n) for each distance.

    Args:
        values: as in `median_local`; so are `low` and `high`.
        low: the least that a value can be.
        high: the largest.
        beta: positive.

    Raises:
        SpecError: as `median_local`, or beta is not positive.
    """
    padded = np.concatenate([[low], np.sort(_within(values, low, high)), [high]])
    if not beta > 0:
        raise SpecError(f"beta is {beta}.", "Choose a positive number, such as that of Smooth.")
    best = 0.0
    for changes in range(len(padded)):
        if exp(-beta * changes) * (high - low) <= best:
            break
        best = max(best, exp(-beta * changes) * _largest_move(padded, changes))
    return best


def _largest_move(padded: Float, changes: int) -> float:
    """The most that one record can move the median after so many changes.

    The middle value moves as far as a gap beside it; of two middle values each moves into the place of the
    other or of the next one, half as far as both gaps. After changes a gap may have held so many values more.

    Args:
        padded: sorted values between their bounds, shape (n + 2,).
        changes: at least 0.
    """
    count = len(padded) - 2
    middle, width = (count + 1) // 2, 2 - count % 2
    first = np.clip(np.arange(middle - changes - 1, middle + 1), 0, count + 1)
    last = np.clip(np.arange(middle + width - 1, middle + changes + width + 1), 0, count + 1)
    return float((padded[last] - padded[first]).max()) / width


def variance_local(values: ArrayLike, low: float, high: float) -> float:
    """The local sensitivity of the sample variance, with n - 1 in the denominator; O(n).

    Replacing x by v changes the variance by a convex parabola in v, so that it is changed most at an end of
    the bounds or at the mean of the other values.

    Args:
        values: in [low, high], shape (n,), n at least 2.
        low: the least that a value can be.
        high: the largest.

    Raises:
        SpecError: there is a single value, or one lies outside.
    """
    given = _within(values, low, high)
    if len(given) < 2:
        raise SpecError("One value has no variance.", "Give two or more.")
    centred = given - given.mean()
    total = len(given)
    others = -centred / (total - 1)
    squares = float((centred**2).sum())
    rest = np.maximum(squares - centred**2 * total / (total - 1), 0.0)
    ends = np.stack([np.full(total, low - given.mean()), np.full(total, high - given.mean()), others])
    changed = rest + (ends - others) ** 2 * (total - 1) / total
    return float(np.abs(changed - squares).max() / (total - 1))


def _within(values: ArrayLike, low: float, high: float) -> Float:
    given = np.asarray(values, dtype=np.float64)
    if not (isfinite(low) and isfinite(high) and low < high):
        raise SpecError(
            f"The bounds [{low}, {high}] are empty or the wrong way round.", "Write the smaller one first."
        )
    if given.ndim != 1 or not len(given) or not ((given >= low) & (given <= high)).all():
        raise SpecError(f"The values are not numbers in [{low}, {high}].", "Clamp them before.")
    return given
