"""Empty cells as values: what the patterns of several columns tell together.

Where the cells of one column are empty is one of its readings (`views`). Of several columns a row has a
pattern: which of its cells are empty. It is read as a binary number, the first column being its first digit,
so that a row number that is spelled by gaps has its order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import list_names
from anonymizer.gate.finding import Finding
from anonymizer.gate.views import ColumnView

Int = NDArray[np.int64]

NEARLY_ALL: Final = 0.9
"""Part of the rows that patterns must single out to be taken for a code."""

MIN_ROWS: Final = 20
"""Rows below which nothing is said of patterns by themselves."""


def patterns(columns: Sequence[ColumnView]) -> Int:
    """Of each row which cells are empty, as codes in the order of binary numbers, shape (n,)."""
    packed = np.ascontiguousarray(np.packbits(np.stack([one.gaps for one in columns], axis=1), axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


def with_gaps(columns: Sequence[ColumnView]) -> list[ColumnView]:
    """The columns in which some cells are empty and some are not."""
    return [one for one in columns if one.gaps.any() and not one.gaps.all()]


def fewest(columns: Sequence[ColumnView], holds: Callable[[Int], bool]) -> list[ColumnView]:
    """Columns of which none can be left out if their patterns are still to have a property.

    Args:
        columns: whose patterns have it.
        holds: whether patterns, as codes, have it.
    """
    kept = list(columns)
    for column in columns:
        others = [one for one in kept if one is not column]
        if others and holds(patterns(others)):
            kept = others
    return kept


def singling_out(columns: Sequence[ColumnView]) -> Finding | None:
    """A finding if the patterns of empty cells single out nearly all rows.

    Args:
        columns: that are released, all of the same rows.
    """
    gapped = with_gaps(columns)
    if len(gapped) < 2 or not _singles_out(patterns(gapped)):
        return None
    names = [one.name for one in fewest(gapped, _singles_out)]
    return Finding(
        "identifying",
        None,
        f"The pattern of the empty cells of {list_names(names)} differs in nearly every row, as a code does.",
        "Take some of these columns out by naming them among the identifiers, or fill their empty cells.",
        together=tuple(names),
    )


def _singles_out(codes: Int) -> bool:
    """Whether nearly every row has a pattern of its own."""
    return len(codes) >= MIN_ROWS and int((np.bincount(codes) == 1).sum()) > NEARLY_ALL * len(codes)
