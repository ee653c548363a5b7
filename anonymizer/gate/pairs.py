"""Two columns of no role that single out most rows together, though neither does alone.

Whoever knows a weight and a day that nobody gave a role finds a person as by a number. More than two
columns are a warning only (`report.cautions`): of ten nearly every table is unique.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.gate.finding import Finding
from anonymizer.gate.names import MOST, RULE, describe_acceptance, mostly_alone
from anonymizer.gate.relations import pair_codes
from anonymizer.gate.traces import MIN_VALUES, looks_like_an_identifier
from anonymizer.gate.views import ColumnView
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Bool = NDArray[np.bool_]

MAX_PAIRS: Final = 400
"""Pairs that are looked at, those with the most values first."""


def inspect_pairs(
    before: Mapping[str, ColumnView],
    kept: Mapping[str, Bool],
    roles: Roles,
    found: Collection[str],
    whole: Table,
) -> Iterator[Finding]:
    """Find pairs of columns that single out more than half of the rows.

    Of pairs that share a column one finding says it, so that giving this one a role answers all.

    Args:
        before: the columns of the original, for the rows that are released.
        kept: of each released column which cells stay, shape (n,).
        roles: of the original.
        found: columns that are findings by themselves.
        whole: the original.
    """
    named = {*roles.identifiers, *roles.quasi_identifiers, *roles.sensitive, *found}
    free = [before[name] for name in kept if name in before and name not in named]
    free = [one for one in free if looks_like_an_identifier(one) is None and not _is_alone(one)]
    pairs = [pair for pair in _likely(free) if _most(pair, kept, whole)]
    while pairs:
        often = [one.name for pair in pairs for one in pair]
        name = max(dict.fromkeys(often), key=often.count)
        one, other = next(pair for pair in pairs if name in (pair[0].name, pair[1].name))
        partner = other.name if one.name == name else one.name
        alone, rows = _count_singled_out((one, other), kept)
        yield Finding(
            RULE,
            name,
            f"Columns {name} and {partner} have no role, and single out {alone:,} of {rows:,} rows together.",
            f"Give {name} or {partner} the role that it has ([roles]): sensitive if nobody knows it "
            "beforehand; quasi_identifiers, with a hierarchy, if somebody may; identifiers to take it out. "
            f"Or, if they find nobody, {describe_acceptance(name)}",
            together=(name, partner),
        )
        pairs = [pair for pair in pairs if name not in (pair[0].name, pair[1].name)]


def _is_alone(column: ColumnView) -> bool:
    """Whether a column singles out most rows by itself, of which another finding says it."""
    return mostly_alone(np.bincount(column.codes[column.codes >= 0]))


def _likely(free: Sequence[ColumnView]) -> Iterator[tuple[ColumnView, ColumnView]]:
    """Pairs with enough values to single out most rows."""
    pairs = combinations(sorted(free, key=lambda one: -len(one.values)), 2)
    enough = (
        (one, other)
        for one, other in pairs
        if len(one.codes) >= MIN_VALUES and len(one.values) * len(other.values) > MOST * len(one.codes)
    )
    return islice(enough, MAX_PAIRS)


def _most(pair: tuple[ColumnView, ColumnView], kept: Mapping[str, Bool], whole: Table) -> bool:
    alone, rows = _count_singled_out(pair, kept)
    if alone <= MOST * rows:
        return False
    if len(whole) == rows:
        return True
    every = [ColumnView.of(whole, one.name) for one in pair]
    return int(_unique(every[0].codes, every[1].codes).sum()) > MOST * len(whole)


def _count_singled_out(pair: tuple[ColumnView, ColumnView], kept: Mapping[str, Bool]) -> tuple[int, int]:
    """Rows that two columns single out by cells that stay, and all rows."""
    one, other = pair
    unique = _unique(one.codes, other.codes)
    return int((unique & kept[one.name] & kept[other.name]).sum()), len(unique)


def _unique(one: Int, other: Int) -> Bool:
    """Of each row whether no other has its two cells; one with an empty cell is not counted."""
    both = (one >= 0) & (other >= 0)
    first, second = pair_codes(one, other)
    found = np.zeros(len(one), dtype=np.bool_)
    _, places, counts = np.unique(
        first * (int(second.max(initial=0)) + 1) + second, return_inverse=True, return_counts=True
    )
    found[both] = counts[places] == 1
    return found
