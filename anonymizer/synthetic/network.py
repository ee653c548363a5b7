"""Rows drawn from a chain of conditional distributions: each column given some of those before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.tables.randomness import Randomness

Int = NDArray[np.int64]
Float = NDArray[np.float64]

_MIN_SUM: Final = 1e-300


@dataclass(frozen=True, slots=True)
class Conditional:
    """How a column is drawn.

    Attributes:
        column: its place.
        parents: places of columns that are drawn before.
        weights: not negative, shape (sizes of the parents..., size of the column); not normalized.
    """

    column: int
    parents: tuple[int, ...]
    weights: Float = field(repr=False)


@dataclass(frozen=True, slots=True)
class ConditionalChain:
    """A fitted chain of conditionals.

    Attributes:
        network: each column once, after its parents.
        total: the number of rows as it was measured, noise included.
    """

    network: tuple[Conditional, ...]
    total: float

    def draw(self, rows: int, randomness: Randomness) -> Int:
        """Draw rows of cells; as `draw_rows`."""
        return draw_rows(self.network, rows, randomness)


def draw_rows(network: Sequence[Conditional], rows: int, randomness: Randomness) -> Int:
    """Draw rows.

    Among rows that are alike in the parents the numbers that decide are spread evenly over (0, 1), so that
    counts are as near to their expectation as whole rows can be.

    Args:
        network: each column once, after its parents.
        rows: at least 1.
        randomness: of the draw.

    Returns:
        Shape (rows, columns).
    """
    found = np.zeros((rows, len(network)), dtype=np.int64)
    for one in network:
        width = one.weights.shape[-1]
        table = one.weights.reshape(-1, width)
        if one.parents:
            key = np.ravel_multi_index(tuple(found[:, list(one.parents)].T), one.weights.shape[:-1])
            kinds, groups = np.unique(key, return_inverse=True)
        else:
            kinds, groups = np.zeros(1, dtype=np.int64), np.zeros(rows, dtype=np.int64)
        found[:, one.column] = _draw_given(_chances(table, kinds), groups, randomness)
    return found


def _chances(table: Float, kinds: Int) -> Float:
    """Distributions of the rows of a table; a row without weight has that of the whole column."""
    chosen = table[kinds]
    whole = table.sum(axis=0)
    whole = whole if whole.sum() > _MIN_SUM else np.ones_like(whole)
    sums = chosen.sum(axis=1, keepdims=True)
    chosen = np.where(sums > _MIN_SUM, chosen, whole)
    normalized: Float = chosen / chosen.sum(axis=1, keepdims=True)
    return normalized


def _draw_given(chances: Float, groups: Int, randomness: Randomness) -> Int:
    """A value for each row by the distribution of its group."""
    rows, (kinds, width) = len(groups), chances.shape
    order = np.lexsort((randomness.words(rows), groups))
    counts = np.bincount(groups, minlength=kinds)
    ranks = np.arange(rows) - np.repeat(np.cumsum(counts) - counts, counts)
    sorted_groups = groups[order]
    places = (ranks + randomness.uniform(rows)) / counts[sorted_groups]
    steps = np.cumsum(chances, axis=1)
    steps[:, -1] = 1.0
    flat = (steps + np.arange(kinds)[:, None]).ravel()
    chosen = np.searchsorted(flat, sorted_groups + places, side="right") - sorted_groups * width
    found = np.empty(rows, dtype=np.int64)
    found[order] = np.clip(chosen, 0, width - 1)
    return found
