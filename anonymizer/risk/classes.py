"""Equivalence classes: rows alike in some columns, and what is in them.

References: Samarati and Sweeney 1998 (k); Machanavajjhala et al., l-diversity, ICDE 2006; Li, Li and
Venkatasubramanian, t-closeness, ICDE 2007; thesis, section 2.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import scipy
from numpy.typing import NDArray

from anonymizer.tables.persons import PersonRows
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]

_BLOCK_CELLS: Final = 1 << 22


def number_classes(columns: Sequence[Int]) -> tuple[Int, int]:
    """Number the rows by what they hold in all columns.

    Args:
        columns: codes of n rows, -1 for missing, which equals itself.

    Returns:
        The class of each row, from 0, shape (n,); the number of classes.
    """
    ids = np.zeros(len(columns[0]), dtype=np.int64)
    count = 1
    for codes in columns:
        width = int(codes.max(initial=-1)) + 2
        packed = ids * width + (codes + 1)
        if count * width <= max(1 << 16, 4 * len(packed)):
            used = np.zeros(count * width, dtype=np.bool_)
            used[packed] = True
            places = np.cumsum(used) - 1
            ids, count = places[packed], int(used.sum())
        else:
            values, ids = np.unique(packed, return_inverse=True)
            count = len(values)
    return ids, count


def classes_of(table: Table, columns: Sequence[str]) -> tuple[Int, int]:
    """The equivalence classes of a table over some columns, as `number_classes`; one without columns."""
    if not columns:
        return np.zeros(len(table), dtype=np.int64), 1
    return number_classes([table.codes(column).codes for column in columns])


def class_sizes(table: Table, classes: Int, count: int, some: NDArray[np.bool_] | None = None) -> Int:
    """How many persons each class has, shape (count,); rows, where each is a person of its own.

    Args:
        table: n rows.
        classes: of each row, from 0, shape (n,).
        count: the number of classes.
        some: the rows that count, shape (n,); None for all.
    """
    rows = slice(None) if some is None else np.flatnonzero(some)
    if table.persons is None:
        return np.bincount(classes[rows], minlength=count)
    persons = table.persons if some is None else table.persons.take(np.flatnonzero(some))
    return persons.in_classes(classes[rows], count)


def totals_of(values: Int, kinds: int, persons: PersonRows | None) -> Int | Float:
    """How many have each value in a table: rows, or persons, of whom each counts once in all.

    Args:
        values: of each row the code of its value, from 0, shape (n,).
        kinds: how many values there can be.
        persons: of the rows.
    """
    if persons is None:
        return np.bincount(values, minlength=kinds)
    shares = persons.shares(np.zeros(len(values), dtype=np.int64))
    return np.bincount(values, shares, minlength=kinds)


@dataclass(frozen=True, slots=True)
class Contents:
    """How often each sensitive value occurs in each class, without the zeros.

    Where a person may have several rows, persons are counted: each counts once in a class, for the values of
    its rows there in equal parts.

    Attributes:
        classes: the class of each pair, increasing, shape (p,).
        values: the value of each pair, from 0, shape (p,).
        counts: rows, or persons, of each pair, shape (p,).
        sizes: rows, or persons, of each class, shape (c,).
        totals: rows, or persons, of each value in the whole table, shape (v,).
        distinct: different values of each class, shape (c,); of persons the most values that as many
            different ones of them have, so that no person stands for two.
    """

    classes: Int = field(repr=False)
    values: Int = field(repr=False)
    counts: Int | Float = field(repr=False)
    sizes: Int = field(repr=False)
    totals: Int | Float = field(repr=False)
    distinct: Int = field(repr=False)

    @classmethod
    def of(
        cls,
        classes: Int,
        count: int,
        values: Int,
        totals: Int | Float,
        persons: PersonRows | None = None,
    ) -> Contents:
        """Count.

        Args:
            classes: of each row, shape (n,).
            count: the number of classes.
            values: of each row the code of its sensitive value, shape (n,).
            totals: of each value in the table that t-closeness is measured against, as `totals_of`.
            persons: of the rows; None if each row counts.
        """
        kinds = len(totals)
        if persons is not None:
            return cls._of_persons(classes, count, values, totals, persons)
        packed = classes * kinds + values
        if count * kinds <= max(1 << 16, 4 * len(packed)):
            dense = np.bincount(packed, minlength=count * kinds)
            pairs = np.flatnonzero(dense)
            counts = dense[pairs]
        else:
            pairs, counts = np.unique(packed, return_counts=True)
        sizes = np.bincount(classes, minlength=count)
        distinct = np.bincount(pairs // kinds, minlength=count)
        return cls(pairs // kinds, pairs % kinds, counts, sizes, totals, distinct)

    @classmethod
    def _of_persons(
        cls, classes: Int, count: int, values: Int, totals: Int | Float, persons: PersonRows
    ) -> Contents:
        kinds = len(totals)
        pairs, places = np.unique(classes * kinds + values, return_inverse=True)
        counts = np.bincount(places, persons.shares(classes), minlength=len(pairs))
        width = int(persons.codes.max(initial=0)) + 1
        owners, owner = np.unique(classes * width + persons.codes, return_inverse=True)
        distinct = np.bincount(
            pairs[_match(owner, places, len(owners), len(pairs))] // kinds, minlength=count
        )
        sizes = np.bincount(owners // width, minlength=count)
        return cls(pairs // kinds, pairs % kinds, counts, sizes, totals, distinct)

    def against(self, totals: Int | Float) -> Contents:
        """The same contents, to be compared with another table's count of each value, shape (v,)."""
        return replace(self, totals=totals)

    @property
    def shares(self) -> Float:
        """Of each pair, its part of its class, shape (p,)."""
        return self.counts / self.sizes[self.classes]

    @property
    def entropy(self) -> Float:
        """E to the entropy of each class, shape (c,): the l of entropy l-diversity."""
        shares = self.shares
        weights = -shares * np.log(shares)
        found: Float = np.exp(np.bincount(self.classes, weights=weights, minlength=len(self.sizes)))
        return found

    def recursive(self, l: int) -> Float:  # noqa: E741 - the name of the field
        """Of each class the least c of recursive (c, l)-diversity: r_1 / (r_l + ... + r_m).

        Args:
            l: at least 1.

        Returns:
            Shape (c,); infinite for classes with fewer than l values.
        """
        order = np.lexsort((-self.counts, self.classes))
        counts, classes = self.counts[order], self.classes[order]
        starts = np.searchsorted(classes, np.arange(len(self.sizes)))
        rank = np.arange(len(counts)) - starts[classes]
        tail = np.bincount(classes[rank >= l - 1], counts[rank >= l - 1], minlength=len(self.sizes))
        first = np.zeros(len(self.sizes))
        first[classes[rank == 0]] = counts[rank == 0]
        least: Float = np.divide(first, tail, out=np.full(len(self.sizes), np.inf), where=tail > 0)
        return least

    @property
    def distance(self) -> Float:
        """The t of t-closeness of each class by equal ground distance, shape (c,)."""
        part = self.totals / self.totals.sum()
        theirs = part[self.values]
        present = np.bincount(self.classes, np.abs(self.shares - theirs), minlength=len(self.sizes))
        covered = np.bincount(self.classes, theirs, minlength=len(self.sizes))
        return np.clip((present + 1 - covered) / 2, 0, 1)

    def hierarchical_distance(self, levels: Sequence[Int]) -> Float:
        """The same by the distance in a tree: the height of the lowest common label by that of the tree.

        Args:
            levels: of each value its label, a number from 0, level by level upwards without the values
                themselves, each of shape (v,); where the last has several labels a root goes on top.

        Reference: Li, Li and Venkatasubramanian, ICDE 2007, section 5.2: what is too much below a label and
        what is too little there meet at it.
        """
        tree = [*levels]
        if not tree or tree[-1].max(initial=0) > 0:
            tree.append(np.zeros(len(self.totals), dtype=np.int64))
        order = np.lexsort(tree)
        tree = [np.arange(len(order)), *(level[order] for level in tree)]
        starts = [np.flatnonzero(np.diff(level, prepend=-1)) for level in tree]
        place = np.argsort(order)
        part = (self.totals / self.totals.sum())[order]
        found = np.zeros(len(self.sizes))
        size = max(1, _BLOCK_CELLS // max(1, len(order)))
        for first in range(0, len(self.sizes), size):
            last = min(first + size, len(self.sizes))
            ends = np.searchsorted(self.classes, [first, last])
            own = slice(int(ends[0]), int(ends[1]))
            extra = np.tile(-part, (last - first, 1))
            extra[self.classes[own] - first, place[self.values[own]]] += self.shares[own]
            for height in range(1, len(tree)):
                inner = np.searchsorted(starts[height - 1], starts[height])
                over = np.add.reduceat(np.maximum(extra, 0), inner, axis=1)
                under = np.add.reduceat(np.maximum(-extra, 0), inner, axis=1)
                found[first:last] += np.minimum(over, under).sum(axis=1) * height / (len(tree) - 1)
                extra = over - under
        return np.clip(found * (self.sizes > 0), 0, 1)

    @property
    def disclosure(self) -> Float:
        """The delta of delta-disclosure privacy of each class, shape (c,): max |ln(its share / the table's)|.

        Of the values that the class has; the definition counts a value that it lacks as infinite, which only
        classes with all values escape.

        Reference: Brickell and Shmatikov, The cost of privacy, KDD 2008, Definition 6.
        """
        part = self.totals / self.totals.sum()
        with np.errstate(divide="ignore"):
            gain = np.abs(np.log(self.shares / part[self.values]))
        found = np.zeros(len(self.sizes))
        np.maximum.at(found, self.classes, gain)
        return found

    @property
    def ordered_distance(self) -> Float:
        """The same by ordered distance: earth mover's distance over the values' order, shape (c,).

        The cumulative distribution of a class is constant between the values that it has, that of the table
        is not: each stretch between two values of a class is added up by prefix sums on both sides of the
        place where the two cross.
        """
        kinds = len(self.totals)
        if kinds < 2:
            return np.zeros(len(self.sizes))
        whole = np.cumsum(self.totals / self.totals.sum())
        prefix = np.concatenate(([0.0], np.cumsum(whole)))
        present = np.flatnonzero(self.sizes)
        starts = np.searchsorted(self.classes, present)
        own = np.cumsum(self.shares)
        own -= (own - self.shares)[starts][np.searchsorted(present, self.classes)]
        ends = np.append(self.values[1:], kinds)
        ends[np.append(starts[1:] - 1, len(ends) - 1)] = kinds
        stretches = np.bincount(
            self.classes, _area(whole, prefix, self.values, ends, own), minlength=len(self.sizes)
        )
        before = np.zeros(len(self.sizes))
        before[present] = prefix[self.values[starts]]
        return np.clip((stretches + before) / (kinds - 1), 0, 1)


def _match(owners: Int, pairs: Int, owner_count: int, pair_count: int) -> Int:
    """The pairs that get a person of their own in a largest matching of persons of classes and their values.

    Args:
        owners: of each row its person in its class, shape (n,).
        pairs: of each row its value in its class, shape (n,).
        owner_count: how many persons of classes there are.
        pair_count: how many values of classes there are.

    Reference: Hopcroft and Karp, An n^(5/2) algorithm for maximum matchings in bipartite graphs, SIAM Journal
    on Computing 2, 1973. Classes have no edge in common, so that one matching serves them all.
    """
    edges = np.unique(owners * pair_count + pairs)
    if len(edges) == owner_count:  # nobody has two values in a class
        return np.arange(pair_count)
    graph = scipy.sparse.csr_array(
        (np.ones(len(edges), dtype=np.int8), (edges // pair_count, edges % pair_count)),
        shape=(owner_count, pair_count),
    )
    of_pairs = scipy.sparse.csgraph.maximum_bipartite_matching(graph, perm_type="row")
    return np.flatnonzero(of_pairs >= 0)


def _area(whole: Float, prefix: Float, start: Int, end: Int, level: Float) -> Float:
    """The sum of |level - whole[i]| for i from start to end - 1, elementwise; `whole` increases."""
    cross = np.clip(np.searchsorted(whole, level, side="right"), start, end)
    below = level * (cross - start) - (prefix[cross] - prefix[start])
    above = (prefix[end] - prefix[cross]) - level * (end - cross)
    area: Float = below + above
    return area
