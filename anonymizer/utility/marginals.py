"""Marginals of original and release on the same values, whatever form the release has.

A released label stands for several values: its rows are spread evenly over those of them that the original
has (Kifer and Gehrke, Injecting utility into anonymized datasets, SIGMOD 2006).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.hierarchies.labels import spans_of
from anonymizer.tables.table import Table

Float = NDArray[np.float64]
Bool = NDArray[np.bool_]


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
        spread = np.bincount(np.maximum(places, 0), weights, minlength=len(edges))
    else:
        members = covered(original, column, before.values, after.values.tolist())
        sizes = members.sum(axis=1)
        shares = np.divide(weights, sizes, out=np.zeros(len(weights)), where=sizes > 0)
        spread, elsewhere = shares @ members, float(weights[sizes == 0].sum())
        if groups is not None:
            spread = np.bincount(groups, spread)
    if groups is not None and labels is not None:
        counts, names = np.bincount(groups, counts).astype(np.float64), labels
    else:
        names = tuple(map(text_of, before.values.tolist()))
    return Marginal(
        (*names, "missing", "elsewhere"),
        np.append(counts, [missing[0], 0.0]),
        np.append(spread, [missing[1], elsewhere]),
    )


def covered(table: Table, column: str, values: NDArray[Any], labels: Sequence[Any]) -> Bool:
    """Which values of the original each released label stands for.

    Args:
        table: with hierarchies.
        column: its name.
        values: distinct original values, shape (u,).
        labels: distinct released labels.

    Returns:
        Shape (len(labels), u). A label that is a value stands for it alone; one of the hierarchy for what it
        generalizes; an interval for the numbers in it; `*` for all; another for none.
    """
    texts = [text_of(label) for label in labels]
    known = _known(table, column, values)
    found = np.zeros((len(texts), len(values)), dtype=np.bool_)
    spans = spans_of(texts)
    numbers = values.astype(np.float64) if table.is_numeric(column) else None
    for place, text in enumerate(texts):
        member = known.get(text)
        if member is not None:
            found[place] = member
        elif np.isinf(spans[place]).all():
            found[place] = True
        elif numbers is not None:
            found[place] = (spans[place, 0] <= numbers) & (numbers <= spans[place, 1])
    return found


def _known(table: Table, column: str, values: NDArray[Any]) -> Mapping[str, Bool]:
    known: dict[str, Bool] = {}
    if column in table.hierarchies and len(values):
        for level in table.hierarchies[column].bind(values, column):
            for place, label in enumerate(level.labels):
                known.setdefault(label, level.groups == place)
    every = np.arange(len(values))
    return {text_of(value): every == place for place, value in enumerate(values.tolist())} | known


def _bins(
    values: NDArray[Any], counts: Float, bins: int
) -> tuple[NDArray[np.int64], tuple[str, ...]] | tuple[None, None]:
    """Of each value its bin, and the bins' names; None if the values are few enough."""
    if len(values) <= bins:
        return None, None
    middle = (np.cumsum(counts) - counts / 2) / counts.sum()
    _, groups = np.unique(np.floor(middle * bins), return_inverse=True)
    ends = [
        (values[groups == one].min(), values[groups == one].max()) for one in range(int(groups.max()) + 1)
    ]
    return groups.astype(np.int64), tuple(f"{text_of(low)} to {text_of(high)}" for low, high in ends)
