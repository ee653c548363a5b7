"""A distribution over many columns as a tree of tables over few: its exact marginals.

Reference: Lauritzen and Spiegelhalter, Local computations with probabilities on graphical structures, Journal
of the Royal Statistical Society B 50, 1988.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy
from numpy.typing import NDArray

from anonymizer.synthetic.network import Conditional

Float = NDArray[np.float64]
Columns = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class JunctionTree:
    """Cliques of columns with their joint distributions, which agree where cliques meet.

    Attributes:
        cliques: columns of each.
        beliefs: the distribution of each clique, summing to 1, shape (sizes of its columns...).
        order: (clique, the clique before it), the root first with itself; parents before children.
    """

    cliques: tuple[Columns, ...]
    beliefs: tuple[Float, ...] = field(repr=False)
    order: tuple[tuple[int, int], ...] = field(repr=False)

    @classmethod
    def calibrate(
        cls,
        cliques: Sequence[Columns],
        edges: Sequence[tuple[int, int]],
        factors: Mapping[Columns, Float],
        sizes: Sequence[int],
    ) -> JunctionTree:
        """Multiply factors and make all cliques agree.

        Args:
            cliques: of a junction tree.
            edges: of the tree or of several, pairs of places in `cliques`.
            factors: logarithms by columns, each within a clique.
            sizes: of all columns.
        """
        tables = [np.zeros([sizes[column] for column in clique]) for clique in cliques]
        for columns, values in factors.items():
            home = next(place for place, clique in enumerate(cliques) if set(columns) <= set(clique))
            tables[home] = tables[home] + _lay_out(values, columns, cliques[home])
        order = _walk(len(cliques), edges)
        messages: dict[int, Float] = {}
        for child, parent in reversed(order[1:]):
            messages[child] = _sum_out(tables[child], cliques[child], _separator(cliques, child, parent))
            shared = _separator(cliques, child, parent)
            tables[parent] = tables[parent] + _lay_out(messages[child], shared, cliques[parent])
        for child, parent in order[1:]:
            shared = _separator(cliques, child, parent)
            whole = _sum_out(tables[parent], cliques[parent], shared)
            tables[child] = tables[child] + _lay_out(whole - messages[child], shared, cliques[child])
        beliefs = tuple(np.exp(table - scipy.special.logsumexp(table)) for table in tables)
        return cls(tuple(cliques), beliefs, order)

    @property
    def network(self) -> tuple[Conditional, ...]:
        """The same as a chain of conditionals."""
        found: list[Conditional] = []
        known: set[int] = set()
        for place, _ in self.order:
            clique, belief = self.cliques[place], self.beliefs[place]
            given = tuple(column for column in clique if column in known)
            for column in (column for column in clique if column not in known):
                found.append(Conditional(column, given, _marginal(belief, clique, (*given, column))))
                given = (*given, column)
            known |= set(clique)
        return tuple(found)

    def single(self, column: int) -> Float:
        """The distribution of a column, shape (size,)."""
        home = next(place for place, clique in enumerate(self.cliques) if column in clique)
        return _marginal(self.beliefs[home], self.cliques[home], (column,))

    def joint(self, columns: Columns) -> Float:
        """The joint distribution of one or two columns, shape (sizes...)."""
        return self.single(columns[0]) if len(columns) == 1 else self.pairs(columns[0])[columns[1]]

    def pairs(self, column: int) -> Mapping[int, Float]:
        """The joint distribution of a column with each other one, shape (size, size of the other)."""
        near: dict[int, list[int]] = {place: [] for place in range(len(self.cliques))}
        for child, parent in self.order[1:]:
            near[child].append(parent)
            near[parent].append(child)
        home = next(place for place, clique in enumerate(self.cliques) if column in clique)
        belief, clique = self.beliefs[home], self.cliques[home]
        axis = clique.index(column)
        size = belief.shape[axis]
        only = np.eye(size).reshape(size, *(size if place == axis else 1 for place in range(belief.ndim)))
        joint = {home: only * belief}
        found: dict[int, Float] = {}
        waiting = [home]
        while waiting:
            place = waiting.pop()
            clique = self.cliques[place]
            for other in clique:
                if other != column and other not in found:
                    found[other] = _marginal(joint[place], (-1, *clique), (-1, other))
            for next_place in near[place]:
                if next_place not in joint:
                    joint[next_place] = self._pass_on(joint[place], place, next_place)
                    waiting.append(next_place)
        return found

    def _pass_on(self, joint: Float, place: int, following: int) -> Float:
        """The joint of something with a clique, from that with a neighbouring clique; shape (k, sizes...)."""
        shared = _separator(self.cliques, place, following)
        clique, belief = self.cliques[following], self.beliefs[following]
        known = _marginal(joint, (-1, *self.cliques[place]), (-1, *shared))
        given = _marginal(belief, clique, shared)
        ratio = np.divide(known, given, out=np.zeros_like(known), where=given > 0)
        return _lay_out(ratio, (-1, *shared), (-1, *clique)) * belief


def _walk(count: int, edges: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Cliques with the one before each; parts that nothing connects hang on the root, sharing no column."""
    order, waiting, seen = [(0, 0)], [0], {0}
    while len(order) < count:
        if not waiting:
            place = next(place for place in range(count) if place not in seen)
            seen.add(place)
            order.append((place, 0))
            waiting.append(place)
        place = waiting.pop()
        for one, two in edges:
            for here, there in ((one, two), (two, one)):
                if here == place and there not in seen:
                    seen.add(there)
                    order.append((there, here))
                    waiting.append(there)
    return tuple(order)


def _separator(cliques: Sequence[Columns], one: int, two: int) -> Columns:
    return tuple(column for column in cliques[one] if column in cliques[two])


def _lay_out(values: Float, columns: Columns, clique: Columns) -> Float:
    """A table over some columns of a clique with an axis for each column of it, of length 1 for others."""
    order = sorted(range(len(columns)), key=lambda place: clique.index(columns[place]))
    shape = [values.shape[columns.index(column)] if column in columns else 1 for column in clique]
    return np.asarray(values).transpose(order).reshape(shape)


def _sum_out(table: Float, clique: Columns, kept: Columns) -> Float:
    axes = tuple(place for place, column in enumerate(clique) if column not in kept)
    return np.asarray(scipy.special.logsumexp(table, axis=axes)) if axes else table


def _marginal(table: Float, clique: Columns, kept: Columns) -> Float:
    """The sums over all but some columns, in the order of `kept`."""
    axes = tuple(place for place, column in enumerate(clique) if column not in kept)
    left = [column for column in clique if column in kept]
    return np.asarray(table.sum(axis=axes)).transpose([left.index(column) for column in kept])
