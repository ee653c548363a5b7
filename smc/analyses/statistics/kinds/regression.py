"""Linear regression from noisy sums of products.

The Gram matrix of the predictors and a constant, all scaled to [-1, 1] about the centres of their bounds,
and its products with the target are added up with noise; what follows is public arithmetic. Noise can leave
the matrix with eigenvalues that are too small or negative, and the coefficients would mean nothing; then
the least multiple of the unit matrix is added that lifts the smallest eigenvalue to the noise's size
(ridge), and the result says so.

References: sufficient statistics: Foulds, Geumlek, Welling and Chaudhuri, On the theory and practice of
privacy-preserving Bayesian data analysis, UAI 2016; Wang, Revisiting differentially private linear
regression, UAI 2018 (ridge for the noise).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.analyses.statistics.kinds.moments import ClampedProducts
from smc.analyses.statistics.kinds.noisy_sums import Monomial
from smc.analyses.statistics.kinds.statistic import Result
from smc.numeric.random import Randomness
from smc.secret.noise.distribution import Distribution

Floats = NDArray[np.float64]

_SINGULAR: Final = 1e-9
_TWO_SIDED_95: Final = 1.959963984540054


class Regression(ClampedProducts):
    """The least-squares fit of the last column to a constant and the others."""

    __slots__ = ()

    @property
    @override
    def products(self) -> tuple[Monomial, ...]:
        """All products of two columns, the sums of all columns, and the row count."""
        places = range(len(self.clamps))
        return (*combinations_with_replacement(places, 2), *((place,) for place in places), ())

    @property
    @override
    def unit(self) -> str:
        """None: the common table has no value of it."""
        return ""

    @override
    def result(
        self, entries: Sequence[int], distributions: Sequence[Distribution], random: Randomness
    ) -> Result:
        """The coefficient of determination, and a table of coefficients."""
        halves = [float(clamp.half) for clamp in self.clamps]
        scales = [float(np.prod([halves[place] for place in monomial])) for monomial in self.products]
        spreads = [distribution.deviation for distribution in distributions] or [0.0] * len(entries)
        system = _System.of(
            self.products,
            [entry / scale for entry, scale in zip(entries, scales, strict=True)],
            [spread / scale for spread, scale in zip(spreads, scales, strict=True)],
        )
        name = self.query.name
        fit = system.solve() if entries[-1] > len(self.clamps) else None
        if fit is None:
            note = f"{name}: no coefficients; too few rows, or predictors that follow from each other."
            return Result(table=self._table(None, None, None), notes=(note,))
        notes = [
            f"{name}: the intervals speak of the noise, to the first order and by its variance; the standard "
            "error, of sampling, is the usual one, from the noisy sums."
        ]
        if fit.ridge:
            notes.append(
                f"{name}: with its noise the Gram matrix was not safely positive definite; "
                f"{fit.ridge:.4g} was added to its diagonal (values scaled to [-1, 1]), which shrinks "
                "coefficients towards 0 and is not in the intervals."
            )
        back, shift = self._units()
        coefficients = back @ fit.coefficients + shift
        widths = _TWO_SIDED_95 * np.sqrt(((back @ fit.slopes) ** 2) @ system.variances)
        errors = fit.errors(back)
        table = self._table(coefficients, widths, errors)
        return Result(table=table, notes=tuple(notes), r_squared=fit.determination)

    def _units(self) -> tuple[Floats, Floats]:
        """From coefficients of scaled columns to real ones: a matrix and what is added."""
        *predictors, target = self.clamps
        ratio = [target.half * clamp.unit / (clamp.half * target.unit) for clamp in predictors]
        middles = [clamp.centre / clamp.unit for clamp in predictors]
        back = np.diag([target.half / target.unit, *ratio])
        back[0, 1:] = [-slope * middle for slope, middle in zip(ratio, middles, strict=True)]
        return back, np.array([target.centre / target.unit, *[0.0] * len(predictors)])

    def _table(
        self, coefficients: Floats | None, widths: Floats | None, errors: Floats | None
    ) -> dict[str, Sequence[str | float | None]]:
        terms = ["(intercept)", *self.query.columns[:-1]]
        nothing: list[float | None] = [None] * len(terms)
        low = high = value = nothing
        if coefficients is not None and widths is not None:
            value = coefficients.tolist()
            low, high = (coefficients - widths).tolist(), (coefficients + widths).tolist()
        return {
            "term": terms,
            "coefficient": value,
            "lower_95": low,
            "upper_95": high,
            "standard_error": nothing if errors is None else errors.tolist(),
        }


@dataclass(frozen=True, slots=True)
class _Fit:
    """A solved system, in scaled units.

    Attributes:
        coefficients: shape (p + 1,), the constant first.
        slopes: derivatives of the coefficients by the sums, shape (p + 1, sums).
        inverse: of the Gram matrix.
        ridge: what was added to its diagonal.
        residual: noisy residual variance; not positive where the noise prevails.
        determination: the coefficient of determination; None where there is none.
    """

    coefficients: Floats
    slopes: Floats
    inverse: Floats
    ridge: float
    residual: float
    determination: float | None

    def errors(self, back: Floats) -> Floats | None:
        """Standard errors of the coefficients in real units; None where the residual variance is none."""
        if self.residual <= 0:
            return None
        found: Floats = np.sqrt(np.maximum(np.diag(back @ self.inverse @ back.T) * self.residual, 0))
        return found


@dataclass(frozen=True, slots=True)
class _System:
    """Normal equations in scaled units.

    Attributes:
        products: the monomial of each sum.
        sums: shape (sums,).
        variances: of the noise of each sum.
    """

    products: tuple[Monomial, ...]
    sums: Floats
    variances: Floats

    @classmethod
    def of(cls, products: tuple[Monomial, ...], sums: Sequence[float], spreads: Sequence[float]) -> _System:
        return cls(products, np.array(sums), np.square(spreads))

    def _place(self, *factors: int) -> int:
        return self.products.index(tuple(factors))

    def solve(self) -> _Fit | None:
        """The least-squares fit; None where exact sums leave it open."""
        terms: list[Monomial] = [(), *((place,) for place in range(self._target))]
        places = np.array([[self._place(*sorted((*a, *b))) for b in terms] for a in terms])
        aims = np.array([self._place(*a, self._target) for a in terms])
        gram, products = self.sums[places], self.sums[aims]
        least = float(np.linalg.eigvalsh(gram)[0])
        floor = max(sqrt(float(self.variances[places].max()) * len(terms)), _SINGULAR * float(gram[0, 0]))
        ridge = max(0.0, floor - least)
        if ridge and not self.variances.any():
            return None
        inverse = np.linalg.inv(gram + ridge * np.eye(len(terms)))
        found = inverse @ products
        slopes = np.zeros((len(terms), len(self.sums)))
        for row in range(len(terms)):
            slopes[:, aims[row]] += inverse[:, row]
            for column in range(len(terms)):
                slopes[:, places[row, column]] -= inverse[:, row] * found[column]
        count, total = self.sums[self._place()], self.sums[self._place(self._target)]
        square = self.sums[self._place(self._target, self._target)]
        rest = float(square - found @ products)
        around = float(square - total**2 / count)
        freedom = float(count) - len(terms)
        return _Fit(
            found,
            slopes,
            inverse,
            ridge,
            rest / freedom if freedom > 0 else 0.0,
            min(1.0, max(0.0, 1 - rest / around)) if around > 0 else None,
        )

    @property
    def _target(self) -> int:
        return max(place for monomial in self.products for place in monomial)
