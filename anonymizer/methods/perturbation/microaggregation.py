"""Microaggregation with noise: what the methods for individual differential privacy share.

Records are put into clusters of k or more, column by column in the order of the values, or all columns
together. Each cell becomes the centroid of its cluster, with Laplace noise as large as one record of the
cluster can change it, by epsilon, on the declared step or a grid that the declared bounds decide. Methods
differ in what they take that change to be.

What is promised is promised for records that stay in their cluster (errata 32 and 33), and the condition of
the guarantee says so. Beyond the paper: clusters of whole records, whose k-anonymity is a floor whatever
epsilon is, and columns of categories, where a cluster shows one of its commoner categories.

Reference: Soria-Comas, Sánchez, Domingo-Ferrer, Martínez and Del Vasto-Terrientes, Conciliating privacy and
utility in data releases via individual differential privacy and microaggregation, 2023 (arXiv 2312.13712).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.dp.budgets import budgets
from anonymizer.dp.centroids import choose_categories, noisy, on_public_grid
from anonymizer.dp.clusters import Clusters, rank_individually
from anonymizer.dp.domain import NumberDomain
from anonymizer.errors import SpecError, TableError, UnreachableError
from anonymizer.methods.contract.method import Method
from anonymizer.methods.contract.parameters import parameters
from anonymizer.methods.perturbation.mdav import mdav
from anonymizer.methods.perturbation.transition import domain as categories_of
from anonymizer.methods.perturbation.transition import propagate_candidates
from anonymizer.releases.guarantee import Guarantee, checked_budget, k_anonymity
from anonymizer.risk.candidates import Candidates, IntervalCandidates, LabelCandidates
from anonymizer.tables.provenance import TableProvenance
from anonymizer.tables.table import Table
from commons.errors import near

Bool = NDArray[np.bool_]
Int = NDArray[np.int64]
Float = NDArray[np.float64]

CLUSTERS: Final = ("columns", "records")
"""Of each column by itself, by individual ranking; or of whole records, by MDAV over the declared ranges."""


@dataclass(frozen=True, slots=True)
class ReleasedNumbers:
    """A column of numbers after a release.

    Attributes:
        domain: its declared numbers.
        cells: the distinct cells that it had, in units of the domain, shape (u,).
        reach: the least and the largest centroid of a cluster with such a cell, widened by likely noise,
            shape (u, 2).
    """

    domain: NumberDomain
    cells: Float = field(repr=False)
    reach: Float = field(repr=False)


@dataclass(frozen=True, slots=True)
class ReleasedCategories:
    """A column of categories after a release.

    Attributes:
        values: the declared ones, shape (c,).
        likely: which are the commonest in a cluster with such a cell, shape (c, c).
    """

    values: NDArray[Any]
    likely: Bool = field(repr=False)


@parameters
class Microaggregation(Method):
    """Replaces cells by noisy centroids of clusters.

    Attributes:
        budgets_: of each column the part of epsilon that it has.
        scales_: of each column of numbers the scale of the noise of each cluster, shape (p,), as the column
            is declared.
        groups_: of each column the cluster of each record, shape (n,).
        exact_: of each column how many clusters of equal values were released without noise.
    """

    keeps_rows: ClassVar[bool] = True
    counts_persons: ClassVar[bool] = False
    applies_to: ClassVar[str] = "No quasi-identifier is declared as a number or as ordered categories"
    minimum_k: ClassVar[int] = 2
    follows_data: ClassVar[bool]
    """Whether the size of the noise depends on the values."""
    random: ClassVar[bool] = True
    keeps_classes: ClassVar[bool] = False
    epsilon: float = 1.0
    k: int = 10
    columns: tuple[str, ...] | None = None
    weights: Mapping[str, float] | None = None
    clusters: str = "columns"
    confidence: float = 0.9

    @override
    def check(self) -> None:
        super().check()
        checked_budget(self.epsilon)
        if self.k < self.minimum_k:
            why = " since the third smallest value of a cluster counts" if self.minimum_k == 3 else ""
            raise SpecError(
                f"k is {self.k}; {self.name} needs clusters of {self.minimum_k} records or more{why}.",
                f"Choose {self.minimum_k} or more.",
            )
        if self.clusters not in CLUSTERS:
            raise SpecError(
                f"{self.clusters!r} is not a valid kind of clusters.", near(self.clusters, CLUSTERS)
            )

    @override
    def _usual(self, table: Table) -> tuple[str, ...]:
        """The quasi-identifiers that are declared so that they can be put into clusters."""
        return tuple(name for name in table.roles.quasi_identifiers if self._fits(table, name))

    def _fits(self, table: Table, column: str) -> bool:
        declared = table.schema.of(column)
        if declared.is_number:
            return True
        return declared.categories is not None and (declared.ordered or self.clusters == "records")

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """A cell depends on all that may lie in its cluster, through noise for a change of one of them."""
        columns = self.columns_of(table)
        given = table.provenance
        read = {name: (columns if self.clusters == "records" else (name,)) for name in columns}
        cells = {}
        for name, some in read.items():
            behind = self._behind_noise(table, given.content(*some)).spread()
            for one in some:
                behind |= given[one].domain
            cells[name] = behind
        return given.recode(cells, gaps="none")

    @property
    @override
    def blurs(self) -> bool:
        """As `Method.blurs`: clusters of whole records stay alike."""
        return self.clusters != "records"

    @override
    def _fit(self, table: Table) -> None:
        self.budgets_ = budgets(self.epsilon, self.columns_of(table), self.weights)
        self._cells(table)

    def _cells(self, table: Table) -> dict[str, tuple[NumberDomain | NDArray[Any], Float]]:
        """Of each column its domain or categories, and the cells as numbers in it."""
        if len(table) < self.k:
            raise UnreachableError(
                f"k is {self.k} and the table has {len(table)} rows.", "Lower k, or give more rows."
            )
        found: dict[str, tuple[NumberDomain | NDArray[Any], Float]] = {}
        for column in self.columns_of(table):
            if table.schema.of(column).categories is None:
                domain = NumberDomain.of_declaration(table, column)
                found[column] = domain, domain.cells(table, column)
                continue
            if not self._fits(table, column):
                raise TableError(
                    f"The categories of column {column!r} have no order to make clusters by.",
                    'Declare ordered = true if they have one, or write clusters = "records" in the step.',
                )
            table.complete((column,))
            values, _ = categories_of(table, column)
            places = {value: place for place, value in enumerate(values.tolist())}
            codes = table.codes(column)
            known = np.array([places[value] for value in codes.values.tolist()], dtype=np.float64)
            found[column] = values, known[codes.codes]
        return found

    @override
    def _transform(self, table: Table) -> Table:
        cells = self._cells(table)
        self.count_ = max(1, len(table) // self.k)
        together = mdav(_points(table, cells), self.k) if self.clusters == "records" else None
        self.scales_: dict[str, Float] = {}
        self.exact_: dict[str, int] = {}
        self.known_: dict[str, ReleasedNumbers | ReleasedCategories] = {}
        self.groups_: dict[str, Int] = {}
        released: dict[str, Any] = {}
        for column, (domain, values) in cells.items():
            groups = rank_individually(values, self.k) if together is None else together
            self.groups_[column] = groups
            if isinstance(domain, NumberDomain):
                released[column] = self._numbers(column, domain, Clusters.of(values, groups), values)
            else:
                released[column] = self._categories(column, domain, values.astype(np.int64), groups)
        return table.replace(released)

    def _numbers(self, column: str, domain: NumberDomain, clusters: Clusters, values: Float) -> NDArray[Any]:
        low, high = domain.ends
        means, changes = self._centroids(column, clusters, low, high)
        found, scales = noisy(means, changes, low, self.budgets_[column])
        self.scales_[column] = scales * (domain.grid or 1.0)
        self.exact_[column] = int((changes == 0).sum())
        wide = -np.log1p(-min(self.confidence, 1 - 1e-15)) * scales
        reach = ((means - wide)[clusters.groups], (means + wide)[clusters.groups])
        self.known_[column] = ReleasedNumbers(domain, *_reach(values, *reach))
        # low and high are in declared steps, if there are any
        found = on_public_grid(found, low, high, finest=0.0 if domain.grid is None else 1.0)
        return domain.of(domain.at(found[clusters.groups]))

    def _categories(self, column: str, values: NDArray[Any], codes: Int, groups: Int) -> NDArray[Any]:
        counts = np.zeros((int(groups.max()) + 1, len(values)), dtype=np.int64)
        np.add.at(counts, (groups, codes), 1)
        commonest = counts == counts.max(axis=1, keepdims=True)
        present = (counts > 0).astype(np.float64)
        likely = (present.T @ commonest.astype(np.float64)) > 0
        self.known_[column] = ReleasedCategories(values, likely)
        cells: NDArray[Any] = values[choose_categories(counts, self.budgets_[column])[groups]]
        return cells

    @abstractmethod
    def _centroids(self, column: str, clusters: Clusters, low: float, high: float) -> tuple[Float, Float]:
        """The centroids, and how much one record can change each, both of shape (p,)."""

    @abstractmethod
    def _if_moved(self, column: str) -> float | None:
        """The largest loss of the noisy centroids of a column if a record changes cluster; None: no bound.

        A record that leaves one cluster for another moves one record over every boundary between. Each
        cluster then differs in one record, and since values are in order, these changes add up to no more
        than the record has moved.
        """

    @override
    def guarantees(self, table: Table) -> tuple[Guarantee, ...]:
        """Individual differential privacy of a record with its condition; k-anonymity of whole records."""
        columns = tuple(self.budgets_)
        numbers: dict[str, float | int] = {"epsilon": sum(self.budgets_.values()), "k": self.k}
        same = ", with noise as large as for this one" if self.follows_data else ""
        said = (
            "This is not differential privacy. It compares this table with tables in which one record has "
            f"other values and all records are in the same clusters{same}; which rows are in one cluster is "
            "released as it is, and a change that alters this can be seen."
        )
        of_columns = [self._if_moved(column) for column in columns if column in self.scales_]
        by_counts = [self.count_ * self.budgets_[c] for c in columns if c not in self.scales_]
        moved = [*of_columns, *by_counts]
        if self.clusters == "columns" and None not in moved:
            numbers["epsilon_if_moved"] = sum(one for one in moved if one is not None)
            said += (
                " If a record changes cluster, the noisy values by themselves, without the rows that share "
                f"them, lose up to epsilon_if_moved{same}."
            )
        else:
            said += " If a record changes cluster, the loss has no bound."
        if len(columns) > 1:
            numbers |= {f"epsilon {column}": budget for column, budget in self.budgets_.items()}
        one = Guarantee("idp", numbers, "record", columns, "replace", said, self.name)
        floor = k_anonymity(self.k, columns, self.name) if self.clusters == "records" else ()
        return (one, *floor)

    @property
    @override
    def condition_(self) -> Any:
        """The clusters of the records, and the sizes of the noise where they depend on the values."""
        scales = self.scales_ if self.follows_data else {}
        held = (*self.groups_.items(), *scales.items())
        return tuple((column, found.tobytes()) for column, found in held)

    @property
    @override
    def notes(self) -> tuple[str, ...]:
        """As `Method.notes`: clusters that were released without noise."""
        return tuple(
            f"In column {column} {count:,} clusters of equal values were released without noise."
            for column, count in getattr(self, "exact_", {}).items()
            if count
        )

    def simulate(self, column: str, candidates: Candidates) -> Candidates:
        """High: centroids of clusters with such a cell, within the quantile of |noise| at T; low: anywhere.

        Of categories the commonest of such a cluster, and all.
        """
        known = getattr(self, "known_", {}).get(column)
        if isinstance(known, ReleasedCategories):
            possible = np.ones_like(known.likely)
            return propagate_candidates(candidates, known.values, known.likely, possible)
        if known is None:
            return candidates
        if isinstance(candidates, LabelCandidates):
            raise TableError(
                f"Column {column!r} holds no numbers before {self.name}.", "Generalize after it."
            )
        domain, unit = known.domain, known.domain.grid or 1.0
        high = _within(domain.at(candidates.high / unit), known)
        empty = high[:, 0] > high[:, 1]
        high = domain.at(high) * unit
        high[empty] = (np.inf, -np.inf)
        return IntervalCandidates(high, np.tile(np.array(domain.ends) * unit, (len(high), 1)))


def _points(table: Table, cells: Mapping[str, tuple[NumberDomain | NDArray[Any], Float]]) -> Float:
    """Records as points: each column has the declared width 1, different unordered categories are 1 apart."""
    parts = []
    for column, (domain, values) in cells.items():
        if isinstance(domain, NumberDomain):
            low, high = domain.ends
            parts.append(((values - low) / (high - low))[:, None])
        elif table.schema.of(column).ordered:
            parts.append((values / max(1, len(domain) - 1))[:, None])
        else:
            parts.append(np.eye(len(domain))[values.astype(np.int64)] / np.sqrt(2))
    return np.concatenate(parts, axis=1)


def _reach(values: Float, lows: Float, highs: Float) -> tuple[Float, Float]:
    """Of each distinct value the least and the largest that it became, shapes (u,) and (u, 2)."""
    distinct, codes = np.unique(values, return_inverse=True)
    ends = np.stack([np.full(len(distinct), np.inf), np.full(len(distinct), -np.inf)], axis=1)
    np.minimum.at(ends[:, 0], codes, lows)
    np.maximum.at(ends[:, 1], codes, highs)
    return distinct, ends


def _within(ends: Float, known: ReleasedNumbers) -> Float:
    """Of each interval what the cells in it became at least and at most; infinite if it holds none."""
    found = np.empty_like(ends)
    for row, (low, high) in enumerate(ends):
        first, behind = np.searchsorted(known.cells, low), np.searchsorted(known.cells, high, side="right")
        inside = known.reach[first:behind]
        found[row] = (inside[:, 0].min(initial=np.inf), inside[:, 1].max(initial=-np.inf))
    return found
