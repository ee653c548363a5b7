"""Cells as they are declared: cells of a column of numbers that are not numbers count as missing."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.tables.table import Table

Float = NDArray[np.float64]


def declared_numbers(table: Table, column: str) -> Float:
    """The numbers of a column that is declared to hold some, whatever type its library has found.

    Args:
        table: with the column.
        column: declared as integers or floats.

    Returns:
        Shape (n,); NaN where a cell is missing, infinite or not a number.
    """
    if table.is_numeric(column):
        found = np.asarray(table.series(column).to_numpy(), dtype=np.float64).copy()
    else:
        codes = table.codes(column)
        values = np.array([*map(_number, map(text_of, codes.values.tolist())), np.nan])
        found = values[codes.codes]
    found[~np.isfinite(found)] = np.nan
    return found


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def gaps(table: Table, column: str) -> NDArray[np.bool_]:
    """Which cells are missing, or not numbers in a column that is declared to hold some, shape (n,)."""
    if table.schema.of(column).is_number and not table.is_numeric(column):
        return np.isnan(declared_numbers(table, column))
    return table.missing(column)


def decimals(step: float) -> int:
    """The digits after the point that a multiple of a step has, up to 15."""
    return min(15, max(0, 6 - math.floor(math.log10(step))))
