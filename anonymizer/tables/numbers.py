"""Columns as numbers: of numbers as they stand, of labels by the middles of what they cover."""

from __future__ import annotations

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from anonymizer.hierarchies.labels import middles_of, spans_of
from anonymizer.tables.table import Table

Float = NDArray[np.float64]


def numbers_of(table: Table, column: str) -> Float | None:
    """A column as numbers, labels by their middles.

    Returns:
        Shape (n,), NaN where nothing is known and where a number is infinite; None if some label names no
        numbers, or none does.
    """
    if table.is_numeric(column):
        found = np.array(table.series(column).cast(nw.Float64).to_numpy(), dtype=np.float64)
        found[~np.isfinite(found)] = np.nan
        return found
    codes = table.codes(column)
    if np.isnan(spans_of(codes.values)).any():
        return None
    middles = np.append(middles_of(codes.values), np.nan)
    return None if np.isnan(middles).all() else middles[codes.codes]
