"""What labels stand for: an order of the values in which every label covers a range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import HierarchyError
from anonymizer.hierarchies.hierarchy import ANY, Hierarchy, text_of
from anonymizer.hierarchies.labels import spans_of

Int = NDArray[np.int64]
Float = NDArray[np.float64]

Paths = Mapping[str, tuple[str, ...]]
"""Of values, as texts, the labels above them, lowest first."""


def paths_of(hierarchy: Hierarchy, values: NDArray[Any], column: str) -> Paths:
    """The labels above each value; none if the values are not those of the hierarchy."""
    try:
        levels = hierarchy.bind(values, column)[1:]
    except HierarchyError:
        return {}
    labels = [[level.labels[group] for group in level.groups.tolist()] for level in levels]
    return {text_of(v): tuple(own[place] for own in labels) for place, v in enumerate(values.tolist())}


def by_branches(paths: Paths) -> list[str]:
    """The values in an order in which every label covers a range."""
    return sorted(paths, key=lambda text: (paths[text][::-1], text))


def ranges(paths: Paths, ordered: Sequence[str]) -> tuple[dict[str, tuple[int, int]], bool]:
    """What each value and each label covers in an order of the values.

    Returns:
        The first and the last place of each, a label of several levels as the lowest means it; and whether
        no label has a gap in its range.
    """
    covers = {text: (place, place) for place, text in enumerate(ordered)}
    whole = True
    for level in range(max(map(len, paths.values()), default=0)):
        found: dict[str, tuple[int, int]] = {}
        counts: dict[str, int] = {}
        for place, text in enumerate(ordered):
            label = paths[text][level]
            found[label] = (found.get(label, (place, place))[0], place)
            counts[label] = counts.get(label, 0) + 1
        whole &= all(high - low + 1 == counts[label] for label, (low, high) in found.items())
        covers = found | covers
    return covers, whole


@dataclass(frozen=True, slots=True)
class Cover:
    """Which values of a column released labels stand for.

    A label that is a value stands for it alone; one of the hierarchy for what it generalizes; an interval for
    the numbers in it; `*` for all; another for none.

    Attributes:
        order: the places of the values in the order of the ranges, shape (u,).
        low: of each label the first place in that order, shape (w,).
        high: the last, one less than `low` if it stands for none, shape (w,).
    """

    order: Int = field(repr=False)
    low: Int = field(repr=False)
    high: Int = field(repr=False)

    @classmethod
    def of(
        cls,
        values: NDArray[Any],
        labels: Sequence[Any],
        column: str,
        *,
        hierarchy: Hierarchy | None,
        numeric: bool,
    ) -> Self:
        """Read labels.

        Args:
            values: distinct original values, shape (u,), increasing if they are numbers.
            labels: distinct released labels.
            column: its name, for errors.
            hierarchy: that of the original column, if it has one.
            numeric: whether the original column holds numbers.
        """
        texts = [text_of(value) for value in values.tolist()]
        paths = paths_of(hierarchy, values, column) if hierarchy is not None and len(values) else {}
        ordered = texts
        covers, whole = ranges(paths or dict.fromkeys(texts, ()), texts)
        if paths and not (numeric and whole):
            numeric, ordered = False, by_branches(paths)
            covers, _ = ranges(paths, ordered)
        place = {text: number for number, text in enumerate(texts)}
        found = np.array([covers.get(text_of(label), (0, -1)) for label in labels], dtype=np.int64)
        low, high = found.reshape(-1, 2).T.copy()
        unknown = np.array([number for number, one in enumerate(labels) if text_of(one) not in covers], int)
        if len(unknown):
            names = [text_of(labels[number]) for number in unknown]
            spans = spans_of(names)
            if numeric:
                numbers = values.astype(np.float64)
                known = ~np.isnan(spans[:, 0])
                low[unknown[known]] = np.searchsorted(numbers, spans[known, 0], side="left")
                high[unknown[known]] = np.searchsorted(numbers, spans[known, 1], side="right") - 1
            every = np.array([name == ANY for name in names], dtype=np.bool_)
            low[unknown[every]], high[unknown[every]] = 0, len(values) - 1
        return cls(np.array([place[text] for text in ordered], dtype=np.int64), low, high)

    @property
    def sizes(self) -> Int:
        """How many values each label stands for, shape (w,)."""
        sizes: Int = np.maximum(self.high - self.low + 1, 0)
        return sizes

    def spread(self, weights: Float) -> tuple[Float, float]:
        """Spread weights of the labels evenly over the values that they stand for.

        Args:
            weights: shape (w,).

        Returns:
            Of each value its part, shape (u,), and the weight of labels that stand for none.
        """
        sizes = self.sizes
        some = sizes > 0
        shares = weights[some] / sizes[some]
        # each range as a step up at its start and one down after its end, to be summed up
        steps = np.bincount(self.low[some], shares, minlength=len(self.order) + 1)
        steps -= np.bincount(self.high[some] + 1, shares, minlength=len(self.order) + 1)
        found = np.zeros(len(self.order))
        found[self.order] = np.maximum(np.cumsum(steps[:-1]), 0)
        return found, float(weights[~some].sum())

    def means(self, features: Float) -> Float:
        """Of each label the mean over the values that it stands for, 0 if there is none.

        Args:
            features: of each value, shape (u, f).

        Returns:
            Shape (w, f).
        """
        # sums over ranges as differences of running sums
        sums = np.vstack((np.zeros(features.shape[1]), np.cumsum(features[self.order], axis=0)))
        sizes = self.sizes
        total = sums[np.maximum(self.high + 1, self.low)] - sums[self.low]
        means: Float = total / np.maximum(sizes, 1)[:, None]
        return means
