"""Tables in files: CSV and Parquet, read whole or by chunks, written whole or not at all; Excel is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import narwhals as nw
import polars as pl
import pyarrow as pa

from anonymizer.errors import FileError, TableError
from anonymizer.tables import csvs, excel, parquet
from anonymizer.tables.dialect import Kind, kinds_in, kinds_of
from anonymizer.tables.table import Table
from commons.tabular.dialect import Dialect

if TYPE_CHECKING:
    import pandas as pd
from commons.files import replacing

ENDINGS: Final = (".csv", ".csv.gz", ".parquet")
"""The files that are read and written, by the ends of their names."""

SPREADSHEETS: Final = (".xlsx", ".xls", ".ods")
"""The files that are read only."""

_ROWS: Final = 100_000
_PLAIN: Final = Dialect()


def read(path: str | Path, dialect: Dialect = _PLAIN) -> pd.DataFrame:
    """Read a frame of pandas, columns of numbers as such; what commands release is read by `table`.

    Raises:
        FileError: the file cannot be read, or is of another kind.
        TableError: it has no columns, two of one name, or rows with more or fewer cells than columns.
    """
    found = table(path, dialect)
    return found.convert(found.names).frame.to_pandas()


def table(path: str | Path, dialect: Dialect = _PLAIN) -> Table:
    """Read a table.

    Cells of CSV stay the texts that they are; `Table` reads columns of numbers as such where a method asks
    for them. A column in which a number has leading zeros holds codes, such as postcodes, and is none of
    numbers. Parquet says itself what its columns hold.

    Raises:
        FileError: as `read`.
        TableError: as `read`.
    """
    place = Path(path)
    regular(place)
    if kind(place, ENDINGS + SPREADSHEETS) in SPREADSHEETS:
        return Table.of(excel.read(place))
    if kind(place) == ".parquet":
        return Table.of(parquet.read(place))
    frame = csvs.read(place, dialect)
    _check_titles(place, frame, dialect)
    return Table.of(frame, numbers_in=_kinds([frame], dialect), dialect=dialect)


def tables(path: str | Path, rows: int, dialect: Dialect = _PLAIN) -> Iterator[Table]:
    """Read a table by chunks of at most `rows` rows; a column is of one kind in all of them.

    A CSV file is read twice: the first time for the kinds.

    Raises:
        FileError: as `read`.
        TableError: as `read`.
    """
    place = Path(path)
    regular(place)
    if kind(place, ENDINGS + SPREADSHEETS) in SPREADSHEETS:
        frame = excel.read(place)
        yield from (Table.of(frame.slice(start, rows)) for start in range(0, len(frame), rows))
        return
    if kind(place) == ".parquet":
        yield from map(Table.of, parquet.batches(place, rows))
        return
    kinds = _kinds(csvs.batches(place, max(rows, _ROWS), dialect), dialect)
    for frame in csvs.batches(place, rows, dialect):
        yield Table.of(frame, numbers_in=kinds, dialect=dialect)


def write(
    content: Any, path: str | Path, dialect: Dialect = _PLAIN, notes: Mapping[str, str] | None = None
) -> None:
    """Write a table, or a frame of pandas or Polars; the file is whole or absent.

    Texts of a table that read as numbers stay texts in CSV, and become numbers in Parquet. Only Parquet has
    room for notes, texts by key.

    Raises:
        FileError: it cannot be written.
        TableError: a column holds what a file of this kind cannot hold.
    """
    with append_to(path, dialect, notes) as append:
        append(content)


@contextmanager
def append_to(
    path: str | Path,
    dialect: Dialect = _PLAIN,
    notes: Mapping[str, str] | None = None,
    *,
    private: bool = False,
) -> Iterator[Callable[[Any], None]]:
    """Write a table part by part: it appears when all parts are written, and not if anything fails.

    A private file can be read by its owner only, from the first byte on.

    Raises:
        FileError: it cannot be written.
        TableError: as `write`.
    """
    ending = kind(Path(path))
    with _replacing(Path(path), private=private) as part:
        parts = (
            parquet.ParquetParts(part, notes)
            if ending == ".parquet"
            else csvs.CsvParts(part, dialect, compressed=ending.endswith(".gz"))
        )
        try:
            yield lambda content: parts.append(_polars(content, typed=ending == ".parquet"))
        finally:
            parts.close()


def formulas(content: Any, path: str | Path) -> tuple[str, ...]:
    """A warning of the columns of which a spreadsheet would take a cell for a formula; none of Parquet."""
    found = () if kind(Path(path)) == ".parquet" else csvs.formulas(_polars(content, typed=False))
    caution = f"Cells of {', '.join(found)} are formulas to a spreadsheet, and are released as they are."
    return (caution,) if found else ()


def regular(path: Path) -> None:
    """Refuse folders, pipes and devices: a table is read more than once, and a pipe may never end.

    Raises:
        FileError: there is something else than a file.
    """
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "not a regular file"
        raise FileError(
            f"{path} cannot be read: it is {kind}.", "Name a file; write what a pipe gives to one."
        )


def write_text(text: str, path: str | Path) -> None:
    """Write a text, whole or not at all.

    Raises:
        FileError: it cannot be written.
    """
    with _replacing(Path(path)) as part:
        part.write_text(text, encoding="utf-8")


def _check_titles(path: Path, frame: pl.DataFrame, dialect: Dialect) -> None:
    """Refuse a file whose first line is a row of the table: its cells would be released as names.

    It is one if half of its cells are also cells of their own columns, among them a number and a text.
    """
    names = frame.columns
    same = frame.select((pl.nth(place) == name).any() for place, name in enumerate(names)).row(0)
    own = [name for name, found in zip(names, same, strict=True) if found]
    numbers = [name for name in own if None not in kinds_of(dialect.writing, pl.Series([name]))]
    if 2 * len(own) >= len(frame.columns) and numbers and len(numbers) < len(own):
        raise TableError(
            f"{path}: the first line does not name the columns, it looks like a row: {', '.join(own[:3])} "
            "are also cells of their columns.",
            "Put a line before it that names the columns.",
        )


def _kinds(frames: Iterable[pl.DataFrame], dialect: Dialect) -> dict[str, Kind]:
    """Of each column of numbers whether they are whole; a column of empty cells is none."""
    found: dict[str, set[Kind | None]] = {}
    for frame in frames:
        open_ = [name for name in frame.columns if None not in found.setdefault(name, set())]
        for name, kinds in kinds_in(dialect.writing, frame.select(open_)).items():
            found[name] |= kinds
    numeric = {name: kinds for name, kinds in found.items() if kinds and None not in kinds}
    return {name: "float" if "float" in kinds else "integer" for name, kinds in numeric.items()}


def _polars(content: Any, *, typed: bool) -> pl.DataFrame:
    frame = content
    if isinstance(content, Table):
        frame = (content.convert(content.names) if typed else content).native
    if isinstance(frame, pl.DataFrame):
        return frame
    try:
        found: pl.DataFrame = nw.from_native(frame, eager_only=True).to_polars()
        return found
    except (TypeError, ValueError, pa.ArrowException, pl.exceptions.PolarsError) as problem:
        raise TableError(
            f"The table cannot be written: {(str(problem).splitlines() or ['unknown'])[0][:160]}.",
            "Give every column cells of one type.",
        ) from None


def kind(path: Path, endings: tuple[str, ...] = ENDINGS) -> str:
    """The ending of a file's name, which says how it is read and written.

    Raises:
        FileError: it is none of them.
    """
    for ending in endings:
        if path.name.lower().endswith(ending):
            return ending
    raise FileError(f"{path} is of an unknown kind.", f"Use a name that ends in {', '.join(endings)}.")


@contextmanager
def _replacing(path: Path, *, private: bool = False) -> Iterator[Path]:
    """A file beside the wanted one, which takes its name at the end if all went well."""
    try:
        mode = 0o600 if private else 0o666 & ~_umask()
        with replacing(path, mode, prefix=".", suffix=path.name) as part:
            yield part
    except OSError as problem:
        raise FileError(f"{path} cannot be written: {problem.strerror}.", "Check folder and disk.") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
