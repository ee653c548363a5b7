"""DP-UM, iDP-LS and iDP-CBLS: three sizes of noise on centroids, see `Microaggregation`.

None of them is differential privacy of a record (errata 32 and 33): what is promised has a condition, and
docs/reproduction.md shows what is lost without it.

Reference: Soria-Comas, Sánchez, Domingo-Ferrer, Martínez and Del Vasto-Terrientes, Conciliating privacy and
utility in data releases via individual differential privacy and microaggregation, 2023 (arXiv 2312.13712).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.dp.centroids import FINENESS, SLACK, WIDEST, account
from anonymizer.dp.clusters import Clusters
from anonymizer.errors import SpecError, TableError
from anonymizer.methods.contract.parameters import parameters
from anonymizer.methods.perturbation.microaggregation import Microaggregation

Float = NDArray[np.float64]


class DpUm(Microaggregation):
    """Noise for the widest change that the declared bounds allow (DP-UM, section 3.1).

    The scale of a centroid's noise is the width of the bounds by the size of the cluster and epsilon. A
    record that changes cluster changes many centroids, and the paper's argument by parallel composition fails
    (erratum 32); since values are in order, their changes add up to no more than the width, so that the noisy
    centroids of a column have epsilon all the same. Which rows are in which cluster has none.

    Args:
        epsilon: of a whole record, in [1e-6, 100].
        k: the least size of a cluster, 2 or more.
        columns: declared as numbers with bounds, or as categories; the quasi-identifiers that are if None.
        weights: how many times the part of epsilon of the others a column gets; 1 if None.
        clusters: one of `CLUSTERS`.
        confidence: T; an attacker is confident while the noise needed is within this cumulative probability.
    """

    name: ClassVar[str] = "dp-um"
    follows_data: ClassVar[bool] = False
    example: ClassVar[Mapping[str, Any]] = {"k": 3, "columns": ("age",)}

    @override
    def _centroids(self, column: str, clusters: Clusters, low: float, high: float) -> tuple[Float, Float]:
        return clusters.means, clusters.global_change(low, high) / clusters.sizes

    @override
    def _if_moved(self, column: str) -> float | None:
        return _account(self.budgets_[column], 1, self.count_)


class IdpLs(DpUm):
    """Noise for the widest change from the values of the cluster to the bounds (iDP-LS, section 3.2.1).

    That is at least half the width of the bounds (Proposition 2), and so at least half the noise of `dp-um`.

    Args:
        epsilon: as in `DpUm`; so are the others.
        k: the least size of a cluster.
        columns: declared as numbers with bounds, or as categories.
        weights: of the columns.
        clusters: one of `CLUSTERS`.
        confidence: T.
    """

    name: ClassVar[str] = "idp-ls"
    follows_data: ClassVar[bool] = True
    example: ClassVar[Mapping[str, Any]] = {"k": 3, "columns": ("age",)}

    @override
    def _centroids(self, column: str, clusters: Clusters, low: float, high: float) -> tuple[Float, Float]:
        return clusters.means, clusters.local_change(low, high) / clusters.sizes

    @override
    def _if_moved(self, column: str) -> float | None:
        return _account(self.budgets_[column], 2, self.count_)


@parameters
class IdpCbls(Microaggregation):
    """Noise for the widest change that a record of the trimmed cluster can make (iDP-CBLS, section 3.2.2).

    The least and the largest value of a cluster are replaced by those next to them. Then a record that stays
    in the cluster changes the centroid by little (Proposition 3), and the bounds serve to clamp only. **One
    that changes cluster may lose up to epsilon in every cluster that it passes.**

    In a cluster of equal values nothing that stays in it changes the centroid, and the paper adds no noise.
    Such tables are refused unless `minimum_change` says what to do.

    Args:
        epsilon: of a whole record, in [1e-6, 100].
        k: the least size of a cluster, 3 or more, since the third smallest value counts.
        minimum_change: noise is at least such as if one record could change the sum of its cluster by this
            part of the width of the bounds, in [0, 1]; with 0 clusters of equal values are released as they
            are, as in the paper.
        columns: declared as numbers with bounds, or as categories; the quasi-identifiers that are if None.
        weights: how many times the part of epsilon of the others a column gets; 1 if None.
        clusters: one of `CLUSTERS`.
        confidence: T; an attacker is confident while the noise needed is within this cumulative probability.
    """

    name: ClassVar[str] = "idp-cbls"
    minimum_k: ClassVar[int] = 3
    follows_data: ClassVar[bool] = True
    example: ClassVar[Mapping[str, Any]] = {"k": 3, "minimum_change": 0.01, "columns": ("age",)}

    minimum_change: float | None = None

    @override
    def check(self) -> None:
        super().check()
        if self.minimum_change is not None and not 0 <= self.minimum_change <= 1:
            raise SpecError(
                f"minimum_change is {self.minimum_change}, outside [0, 1].",
                "Choose a part of the width of the bounds, such as 0.01.",
            )

    @override
    def _centroids(self, column: str, clusters: Clusters, low: float, high: float) -> tuple[Float, Float]:
        changes = clusters.inner_change()
        # what is less than the lattice of the noise can hold counts as equal
        equal = changes * WIDEST < (high - low) * clusters.sizes
        if equal.any() and self.minimum_change is None:
            raise TableError(
                f"Column {column!r} has {int(equal.sum()):,} of {len(clusters):,} clusters of equal "
                "values: their centroids would have no noise.",
                "Write minimum_change = 0.01, so that noise is never less than for a change by that part of "
                "the bounds; or raise k; or write minimum_change = 0, and they are released as they are.",
            )
        changes[equal] = 0.0
        largest = int(clusters.sizes.max())
        if self.minimum_change and self.minimum_change * WIDEST < largest:
            raise SpecError(
                f"minimum_change is {self.minimum_change:g}, too little to count in a cluster of "
                f"{largest:,} records.",
                f"Choose {2 * largest / WIDEST:.1g} or more, or 0.",
            )
        floor = (self.minimum_change or 0.0) * (high - low)
        return clusters.trim().means, np.maximum(changes, floor) / clusters.sizes

    @override
    def _if_moved(self, column: str) -> float | None:
        return None if self.minimum_change == 0 else self.count_ * self.budgets_[column]


def _account(epsilon: float, times: int, clusters: int) -> float:
    """What OpenDP makes of changes that add up to some largest changes, rounding in each cluster."""
    measurement, _ = account(epsilon)
    return float(measurement.map(times * FINENESS + SLACK * clusters))
