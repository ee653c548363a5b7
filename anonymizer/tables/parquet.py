"""Parquet: columns keep their types; nothing but the released cells is in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from anonymizer.errors import FileError, TableError


def read(path: Path) -> pl.DataFrame:
    """A whole file.

    Raises:
        FileError: it is no Parquet, or has a column of a type that cannot be held.
        TableError: it has two columns of one name.
    """
    _checked(path)
    return _framed(pq.read_table(path), path)


def batches(path: Path, rows: int) -> Iterator[pl.DataFrame]:
    """The same by at most `rows` rows at a time."""
    _checked(path)
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=rows):
            yield _framed(pa.Table.from_batches([batch]), path)


def texts(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with texts for categories, since their list would name those of rows that are gone."""
    named = [name for name, kind in frame.schema.items() if isinstance(kind, pl.Categorical | pl.Enum)]
    return frame.with_columns(pl.col(named).cast(pl.String))


class Parts:
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
        part = texts(frame).to_arrow()
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._path, part.schema)
        self._writer.write_table(part.cast(self._writer.schema))

    def close(self) -> None:
        """Finish the file."""
        if self._writer is not None:
            if self._notes:
                self._writer.add_key_value_metadata(dict(self._notes))
            self._writer.close()


def _checked(path: Path) -> None:
    names = pq.read_schema(path).names
    for name in names:
        if names.count(name) > 1:
            raise TableError(f"{path} has two columns {name!r}.", "Rename one.")


def _framed(table: pa.Table, path: Path) -> pl.DataFrame:
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
    return found
