"""The lattice of full-domain generalizations: classes and their sizes at a node, and which nodes pass.

References: LeFevre, DeWitt and Ramakrishnan, Incognito, SIGMOD 2005 (roll-up of frequency sets, subsets
first); Kohlmayer, Prasser, Eckert, Kemper and Kuhn, Flash: efficient, stable and optimal k-anonymity, PASSAT
2012 (chains by binary search, predictive tagging, snapshots of classes).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.methods.recoding.attributes import Labelled
from anonymizer.risk.classes import number_classes

Int = NDArray[np.int64]
Bool = NDArray[np.bool_]
Node = tuple[int, ...]

_HELD: Final = 4_000_000
"""Classes that snapshots may have, all together; 16 bytes each."""
_DENSE: Final = 1 << 16


class Frequencies:
    """How many rows each class has at a node, rolled up from a finer node that is at hand.

    Args:
        attributes: m columns of n rows.
        counted: which rows count, shape (n,).
    """

    def __init__(self, attributes: Sequence[Labelled], counted: Bool) -> None:
        profiles, count = number_classes([one.codes for one in attributes])
        first = np.empty(count, dtype=np.int64)
        first[profiles] = np.arange(len(profiles))
        self._attributes = attributes
        self._codes = [one.codes[first] for one in attributes]
        # The values stand below all levels: the lowest one that limits leave may join some of them.
        self._nodes = np.full((1, len(attributes)), -1, dtype=np.int64)
        self._held = [(np.arange(count), np.bincount(profiles[counted], minlength=count))]
        self._sizes = [count]
        self._uses = [0]
        self._clock = 0

    def __call__(self, node: Node) -> tuple[Int, Int]:
        """The classes at a node.

        Returns:
            Of each class one of the profiles in it, for `labels`, and its rows, shape (c,) each.
        """
        below = (self._nodes <= np.array(node)).all(axis=1)
        place = int(np.where(below, self._sizes, np.iinfo(np.int64).max).argmin())
        self._clock += 1
        self._uses[place] = self._clock
        if tuple(self._nodes[place].tolist()) == node:
            return self._held[place]
        found = self._roll_up(*self._held[place], node)
        self._keep(node, found)
        return found

    def labels(self, profiles: Int, node: Node) -> list[Int]:
        """The places of the labels of profiles at a node, in each column."""
        return [
            one.levels[level].groups[codes[profiles]]
            for one, codes, level in zip(self._attributes, self._codes, node, strict=True)
        ]

    def _roll_up(self, profiles: Int, counts: Int, node: Node) -> tuple[Int, Int]:
        # the labels of a class as the digits of one number, whose base differs from column to column
        keys = np.zeros(len(profiles), dtype=np.int64)
        kinds = 1
        for one, codes, level in zip(self._attributes, self._codes, node, strict=True):
            width = len(one.levels[level].labels)
            if width == 1:
                continue
            if kinds * width >= 1 << 62:  # another digit would not fit: number the classes anew
                keys, kinds = number_classes([keys])
            keys *= width
            keys += one.levels[level].groups[codes[profiles]]
            kinds *= width
        # the arrays below have an entry for each key, so that keys must not be much more than classes
        if kinds > max(_DENSE, 4 * len(profiles)):
            keys, kinds = number_classes([keys])
        some = np.full(kinds, -1)
        some[keys] = profiles
        used = np.flatnonzero(some >= 0)
        rows = np.bincount(keys, counts, minlength=kinds)[used]
        return some[used], rows.astype(np.int64)

    def _keep(self, node: Node, found: tuple[Int, Int]) -> None:
        """Hold a snapshot; those not used for long go, the first, which is below all, stays."""
        self._held.append(found)
        self._sizes.append(len(found[0]))
        self._uses.append(self._clock)
        self._nodes = np.concatenate((self._nodes, [node]))
        while sum(self._sizes[1:]) > _HELD and len(self._sizes) > 2:
            oldest = 1 + int(np.argmin(self._uses[1:-1]))
            del self._held[oldest], self._sizes[oldest], self._uses[oldest]
            self._nodes = np.delete(self._nodes, oldest, axis=0)


def tag_nodes(shape: Node, passes: Callable[[Node], bool]) -> Bool:
    """Of each node whether it passes, where all nodes above one that passes do.

    Nodes of one or two columns, the others at their highest levels, come first: they have few classes, and
    where they fail so does all below. Then chains of open nodes are searched by halves.

    Args:
        shape: levels of each column.
        passes: judges a node; not asked for nodes of which it is known.

    Returns:
        One axis for each column.
    """
    passed, failed = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)

    def is_open(node: Node) -> bool:
        return not (passed[node] or failed[node])

    for start in _starts(shape):
        if not is_open(start):
            continue
        chain = _chain(start, shape, is_open)
        low, high = 0, len(chain)
        while low < high:
            middle = (low + high) // 2
            node = chain[middle]
            if passes(node):
                passed[tuple(slice(level, None) for level in node)] = True
                high = middle
            else:
                failed[tuple(slice(None, level + 1) for level in node)] = True
                low = middle + 1
    return passed


def above(passed: Bool) -> Bool:
    """Whether one of the nodes directly below has passed."""
    found = np.zeros_like(passed)
    for axis in range(passed.ndim):
        upper = [slice(None)] * passed.ndim
        lower = list(upper)
        upper[axis], lower[axis] = slice(1, None), slice(None, -1)
        found[tuple(upper)] |= passed[tuple(lower)]
    return found


def _starts(shape: Node) -> Iterator[Node]:
    for size in (1, 2):
        for chosen in itertools.combinations(range(len(shape)), size):
            yield from itertools.product(
                *(range(levels) if j in chosen else (levels - 1,) for j, levels in enumerate(shape))
            )
    heights = np.indices(shape).sum(axis=0).reshape(-1)
    for place in np.argsort(heights, kind="stable").tolist():
        yield tuple(int(level) for level in np.unravel_index(place, shape))


def _chain(start: Node, shape: Node, is_open: Callable[[Node], bool]) -> list[Node]:
    """Open nodes, each directly above the one before."""
    chain = [start]
    while True:
        here = chain[-1]
        for axis, level in enumerate(here):
            higher = (*here[:axis], level + 1, *here[axis + 1 :])
            if level + 1 < shape[axis] and is_open(higher):
                chain.append(higher)
                break
        else:
            return chain
