"""Parquet: columns keep their types; nothing but the released cells is in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

import polars as pl
import polars.selectors as cs
import pyarrow as pa
import pyarrow.parquet as pq

from anonymizer.errors import FileError, TableError
from commons.tabular.parquets import open_parquet


def read(path: Path) -> pl.DataFrame:
    """A whole file.

    Raises:
        FileError: it is no Parquet, or has a column of a type that cannot be held.
        TableError: it has two columns of one name.
    """
    with _open(path) as file:
        return _to_frame(file.read(), path)


def batches(path: Path, rows: int) -> Iterator[pl.DataFrame]:
    """The same by at most `rows` rows at a time."""
    with _open(path) as file:
        for batch in file.iter_batches(batch_size=rows):
            yield _to_frame(pa.Table.from_batches([batch]), path)


def texts(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with texts for categories, since their list would name those of rows that are gone."""
    named = [name for name, kind in frame.schema.items() if isinstance(kind, pl.Categorical | pl.Enum)]
    return frame.with_columns(pl.col(named).cast(pl.String))


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with one form of empty cells and of zeros: NaN, its bits and -0.0 could carry words out."""
    floats = cs.by_dtype(pl.Float32, pl.Float64)
    return frame.with_columns(
        pl.when(floats == 0).then(floats.abs()).otherwise(floats.fill_nan(None)).name.keep()
    )


class ParquetParts:
    """A file that is written part by part, all of one schema.

    Args:
        path: where.
        notes: texts by key, for the file's metadata; read when the file is closed.
    """

    def __init__(self, path: Path, notes: Mapping[str, str] | None = None) -> None:
        self._path = path
        self._notes = notes or {}
        self._writer: Any = None

    def append(self, frame: pl.DataFrame) -> None:
        """Write some more rows."""
        part = plain(texts(frame)).to_arrow()
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._path, part.schema)
        self._writer.write_table(part.cast(self._writer.schema))

    def close(self) -> None:
        """Finish the file."""
        if self._writer is not None:
            if self._notes:
                self._writer.add_key_value_metadata(dict(self._notes))
            self._writer.close()


@contextmanager
def _open(path: Path) -> Iterator[pq.ParquetFile]:
    with open_parquet(path, FileError, FileError, name=str(path)) as file:
        names = file.schema_arrow.names
        for name in names:
            if names.count(name) > 1:
                raise TableError(f"{path} has two columns {name!r}.", "Rename one.")
        yield file


def _to_frame(table: pa.Table, path: Path) -> pl.DataFrame:
    for field in table.schema:
        if "decimal256" in str(field.type):  # Polars aborts
            raise FileError(
                f"{path}: column {field.name!r} holds {field.type}, with more than 38 digits.",
                "Convert it before, to decimal128 or text.",
            )
    try:
        found = pl.from_arrow(table)
    except pl.exceptions.PolarsError as problem:
        kinds = ", ".join(sorted({str(field.type) for field in table.schema}))
        raise FileError(
            f"{path} has a column of a type that cannot be read: {str(problem).splitlines()[0][:120]}.",
            f"Convert it before; there are {kinds}.",
        ) from None
    if not isinstance(found, pl.DataFrame):
        raise FileError(f"{path} cannot be read as a table.", "Check the file.")
    for name, kind in found.schema.items():
        _within(found[name], kind, path)
    return found


_FIRST_DAY: Final = date.min.toordinal() - date(1970, 1, 1).toordinal()
_LAST_DAY: Final = date.max.toordinal() - date(1970, 1, 1).toordinal()
_UNITS: Final = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def _within(cells: pl.Series, kind: pl.DataType, path: Path) -> None:
    """Refuse days before the year 1 and after 9999, which Python has no words for."""
    if isinstance(kind, pl.Date):
        low, high = _FIRST_DAY, _LAST_DAY
    elif isinstance(kind, pl.Datetime):  # a day less at each end: zones shift times
        low, high = (_FIRST_DAY + 1) * _UNITS[kind.time_unit], _LAST_DAY * _UNITS[kind.time_unit]
    elif isinstance(kind, pl.Duration):
        low, high = (sign * timedelta.max.days * _UNITS[kind.time_unit] for sign in (-1, 1))
    else:
        return
    low, high = max(low, -(2**63)), min(high, 2**63 - 1)
    outside = ~cells.to_physical().cast(pl.Int64).is_between(low, high)
    if outside.any():
        row = int(outside.arg_true()[0]) + 1
        raise FileError(
            f"{path}: column {cells.name!r}, row {row}: the time lies outside the years 1 to 9999.",
            "Correct it, or leave the cell empty.",
        )
