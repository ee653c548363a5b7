"""Tables in files: CSV and Parquet, read whole or by chunks, written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pandas as pd

from anonymizer.errors import FileError, TableError

ENDINGS: Final = (".csv", ".csv.gz", ".parquet")
"""The files that are read and written, by the ends of their names."""


def read(path: str | Path) -> pd.DataFrame:
    """Read a table.

    In CSV only empty cells are missing: `?` and `NA` are values like others.

    Raises:
        FileError: the file cannot be read, or is of another kind.
        TableError: it has no columns.
    """
    place = Path(path)
    kind = _kind(place)
    try:
        if kind == ".parquet":
            return pd.read_parquet(place)
        return pd.read_csv(place, keep_default_na=False, na_values=[""], skipinitialspace=True)
    except pd.errors.EmptyDataError:
        raise TableError(f"{place} is empty.", "Write a line with the names of the columns.") from None
    except (OSError, UnicodeDecodeError, ValueError) as problem:
        raise FileError(f"{place} cannot be read: {_reason(problem)}.", "Check the file.") from None


def write(frame: Any, path: str | Path) -> None:
    """Write a frame of pandas or Polars; the file is whole or absent.

    Raises:
        FileError: it cannot be written.
    """
    table = frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()
    if _kind(Path(path)) == ".parquet":
        _whole(Path(path), lambda part: table.to_parquet(part, index=False))
    else:
        _whole(Path(path), lambda part: table.to_csv(part, index=False))


def chunks(path: str | Path, rows: int) -> Iterator[pd.DataFrame]:
    """Read a CSV file by chunks of at most `rows` rows; all cells are texts, so that chunks agree.

    Raises:
        FileError: as `read`.
    """
    place = Path(path)
    if _kind(place) == ".parquet":
        raise FileError(f"{place} is no CSV file.", "Only CSV is read by chunks; convert it.")
    try:
        with pd.read_csv(
            place, dtype=str, keep_default_na=False, na_values=[""], chunksize=rows, skipinitialspace=True
        ) as reader:
            yield from reader
    except (OSError, UnicodeDecodeError, ValueError) as problem:
        raise FileError(f"{place} cannot be read: {_reason(problem)}.", "Check the file.") from None


@contextmanager
def appended(path: str | Path) -> Iterator[Callable[[pd.DataFrame], None]]:
    """Write a CSV file part by part: it appears when all parts are written, and not if anything fails."""
    with _replacing(Path(path)) as part, part.open("w", encoding="utf-8", newline="") as file:

        def append(frame: pd.DataFrame) -> None:
            frame.to_csv(file, index=False, header=file.tell() == 0)

        yield append


def write_text(text: str, path: str | Path) -> None:
    """Write a text, whole or not at all.

    Raises:
        FileError: it cannot be written.
    """
    _whole(Path(path), lambda part: part.write_text(text, encoding="utf-8"))


def _kind(path: Path) -> str:
    for ending in ENDINGS:
        if path.name.lower().endswith(ending):
            return ending
    raise FileError(f"{path} is of an unknown kind.", f"Use a name that ends in {', '.join(ENDINGS)}.")


def _whole(path: Path, save: Callable[[Path], Any]) -> None:
    with _replacing(path) as part:
        save(part)


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A file beside the wanted one, which takes its name at the end if all went well."""
    try:
        handle, name = tempfile.mkstemp(prefix=".", suffix=path.name, dir=path.parent)
    except OSError as problem:
        raise FileError(f"{path} cannot be written: {problem.strerror}.", "Check the folder.") from None
    os.close(handle)
    part = Path(name)
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.chmod(0o666 & ~_umask())
        part.replace(path)
    except OSError as problem:
        raise FileError(f"{path} cannot be written: {problem.strerror}.", "Check folder and disk.") from None
    finally:
        part.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _reason(problem: Exception) -> str:
    return getattr(problem, "strerror", None) or str(problem).splitlines()[0][:200]
