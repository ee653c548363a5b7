"""k-anonymity by local recoding: each row is generalized only as far as its own class needs.

One sweep over the lattice of generalization schemes, in the order of their average loss. Under each scheme
the rows that are left are grouped by their labels; classes that are allowed are released as they are under
this scheme and leave; the sweep goes on with the rest. Few rows remain at the end: whole classes of the
highest loss join them until they are allowed, and all these are cut from the top down. No row is lost.

With constraints three such releases are made, and the one of least loss is taken: the table cut from the top
down, as relaxed Mondrian does; the sweep with constraints; and the sweep without, whose classes that are not
allowed then join the nearest.

A class may come to share its labels with one that another scheme made; the two joined are allowed as well.

Cost: schemes times rows that are left, and these become few early.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import SpecError
from anonymizer.methods.conditions.allowed import Allowed
from anonymizer.methods.contract.parameters import parameters
from anonymizer.methods.recoding.attributes import Attribute, Labelled, covers
from anonymizer.methods.recoding.joining import join_classes
from anonymizer.methods.recoding.mondrian import cut
from anonymizer.methods.recoding.recoding import Recoding, attribute_of, by_levels, parts
from anonymizer.risk.classes import number_classes
from anonymizer.tables.encoding import Codes
from anonymizer.tables.table import Table

Int = NDArray[np.int64]

MAX_SCHEMES: Final = 20_000
"""Of a larger lattice so many schemes are tried, evenly in the order of loss."""
LARGEST_LATTICE: Final = 1 << 24
"""Choices of levels that are put in order of loss; 16 bytes each."""
FEW_SCHEMES: Final = 1_600
"""The same with constraints, where many rows stay left for long; fewer of them in large tables."""
MAX_JOINS: Final = 30_000_000
"""Classes times those that are not allowed, up to which joining these is tried."""
_LARGEST: Final = 2.0**62
_LEVEL: Final = np.int16
_HELD_BYTES: Final = 1 << 29
"""Of keys of pairs of columns that are held from scheme to scheme."""


@parameters
class LocalRecoding(Recoding):
    """Makes a table k-anonymous, and what `constraints` ask, with little loss and no row lost.

    Args:
        k: the least size of a class.
        constraints: such as `DistinctDiversity("income", 2)`, or tables with `model` and its entries.
        columns: columns with hierarchies; the quasi-identifiers if None.
        weights: of columns what their loss counts for; 1 if nothing is said.
        limits: of columns the least and the most level of their labels, as `{"age": (1, 3)}`.

    Raises:
        HierarchyError: a column has no hierarchy, or a value is not covered.
        UnreachableError: not even the whole table as one class is allowed.
        SpecError: there are too many choices of levels, see `LARGEST_LATTICE`.

    Reference: the problem: Xu et al., Utility-based anonymization using local recoding, KDD 2006.
    """

    name: ClassVar[str] = "local-recoding"
    random: ClassVar[bool] = False
    keeps_rows: ClassVar[bool] = True
    keeps_classes: ClassVar[bool] = False
    example: ClassVar[Mapping[str, Any]] = {"k": 2}

    weights: Mapping[str, float] | None = None
    limits: Mapping[str, tuple[int, int]] | None = None

    @override
    def _attribute(self, table: Table, column: str) -> Attribute:
        return attribute_of(table, column)

    @override
    def _recode(self, attributes: list[Attribute], allowed: Allowed) -> tuple[list[Codes], Int]:
        columns = [one for one in attributes if isinstance(one, Labelled)]
        whole = len(allowed.released)
        levels: Int = np.empty((whole, len(columns)), dtype=_LEVEL)
        for rows, some, judge in parts(columns, allowed):
            most = max(FEW_SCHEMES, MAX_SCHEMES * len(rows) // whole)
            levels[rows] = self._levels(some, judge, most)
        rows = np.arange(whole)
        return by_levels(columns, levels, rows), rows

    def _levels(self, columns: list[Labelled], allowed: Allowed, most: int) -> Int:
        """The level of each row in each column, trying so many schemes at most."""
        levels = sweep(columns, allowed.by_size, most)
        if not self.constraints:
            return levels
        return min(_constrain(columns, allowed, levels), key=lambda levels: _loss(columns, levels))


def _constrain(columns: list[Labelled], allowed: Allowed, levels: Int) -> Iterator[Int]:
    """Releases that the constraints allow, given one that sizes do."""
    rows = np.arange(len(levels))
    yield levels_cut(columns, allowed, rows)
    yield sweep(columns, allowed, min(FEW_SCHEMES, max(50, 100_000_000 // len(rows))))
    classes, count = number_classes(_labels(columns, levels, rows))
    if count * int((~allowed(rows, classes, count)).sum()) <= MAX_JOINS:
        yield levels_of(columns, join_classes([*columns], classes, allowed))


def levels_cut(attributes: list[Labelled], allowed: Allowed, rows: Int) -> Int:
    """The levels of some rows, shape (r, m), by relaxed cuts as `mondrian.cut` makes them."""
    some = [one.among(rows) for one in attributes]
    return levels_of(some, cut([*some], allowed.of(rows), relaxed=True))


def levels_of(attributes: list[Labelled], classes: Int) -> Int:
    """The levels of the covers of classes, shape (n, m)."""
    own, count = number_classes([classes])
    return np.stack([one.level(*covers(one.codes, own, count))[own] for one in attributes], axis=1)


def _labels(attributes: list[Labelled], levels: Int, rows: Int) -> list[Int]:
    """A number for the label of some rows in each column, shape (r,) each."""
    cells = []
    for place, one in enumerate(attributes):
        codes, own = one.codes[rows], levels[rows, place]
        labels = np.empty(len(rows), dtype=np.int64)
        for number, level in enumerate(one.levels):
            here = np.flatnonzero(own == number)
            labels[here] = level.groups[codes[here]] * len(one.levels) + number
        cells.append(labels)
    return cells


def _loss(attributes: list[Labelled], levels: Int) -> float:
    return sum(float(one.at(one.codes, levels[:, place]).sum()) for place, one in enumerate(attributes))


def sweep(attributes: list[Labelled], allowed: Allowed, most: int) -> Int:
    """The level of each row in each column.

    Args:
        attributes: m columns of n rows.
        allowed: which classes may be released; the whole table may.
        most: how many schemes are tried at most.

    Returns:
        Shape (n, m).
    """
    tops = np.array([len(one.levels) - 1 for one in attributes])
    sweep = _Sweep(attributes, allowed)
    for scheme in _schemes(attributes, most):
        if len(sweep.left) < allowed.k:
            break
        sweep.release(scheme)
    sweep.release(tops)
    if len(sweep.left):
        _join(sweep)
    return sweep.levels


class _Sweep:
    """The rows that are left, and what has become of the others.

    Attributes:
        levels: of each row in each column, -1 while it is left, shape (n, m).
        left: the rows that are left, increasing.
    """

    def __init__(self, attributes: list[Labelled], allowed: Allowed) -> None:
        self.attributes = attributes
        self.allowed = allowed
        rows = len(attributes[0].codes)
        self.levels: Int = np.full((rows, len(attributes)), -1, dtype=_LEVEL)
        self.left = np.arange(rows)
        self._codes = [one.codes for one in attributes]
        self._pairs: dict[tuple[int, tuple[int, ...]], Int] = {}
        weights = np.cumprod([1.0, *(float(one.width) for one in attributes)])
        self._fits = weights[-1] < _LARGEST
        self._places = [
            [level.groups * (int(weight) if self._fits else 1) for level in one.levels]
            for one, weight in zip(attributes, weights, strict=False)
        ]

    def release(self, scheme: Int) -> None:
        """Release the allowed classes of the rows that are left under a scheme."""
        keys = self._keys(scheme)
        if not _any_as_large(keys, self.allowed.k):
            return
        classes, count = number_classes([np.unique(keys, return_inverse=True)[1]])
        fine = self.allowed(self.left, classes, count)[classes]
        if fine.any():
            self.levels[self.left[fine]] = scheme
            self.left = self.left[~fine]
            self._codes = [codes[~fine] for codes in self._codes]
            self._pairs.clear()

    def _keys(self, scheme: Int) -> Int:
        """A number for each row that is left, equal where all labels are, shape (r,)."""
        levels = scheme.tolist()
        columns = range(len(levels))
        if not self._fits:
            return number_classes([self._places[j][levels[j]][self._codes[j]] for j in columns])[0]
        keys: Int = np.zeros(len(self.left), dtype=np.int64)
        for first in columns[::2]:
            keys += self._pair(first, tuple(levels[first : first + 2]))
        return keys

    def _pair(self, first: int, levels: tuple[int, ...]) -> Int:
        """What two neighbouring columns add to the keys, shape (r,); held until rows leave if it fits."""
        found = self._pairs.get((first, levels))
        if found is None:
            found = self._places[first][levels[0]][self._codes[first]]
            for place, level in enumerate(levels[1:], first + 1):
                found += self._places[place][level][self._codes[place]]
            if 8 * len(found) * (len(self._pairs) + 1) <= _HELD_BYTES:
                self._pairs[first, levels] = found
        return found


def _any_as_large(keys: Int, k: int) -> bool:
    """Whether any key comes k times or more."""
    ordered = np.sort(keys)
    return len(keys) >= k and bool((ordered[k - 1 :] == ordered[: len(ordered) - k + 1]).any())


def _schemes(attributes: list[Labelled], most: int) -> Iterator[Int]:
    """Schemes in the order of average loss."""
    lattice = math.prod(len(one.levels) for one in attributes)
    if lattice > LARGEST_LATTICE:
        raise SpecError(
            f"The levels of {len(attributes)} columns make {lattice:.1e} choices; at most "
            f"{LARGEST_LATTICE:.1e} can be put in order.",
            "Name fewer columns, give them lower hierarchies or limits, or use mondrian.",
        )
    total = np.zeros(1)
    for one in attributes:
        rows = np.bincount(one.codes, minlength=one.width) / len(one.codes)
        losses = np.array([level.loss[level.groups] @ rows for level in one.levels])
        total = (total[:, None] + losses[None, :]).reshape(-1)
    shape = tuple(len(one.levels) for one in attributes)
    order = np.argsort(total, kind="stable")
    if len(order) > most:
        order = order[np.linspace(0, len(order) - 1, most).astype(np.int64)]
    for place in order.tolist():
        yield np.array(np.unravel_index(place, shape))


def _join(sweep: _Sweep) -> None:
    """Let whole classes of the highest loss join the rows that are left until these are allowed; cut them."""
    done = np.flatnonzero(sweep.levels[:, 0] >= 0)
    loss = np.zeros(len(done))
    for place, one in enumerate(sweep.attributes):
        loss += one.at(one.codes[done], sweep.levels[done, place])
    classes, count = number_classes(_labels(sweep.attributes, sweep.levels, done))
    worst = np.argsort(-np.bincount(classes, loss, minlength=count) / np.bincount(classes, minlength=count))
    rank = np.empty(count, dtype=np.int64)
    rank[worst] = np.arange(count)
    taken, joined = 0, sweep.left
    while not sweep.allowed(joined, np.zeros(len(joined), dtype=np.int64), 1)[0]:
        taken = max(1, 2 * taken)
        joined = np.concatenate((sweep.left, done[rank[classes] < taken]))
    sweep.levels[joined] = levels_cut(sweep.attributes, sweep.allowed, joined)
    sweep.left = sweep.left[:0]
