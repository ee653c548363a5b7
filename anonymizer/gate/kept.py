"""Which cells of a column are released as they were: the one notion of it for all looks.

A cell stays if it says the same, however it is written: a text, a number, or a day. A column stays only if
all of its cells do, so that one that was changed anywhere is withheld, and what tells it is a finding; but
the cells that stay are looked at like those of a column that nobody touched, for one that a step clips does
not hide the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.gate.views import ColumnView
from anonymizer.hierarchies.hierarchy import text_of

Bool = NDArray[np.bool_]

_BELIEVED: Final = 0.9
"""Part of the rows of a released value that must have had it, so that who sees it may believe it."""


def kept_rows(released: ColumnView, original: ColumnView) -> Bool:
    """Of each row whether its cell is released as it was; an empty one if it was empty.

    Args:
        released: as it was read back.
        original: the same column, row by row.

    Returns:
        Shape (n,).
    """
    if released is original:
        return np.ones(len(original.codes), dtype=np.bool_)
    places = {text_of(value): place for place, value in enumerate(original.values)}
    found = np.array([*(places.get(text_of(value), -2) for value in released.values), -1], dtype=np.int64)
    kept: Bool = found[released.codes] == original.codes  # a gap, -1, takes the last one
    both = (released.codes >= 0) & (original.codes >= 0)
    for ours, theirs in ((original.numbers, released.numbers), (original.days, released.days)):
        if ours is not None and theirs is not None and len(ours) and len(theirs):
            kept |= both & (ours[original.codes] == theirs[released.codes])
    return kept


def believed_rows(released: ColumnView, kept: Bool) -> Bool:
    """Of the cells that stay those that can be told from the others.

    Where texts are drawn or exchanged some stay by chance, and nobody knows which: a value counts if nine in
    ten rows that are released with it had it.

    Args:
        released: the column.
        kept: which cells stay, shape (n,).

    Returns:
        Shape (n,); False for empty cells.
    """
    there = released.codes >= 0
    rows = np.bincount(released.codes[there], minlength=len(released.values))
    true = np.bincount(released.codes[there & kept], minlength=len(released.values))
    believed: Bool = there & kept & np.append(true >= _BELIEVED * rows, False)[released.codes]
    return believed


def among(column: ColumnView, rows: Bool) -> ColumnView:
    """The column in some of its rows, with the values that these have."""
    if rows.all():
        return column
    codes = column.codes[rows]
    used = np.unique(codes[codes >= 0])
    places = np.full(len(column.values) + 1, -1, dtype=np.int64)
    places[used] = np.arange(len(used))
    return replace(
        column,
        values=[column.values[place] for place in used.tolist()],
        codes=places[codes],
        numbers=None if column.numbers is None else column.numbers[used],
        days=None if column.days is None else column.days[used],
        forms=None if column.forms is None else column.forms[rows],
        source=None,
        kept=[],
        silent=None if column.silent is None else column.silent[used],
    )
