"""The experiments of the paper on individual differential privacy: masked tables, and what is left in them.

Reference: Soria-Comas, Sánchez, Domingo-Ferrer, Martínez and Del Vasto-Terrientes, Conciliating privacy and
utility in data releases via individual differential privacy and microaggregation, 2023 (arXiv 2312.13712),
section 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import f1_score

from anonymizer.dp.audit import loss_at_least
from anonymizer.dp.clusters import Clusters, moved_loss, rank_individually
from anonymizer.tables.randomness import Randomness

Float = NDArray[np.float64]
Bool = NDArray[np.bool_]

DP: Final = "DP"
UM: Final = "DP-UM"
LS: Final = "iDP-LS"
CBLS: Final = "iDP-CBLS"
METHODS: Final = (UM, LS, CBLS)
EPSILONS: Final = (0.01, 0.1, 1.0)
ALPHAS: Final = (1.5, 3.0)
TRAINED: Final = 0.66
CENSUS: Final = "casc_census.csv"
WINE: Final = "wine_white.csv"
ATTRIBUTES: Final = (
    "AFNLWGT", "AGI", "EMCONTRB", "FEDTAX", "STATETAX", "TAXINC", "POTHVAL", "INTVAL", "FICA"
)  # fmt: skip

Setting = tuple[str, int, float, float]
"""Method, k (0 where there is none), epsilon and alpha."""


@dataclass(frozen=True, eq=False)
class Data:
    """A table of the paper.

    Attributes:
        name: for headings.
        columns: the attributes.
        values: theirs, shape (n, m).
        above: whether the class of a record is the second of `classes`, shape (n,).
        classes: both classes.
    """

    name: str
    columns: tuple[str, ...]
    values: Float = field(repr=False)
    above: Bool = field(repr=False)
    classes: tuple[str, str]

    @classmethod
    def census(cls, path: Path) -> Data:
        """Census, class ERNVAL."""
        frame = pd.read_csv(path)
        above = (frame["ERNVAL"] > 30_000).to_numpy()
        return cls("Census", ATTRIBUTES, frame[[*ATTRIBUTES]].to_numpy(float), above, ("<= 30K", "> 30K"))

    @classmethod
    def wine(cls, path: Path) -> Data:
        """White wine, class quality."""
        frame = pd.read_csv(path)
        names = tuple(name for name in frame.columns if name != "quality")
        above = (frame["quality"] > 6).to_numpy()
        return cls("Wine", names, frame[[*names]].to_numpy(float), above, ("Not Excellent", "Excellent"))

    @cache  # noqa: B019 - two tables that live as long as the script
    def clusters(self, k: int) -> tuple[Clusters, ...]:
        """Of each attribute the clusters by individual ranking."""
        return tuple(Clusters.of(column, rank_individually(column, k)) for column in self.values.T)


def changes(method: str, clusters: Clusters, high: float) -> Float:
    """How much one record changes each centroid as a method takes it, shape (p,); domain [0, high]."""
    sums = {
        UM: lambda: clusters.global_change(0.0, high),
        LS: lambda: clusters.local_change(0.0, high),
        CBLS: clusters.inner_change,
    }[method]()
    found: Float = sums / clusters.sizes
    return found


def centroids(method: str, clusters: Clusters) -> Float:
    """The centroids, shape (p,)."""
    return (clusters.trim() if method == CBLS else clusters).means


def masked(data: Data, setting: Setting, draw: Randomness, *, each: bool = False) -> Float:
    """A masked table, shape (n, m); noise of a seed, which protects nothing and is for trials.

    Args:
        data: the table.
        setting: as `Setting`.
        draw: where noise is from.
        each: whether every attribute has all of epsilon; else it is the sum over attributes (Algorithm 3.1).
    """
    method, k, epsilon, alpha = setting
    budget = epsilon if each else epsilon / len(data.columns)
    found = np.empty_like(data.values)
    for place, column in enumerate(data.values.T):
        high = alpha * column.max()
        if method == DP:
            noisy = column + draw.laplace(len(column)) * high / budget
        else:
            clusters = data.clusters(k)[place]
            scales = changes(method, clusters, high) / budget
            noisy = (centroids(method, clusters) + draw.laplace(len(clusters)) * scales)[clusters.groups]
        found[:, place] = np.clip(noisy, 0, high)
    return found


def mean_sse(original: Float, released: Float, *, printed: bool = True) -> float:
    """Eq. 4 with the distance of Eq. 5, by the number of records.

    Args:
        original: shape (n, m).
        released: shape (n, m).
        printed: divide by the variance of each attribute, as Eq. 5 does (erratum 34); else by its standard
            deviation, which has no unit.
    """
    by = original.var(axis=0, ddof=1) if printed else original.std(axis=0, ddof=1)
    distances = ((original - released) / by) ** 2
    return float(distances.sum(axis=1).mean() / original.shape[1] ** 2)


class Sse(NamedTuple):
    """The mean SSE of a setting: as printed, by standard deviations, and as printed in each run."""

    printed: float
    plain: float
    runs: Sequence[float]


class F(NamedTuple):
    """F-measures of both classes, means over runs, and those of each run."""

    first: float
    second: float
    runs: Sequence[tuple[float, float]]


def noise(seed: int, setting: Setting) -> Randomness:
    """The same noise for all methods at one k, epsilon and alpha, so that runs are pairs."""
    return Randomness(seed, str(setting[1:]))


def errors(
    data: Data,
    ks: Sequence[int],
    runs: int,
    seed: int,
    *,
    methods: Sequence[str] = METHODS,
    each: bool = False,
) -> dict[Setting, Sse]:
    """Figures 3 and 4: the mean SSE; `each` as in `masked`."""
    settings = [(DP, 0, epsilon, alpha) for epsilon in EPSILONS for alpha in ALPHAS]
    settings += [(m, k, epsilon, alpha) for m in methods for k in ks for epsilon in EPSILONS
                 for alpha in ALPHAS]  # fmt: skip
    found = {}
    for setting in settings:
        draw = noise(seed, setting)
        tables = [masked(data, setting, draw, each=each) for _ in range(runs)]
        printed = [mean_sse(data.values, one) for one in tables]
        plain = [mean_sse(data.values, one, printed=False) for one in tables]
        found[setting] = Sse(float(np.mean(printed)), float(np.mean(plain)), printed)
    return found


def f_measures(data: Data, train: Float, seed: int) -> tuple[float, float]:
    """Of both classes, by a random forest trained on the first 66 % and tested on the other original rows."""
    count = int(TRAINED * len(train))
    forest = RandomForestClassifier(random_state=seed).fit(train[:count], data.above[:count])
    guessed, true = forest.predict(data.values[count:]), data.above[count:]
    first, second = (
        float(f1_score(true, guessed, pos_label=label, zero_division=0.0)) for label in (False, True)
    )
    return first, second


def learned(
    data: Data, settings: Sequence[Setting], runs: int, seed: int, *, each: bool = False
) -> tuple[F, dict[Setting, F]]:
    """Figures 5 and 6: F-measures of forests trained on original and on masked records."""

    def mean(pairs: Sequence[tuple[float, float]]) -> F:
        first, second = np.mean(pairs, axis=0).tolist()
        return F(first, second, pairs)

    original = mean([f_measures(data, data.values, seed + run) for run in range(runs)])
    found = {}
    for setting in settings:
        draw = noise(seed, setting)
        found[setting] = mean(
            [f_measures(data, masked(data, setting, draw, each=each), seed + run) for run in range(runs)]
        )
    return original, found


@dataclass(frozen=True, slots=True)
class Loss:
    """What one column of a release tells about a record.

    Attributes:
        stays: the largest exact loss over records that stay in their cluster.
        stays_audited: the loss that an audit of the worst of them proves.
        moves: the largest exact loss of records that move to an end of the domain, ranks made anew.
        moves_audited: the loss that an audit of the worst of them proves.
    """

    stays: float
    stays_audited: float
    moves: float
    moves_audited: float


def measured(method: str, values: Float, k: int, epsilon: float, high: float, runs: int, seed: int) -> Loss:
    """The real loss of noisy centroids of a column, for noise that is as large on both tables.

    Args:
        method: one of `METHODS`.
        values: the column, shape (n,).
        k: of the clusters.
        epsilon: of the column.
        high: the domain is [0, high].
        runs: outputs that an audit sees of either table; more prove more.
        seed: of the noise.
    """
    groups = rank_individually(values, k)
    clusters = Clusters.of(values, groups)
    before, scales = centroids(method, clusters), changes(method, clusters, high) / epsilon

    def worst(ranks_anew: bool) -> tuple[float, Float]:
        best, found = -1.0, before
        for record in range(len(values)):
            for new in (0.0, high):
                other = values.copy()
                other[record] = new
                after = centroids(
                    method, Clusters.of(other, rank_individually(other, k) if ranks_anew else groups)
                )
                loss = moved_loss(before, after, scales)
                if loss > best:
                    best, found = loss, after
        return best, found

    def audited(after: Float, draw: Randomness) -> float:
        if (after != before)[scales == 0].any():
            return float("inf")
        held = (scales > 0) & (after != before)
        shift = (after - before)[held] / scales[held]
        noise = [draw.laplace(runs * len(shift)).reshape(runs, -1) for _ in range(2)]
        ratios = [(np.abs(z - shift) - np.abs(z)).sum(axis=1) for z in (noise[0], noise[1] + shift)]
        # the last digits would tell how the ratios were computed, which no release shows
        first, second = (np.round(one, 9) for one in ratios)
        return loss_at_least(first, second)

    draw = Randomness(seed, "audit")
    (stays, kept), (moves, gone) = worst(False), worst(True)
    return Loss(stays, audited(kept, draw), moves, audited(gone, draw))


def equal_clusters(data: Data, k: int) -> Mapping[str, tuple[int, int]]:
    """Of each attribute how many clusters hold equal values, and how many there are."""
    return {
        name: (int((clusters.inner_change() == 0).sum()), len(clusters))
        for name, clusters in zip(data.columns, data.clusters(k), strict=True)
    }
