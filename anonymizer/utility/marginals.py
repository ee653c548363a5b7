"""Marginals of original and release on the same values, whatever form the release has.

A released label stands for several values: its rows are spread evenly over those of them that the original
has (Kifer and Gehrke, Injecting utility into anonymized datasets, SIGMOD 2006).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.hierarchies.covering import Cover
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.tables.table import Table

Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Marginal:
    """One column, before and after.

    Attributes:
        labels: values, or intervals of numbers; the last two are what is missing and what the original does
            not have.
        original: rows of each, shape (w,).
        release: rows of each, shape (w,), not whole numbers where labels were spread.
    """

    labels: tuple[str, ...]
    original: Float = field(repr=False)
    release: Float = field(repr=False)

    def without_rare(self, least: int) -> Marginal:
        """The same with one label for all values that fewer than `least` rows have, before or after.

        Args:
            least: at least 1; a value that all its rows lost counts as the original's alone.
        """
        rare = (self.original < least) | ((self.release > 0) & (self.release < least))
        rare[-2:] = False
        labels = [label for label, few in zip(self.labels, rare, strict=True) if not few]
        both = [
            np.insert(np.delete(side, np.flatnonzero(rare)), len(labels) - 2, side[rare].sum())
            for side in (self.original, self.release)
        ]
        labels.insert(len(labels) - 2, f"rarer than {least}")
        return Marginal(tuple(labels), *both)

    def _shares(self) -> tuple[Float, Float]:
        """Parts of the rows, half a row added to each value so that none is 0."""
        used = (self.original > 0) | (self.release > 0)
        before, after = self.original[used] + 0.5, self.release[used] + 0.5
        return before / before.sum(), after / after.sum()

    @property
    def kl(self) -> float:
        """The divergence of Kullback and Leibler of the release from the original, in nats, at least 0."""
        before, after = self._shares()
        return max(0.0, float((before * np.log(before / after)).sum()))

    @property
    def total_variation(self) -> float:
        """Half the L1 distance of the distributions, in [0, 1]."""
        before = self.original / max(1.0, self.original.sum())
        after = self.release / max(1.0, self.release.sum())
        return float(np.abs(before - after).sum()) / 2

    @property
    def hellinger(self) -> float:
        """The distance of Hellinger, in [0, 1]."""
        before = self.original / max(1.0, self.original.sum())
        after = self.release / max(1.0, self.release.sum())
        return float(np.sqrt(((np.sqrt(before) - np.sqrt(after)) ** 2).sum() / 2))


def marginal(original: Table, release: Table, column: str, bins: int = 20) -> Marginal:
    """The marginal of a column.

    Args:
        original: with the hierarchies that the release was made with, if any.
        release: has the column.
        column: of both.
        bins: numbers with more different values than this are counted in so many intervals of about equally
            many original rows.

    Raises:
        TableError: a table lacks the column.
    """
    before, after = original.codes(column), release.codes(column)
    numeric = original.is_numeric(column)
    counts = np.bincount(before.codes[before.codes >= 0], minlength=len(before.values)).astype(np.float64)
    weights = np.bincount(after.codes[after.codes >= 0], minlength=len(after.values)).astype(np.float64)
    missing = [float((codes < 0).sum()) for codes in (before.codes, after.codes)]
    groups, labels = _bins(before.values, counts, bins) if numeric else (None, None)
    elsewhere = 0.0
    if numeric and release.is_numeric(column) and groups is not None:
        edges = np.array([before.values[groups == one].min() for one in range(int(groups.max()) + 1)])
        places = np.searchsorted(edges, after.values, side="right") - 1
        spread = np.bincount(np.maximum(places, 0), weights, minlength=len(edges)).astype(np.float64)
    else:
        hierarchy = original.hierarchies.get(column)
        labels_after = after.values.tolist()
        cover = Cover.of(before.values, labels_after, column, hierarchy=hierarchy, numeric=numeric)
        spread, elsewhere = cover.spread(weights)
        if groups is not None:
            spread = np.bincount(groups, spread).astype(np.float64)
    if groups is not None and labels is not None:
        counts, names = np.bincount(groups, counts).astype(np.float64), labels
    else:
        names = tuple(map(text_of, before.values.tolist()))
    return Marginal(
        (*names, "missing", "elsewhere"),
        np.append(counts, [missing[0], 0.0]),
        np.append(spread, [missing[1], elsewhere]),
    )


def _bins(
    values: NDArray[Any], counts: Float, bins: int
) -> tuple[NDArray[np.int64], tuple[str, ...]] | tuple[None, None]:
    """Of each value its bin, and the bins' names; None if the values are few enough."""
    if len(values) <= bins:
        return None, None
    middle = (np.cumsum(counts) - counts / 2) / counts.sum()
    _, groups = np.unique(np.floor(middle * bins), return_inverse=True)
    lows = np.array([values[groups == one].min() for one in range(int(groups.max()) + 1)], dtype=np.float64)
    lows, joined = np.unique(lows, return_inverse=True)  # double precision may not tell large numbers apart
    return joined[groups].astype(np.int64), _names(lows)


def _names(lows: Float) -> tuple[str, ...]:
    """Intervals by where they begin, rounded to a tenth of their width: ends are cells of single rows."""
    if len(lows) < 2:
        return ("all",)
    gaps = np.diff(lows)
    least = np.minimum(gaps, [*gaps[1:], gaps[-1]])
    digits = [-math.floor(math.log10(gap)) if math.isfinite(gap) else 0 for gap in least]
    edges = [text_of(round(low, digit + 1)) for low, digit in zip(lows[1:].tolist(), digits, strict=True)]
    inner = (f"{low} to below {high}" for low, high in pairwise(edges))
    return (f"below {edges[0]}", *inner, f"from {edges[-1]}")
