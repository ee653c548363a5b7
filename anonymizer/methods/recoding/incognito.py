"""Incognito: the best full-domain generalization, by search through the lattice of levels.

What lies above a choice of levels that is allowed is allowed, and a choice that is not allowed over some
columns is not over more. So most of the lattice is known without a look, and where one is needed the classes
are counted from those of a finer choice instead of from the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import SpecError, UnreachableError
from anonymizer.methods.conditions.allowed import Allowed
from anonymizer.methods.contract.parameters import parameters
from anonymizer.methods.recoding.attributes import Attribute, Labelled
from anonymizer.methods.recoding.lattice import Frequencies, Node, above, tag_nodes
from anonymizer.methods.recoding.recoding import Recoding, attribute_of, by_levels
from anonymizer.risk.classes import number_classes
from anonymizer.tables.encoding import Codes
from anonymizer.tables.table import Table
from commons.errors import near

Int = NDArray[np.int64]
Float = NDArray[np.float64]
Bool = NDArray[np.bool_]

LOSSES: Final = ("ncp", "discernibility", "height")
"""What can be made least: NCP, where a suppressed row counts 1; the sum of squared class sizes, where a
suppressed row counts as many as the table has rows; the sum of the levels."""


@parameters
class Incognito(Recoding):
    """Generalizes each column to one level: of all allowed choices, one of least loss.

    Args:
        k: the least size of a class.
        constraints: such as `DistinctDiversity("income", 2)`, or tables with `model` and its entries.
        maximum_suppression: the largest part of the rows, in [0, 1], that may be taken out, which are those
            in classes that are not allowed.
        loss: "ncp", "discernibility" or "height", see `LOSSES`.
        columns: columns with hierarchies; the quasi-identifiers if None.
        weights: of columns what their loss counts for; 1 if nothing is said.
        limits: of columns the least and the most level of their labels, as `{"age": (1, 3)}`.

    Attributes:
        levels_: the level of each column in the last release.
        minimal_: all allowed choices of levels below which none is allowed, in the order of the columns.

    Raises:
        HierarchyError: a column has no hierarchy, or a value is not covered.
        UnreachableError: not even the highest levels are allowed.
        SpecError: there is no such loss, or `maximum_suppression` lies outside [0, 1].

    Reference: LeFevre, DeWitt and Ramakrishnan, Incognito: efficient full-domain k-anonymity, SIGMOD 2005;
        discernibility: Bayardo and Agrawal, ICDE 2005.
    """

    name: ClassVar[str] = "incognito"
    random: ClassVar[bool] = False
    keeps_classes: ClassVar[bool] = True
    keeps_rows: ClassVar[bool] = False
    example: ClassVar[Mapping[str, Any]] = {"k": 2}

    maximum_suppression: float = 0.0
    loss: str = "ncp"
    weights: Mapping[str, float] | None = None
    limits: Mapping[str, tuple[int, int]] | None = None

    @property
    @override
    def disjoint(self) -> bool:
        """Full-domain classes are, if none is taken out."""
        return self.maximum_suppression == 0

    @override
    def _attribute(self, table: Table, column: str) -> Attribute:
        return attribute_of(table, column)

    @override
    def check(self) -> None:
        super().check()
        if self.loss not in LOSSES:
            raise SpecError(f"{self.loss!r} is not a loss.", near(self.loss, LOSSES))
        if not 0 <= self.maximum_suppression <= 1:
            raise SpecError(
                f"maximum_suppression is {self.maximum_suppression}.", "Choose a part from 0 to 1."
            )

    @override
    def _fit(self, table: Table) -> None:
        self._columns = self.columns_of(table)
        super()._fit(table)

    @override
    def _recode(self, attributes: list[Attribute], allowed: Allowed) -> tuple[list[Codes], Int]:
        columns = [one for one in attributes if isinstance(one, Labelled)]
        rows = int(allowed.released.sum())
        most = min(int(self.maximum_suppression * rows), rows - 1)
        frequencies = Frequencies(columns, allowed.released)
        passed, minimal = full_domain(columns, allowed, frequencies, most)
        if not minimal:
            raise UnreachableError(
                "No choice of levels within the limits fulfils what is asked.",
                "Raise the highest allowed level of a column, or maximum_suppression.",
            )
        least = [(self.limits or {}).get(column, (0, 0))[0] for column in self._columns]
        self.minimal_ = [tuple(np.add(node, least).tolist()) for node in minimal]
        if most and self.loss != "height":
            minimal = [tuple(node) for node in np.argwhere(passed).tolist()]
        node, keep = best(columns, allowed, frequencies, minimal, self.loss, most)
        self.levels_ = dict(zip(self._columns, np.add(node, least).tolist(), strict=True))
        places = np.flatnonzero(keep)
        return by_levels(columns, np.tile(node, (len(places), 1)), places), places


def full_domain(
    attributes: list[Labelled], allowed: Allowed, frequencies: Frequencies, most: int = 0
) -> tuple[Bool, list[Node]]:
    """Search the lattice.

    Args:
        attributes: m columns.
        allowed: which classes may be released.
        frequencies: of the rows that may be released.
        most: how many rows may lie in others.

    Returns:
        Of each choice of levels whether it is allowed, one axis for each column; the minimal ones of them.
    """
    # rows in classes that are not allowed only become fewer further up if size and the like is all that
    # counts; else suppression, and what joining classes may break, is judged by size in the search, and by
    # everything at its end
    prunes = allowed.grows or (not most and allowed.is_closed)
    judge = allowed if prunes else allowed.by_size

    def passes(node: Node) -> bool:
        _, counts = frequencies(node)
        if int(counts[counts < judge.k].sum()) > most:
            return False
        if judge.is_by_size:
            return True
        return int((judge.released & ~_classify(attributes, node, judge)[1]).sum()) <= most

    passed = tag_nodes(tuple(len(one.levels) for one in attributes), passes)
    if not prunes:
        for node in np.argwhere(passed).tolist():
            keep = _classify(attributes, tuple(node), allowed)[1]
            passed[tuple(node)] = int((allowed.released & ~keep).sum()) <= most
    return passed, [tuple(node) for node in np.argwhere(passed & ~above(passed)).tolist()]


def _classes(attributes: list[Labelled], node: Node) -> tuple[Int, int]:
    return number_classes(
        [one.levels[level].groups[one.codes] for one, level in zip(attributes, node, strict=True)]
    )


def _classify(attributes: list[Labelled], node: Node, allowed: Allowed) -> tuple[Int, Bool]:
    """The classes of all rows at a node, and which rows lie in allowed ones."""
    classes, count = _classes(attributes, node)
    return classes, allowed(np.arange(len(classes)), classes, count)[classes]


def best(
    attributes: list[Labelled],
    allowed: Allowed,
    frequencies: Frequencies,
    nodes: list[Node],
    loss: str,
    most: int,
) -> tuple[Node, Bool]:
    """The node of least loss, and which rows it keeps.

    Args:
        attributes: m columns of n rows.
        allowed: which classes may be released.
        frequencies: of the rows that may be released.
        nodes: the choice, each allowed.
        loss: one of `LOSSES`.
        most: how many rows may be taken out; 0 spares the look at them.

    Returns:
        The node, and shape (n,).
    """
    codes = [one.codes[allowed.released] for one in attributes]
    averages = [
        [float(level.loss[level.groups[own]].mean()) for level in one.levels]
        for one, own in zip(attributes, codes, strict=True)
    ]
    bounds = np.array([sum(averages[j][level] for j, level in enumerate(node)) for node in nodes])
    if loss == "height":
        bounds = np.array([float(sum(node)) for node in nodes])
    whole = sum(one.weight for one in attributes)
    least, chosen = np.inf, nodes[0]
    for place in np.argsort(bounds, kind="stable").tolist():
        if loss != "discernibility" and bounds[place] >= least:
            break
        node = nodes[place]
        if loss == "discernibility" or (loss == "ncp" and most):
            lost = _loss(attributes, allowed, frequencies, node, None if loss == "discernibility" else whole)
        else:
            lost = float(bounds[place])
        if lost < least:
            least, chosen = lost, node
    return chosen, _classify(attributes, chosen, allowed)[1]


def _loss(
    attributes: list[Labelled], allowed: Allowed, frequencies: Frequencies, node: Node, whole: float | None
) -> float:
    """The loss of a node whose rows in classes that are not allowed are taken out.

    Args:
        attributes: m columns of n rows.
        allowed: which classes may be released.
        frequencies: of the rows that may be released.
        node: where.
        whole: what a row taken out loses; None is for discernibility.
    """
    rows = int(allowed.released.sum())
    if allowed.is_by_size:
        profiles, counts = frequencies(node)
        counts = np.where(counts >= allowed.k, counts, 0)
        labels = frequencies.labels(profiles, node)
    else:
        classes, keep = _classify(attributes, node, allowed)
        first = np.zeros(int(classes.max()) + 1, dtype=np.int64)
        first[classes] = np.arange(len(classes))
        counts = np.bincount(classes, keep & allowed.released, minlength=len(first)).astype(np.int64)
        labels = [
            one.levels[level].groups[one.codes[first]] for one, level in zip(attributes, node, strict=True)
        ]
    gone = rows - int(counts.sum())
    if whole is None:
        return float((counts.astype(np.float64) ** 2).sum() + gone * rows)
    each = np.zeros(len(counts))
    for one, level, places in zip(attributes, node, labels, strict=True):
        each += one.levels[level].loss[places]
    return (float(counts @ each) + gone * whole) / rows
