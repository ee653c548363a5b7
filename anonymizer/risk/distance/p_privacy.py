"""p-privacy: how well guesses hit that are put together from what the release holds.

An attacker sees from the release which columns depend on each other, takes each group of such columns as
a whole, and puts the different values of the groups together in all ways: the table F. xi counts the rows of
F that are records of the original; p = xi / |F| * xi / |O|, smaller is safer. F need not be made: |F| is the
product of the numbers of different values of the groups, and a record is in F if all its groups occur
(erratum 25).
Reference: the RoD paper, section 3.2.4 and Algorithm 4. It takes the graph of JTree; here columns are
linked where Cramér's V of the release, corrected for its bias, numbers in at most `BINS` groups of equal
size, reaches a limit: in tables of few rows without the correction, all columns would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Final

import numpy as np
import scipy
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.risk.association import cramers_v
from anonymizer.risk.classes import number_classes
from anonymizer.risk.distance.space import codes_of_both
from anonymizer.tables.table import Table

BINS: Final = 20
LINKED: Final = 0.3
"""Columns with this association or more are one group."""

Int = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PPrivacy:
    """What guesses reach.

    Attributes:
        p: xi / |F| * xi / |O|, in [0, 1].
        hits: xi, different records of the original that are in F.
        candidates: |F|.
        groups: the columns that are taken together.
    """

    p: float
    hits: int
    candidates: int
    groups: tuple[tuple[str, ...], ...]


def p_privacy(
    original: Table,
    release: Table,
    columns: Sequence[str],
    groups: Sequence[Sequence[str]] | None = None,
) -> PPrivacy:
    """Measure p-privacy.

    Args:
        original: at least one row.
        release: at least one row.
        columns: that a record consists of; those of both tables, without gaps.
        groups: that are taken together, each column in one; None finds them in the release.

    Raises:
        TableError: a table has no rows, lacks a column or has gaps in it, or the groups are not of the
            columns.
    """
    for table in (original, release):
        if not len(table) or not columns:
            raise TableError("A table has no rows, or no column is named.", "Give rows and name columns.")
        table.complete(tuple(columns))
    chosen = tuple(tuple(group) for group in groups) if groups is not None else link_columns(release, columns)
    if sorted(name for group in chosen for name in group) != sorted(columns):
        raise TableError(
            "The groups do not hold each column once.", f"Put each of {', '.join(columns)} in one."
        )
    codes = {name: codes_of_both(original, release, name) for name in columns}
    inside = np.ones(len(original), dtype=np.bool_)
    sizes = []
    for group in chosen:
        joined, count = number_classes([codes[name] for name in group])
        there = np.zeros(count, dtype=np.bool_)
        there[joined[len(original) :]] = True
        inside &= there[joined[: len(original)]]
        sizes.append(int(there.sum()))
    records, _ = number_classes([codes[name][: len(original)] for name in columns])
    hits = len(np.unique(records[inside]))
    candidates = prod(sizes)
    p = float(Fraction(hits * hits, candidates * len(original)))
    return PPrivacy(p, hits, candidates, chosen)


def link_columns(release: Table, columns: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The groups of columns that depend on each other in a release, in the order of the columns.

    Raises:
        TableError: the release lacks a column.
    """
    binned = [_bin(release, name) for name in columns]
    edges = [
        (left, right)
        for left, right in combinations(range(len(columns)), 2)
        if cramers_v(binned[left], binned[right], corrected=True) >= LINKED
    ]
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    graph = scipy.sparse.coo_array(
        (np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(columns), len(columns))
    )
    _, parts = scipy.sparse.csgraph.connected_components(graph, directed=False)
    return tuple(
        tuple(name for name, place in zip(columns, parts, strict=True) if place == part)
        for part in dict.fromkeys(parts.tolist())
    )


def _bin(table: Table, column: str) -> Int:
    codes = table.codes(column)
    if not table.is_numeric(column) or len(codes.values) <= BINS:
        return codes.codes
    numbers = table.numbers(column)
    edges = np.unique(np.quantile(numbers, np.linspace(0, 1, BINS + 1)[1:-1]))
    return np.searchsorted(edges, numbers, side="right").astype(np.int64)
