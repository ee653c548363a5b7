"""What a synthetic table may ask of the original, and what it has spent, as OpenDP accounts for it.

Neighbours differ by one row that is there or is not. With `delta` all is counted in zero-concentrated
differential privacy (zCDP): discrete Gaussian noise, and a choice by the exponential mechanism. Without, in
pure differential privacy: discrete Laplace noise, and a choice by permute-and-flip. Losses add up (sequential
composition).

References: Dwork, McSherry, Nissim and Smith, Calibrating noise to sensitivity in private data analysis,
TCC 2006; McSherry and Talwar, Mechanism design via differential privacy, FOCS 2007; McKenna and Sheldon,
Permute-and-flip: a new mechanism for differentially private selection, NeurIPS 2020; Bun and Steinke,
Concentrated differential privacy, TCC 2016, Lemma 1.7 and Proposition 1.4; Canonne, Kamath and Steinke, The
discrete Gaussian for differential privacy, NeurIPS 2020.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.dp import opendp as dp
from anonymizer.releases.guarantee import checked_budget
from anonymizer.tables.randomness import Randomness

Int = NDArray[np.int64]
Float = NDArray[np.float64]

_SLACK: Final = 1e-9
_SCALES: Final = (0.07, 1e10)
_GRID: Final = 2.0**16
"""Scores are whole multiples of 1 / _GRID, so that rounding in sums cannot exceed the sensitivity."""


@dataclass(frozen=True, slots=True)
class Noisy:
    """Counts with noise.

    Attributes:
        values: shape (cells,).
        deviation: the standard deviation of the noise of one cell.
    """

    values: Float = field(repr=False)
    deviation: float


class Budget:
    """Epsilon and delta of one table.

    Args:
        epsilon: in [1e-6, 100].
        delta: 0, or in [1e-30, 0.1].
        trial: a stream from a seed. Noise then is rounded double precision, repeatable and without any
            guarantee; None is OpenDP's exact samplers, by the operating system's randomness.

    Attributes:
        total: rho of zCDP, or epsilon without delta.

    Raises:
        SpecError: epsilon or delta is out of range or not finite.
    """

    def __init__(self, epsilon: float, delta: float = 0.0, trial: Randomness | None = None) -> None:
        checked_budget(epsilon, delta)
        self._delta, self._trial = delta, trial
        self.total = epsilon if not delta else _rho(epsilon, delta)
        self.total *= 1 - _SLACK
        self._losses: list[float] = []

    @property
    def left(self) -> float:
        """What is not spent, in the unit of `total`; never below 0."""
        return max(0.0, self.total - math.fsum(self._losses))

    def counts(self, counts: Int, cost: float, *, l1: int = 1, l2: float = 1.0) -> Noisy:
        """Whole numbers with noise.

        Args:
            counts: shape (cells,).
            cost: to be spent, in the unit of `total`.
            l1: the most by which one row changes all cells together.
            l2: the same as Euclidean length.

        Raises:
            RuntimeError: so much is not left; a defect of the caller.
        """
        mechanism, step, scale = self.noise(cost, l1=l1, l2=l2)
        self._spend(mechanism.map(step))
        if self._trial is not None:
            drawn = self._trial.normal(len(counts)) if self._delta else self._trial.laplace(len(counts))
            noisy = counts + np.round(drawn * scale)
        else:
            noisy = np.array(mechanism(counts.tolist()), dtype=np.float64)
        return Noisy(noisy, scale if self._delta else scale * math.sqrt(2))

    def noise(self, cost: float, *, l1: int = 1, l2: float = 1.0) -> tuple[Any, Any, float]:
        """OpenDP's measurement for `counts`, the distance of neighbours, and the scale of the noise."""
        domain = dp.vector_domain(dp.atom_domain(T="i64"))
        if self._delta:
            scale = l2 / math.sqrt(2 * cost) * (1 + _SLACK)
            return dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=scale), l2, scale
        scale = l1 / cost * (1 + _SLACK)
        return dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=scale), l1, scale

    def choice(self, scores: Float, cost: float, sensitivity: float) -> int:
        """The place of a large score: of the largest with Gumbel noise, or without delta exponential noise.

        Args:
            scores: shape (candidates,), finite, below 2**40 in size.
            cost: to be spent, in the unit of `total`.
            sensitivity: the most by which one row changes a score.

        Raises:
            RuntimeError: so much is not left; a defect of the caller.
        """
        whole = np.round(scores * _GRID).astype(np.int64)
        step = math.ceil(sensitivity * _GRID) + 1
        epsilon = math.sqrt(8 * cost) if self._delta else cost
        scale = 2 * step / epsilon * (1 + _SLACK)
        measure = dp.zero_concentrated_divergence() if self._delta else dp.max_divergence()
        mechanism: Any = dp.m.make_noisy_max(
            dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64"), measure, scale=scale
        )
        self._spend(float(mechanism.map(step)))
        if self._trial is not None:
            gumbel = -np.log(-np.log(self._trial.uniform(len(whole))))
            return int(np.argmax(whole + scale * gumbel))
        return int(mechanism(whole.tolist()))

    @property
    def loss(self) -> tuple[float, float]:
        """Epsilon and delta of all that was spent."""
        spent = math.fsum(self._losses)
        if not self._delta:
            return spent, 0.0
        return (_epsilon(spent, self._delta) if spent else 0.0), self._delta

    def _spend(self, loss: float) -> None:
        if math.fsum((*self._losses, loss)) > self.total * (1 + _SLACK / 2):
            raise RuntimeError(f"a query costs {loss}, and {self.left} are left")
        self._losses.append(loss)


def _account(scale: float, delta: float) -> Any:
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    gaussian = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=scale)
    return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(gaussian), delta=delta)


@cache
def _rho(epsilon: float, delta: float) -> float:
    """The most zCDP that is (epsilon, delta)-differentially private."""
    scale = dp.binary_search_param(
        lambda scale: _account(scale, delta), d_in=1.0, d_out=(epsilon, delta), T=float, bounds=_SCALES
    )
    return float(1 / (2 * scale**2))


@lru_cache(maxsize=1024)
def _epsilon(rho: float, delta: float) -> float:
    """The epsilon of some zCDP: that of Gaussian noise with this rho."""
    return float(_account(1 / math.sqrt(2 * rho), delta).map(1.0)[0])
