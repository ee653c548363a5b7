"""Bins that rows are counted in: labels of a category column, ranges of a number, or steps of a grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smc.analyses.statistics.queries.rows import Ints
from smc.analyses.studies.columns import Schema


@dataclass(frozen=True, slots=True)
class Bins:
    """Bins of one column; a value is in at most one.

    Attributes:
        labels: the bins' names.
        edges: increasing bin edges in held units, bins [a, b) and the last [a, b]; empty for categories.
        indices: the indices in the schema of the categories of each bin; empty for edges.
    """

    labels: tuple[str, ...]
    edges: tuple[int, ...] = ()
    indices: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def of_labels(cls, schema: Schema, labels: tuple[str, ...]) -> Bins:
        """Of some labels of a category column."""
        indices = {label: index for index, label in enumerate(schema.categories)}
        return cls(labels, (), tuple((indices[label],) for label in labels))

    @classmethod
    def of_event(cls, schema: Schema, label: str) -> Bins:
        """One label of a category column, and all others together."""
        place = schema.categories.index(label)
        others = tuple(index for index in range(len(schema.categories)) if index != place)
        return cls((label, f"not {label}"), (), ((place,), others))

    def places(self, values: Ints) -> Ints:
        """The bin of each value, -1 for those in none."""
        if not self.edges:
            table = np.full(max(map(max, self.indices)) + 2, -1)
            for place, members in enumerate(self.indices):
                table[list(members)] = place
            return table[np.where((values < 0) | (values > len(table) - 2), len(table) - 1, values)]
        edges = np.array(self.edges)
        found = np.minimum(np.searchsorted(edges, values, side="right"), len(self.labels)) - 1
        return np.where((values >= edges[0]) & (values <= edges[-1]), found, -1)


@dataclass(frozen=True, slots=True)
class EqualSteps:
    """Equal steps between bounds; values outside count as the nearer bound.

    Attributes:
        lower: first point, in held units.
        upper: bound, in held units.
        step: distance of points, in held units.
    """

    lower: int
    upper: int
    step: int

    @property
    def points(self) -> int:
        """How many there are."""
        return (self.upper - self.lower) // self.step + 1

    def places(self, values: Ints) -> Ints:
        """The last point that is not above each value."""
        return (np.clip(values, self.lower, self.upper) - self.lower) // self.step
