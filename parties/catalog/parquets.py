"""Parquet files, in batches whose columns stay as Arrow has them until somebody asks for single cells."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from parties.catalog.batch import Batch, Place, positions
from parties.errors import ConfigError, DataError

ROWS: Final = 1 << 14
"""Rows of a batch."""

_BUFFER: Final = 1 << 20
"""Bytes of a column that are read at a time, so that a file of one huge row group needs no more memory."""


class ArrowCells(Sequence[Any]):
    """The cells of a column as Python values, which are made when one of them is asked for.

    Args:
        array: a `pyarrow.Array`.
    """

    def __init__(self, array: Any) -> None:
        self.array = array

    @cached_property
    def _cells(self) -> list[Any]:
        found: list[Any] = self.array.to_pylist()
        return found

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, index: Any) -> Any:
        return self._cells[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._cells)


def read(path: Path, columns: Sequence[str]) -> Iterator[Batch]:
    """The rows of a file, in order.

    Args:
        path: the file.
        columns: the columns to read; no others are.

    Raises:
        DataError: the file lacks a column, is damaged, or was changed while it was read.
        ConfigError: pyarrow is not installed.
    """
    positions(path.name, header_of(path), columns)
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with path.open("rb") as opened, parquet.ParquetFile(opened, buffer_size=_BUFFER) as file:
            before = _stamp(opened.fileno())
            first = 1
            for batch in file.iter_batches(ROWS, columns=list(columns)):
                held = [ArrowCells(_widened(batch.column(column))) for column in columns]
                yield Batch(Place(first), batch.num_rows, held)
                first += batch.num_rows
            if _stamp(opened.fileno()) != before:
                raise DataError(
                    f"{path.name} was changed while it was read.",
                    "Write a new file beside it and rename that, then submit the job again.",
                )
    except (pa.ArrowException, OSError) as problem:
        raise _damaged(path, problem) from None


def _widened(array: Any) -> Any:
    """Floats of 32 bits as the doubles that their shortest texts show, such as 0.1."""
    import pyarrow as pa

    return array.cast(pa.string()).cast(pa.float64()) if pa.types.is_float32(array.type) else array


def header_of(path: Path) -> list[str]:
    """The names of all columns of a file; raises as `read`."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise ConfigError(
            f"{path.name} needs pyarrow, which is not installed.", "Run pip install 'duetto[parquet]'."
        ) from None
    try:
        return list(parquet.read_schema(path).names)
    except (pa.ArrowException, OSError) as problem:
        raise _damaged(path, problem) from None


def _stamp(descriptor: int) -> tuple[int, int]:
    """Size and time of the last change of an open file."""
    state = os.fstat(descriptor)
    return state.st_size, state.st_mtime_ns


def _damaged(path: Path, problem: Exception) -> DataError:
    return DataError(
        f"{path.name} cannot be read as Parquet: {type(problem).__name__}.", "Write the file again."
    )
