"""Columns as codes: a few distinct values, and of each row the place of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Int = NDArray[np.int64]

_DENSE: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Codes:
    """A column as numbers: row i holds `values[codes[i]]`.

    Attributes:
        values: of a column that was read the distinct values, sorted; an object array for texts.
        codes: shape (n,); -1 where the cell is missing.
    """

    values: NDArray[Any] = field(repr=False)
    codes: Int = field(repr=False)

    def series(self, name: str, space: Any) -> nw.Series[Any]:
        """The column in a library's own type for texts.

        Args:
            name: of the column.
            space: the library, as narwhals calls it.
        """
        labels = nw.new_series(name, [*self.values.tolist(), None], nw.String, backend=space)
        return labels[np.where(self.codes < 0, len(self.values), self.codes)]


def encode(series: nw.Series[Any]) -> Codes:
    """The distinct values of a column without gaps, sorted, and the place of each cell's."""
    if series.dtype.is_numeric():
        return _numbers(series.to_numpy())
    if isinstance(series.dtype, nw.Categorical | nw.Enum):
        series = series.cast(nw.String)
    try:
        encoded = series.to_arrow()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        # `np.asarray` and `to_numpy` of an Arrow array import pandas
        codes = np.from_dlpack(encoded.dictionary_encode().indices).astype(np.int64)
    except (pa.ArrowException, TypeError):  # Python objects of several kinds
        return _objects(series.to_list())
    # Arrow says only which cells are equal: the values are those of the column's own library
    some = np.empty(int(codes.max(initial=-1)) + 1, dtype=np.int64)
    some[codes] = np.arange(len(codes))
    found = _objects(series[some].to_list())
    return Codes(found.values, found.codes[codes])


def _numbers(cells: NDArray[Any]) -> Codes:
    if not np.issubdtype(cells.dtype, np.integer):
        return Codes(*np.unique(cells, return_inverse=True))
    values = np.unique(cells)
    width = int(values[-1]) - int(values[0]) + 1 if len(values) else 0
    if width > max(_DENSE, len(cells)):
        return Codes(values, np.searchsorted(values, cells).astype(np.int64, copy=False))
    place = np.zeros(width, dtype=np.int64)
    least = values[:1].astype(np.int64)  # differences of 64 bits come out right even where they wrap
    place[values.astype(np.int64) - least] = np.arange(len(values))
    return Codes(values, place[cells.astype(np.int64) - least])


def _objects(cells: list[Any]) -> Codes:
    try:
        found = sorted(set(cells), key=lambda value: (type(value).__name__, value))
    except TypeError:  # lists and mappings, or what has no order, by their texts
        cells = list(map(repr, cells))
        found = sorted(set(cells))
    places = {value: place for place, value in enumerate(found)}
    values = np.empty(len(found), dtype=object)
    values[:] = found
    return Codes(values, np.fromiter((places[cell] for cell in cells), dtype=np.int64, count=len(cells)))
