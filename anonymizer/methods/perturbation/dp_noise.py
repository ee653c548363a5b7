"""Noise with a guarantee of local differential privacy, drawn by OpenDP.

Every cell is brought to its declared domain and gets noise of its own, as if each person had added it. Type,
bounds and step come from the declaration of the column and never from the data, since otherwise one person's
cell could decide the distribution. Sampling is OpenDP's, exact and from the operating system's randomness:
there is no seed.

References: thesis, Definition 2.9 and Theorem 2.3; Dwork, McSherry, Nissim, Smith, Calibrating noise to
sensitivity in private data analysis, TCC 2006; Canonne, Kamath, Steinke, The discrete Gaussian for
differential privacy, NeurIPS 2020.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import numpy as np
import scipy
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.dp.budgets import shares
from anonymizer.dp.domain import NumberDomain
from anonymizer.dp.noise import DISTRIBUTIONS, gaussian, laplace, mechanism
from anonymizer.errors import TableError
from anonymizer.methods.contract.parameters import parameters
from anonymizer.methods.perturbation.numeric import Bounds, NumericMethod
from anonymizer.releases.composition import PrivacyLoss
from anonymizer.releases.guarantee import Guarantee, checked_budget
from anonymizer.risk.candidates import Candidates, IntervalCandidates, LabelCandidates
from anonymizer.tables.provenance import Dependence, TableProvenance
from anonymizer.tables.table import Table
from commons.errors import near

Float = NDArray[np.float64]

_WIDEST: Final = 2.0**40
"""The width of the bounds, in steps of the grid if there is one, by epsilon stays below this."""


@parameters
class DpNoise(NumericMethod):
    """Laplace or Gaussian noise by OpenDP; on a grid its discrete form (Laplace: two-sided geometric).

    The columns are declared below `[columns]` as integers or floats with bounds; a cell is rounded to the
    declared step and clamped to the bounds before noise is put on it. A cell that is missing or not a number
    is treated as declared: with "impute" it is the middle of the bounds, else the table is refused, which
    tells that there is one.

    The budget is that of one record, shared by its columns (sequential composition, Theorem 2.3), equally
    without `weights`; of columns that are not named nothing is claimed.

    Args:
        epsilon: of a whole record, in [1e-6, 100].
        bounds: of columns the least and the largest value that a person can have, in place of the declared
            ones; from knowledge of the subject, since the values themselves would leak by it.
        distribution: `laplace`, or `gaussian` with delta.
        delta: of a whole record, in [1e-30, 0.1], for Gaussian noise; 0 for Laplace.
        columns: declared as numbers; the quasi-identifiers that are if None.
        weights: how many times the part of the budget of the others a column gets; 1 if None.
        clamped: whether released numbers are clamped to the bounds too, which costs no privacy.
        digits: digits after the point that released numbers are rounded to, or None.
        confidence: T; an attacker is confident while the noise needed is within this cumulative probability.

    Attributes:
        scales_: of each column the scale of its noise, b of Laplace, the standard deviation of Gaussian.
        spent_: of each column epsilon and delta as OpenDP accounts for them.
        domains_: of each column the numbers that it was brought to.
    """

    name: ClassVar[str] = "dp-noise"
    keeps_rows: ClassVar[bool] = True
    applies_to: ClassVar[str] = 'No quasi-identifier is declared as type = "integer" or type = "float"'
    random: ClassVar[bool] = True
    example: ClassVar[Mapping[str, Any]] = {"columns": ("age",)}

    epsilon: float = 1.0
    bounds: Bounds | None = None
    distribution: str = "laplace"
    delta: float = 0.0
    columns: tuple[str, ...] | None = None
    weights: Mapping[str, float] | None = None
    clamped: bool = False
    digits: int | None = None
    confidence: float = 0.9

    @override
    def check(self) -> None:
        super().check()
        if self.distribution not in DISTRIBUTIONS:
            raise TableError(
                f"{self.distribution!r} is not a distribution of noise.",
                near(self.distribution, DISTRIBUTIONS),
            )
        checked_budget(self.epsilon, self.delta)
        if self.distribution == "laplace" and self.delta != 0:
            raise TableError(f"delta is {self.delta}, and Laplace noise has none.", "Leave it out.")
        if self.distribution == "gaussian" and not self.delta:
            raise TableError("delta is 0, and Gaussian noise needs one.", "Choose one below 1 / records.")

    @property
    @override
    def declared_loss(self) -> PrivacyLoss:
        """The budget of a record."""
        return PrivacyLoss(self.epsilon, self.delta)

    @override
    def _usual(self, table: Table) -> tuple[str, ...]:
        """The quasi-identifiers that are declared as numbers."""
        return tuple(name for name in table.roles.quasi_identifiers if table.schema.of(name).is_number)

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """A cell depends on itself, with noise between that the domain decides, and no gap is left."""
        cells = {}
        for column in self.columns_of(table):
            one = table.provenance[column]
            domain = Dependence() if column in (self.bounds or {}) else one.domain
            cells[column] = self._behind_noise(table, one.content | domain, column)
        return table.provenance.recode(cells, gaps="none")

    @override
    def _fit(self, table: Table) -> None:
        columns = self.columns_of(table)
        self.domains_ = {column: self._domain(table, column) for column in columns}
        for column in columns:
            self._cells(table, column)
        self.scales_: dict[str, float] = {}
        self.spent_: dict[str, tuple[float, float]] = {}
        parts = shares(columns, self.weights)
        for column, domain in self.domains_.items():
            epsilon, delta = (budget * parts[column] for budget in (self.epsilon, self.delta))
            make = laplace if self.distribution == "laplace" else gaussian
            low, high = domain.ends
            scale, self.spent_[column] = make(high - low, epsilon, delta)
            self.scales_[column] = scale * (domain.grid or 1.0)

    def _domain(self, table: Table, column: str) -> NumberDomain:
        domain = NumberDomain.of_declaration(table, column, (self.bounds or {}).get(column))
        low, high = domain.ends
        budget = self.epsilon * shares(self.columns_of(table), self.weights)[column]
        if (high - low) / min(budget, 1.0) > _WIDEST:
            raise TableError(
                f"The bounds of column {column!r} are too wide for epsilon {budget:.6g}: the noise would be "
                "more than numbers can hold.",
                "Narrow the bounds, declare a larger step, or raise epsilon.",
            )
        return domain

    def _cells(self, table: Table, column: str) -> Float:
        """The cells in units of the domain's ends."""
        return self.domains_[column].cells(table, column)

    @override
    def guarantees(self, table: Table) -> tuple[Guarantee, ...]:
        """Local differential privacy of one cell of each column; a pipeline adds up those of a record."""
        return tuple(
            Guarantee(
                "local-dp",
                {"epsilon": epsilon, "delta": delta},
                "cell",
                (column,),
                "replace",
                "A cell that is missing or not a number is treated as declared; a refusal tells of one.",
                self.name,
            )
            for column, (epsilon, delta) in self.spent_.items()
        )

    @override
    def _transform(self, table: Table) -> Table:
        cells: dict[str, Any] = {}
        for column, domain in self.domains_.items():
            given = self._cells(table, column)
            discrete = domain.grid is not None
            release = mechanism(
                self.distribution, self.scales_[column] / (domain.grid or 1.0), whole=discrete
            )
            listed = given.astype(np.int64).tolist() if discrete else given.tolist()
            noisy = np.array(release(listed), dtype=np.float64)
            if self.clamped:
                noisy = np.clip(noisy, *domain.ends)
            found = domain.of(noisy)
            cells[column] = found if self.digits is None else np.round(found, self.digits)
        return table.replace(cells)

    def simulate(self, column: str, candidates: Candidates) -> Candidates:
        """High: within the quantile of |noise| at T; low: anywhere."""
        if column not in self.scales_:
            return candidates
        domain = self.domains_[column]
        unit = domain.grid or 1.0
        ends = candidates.high if not isinstance(candidates, LabelCandidates) else np.zeros((0, 2))
        reach = (
            -np.log1p(-self.confidence)
            if self.distribution == "laplace"
            else scipy.special.ndtri((1 + self.confidence) / 2)
        )
        high = domain.at(ends / unit) * unit + np.array([-1, 1]) * self.scales_[column] * reach
        low = np.broadcast_to(np.array([-np.inf, np.inf]), ends.shape)
        if self.clamped:
            limits = np.array(domain.ends) * unit
            high, low = (np.clip(one, *limits) for one in (high, low))
        if self.digits is None and not isinstance(candidates, LabelCandidates):
            return IntervalCandidates(high, low)
        return self._round(column, candidates, high, low)
