"""Noise with a guarantee of local differential privacy, drawn by OpenDP.

Every cell is clamped to bounds that do not come from the data and gets noise of its own, as if each person
had added it. Sampling is OpenDP's, exact and from the operating system's randomness: there is no seed.

References: thesis, Definition 2.9 and Theorem 2.3; Dwork, McSherry, Nissim, Smith, Calibrating noise to
sensitivity in private data analysis, TCC 2006; Canonne, Kamath, Steinke, The discrete Gaussian for
differential privacy, NeurIPS 2020.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Final

import numpy as np
import opendp.prelude as dp
from numpy.typing import NDArray
from scipy.special import ndtri

from anonymizer.errors import TableError
from anonymizer.models.numeric import Bounds, NumericMethod
from anonymizer.risk.candidates import LabelSets, Sets
from anonymizer.tables.roles import near
from anonymizer.tables.table import Table

Float = NDArray[np.float64]

LAWS: Final = ("laplace", "gaussian")

dp.enable_features("contrib")


class DpNoise(NumericMethod):
    """Laplace or Gaussian noise by OpenDP; on whole numbers the discrete law (Laplace: two-sided geometric).

    The budget is that of one record, shared equally by its columns (sequential composition, Theorem 2.3); of
    columns that are not named nothing is claimed.

    Args:
        epsilon: of a whole record, positive.
        bounds: of each column the least and the largest value that a person can have, from knowledge of the
            subject; the values themselves would leak by it.
        law: `laplace`, or `gaussian` with delta.
        delta: of a whole record, in (0, 1), for Gaussian noise; 0 for Laplace.
        columns: numeric columns; the numeric quasi-identifiers if None.
        clamped: whether released numbers are clamped to the bounds too, which costs no privacy.
        digits: digits after the point that released numbers are rounded to, or None.
        confidence: T; an attacker is confident while the noise needed is within this cumulative probability.

    Attributes:
        scales_: of each column the scale of its noise, b of Laplace, the standard deviation of Gaussian.
        spent_: of each column epsilon and delta as OpenDP accounts for them.
        guarantee_: the claim in words.
    """

    word: ClassVar[str] = "dp-noise"

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        bounds: Bounds | None = None,
        law: str = "laplace",
        delta: float = 0.0,
        columns: tuple[str, ...] | None = None,
        clamped: bool = False,
        digits: int | None = None,
        confidence: float = 0.9,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.law = law
        self.delta = delta
        self.columns = columns
        self.clamped = clamped
        self.digits = digits
        self.confidence = confidence

    def _fit(self, table: Table) -> None:
        self._check()
        columns = self.columns_of(table)
        table.complete(columns)
        self.ends_ = {column: self._ends(table, column) for column in columns}
        self.scales_: dict[str, float] = {}
        self.spent_: dict[str, tuple[float, float]] = {}
        epsilon, delta = (budget / max(1, len(columns)) for budget in (self.epsilon, self.delta))
        for column, (lower, upper) in self.ends_.items():
            make = laplace if self.law == "laplace" else gaussian
            self.scales_[column], self.spent_[column] = make(upper - lower, epsilon, delta)
        self.guarantee_ = self._guarantee()

    def _check(self) -> None:
        if self.law not in LAWS:
            raise TableError(f"There is no noise {self.law!r}.", near(self.law, LAWS))
        if not (math.isfinite(self.epsilon) and self.epsilon > 0):
            raise TableError(f"epsilon is {self.epsilon}.", "Choose a positive number, such as 1.0.")
        if self.law == "laplace" and self.delta != 0:
            raise TableError(f"delta is {self.delta}, and Laplace noise has none.", "Leave it out.")
        if self.law == "gaussian" and not 0 < self.delta < 1:
            raise TableError(f"delta is {self.delta}.", "Choose one in (0, 1), below 1 / records.")

    def _ends(self, table: Table, column: str) -> tuple[Any, Any]:
        table.numbers(column)
        if column not in (self.bounds or {}):
            raise TableError(
                f"Column {column!r} has no bounds.",
                f"Write bounds = {{ {column} = [lower, upper] }}, not taken from the data.",
            )
        lower, upper = (self.bounds or {})[column]
        if is_whole(table, column):
            lower, upper = math.ceil(lower), math.floor(upper)
        else:
            lower, upper = float(lower), float(upper)
        if not (math.isfinite(lower) and math.isfinite(upper) and lower < upper):
            raise TableError(f"The bounds of column {column!r} hold no range.", "Correct them.")
        return lower, upper

    def _guarantee(self) -> str:
        if not self.spent_:
            return "No column has noise; nothing is claimed."
        epsilon = sum(spent for spent, _ in self.spent_.values())
        delta = sum(spent for _, spent in self.spent_.values())
        cells = ", ".join(f"{column} {_budget(*spent)}" for column, spent in self.spent_.items())
        return (
            f"Local differential privacy of one record in the columns {', '.join(self.spent_)}: "
            f"{_budget(epsilon, delta)}, the sum over the columns; of one cell: {cells}. "
            "It holds for one such release, if no step before it mixes records, and not for other columns."
        )

    def _transform(self, table: Table) -> Table:
        table.complete(self.columns_of(table))
        cells: dict[str, Any] = {}
        for column, (lower, upper) in self.ends_.items():
            whole = is_whole(table, column)
            if whole != isinstance(lower, int):
                raise TableError(
                    f"Column {column!r} holds other numbers than when it was fitted.", "Fit again."
                )
            given = np.clip(table.series(column).to_numpy(), lower, upper)
            release = mechanism(self.law, self.scales_[column], whole=whole)
            noisy = np.array(release(given.tolist()), dtype=np.int64 if whole else np.float64)
            if self.clamped:
                noisy = np.clip(noisy, lower, upper)
            cells[column] = noisy if self.digits is None else np.round(noisy, self.digits)
        return table.replaced(cells) if cells else table

    def spread(self, column: str, sets: Sets) -> Sets:
        """High: within the quantile of |noise| at T; low: anywhere."""
        if column not in self.scales_:
            return sets
        ends = sets.high if not isinstance(sets, LabelSets) else np.zeros((0, 2))
        unit = -np.log1p(-self.confidence) if self.law == "laplace" else ndtri((1 + self.confidence) / 2)
        high = np.clip(ends, *self.ends_[column]) + np.array([-1, 1]) * self.scales_[column] * unit
        low = np.broadcast_to(np.array([-np.inf, np.inf]), ends.shape)
        if self.clamped:
            high, low = (np.clip(one, *self.ends_[column]) for one in (high, low))
        return self._rounded(column, sets, high, low)


def is_whole(table: Table, column: str) -> bool:
    """Whether a column has a type of whole numbers."""
    return bool(table.series(column).dtype.is_integer())


def laplace(width: float, epsilon: float, delta: float) -> tuple[float, tuple[float, float]]:
    """The least scale of Laplace noise.

    Args:
        width: the largest difference between two cells.
        epsilon: of one cell.
        delta: not used; Laplace noise has none.

    Returns:
        The scale, and epsilon and delta of one cell.
    """
    del delta
    whole = isinstance(width, int)
    scale = dp.binary_search_param(
        lambda scale: mechanism("laplace", scale, whole=whole), d_in=width, d_out=epsilon, T=float
    )
    return scale, (mechanism("laplace", scale, whole=whole).map(width), 0.0)


def gaussian(width: float, epsilon: float, delta: float) -> tuple[float, tuple[float, float]]:
    """The least scale of Gaussian noise, as `laplace`; through zero-concentrated differential privacy."""
    whole = isinstance(width, int)

    def accounted(scale: float) -> Any:
        return dp.c.make_fix_delta(
            dp.c.make_zCDP_to_approxDP(mechanism("gaussian", scale, whole=whole)), delta=delta
        )

    scale = dp.binary_search_param(accounted, d_in=float(width), d_out=(epsilon, delta), T=float)
    return scale, accounted(scale).map(float(width))


def mechanism(law: str, scale: float, *, whole: bool) -> Any:
    """OpenDP's measurement on a vector of cells.

    Args:
        law: one of `LAWS`.
        scale: of the noise.
        whole: whether cells are whole numbers.
    """
    domain = dp.vector_domain(dp.atom_domain(T=int) if whole else dp.atom_domain(T=float, nan=False))
    if law == "laplace":
        return dp.m.make_laplace(domain, dp.l1_distance(T=int if whole else float), scale=scale)
    return dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=scale)


def _budget(epsilon: float, delta: float) -> str:
    return f"epsilon {epsilon:.6g}" + f", delta {delta:.3g}" * bool(delta)
