"""Parquet files, in batches whose columns stay as Arrow has them until somebody asks for single cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from typing_extensions import override

from commons.tabular.parquets import open_parquet
from parties.catalog.sources.batch import Batch, Place, positions
from parties.errors import ConfigError, DataError

ROWS: Final = 1 << 14
"""Rows of a batch."""

_BUFFER: Final = 1 << 20
"""Bytes of a column that are read at a time, so that a file of one huge row group needs no more memory."""


class ArrowCells(Sequence[Any]):
    """The cells of a column as Python values, which are made when one of them is asked for.

    Each can be counted: in place of a list, struct or map stands its type, as bytes.

    Args:
        array: a `pyarrow.Array`.
    """

    def __init__(self, array: Any) -> None:
        self.array = array

    @cached_property
    def _cells(self) -> list[Any]:
        import pyarrow as pa

        if pa.types.is_nested(self.array.type):
            foreign = str(self.array.type).encode()  # bytes, which no type of a column takes
            return [foreign if there.as_py() else None for there in self.array.is_valid()]
        try:
            found: list[Any] = self.array.to_pylist()
        except (OverflowError, ValueError):  # a time beyond the years that Python has
            found = self.array.cast(pa.string()).to_pylist()
        return found

    @override
    def __len__(self) -> int:
        return len(self.array)

    @override
    def __getitem__(self, index: Any) -> Any:
        return self._cells[index]

    @override
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
    with open_parquet(path, DataError, ConfigError, buffer=_BUFFER) as file:
        positions(path.name, file.schema_arrow.names, columns)
        first = 1
        for batch in file.iter_batches(ROWS, columns=list(columns)):
            held = [ArrowCells(_widened(batch.column(column))) for column in columns]
            yield Batch(Place(first), batch.num_rows, held)
            first += batch.num_rows


def _widened(array: Any) -> Any:
    """Floats of 32 bits as the doubles that their shortest texts show, such as 0.1."""
    import pyarrow as pa

    return array.cast(pa.string()).cast(pa.float64()) if pa.types.is_float32(array.type) else array


def header_of(path: Path) -> list[str]:
    """The names of all columns of a file; raises as `read`."""
    with open_parquet(path, DataError, ConfigError) as file:
        return list(file.schema_arrow.names)
