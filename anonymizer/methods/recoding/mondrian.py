"""Mondrian: the table is cut into ever smaller classes, each along the column where that saves most.

All classes of one depth are cut at once. Columns with a hierarchy are cut into the labels below the one that
covers the class, numbers without one at the median. LeFevre et al. choose the column of the widest range;
here it is the one whose loss falls most, which takes hierarchies and numbers on one scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.methods.conditions.allowed import Allowed
from anonymizer.methods.contract.parameters import parameters
from anonymizer.methods.recoding.attributes import Attribute, covers
from anonymizer.methods.recoding.recoding import Partitioning
from anonymizer.risk.classes import number_classes

Int = NDArray[np.int64]
Float = NDArray[np.float64]
Bool = NDArray[np.bool_]


@parameters
class Mondrian(Partitioning):
    """Multidimensional recoding from the top down, no row lost.

    Strict: a class is cut only if all its parts are allowed, and rows alike stay together. Relaxed: equal
    numbers may be divided, and parts that are not allowed stay behind together as a class of the wider cover.
    Numbers without a hierarchy are labelled by the exact least and largest of their class, which are cells.

    Args:
        k: the least size of a class.
        constraints: such as `DistinctDiversity("income", 2)`, or tables with `model` and its entries.
        relaxed: see above.
        columns: columns with hierarchies or numbers; the quasi-identifiers if None.
        weights: of columns what their loss counts for; 1 if nothing is said.
        limits: of columns the least and the most level of their labels, as `{"age": (1, 3)}`.

    Raises:
        HierarchyError: a column of texts has no hierarchy, or a value is not covered.
        UnreachableError: not even the whole table as one class is allowed.

    Reference: LeFevre, DeWitt and Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006.
    """

    name: ClassVar[str] = "mondrian"
    random: ClassVar[bool] = False
    keeps_rows: ClassVar[bool] = False
    keeps_classes: ClassVar[bool] = False
    example: ClassVar[Mapping[str, Any]] = {"k": 2}

    relaxed: bool = False
    weights: Mapping[str, float] | None = None
    limits: Mapping[str, tuple[int, int]] | None = None

    @property
    @override
    def disjoint(self) -> bool:
        """Strict cuts do not overlap."""
        return not self.relaxed

    @override
    def _classes(self, attributes: list[Attribute], allowed: Allowed) -> Int:
        return cut(attributes, allowed, relaxed=self.relaxed)


def cut(attributes: list[Attribute], allowed: Allowed, *, relaxed: bool) -> Int:
    """Divide the rows into allowed classes until no cut saves anything.

    Args:
        attributes: m columns of n rows.
        allowed: which classes may be released; the whole table may.
        relaxed: as `Mondrian`.

    Returns:
        The class of each row, from 0, shape (n,).
    """
    final = np.zeros(len(attributes[0].codes), dtype=np.int64)
    rows = np.arange(len(final))
    own, count = np.zeros(len(final), dtype=np.int64), 1
    done = 0
    while len(rows):
        saved = np.full(count, 1e-12)
        children = np.zeros(len(rows), dtype=np.int64)
        for one in attributes:
            parts, gain = _try_cut(one, rows, own, count, allowed, relaxed=relaxed)
            better = gain > saved
            saved[better] = gain[better]
            here = better[own]
            children[here] = parts[here]
        stuck = saved <= 1e-12
        finished = stuck[own]
        final[rows[finished]] = done + (np.cumsum(stuck) - 1)[own[finished]]
        done += int(stuck.sum())
        rows = rows[~finished]
        own, count = number_classes([own[~finished], children[~finished]]) if len(rows) else (own, 0)
    return final


def _try_cut(
    one: Attribute, rows: Int, own: Int, count: int, allowed: Allowed, *, relaxed: bool
) -> tuple[Int, Float]:
    """Cut every class along one attribute.

    Returns:
        The part of each row, unique among all classes, shape (r,); the loss that each class saves, 0 if it
        cannot be cut, shape (count,).
    """
    codes = one.codes[rows]
    low, high = covers(codes, own, count)
    sizes = np.bincount(own, minlength=count)
    parts, number = number_classes([own, one.parts(codes, own, low, high, relaxed=relaxed)])
    parent = np.empty(number, dtype=np.int64)
    parent[parts] = own
    fine = allowed(rows, parts, number)
    if relaxed:
        parts, number, parent, fine = _left_behind(rows, parts, parent, fine, allowed)
    can = np.ones(count, dtype=np.bool_)
    can[parent[~fine]] = False
    lost = one.loss(*covers(codes, parts, number)) * np.bincount(parts, minlength=number)
    gain = one.loss(low, high) * sizes - np.bincount(parent, lost, minlength=count)
    return parts, np.where(can, gain, 0.0)


def _left_behind(
    rows: Int, parts: Int, parent: Int, fine: Bool, allowed: Allowed
) -> tuple[Int, int, Int, Bool]:
    """Join the parts of each class that are not allowed, and a smallest one that is where that is needed.

    Returns:
        Part of each row, number of parts, class of each part, whether it is allowed.
    """
    number = len(parent)
    target = np.where(fine, np.arange(number), number + parent)
    for second in (False, True):
        joined, merged = np.unique(target, return_inverse=True)
        fresh = merged[parts]
        judged = np.ones(len(joined), dtype=np.bool_)
        rest = joined >= number
        members = rest[fresh]
        if members.any():
            place = np.cumsum(rest) - 1
            judged[rest] = allowed(rows[members], place[fresh[members]], int(rest.sum()))
        if second or judged.all():
            break
        short = np.zeros(int(parent.max()) + 1, dtype=np.bool_)
        short[joined[~judged] - number] = True
        offered = np.flatnonzero(fine & short[parent])
        sizes = np.bincount(parts, minlength=number)
        offered = offered[np.lexsort((sizes[offered], parent[offered]))]
        _, first = np.unique(parent[offered], return_index=True)
        target[offered[first]] = number + parent[offered[first]]
    above = np.empty(len(joined), dtype=np.int64)
    above[merged] = parent
    return fresh, len(joined), above, judged
