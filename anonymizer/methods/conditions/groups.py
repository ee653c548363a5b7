"""Rows that belong together, such as the people of a household."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anonymizer.tables.table import Table

Int = NDArray[np.int64]


def groups_of(table: Table, column: str | None) -> tuple[Int, int]:
    """The group of each row, and how many groups there are.

    Args:
        table: n rows.
        column: rows with equal cells are a group, one with a missing cell is alone; None: each is alone.

    Returns:
        From 0, shape (n,); the number.

    Raises:
        TableError: the column does not exist.
    """
    if column is None:
        return np.arange(len(table)), len(table)
    table.require(column)
    codes = table.codes(column)
    alone = codes.codes < 0
    found = np.where(alone, len(codes.values) + np.cumsum(alone) - 1, codes.codes)
    return found, len(codes.values) + int(alone.sum())
