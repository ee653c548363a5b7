"""Incognito: the best full-domain generalization, by search through the lattice of levels.

A table that is k-anonymous over some columns is so over fewer of them and at higher levels. So the lattices
of small sets of columns are searched first, from the bottom up; a node of a larger set is looked at only if
it stands in the lattices of all its subsets, and what lies above a node that is allowed is allowed.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import SpecError
from anonymizer.models.attributes import Attribute, Labelled
from anonymizer.models.constraints import Allowed
from anonymizer.models.recoding import Recoding, Texts, by_levels, labelled
from anonymizer.risk.classes import grouped
from anonymizer.tables.roles import near
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]
Bool = NDArray[np.bool_]
Node = tuple[int, ...]

LOSSES: Final = ("ncp", "discernibility", "height")
"""What can be made least: NCP, where a suppressed row counts 1; the sum of squared class sizes, where a
suppressed row counts as many as the table has rows; the sum of the levels."""


class Incognito(Recoding):
    """Generalizes each column to one level: of all allowed choices, one of least loss.

    Args:
        k: the least size of a class.
        constraints: such as `DistinctDiversity("income", 2)`, or tables with `model` and its entries.
        max_suppression: the largest part of the rows, in [0, 1], that may be taken out, which are those in
            classes that are not allowed.
        loss: "ncp", "discernibility" or "height", see `LOSSES`.
        columns: columns with hierarchies; the quasi-identifiers if None.

    Attributes:
        levels_: the level of each column in the last release.
        minimal_: all allowed choices of levels below which none is allowed, in the order of the columns.

    Raises:
        HierarchyError: a column has no hierarchy, or a value is not covered.
        UnreachableError: not even the highest levels are allowed.
        SpecError: there is no such loss, or `max_suppression` lies outside [0, 1].

    Reference: LeFevre, DeWitt and Ramakrishnan, Incognito: efficient full-domain k-anonymity, SIGMOD 2005;
        discernibility: Bayardo and Agrawal, ICDE 2005.
    """

    word: ClassVar[str] = "incognito"

    def __init__(
        self,
        *,
        k: int = 5,
        constraints: tuple[Any, ...] = (),
        max_suppression: float = 0.0,
        loss: str = "ncp",
        columns: tuple[str, ...] | None = None,
    ) -> None:
        self.k = k
        self.constraints = constraints
        self.max_suppression = max_suppression
        self.loss = loss
        self.columns = columns

    @property
    def disjoint(self) -> bool:
        """Full-domain classes are, if none is taken out."""
        return self.max_suppression == 0

    def _attribute(self, table: Table, column: str) -> Attribute:
        return labelled(table, column)

    def _fit(self, table: Table) -> None:
        if self.loss not in LOSSES:
            raise SpecError(f"There is no loss {self.loss!r}.", near(self.loss, LOSSES))
        if not 0 <= self.max_suppression <= 1:
            raise SpecError(f"max_suppression is {self.max_suppression}.", "Choose a part from 0 to 1.")
        self._columns = self.columns_of(table)
        super()._fit(table)

    def _recoded(self, attributes: list[Attribute], allowed: Allowed) -> tuple[list[Texts], Int]:
        columns = [one for one in attributes if isinstance(one, Labelled)]
        rows = len(allowed.released)
        most = min(int(self.max_suppression * rows), rows - 1)
        passed, minimal = full_domain(columns, allowed, most)
        self.minimal_ = minimal
        if most and self.loss != "height":
            minimal = [tuple(node) for node in np.argwhere(passed).tolist()]
        node, keep = best(columns, allowed, minimal, self.loss, most)
        self.levels_ = dict(zip(self._columns, node, strict=True))
        places = np.flatnonzero(keep)
        return by_levels(columns, np.tile(node, (len(places), 1)), places), places


def full_domain(attributes: list[Labelled], allowed: Allowed, most: int = 0) -> tuple[Bool, list[Node]]:
    """Search the lattice.

    Args:
        attributes: m columns.
        allowed: which classes may be released.
        most: how many rows may lie in others.

    Returns:
        Of each choice of levels whether it is allowed, one axis for each column; the minimal ones of them.
    """
    # rows in classes that are not allowed only become fewer further up if size and the like is all that
    # counts; else suppression is judged by size in the search, and by everything at its end
    prunes = not most or allowed.grows
    judge = allowed if prunes else allowed.by_size
    places = range(len(attributes))
    found: dict[tuple[int, ...], Bool] = {}
    for size in range(1, len(attributes) + 1):
        for chosen in itertools.combinations(places, size):
            found[chosen] = _searched(attributes, chosen, found, judge, most)
        found = {chosen: passed for chosen, passed in found.items() if len(chosen) == size}
    passed = found[tuple(places)]
    if not prunes:
        for node in np.argwhere(passed).tolist():
            keep = _kept(attributes, tuple(node), allowed)[1]
            passed[tuple(node)] = int((~keep).sum()) <= most
    return passed, [tuple(node) for node in np.argwhere(passed & ~_above(passed)).tolist()]


def _searched(
    attributes: list[Labelled],
    chosen: tuple[int, ...],
    found: dict[tuple[int, ...], Bool],
    allowed: Allowed,
    most: int,
) -> Bool:
    """Search the lattice of some columns, given those of all smaller sets."""
    some = [attributes[place] for place in chosen]
    profiles, _ = grouped([one.codes for one in some])
    _, first = np.unique(profiles, return_index=True)
    some = [replace(one, codes=one.codes[first]) for one in some]
    shape = tuple(len(one.levels) for one in some)
    possible = np.ones(shape, dtype=np.bool_)
    for left_out in range(len(chosen) if len(chosen) > 1 else 0):
        fewer = chosen[:left_out] + chosen[left_out + 1 :]
        possible &= np.expand_dims(found[fewer], left_out)
    passed = np.zeros(shape, dtype=np.bool_)
    heights = np.indices(shape).sum(axis=0)
    rows = np.arange(len(profiles))
    for height in range(int(heights.max()) + 1):
        layer = heights == height
        passed |= layer & _above(passed)
        for node in np.argwhere(layer & possible & ~passed).tolist():
            classes, count = _classes(some, tuple(node))
            classes = classes[profiles]
            kept = allowed(rows, classes, count)[classes]
            passed[tuple(node)] = len(rows) - np.count_nonzero(kept) <= most
    return passed


def _above(passed: Bool) -> Bool:
    """Whether one of the nodes directly below has passed."""
    found = np.zeros_like(passed)
    for axis in range(passed.ndim):
        upper = [slice(None)] * passed.ndim
        lower = list(upper)
        upper[axis], lower[axis] = slice(1, None), slice(None, -1)
        found[tuple(upper)] |= passed[tuple(lower)]
    return found


def _classes(attributes: list[Labelled], node: Node) -> tuple[Int, int]:
    return grouped([one.levels[level].groups[one.codes] for one, level in zip(attributes, node, strict=True)])


def _kept(attributes: list[Labelled], node: Node, allowed: Allowed) -> tuple[Int, Bool]:
    """The classes of all rows at a node, and which rows lie in allowed ones."""
    classes, count = _classes(attributes, node)
    return classes, allowed(np.arange(len(classes)), classes, count)[classes]


def best(
    attributes: list[Labelled], allowed: Allowed, nodes: list[Node], loss: str, most: int
) -> tuple[Node, Bool]:
    """The node of least loss, and which rows it keeps.

    Args:
        attributes: m columns of n rows.
        allowed: which classes may be released.
        nodes: the choice, each allowed.
        loss: one of `LOSSES`.
        most: how many rows may be taken out; 0 spares the look at them.

    Returns:
        The node, and shape (n,).
    """
    rows = len(attributes[0].codes)
    averages = [
        [float(level.loss[level.groups[one.codes]].mean()) for level in one.levels] for one in attributes
    ]
    bounds = np.array([sum(averages[j][level] for j, level in enumerate(node)) for node in nodes])
    if loss == "height":
        bounds = np.array([float(sum(node)) for node in nodes])
    least, chosen, kept = np.inf, nodes[0], np.ones(rows, dtype=np.bool_)
    for place in np.argsort(bounds, kind="stable").tolist():
        if loss != "discernibility" and bounds[place] >= least:
            break
        node = nodes[place]
        classes, keep = _kept(attributes, node, allowed)
        gone = rows - int(np.count_nonzero(keep))
        if loss == "discernibility":
            lost = float((np.bincount(classes[keep]).astype(np.float64) ** 2).sum() + gone * rows)
        elif loss == "ncp" and most:
            each = sum(
                one.levels[level].loss[one.levels[level].groups[one.codes]]
                for one, level in zip(attributes, node, strict=True)
            )
            lost = float(np.where(keep, each, len(attributes)).mean())
        else:
            lost = float(bounds[place])
        if lost < least:
            least, chosen, kept = lost, node, keep
    return chosen, kept
