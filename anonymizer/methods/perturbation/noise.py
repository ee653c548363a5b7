"""Noise on numbers: Gaussian, Laplace, correlated, multiplicative. None of it claims differential privacy.

The noise of `Noise` and `MultiplicativeNoise` is independent from cell to cell; `CorrelatedNoise` draws whole
rows with a covariance proportional to that of the data, so that correlations stay what they are.

References: thesis, sections 2.2.2 and 4.3.1; Kim, A method for limiting disclosure in microdata based on
random noise and transformation, ASA 1986; Brand, Microdata protection through noise addition, 2002.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import numpy as np
import scipy
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import TableError
from anonymizer.methods.contract.parameters import parameters
from anonymizer.methods.perturbation.numeric import Bounds, NumericMethod
from anonymizer.risk.candidates import Candidates, LabelCandidates
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table
from commons.errors import near

Float = NDArray[np.float64]

DISTRIBUTIONS: Final = ("laplace", "gaussian")


@parameters
class _DrawnNoise(NumericMethod):
    keeps_rows: ClassVar[bool] = True
    random: ClassVar[bool] = True

    columns: tuple[str, ...] | None = None
    digits: int | None = None
    bounds: Bounds | None = None
    confidence: float = 0.9
    random_state: int | None = None


@parameters
class Noise(_DrawnNoise):
    """Independent additive noise.

    Args:
        distribution: `laplace` or `gaussian`.
        epsilon: Laplace noise of column j has scale unit_j / epsilon, as in the thesis; not with `scales`.
        scales: of each column the scale of its noise: b of Laplace, the standard deviation of Gaussian; one
            number is the scale of all.
        columns: numeric columns; the numeric quasi-identifiers if None.
        units: of each column the smallest step between values; found in the data where it is missing.
        digits: digits after the point that released numbers are rounded to; None for the declared step of the
            column, or the one that its numbers have, since further digits of the noise tell which number lies
            below it (Mironov, On significance of the least significant bits, CCS 2012).
        bounds: of some columns the ends that released numbers are clamped to.
        confidence: T; an attacker is confident while the noise needed is within this cumulative probability.
        random_state: a seed, or None for the operating system's randomness.

    Reference: thesis, section 4.3.1 (Lap(delta_j / epsilon), delta_j the minimum unit); erratum 14 for T.
    """

    name: ClassVar[str] = "noise"
    example: ClassVar[Mapping[str, Any]] = {"epsilon": 1.0}

    distribution: str = "laplace"
    epsilon: float | None = None
    scales: Mapping[str, float] | float | None = None
    units: Mapping[str, float] | None = None

    @override
    def check(self) -> None:
        super().check()
        if self.distribution not in DISTRIBUTIONS:
            raise TableError(
                f"{self.distribution!r} is not a distribution of noise.",
                near(self.distribution, DISTRIBUTIONS),
            )
        if (self.epsilon is None) == (self.scales is None) or (
            self.epsilon is not None and self.epsilon <= 0
        ):
            raise TableError(
                "Noise needs either a positive epsilon or scales.",
                "Write epsilon = 1.0, or scales = { age = 2 }.",
            )

    @override
    def _fit(self, table: Table) -> None:
        self.scales_ = {column: self._scale(table, column) for column in self.columns_of(table)}
        for column, scale in self.scales_.items():
            if not (np.isfinite(scale) and scale > 0):
                raise TableError(
                    f"The noise of column {column!r} has no positive scale.",
                    "Write its scale in the step: scales = { age = 2 }.",
                )

    def _scale(self, table: Table, column: str) -> float:
        if isinstance(self.scales, int | float):
            return float(self.scales)
        if self.epsilon is None:
            if column not in (self.scales or {}):
                raise TableError(f"Column {column!r} has no scale.", "Add it to scales.")
            return float((self.scales or {})[column])
        stated = (self.units or {}).get(column)
        return (smallest_step(table.numbers(column)) if stated is None else float(stated)) / self.epsilon

    @override
    def _transform(self, table: Table) -> Table:
        numbers = self._numbers(table)
        random = Randomness(self.random_state)
        draw = random.laplace if self.distribution == "laplace" else random.normal
        for place, column in enumerate(self.columns_of(table)):
            numbers[:, place] += self.scales_[column] * draw(len(table))
        return self._write(table, numbers)

    def simulate(self, column: str, candidates: Candidates) -> Candidates:
        """High: within the quantile of |noise| at T; low: anywhere."""
        if column not in self.scales_:
            return candidates
        unit = (
            -np.log1p(-self.confidence)
            if self.distribution == "laplace"
            else scipy.special.ndtri((1 + self.confidence) / 2)
        )
        reach = self.scales_[column] * unit
        ends = candidates.high if not isinstance(candidates, LabelCandidates) else np.zeros((0, 2))
        anywhere = np.broadcast_to(np.array([-np.inf, np.inf]), ends.shape)
        return self._widen(column, candidates, ends + np.array([-reach, reach]), anywhere)


@parameters
class CorrelatedNoise(_DrawnNoise):
    """Gaussian noise with the covariance of the data times a factor; means and correlations are kept.

    Variances grow by 1 + factor, or stay if `rescaled`: then what comes out is drawn to the mean by
    sqrt(1 + factor).

    Args:
        factor: positive.
        columns: numeric columns; the numeric quasi-identifiers if None.
        rescaled: whether variances are kept.
        digits: as in `Noise`.
        bounds: as in `Noise`.
        confidence: as in `Noise`, column by column.
        random_state: as in `Noise`.
    """

    name: ClassVar[str] = "correlated-noise"

    factor: float = 0.1
    rescaled: bool = False

    @property
    @override
    def _together(self) -> bool:
        return True

    @override
    def check(self) -> None:
        super().check()
        if not 0 < self.factor < np.inf:
            raise TableError("The factor of correlated noise is not positive.", "Write, for example, 0.1.")

    @override
    def _fit(self, table: Table) -> None:
        columns = self.columns_of(table)
        table.complete(columns)
        numbers = self._numbers(table)
        self.means_ = numbers.mean(axis=0)
        covariance = np.atleast_2d(np.cov(numbers, rowvar=False, bias=True)) if columns else np.zeros((0, 0))
        # a root by eigenvalues, since the covariance may be singular
        values, vectors = np.linalg.eigh(self.factor * covariance)
        self.root_ = vectors * np.sqrt(np.clip(values, 0, None))
        self.reach_ = dict(
            zip(
                columns,
                scipy.special.ndtri((1 + self.confidence) / 2) * np.sqrt((self.root_**2).sum(axis=1)),
                strict=True,
            )
        )

    @override
    def _transform(self, table: Table) -> Table:
        table.complete(self.columns_of(table))
        numbers = self._numbers(table)
        drawn = Randomness(self.random_state).normal(numbers.size).reshape(numbers.shape)
        numbers = numbers + drawn @ self.root_.T
        return self._write(table, self._shrunk(numbers))

    def _shrunk(self, numbers: Float) -> Float:
        if not self.rescaled:
            return numbers
        shrunk: Float = self.means_ + (numbers - self.means_) / np.sqrt(1 + self.factor)
        return shrunk

    def simulate(self, column: str, candidates: Candidates) -> Candidates:
        """As of Gaussian noise."""
        if column not in self.reach_:
            return candidates
        ends = candidates.high if not isinstance(candidates, LabelCandidates) else np.zeros((0, 2))
        high = ends + np.array([-1, 1]) * self.reach_[column]
        if self.rescaled:
            mean = self.means_[list(self.reach_).index(column)]
            high = mean + (high - mean) / np.sqrt(1 + self.factor)
        return self._widen(column, candidates, high, np.broadcast_to(np.array([-np.inf, np.inf]), high.shape))


@parameters
class MultiplicativeNoise(_DrawnNoise):
    """Each number times a factor drawn from a normal distribution about 1, cut at three standard deviations.

    Args:
        deviation: standard deviation of the factor before it is cut, in (0, 1/3).
        columns: as in `Noise`.
        digits: as in `Noise`.
        bounds: as in `Noise`.
        confidence: as in `Noise`.
        random_state: as in `Noise`.
    """

    name: ClassVar[str] = "multiplicative-noise"

    deviation: float = 0.05

    @override
    def check(self) -> None:
        super().check()
        if not 0 < 3 * self.deviation < 1:
            raise TableError(
                "The deviation of multiplicative noise lies outside (0, 1/3).", "Write, for example, 0.05."
            )

    @override
    def _fit(self, table: Table) -> None:
        self.columns_ = self.columns_of(table)
        self._numbers(table)

    @override
    def _transform(self, table: Table) -> Table:
        numbers = self._numbers(table)
        drawn = np.clip(Randomness(self.random_state).normal(numbers.size), -3, 3).reshape(numbers.shape)
        return self._write(table, numbers * (1 + self.deviation * drawn))

    def simulate(self, column: str, candidates: Candidates) -> Candidates:
        """High: factors within the quantile at T; low: all factors."""
        if column not in self.columns_:
            return candidates
        before = (
            (candidates.high, candidates.low)
            if not isinstance(candidates, LabelCandidates)
            else (np.zeros((0, 2)),) * 2
        )
        reaches = self.deviation * np.array([scipy.special.ndtri((1 + self.confidence) / 2), 3.0])
        high, low = (_times(ends, reach) for ends, reach in zip(before, reaches, strict=True))
        return self._widen(column, candidates, high, low)


def smallest_step(numbers: Float) -> float:
    """The smallest positive difference between two values; 1 where there is only one.

    Args:
        numbers: shape (n,), NaN ignored.
    """
    steps = np.diff(np.unique(numbers[~np.isnan(numbers)]))
    return float(steps.min()) if len(steps) else 1.0


def _times(ends: Float, reach: float) -> Float:
    corners = np.stack([ends * (1 - reach), ends * (1 + reach)])
    return np.stack([corners.min(axis=(0, 2)), corners.max(axis=(0, 2))], axis=1)
