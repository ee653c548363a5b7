"""A Gaussian copula: each column's distribution, and correlations of normal scores, with noise.

The paper measures Kendall's tau, whose sensitivity falls with the number of rows, which is not public here.
In its place stands the sum over rows of products of normal scores. Scores come from the noisy distributions,
so that they are public; each is bounded and rounded to a grid, so that a row changes the sums by whole
numbers within known limits.

Reference: Li, Xiong and Jiang, Differentially private synthesization of multi-dimensional data using copula
functions, EDBT 2014, section 4 (DPCopula).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import scipy
from numpy.typing import NDArray

from anonymizer.synthetic.budget import Budget
from anonymizer.synthetic.counting import Coded, near_counts, weighted_total
from anonymizer.tables.randomness import Randomness

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_FARTHEST: Final = 2.5
"""Normal scores are cut off beyond."""
_STEPS: Final = 64
"""Steps of the grid of scores by unit."""
_SMALLEST: Final = 1e-3
"""The least eigenvalue of the correlations as they are used."""


@dataclass(frozen=True, slots=True)
class Copula:
    """A fitted copula.

    Attributes:
        chances: the distribution of each column, shapes (size,).
        root: a matrix whose product with its transpose is the correlations, shape (d, d).
        total: the number of rows as it was measured.
    """

    chances: tuple[Float, ...] = field(repr=False)
    root: Float = field(repr=False)
    total: float

    def draw(self, rows: int, randomness: Randomness) -> Int:
        """Draw rows of cells, shape (rows, d)."""
        count = len(self.chances)
        normal = randomness.normal(rows * count).reshape(rows, count) @ self.root.T
        places = scipy.special.ndtr(normal)
        columns = [
            np.minimum(np.searchsorted(np.cumsum(one), places[:, place], side="right"), len(one) - 1)
            for place, one in enumerate(self.chances)
        ]
        return np.stack(columns, axis=1).astype(np.int64)


def copula(data: Coded, budget: Budget) -> Copula:
    """Measure each column and all correlations, each for half of the budget."""
    count = len(data.sizes)
    cost = budget.total / (2 if count > 1 else 1)
    ones = [budget.counts(data.counts((column,)), cost / count) for column in range(count)]
    total = weighted_total(
        [float(one.values.sum()) for one in ones], [len(one.values) * one.deviation**2 for one in ones]
    )
    chances = tuple(near_counts(one.values, total) / total for one in ones)
    if count == 1:
        return Copula(chances, np.eye(1), total)
    scores = [_scores(one) for one in chances]
    spreads = [max(float(one @ score**2), 0.5) for one, score in zip(chances, scores, strict=True)]
    cells = np.stack([score[data.codes[:, place]] for place, score in enumerate(scores)], axis=1)
    whole = np.round(cells * _STEPS).astype(np.int64)
    upper = np.triu_indices(count, 1)
    sums = (whole.T @ whole)[upper]
    noisy = budget.counts(sums, budget.left * (1 - 1e-9), l1=reach(scores)[0], l2=reach(scores)[1])
    matrix = np.eye(count)
    matrix[upper] = noisy.values / _STEPS**2 / total
    matrix[upper] /= np.sqrt(np.outer(spreads, spreads)[upper])
    return Copula(chances, _root(np.triu(matrix, 1) + np.triu(matrix, 1).T + np.eye(count)), total)


def reach(scores: Sequence[Float]) -> tuple[int, float]:
    """The most by which one row changes the sums of products, as the sum of all changes and as their length.

    With m the largest score of each column in steps of the grid, a row has products of at most m_j m_k.
    """
    largest = np.array([np.abs(np.round(one * _STEPS)).max() for one in scores])
    products = np.outer(largest, largest)[np.triu_indices(len(largest), 1)]
    # columns of one cell have score 0: then nothing changes, and some noise is needed all the same
    return max(1, int(products.sum())), max(1.0, math.sqrt((products**2).sum()) * (1 + 1e-12))


def _scores(chances: Float) -> Float:
    """The normal score of each cell, in the middle of its part of the distribution."""
    middle = np.cumsum(chances) - chances / 2
    scores: Float = np.clip(scipy.special.ndtri(np.clip(middle, 1e-12, 1 - 1e-12)), -_FARTHEST, _FARTHEST)
    return scores


def _root(matrix: Float) -> Float:
    """The root of the correlations nearest by eigenvalues: noise may have made them impossible."""
    values, vectors = np.linalg.eigh(np.clip(matrix, -1, 1))
    root = vectors * np.sqrt(np.maximum(values, _SMALLEST))
    scaled: Float = root / np.linalg.norm(root, axis=1, keepdims=True)
    return scaled
