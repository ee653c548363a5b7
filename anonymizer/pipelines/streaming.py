"""Releases of tables larger than memory, for specifications whose steps work row by row."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from anonymizer.errors import SpecError, TableError, UnreachableError
from anonymizer.models.coding import TopBottomCoding
from anonymizer.models.method import Method
from anonymizer.pipelines.spec import Spec
from anonymizer.tables import files
from anonymizer.tables.table import Table


@dataclass(frozen=True, slots=True)
class Streamed:
    """What a release by chunks has done.

    Attributes:
        rows: that were read.
        released: rows that were written.
        columns: that were written.
    """

    rows: int
    released: int
    columns: tuple[str, ...]


def works_by_rows(method: Method) -> bool:
    """Whether what a method makes of a row depends on that row alone."""
    if isinstance(method, TopBottomCoding):
        return bool(method.bounds) and method.columns is None
    return bool(getattr(method, "row_wise", False))


def stream(spec: Spec, source: Path, target: Path, rows: int) -> Streamed:
    """Release a file chunk by chunk; the output is whole or absent.

    Args:
        spec: all of whose steps work row by row.
        source: CSV or Parquet.
        target: CSV or Parquet.
        rows: of a chunk.

    Raises:
        SpecError: a step needs the whole table.
        TableError: the file has no rows, or the table does not fit a step.
        UnreachableError: all rows would be suppressed.
        FileError: a file cannot be read or written.
    """
    pipeline = spec.pipeline()
    for name, method in pipeline.steps:
        if not works_by_rows(method):
            raise SpecError(
                f"Step {name!r} needs the whole table and cannot work by chunks.",
                "Leave --chunk-rows out; of top-bottom-coding state all bounds.",
            )
    read = written = 0
    columns: tuple[str, ...] = ()
    empty: UnreachableError | None = None
    with files.appended(target) as append:
        for frame in files.chunks(source, rows):
            if not len(frame):
                continue
            read += len(frame)
            try:
                release = pipeline.release(Table.of(frame, spec.roles, spec.hierarchies))
            except UnreachableError as problem:
                empty = problem
                continue
            written, columns = written + len(release), release.names
            append(release.native)
        if not read:
            raise TableError(f"{source} has no rows.", "Give at least one.")
        if not written and empty is not None:
            raise empty
    return Streamed(read, written, columns)
