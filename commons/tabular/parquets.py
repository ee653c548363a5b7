"""Parquet files as both houses open them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def open_parquet(
    path: Path,
    fail: Callable[[str, str], Exception],
    lacking: Callable[[str, str], Exception],
    *,
    name: str = "",
    buffer: int = 0,
) -> Iterator[Any]:
    """Open a file, which must stay as it is while it is open.

    Args:
        path: of the file.
        fail: makes the error of whoever reads, from what is wrong and what to do about it.
        lacking: the same where the library that reads it is not installed.
        name: how errors call the file; empty is the name in its folder.
        buffer: bytes of a column that are read at a time, so that a file of one huge row group needs no more
            memory; 0 for whole row groups.

    Yields:
        A `pyarrow.parquet.ParquetFile`.

    Raises:
        Exception: `fail` if it is damaged, or was changed while it was read; `lacking` without pyarrow.
    """
    called = name or path.name
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise lacking(
            f"{called} needs pyarrow, which is not installed.", "Run pip install 'duetto[parquet]'."
        ) from None
    try:
        with path.open("rb") as opened, parquet.ParquetFile(opened, buffer_size=buffer) as file:
            before = _stamp(opened.fileno())
            yield file
            if _stamp(opened.fileno()) != before:
                raise fail(
                    f"{called} was changed while it was read.",
                    "Write a new file beside it and rename that, then try again.",
                )
    except (pa.ArrowException, OSError) as problem:
        if reason := getattr(problem, "strerror", None):
            raise fail(f"{called} cannot be read: {reason}.", "Check the file and its rights.") from None
        raise fail(
            f"{called} cannot be read as Parquet: {type(problem).__name__}.", "Write the file again."
        ) from None


def _stamp(descriptor: int) -> tuple[int, int]:
    """Size and time of the last change of an open file."""
    state = os.fstat(descriptor)
    return state.st_size, state.st_mtime_ns
