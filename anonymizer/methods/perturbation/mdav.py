"""Microaggregation by MDAV: groups of k near records, each replaced by its mean.

While 3k records or more are left, the record farthest from their mean takes its k - 1 nearest, and so does
the record farthest from that one; of 2k to 3k - 1, the farthest from the mean takes its nearest and the rest
is a group; fewer than 2k are one group. Distances are Euclidean over standardized columns, or Mahalanobis'
with a covariance that outliers do not move.

References: Domingo-Ferrer and Torra, Ordinal, continuous and heterogeneous k-anonymity through
microaggregation, Data Mining and Knowledge Discovery 11, 2005 (MDAV-generic); Templ and Meindl, Robust
statistics meets SDC: new disclosure risk measures for continuous microdata masking, PSD 2008 (RMDM).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import SpecError, TableError, UnreachableError
from anonymizer.methods.contract.parameters import parameters
from anonymizer.methods.perturbation.numeric import NumericMethod
from anonymizer.releases.guarantee import Guarantee, k_anonymity
from anonymizer.risk.candidates import Candidates, IntervalCandidates, LabelCandidates
from anonymizer.tables.table import Table
from commons.errors import near

Int = NDArray[np.int64]
Float = NDArray[np.float64]

DISTANCES: Final = ("euclidean", "robust")
"""Over standardized columns; or Mahalanobis' by the minimum covariance determinant, which sees how the
columns go together and is not moved by up to half of the rows, so that outliers do not hide each other."""

_STRANDS: Final = 64
_SAME: Final = 1e-10
"""Directions with less than this part of the variance are linear in others, up to rounding."""
_FLAT: Final = 1e-6
"""Of the largest robust variance; less counts as this, so that no direction alone decides."""


@parameters
class MDAV(NumericMethod):
    """Replaces numbers by the means of groups of at least k records: k-anonymous over these columns.

    Args:
        k: the least size of a group.
        columns: numeric columns; the numeric quasi-identifiers if None.
        distance: "euclidean" or "robust", see `DISTANCES`.
    """

    name: ClassVar[str] = "mdav"
    makes_classes: ClassVar[bool] = True
    counts_persons: ClassVar[bool] = False
    random: ClassVar[bool] = False
    keeps_rows: ClassVar[bool] = True
    example: ClassVar[Mapping[str, Any]] = {"k": 2}

    k: int = 5
    columns: tuple[str, ...] | None = None
    distance: str = "euclidean"

    @property
    @override
    def _together(self) -> bool:
        return True

    @override
    def check(self) -> None:
        super().check()
        if self.k < 2:
            raise TableError(f"k is {self.k}.", "Choose 2 or more; with 1 every row stands alone.")
        if self.distance not in DISTANCES:
            raise SpecError(f"{self.distance!r} is not a valid distance.", near(self.distance, DISTANCES))

    @override
    def _fit(self, table: Table) -> None:
        self._numbers(table)

    @override
    def _numbers(self, table: Table) -> Float:
        if len(table) < self.k:
            raise UnreachableError(
                f"k is {self.k} and the table has {len(table)} rows.", "Lower k, or give more rows."
            )
        table.complete(self.columns_of(table))
        return super()._numbers(table)

    @override
    def _transform(self, table: Table) -> Table:
        columns = self.columns_of(table)
        numbers = self._numbers(table)
        points = standardize(numbers)
        self.groups_: Int = mdav(robust(points) if self.distance == "robust" else points, self.k)
        sizes = np.bincount(self.groups_)
        replaced = {}
        self.ends_: dict[str, tuple[Float, Float]] = {}
        for place, column in enumerate(columns):
            means = np.bincount(self.groups_, numbers[:, place]) / sizes
            replaced[column] = means[self.groups_]
            self.ends_[column] = _reach(numbers[:, place], means[self.groups_])
        return table.replace(replaced)

    @override
    def guarantees(self, table: Table) -> tuple[Guarantee, ...]:
        """As `Method.guarantees`: k-anonymity over the columns."""
        return k_anonymity(self.k, self.columns_of(table), self.name)

    def simulate(self, column: str, candidates: Candidates) -> Candidates:
        """The least and the largest mean of a group that has such a value, with high confidence."""
        if isinstance(candidates, LabelCandidates) or column not in getattr(self, "ends_", {}):
            return candidates
        values, means = self.ends_[column]
        high, low = (_means_within(ends, values, means) for ends in (candidates.high, candidates.low))
        return IntervalCandidates(high, low)


def mdav(points: Float, k: int) -> Int:
    """Group points.

    Args:
        points: shape (n, d), n at least k.
        k: at least 1.

    Returns:
        The group of each point, from 0, shape (n,).
    """
    pool = _Pool(points)
    groups = np.empty(len(points), dtype=np.int64)
    count = 0
    while len(pool) >= 3 * k:
        from_first = pool.distances(pool.point(int(pool.distances(pool.mean).argmax())))
        second = pool.point(int(from_first.argmax()))
        groups[pool.take(from_first, k)] = count
        groups[pool.take(pool.distances(second), k)] = count + 1
        count += 2
    if len(pool) >= 2 * k:
        first = pool.point(int(pool.distances(pool.mean).argmax()))
        groups[pool.take(pool.distances(first), k)] = count
        count += 1
    groups[pool.rows] = count
    return groups


class _Pool:
    """The points that are left, without gaps in memory."""

    def __init__(self, points: Float) -> None:
        norms = np.einsum("ij,ij->i", points, points)
        # one row a column of the table, the squared norms last: distances are one product
        self._columns = np.concatenate((points.T, norms[None, :]))
        self._sum = points.sum(axis=0)
        self.rows = np.arange(len(points))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def mean(self) -> Float:
        """Of the points that are left."""
        mean: Float = self._sum / len(self.rows)
        return mean

    def point(self, place: int) -> Float:
        """One of the points that are left."""
        found: Float = self._columns[:-1, place].copy()
        return found

    def distances(self, centre: Float) -> Float:
        """Squared distances to a centre, less the squared norm of the centre."""
        distances: Float = np.append(-2 * centre, 1.0) @ self._columns
        return distances

    def take(self, distances: Float, k: int) -> Int:
        """Take out the k points of least distance; returns their rows."""
        chosen = _least(distances, k)
        taken = self.rows[chosen]
        self._sum -= self._columns[:-1, chosen].sum(axis=1)
        stay = len(self) - k
        # the last points fill the gaps, so that nothing else moves
        gaps = chosen[chosen < stay]
        last = np.ones(k, dtype=np.bool_)
        last[chosen[chosen >= stay] - stay] = False
        tail = stay + np.flatnonzero(last)
        self.rows[gaps] = self.rows[tail]
        self._columns[:, gaps] = self._columns[:, tail]
        self.rows, self._columns = self.rows[:stay], self._columns[:, :stay]
        return taken


def _least(numbers: Float, k: int) -> Int:
    """The places of the k least of n >= k numbers, in no order."""
    if len(numbers) < _STRANDS * k:
        return np.argpartition(numbers, k - 1)[:k]
    # the k-th least of minima of disjoint parts is no less than the k-th least of all
    width = len(numbers) // _STRANDS
    minima = numbers[: _STRANDS * width].reshape(_STRANDS, width).min(axis=0)
    near = np.flatnonzero(numbers <= np.partition(minima, k - 1)[k - 1])
    chosen: Int = near[np.argpartition(numbers[near], k - 1)[:k]]
    return chosen


def standardize(numbers: Float) -> Float:
    """Columns with mean 0 and standard deviation 1 (of a sample); constant ones are 0.

    Args:
        numbers: shape (n, d).
    """
    centred = numbers - numbers.mean(axis=0)
    deviation = numbers.std(axis=0, ddof=1) if len(numbers) > 1 else np.zeros(numbers.shape[1])
    result: Float = np.divide(centred, deviation, out=np.zeros_like(centred), where=deviation > 0)
    return result


def robust(points: Float) -> Float:
    """Points whose Euclidean distances are robust Mahalanobis distances of the given ones.

    Args:
        points: shape (n, d); columns may be linear in others.

    Returns:
        Shape (n, r), r being the rank.

    Raises:
        UnreachableError: there are fewer than 5 rows for each column, or more than half lie in a plane.

    Reference: Rousseeuw and Van Driessen, A fast algorithm for the minimum covariance determinant estimator,
        Technometrics 41, 1999.
    """
    variance, axes = np.linalg.eigh(np.atleast_2d(np.cov(points.T)))
    kept = variance > _SAME * max(float(variance.max()), np.finfo(float).tiny)
    reduced: Float = points @ (axes[:, kept] / np.sqrt(variance[kept]))
    if not reduced.shape[1]:
        return reduced
    if len(points) < 5 * reduced.shape[1]:
        raise UnreachableError(
            f"Robust distances of {reduced.shape[1]} columns need {5 * reduced.shape[1]} rows; there are "
            f"{len(points)}.",
            'Write distance = "euclidean", or name fewer columns.',
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of covariances that are nearly singular, which are seen to below
        try:
            from sklearn.covariance import MinCovDet  # takes long to import

            covariance = MinCovDet(random_state=0).fit(reduced).covariance_
        except ValueError:
            covariance = np.zeros((1, 1))
    variance, axes = np.linalg.eigh(covariance)
    if not variance.max() > 0:
        raise UnreachableError(
            "More than half of the rows have the same numbers, so that no distances are robust.",
            'Write distance = "euclidean".',
        )
    whitened: Float = reduced @ (axes / np.sqrt(np.maximum(variance, _FLAT * variance.max())))
    return whitened


def information_loss(points: Float, groups: Int) -> float:
    """SSE / SST: the part of the variance that is within groups, in [0, 1]; 0 if there is no variance.

    Args:
        points: shape (n, d), as they were grouped.
        groups: shape (n,).
    """
    total = ((points - points.mean(axis=0)) ** 2).sum()
    if not total:
        return 0.0
    sizes = np.bincount(groups)
    means = np.stack([np.bincount(groups, column) / sizes for column in points.T], axis=1)
    return float(((points - means[groups]) ** 2).sum() / total)


def _reach(numbers: Float, means: Float) -> tuple[Float, Float]:
    """Of each distinct number the least and the largest mean that it became, shape (v,) and (v, 2)."""
    values, codes = np.unique(numbers, return_inverse=True)
    ends = np.stack([np.full(len(values), np.inf), np.full(len(values), -np.inf)], axis=1)
    np.minimum.at(ends[:, 0], codes, means)
    np.maximum.at(ends[:, 1], codes, means)
    return values, ends


def _means_within(ends: Float, values: Float, means: Float) -> Float:
    """Of each interval the least and the largest mean of the values in it; nothing if it holds none."""
    found = np.empty_like(ends)
    for row, (low, high) in enumerate(ends):
        inside = means[np.searchsorted(values, low) : np.searchsorted(values, high, side="right")]
        found[row] = (inside[:, 0].min(initial=np.inf), inside[:, 1].max(initial=-np.inf))
    return found
