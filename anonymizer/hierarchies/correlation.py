"""Hierarchies built from the correlation between attributes: values that behave alike are merged first.

Mimoto, Basu and Kiyomoto (SECRYPT 2016) construct hierarchies so; their text was not at hand. Here two values
of a category are as far apart as the distributions of a target attribute given each (Jensen-Shannon
distance), groups are joined by average linkage, and levels are cuts of the tree.

A label is released, whoever has its values: a group is called by its values only where they are short codes
and numbers, or declared categories, which are public. Other groups are numbered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import scipy
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import HierarchyError
from anonymizer.hierarchies.hierarchy import ANY, Hierarchy, Level, ValueHierarchy, text_of

Int = NDArray[np.int64]

_VALUES: Final = 5000
_CELLS: Final = 50_000_000
"""Most values of a column, and most pairs of a value and a value of its target."""
_CODE: Final = re.compile(
    r"[-+]?\d{1,5}(?:[.,]\d{1,3})?|(?=[^\d]*\d)[A-Z\d.+<>/-]{1,5}|[A-Za-z]{1,2}|[A-Z]{3}", re.ASCII
)
"""A number or a code that is too short to name somebody: 80331, F32.1, NL, m; not Kim, and not 4711-0815."""


class CorrelationHierarchy(Hierarchy):
    """The groups of `build_by_correlation` for a table; a missing cell of the target is a value of it.

    Args:
        target: the column to correlate with.
        counts: decreasing numbers of groups, one a level.

    Raises:
        HierarchyError: the counts do not decrease.
    """

    def __init__(self, target: str, counts: Sequence[int]) -> None:
        _check_counts(counts)
        self._target = target
        self._counts = tuple(counts)

    @property
    @override
    def height(self) -> int:
        """The levels of groups, and `*`."""
        return len(self._counts) + 1

    @override
    def bind(self, values: NDArray[Any], column: str) -> tuple[Level, ...]:
        """Not without a table.

        Raises:
            HierarchyError: always; a table has its own hierarchy by `fit_to`.
        """
        raise HierarchyError(
            f"The hierarchy of column {column!r} is built of a table; {len(values)} values are not one.",
            "Give the whole table.",
        )

    @property
    @override
    def needs_table(self) -> bool:
        return True

    @override
    def fit_to(
        self,
        column: str,
        cells: Callable[[str], tuple[NDArray[Any], Int]],
        public: Collection[str] = (),
    ) -> Hierarchy:
        """The groups of the values of a table."""
        if self._target == column:
            raise HierarchyError(
                f"Column {column!r} cannot be grouped by itself.", "Name another column as correlation."
            )
        values, codes = cells(column)
        kinds, targets = cells(self._target)
        rows = np.flatnonzero(codes >= 0)
        table = np.zeros((len(values), len(kinds) + 1))
        if table.size > _CELLS or len(values) > _VALUES:
            raise HierarchyError(
                f"Column {column!r} has {len(values):,} values, {self._target!r} {len(kinds):,}: too many to "
                "correlate.",
                f"Give a hierarchy of another kind; the most is {_VALUES:,} values.",
            )
        np.add.at(table, (codes[rows], targets[rows]), 1)  # -1 is the last place, that of missing cells
        return _group([text_of(value) for value in values.tolist()], table, self._counts, public)


def build_by_correlation(
    values: Sequence[Any], target: Sequence[Any], counts: Sequence[int]
) -> ValueHierarchy:
    """Build a hierarchy of a categorical attribute.

    Args:
        values: the cells of the attribute, n of them, none missing.
        target: the cells of the attribute to correlate with, as many.
        counts: decreasing numbers of groups, one a level; `*` comes on top.

    Raises:
        HierarchyError: lengths differ, there are no cells, or counts do not decrease.
    """
    _check_counts(counts)
    if not len(values) or len(values) != len(target):
        raise HierarchyError(
            "A hierarchy from correlation needs cells of two columns, as many of each.", "Give both."
        )
    names, rows = np.unique([text_of(value) for value in values], return_inverse=True)
    kinds, columns = np.unique([text_of(value) for value in target], return_inverse=True)
    table = np.zeros((len(names), len(kinds)))
    np.add.at(table, (rows, columns), 1)
    return _group([str(name) for name in names], table, counts, ())


def _check_counts(counts: Sequence[int]) -> None:
    whole = all(isinstance(count, int) for count in counts)
    if not counts or not whole or any(a <= b for a, b in pairwise([*counts, 0])):
        raise HierarchyError(
            "A hierarchy from correlation needs decreasing numbers of groups.",
            "Write, for example, [8, 4, 2].",
        )


def _group(
    names: Sequence[str], table: NDArray[np.float64], counts: Sequence[int], public: Collection[str]
) -> ValueHierarchy:
    """The hierarchy of values whose rows of a table of counts are alike."""
    if len(names) < 2:
        return ValueHierarchy([[name, ANY] for name in names] or [[ANY]])
    levels = [_cut(table, count) for count in counts if count < len(names)]
    listed = all(name in public or _CODE.fullmatch(name) for name in names)
    labels = [_list(names, one) if listed else _number(names, one, table.sum(axis=1)) for one in levels]
    return ValueHierarchy([[name, *(level[i] for level in labels), ANY] for i, name in enumerate(names)])


def _cut(table: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    given = table / table.sum(axis=1, keepdims=True)
    tree = scipy.cluster.hierarchy.linkage(
        scipy.spatial.distance.pdist(given, "jensenshannon"), method="average"
    )
    found: NDArray[np.int64] = scipy.cluster.hierarchy.fcluster(tree, count, criterion="maxclust").astype(
        np.int64
    )
    return found


def _list(names: Sequence[str], groups: Int) -> list[str]:
    """Groups called by their members, in braces where they are several."""
    members: dict[int, list[str]] = {}
    for name, group in zip(names, groups.tolist(), strict=True):
        members.setdefault(group, []).append(name)
    return [
        "{" + ", ".join(members[group]) + "}" if len(members[group]) > 1 else members[group][0]
        for group in groups.tolist()
    ]


def _number(names: Sequence[str], groups: Int, rows: NDArray[np.float64]) -> list[str]:
    """Groups called by numbers, by their rows: the order of the alphabet would tell of the values."""
    places = np.unique(groups, return_inverse=True)[1]
    sizes = np.bincount(places, rows)
    number = np.argsort(np.argsort(-sizes, kind="stable")) + 1
    word = "group"
    while any(name.startswith(f"{word} ") for name in names):  # of a table that was released before
        word = f"{word} of groups"
    return [f"{word} {number[place]} of {len(sizes)}" for place in places.tolist()]
