"""Rows of a data set, streamed in batches: CSV, Parquet, SQL and values written in the catalog."""

from __future__ import annotations

import csv
import importlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from parties.catalog.declaration import DatasetDeclaration
from parties.errors import ConfigError, DataError, why_unreadable
from parties.toml import near

DRIVERS = ("sqlite3", "psycopg", "psycopg2", "pyodbc", "oracledb")
"""DB-API modules that may be imported; each connects by one connection string."""

_BATCH: Final = 1 << 11
"""Rows; their cells fit the cache."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the rows of a batch stand in their source.

    Attributes:
        first: the number of its first row, from 1.
        lines: the lines in which its rows end, for CSV.
    """

    first: int
    lines: Sequence[int] | None = None

    def __getitem__(self, index: int) -> str:
        """How errors call the row at an index of the batch, such as `row 3 (line 4)`."""
        row = f"row {self.first + index}"
        return row if self.lines is None else f"{row} (line {self.lines[index]})"


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive rows of a data set.

    Attributes:
        place: where they stand.
        rows: how many they are.
        columns: the cells of the asked columns, in their order.
    """

    place: Place
    rows: int
    columns: Sequence[Sequence[Any]] = field(repr=False)


def batches(dataset: DatasetDeclaration, columns: Sequence[str]) -> Iterator[Batch]:
    """The rows of a data set, in order, some thousands at a time.

    Args:
        dataset: the declaration.
        columns: the columns of the source to read.

    Raises:
        DataError: the source is missing, lacks a column or is damaged.
        ConfigError: a library that the source needs is not installed.
    """
    if dataset.kind == "csv":
        return _csv(dataset, columns)
    if dataset.kind == "parquet":
        return _parquet(dataset, columns)
    if dataset.kind == "sql":
        return _sql(dataset, columns)
    return _value(dataset, columns)


def _file(dataset: DatasetDeclaration) -> Path:
    if dataset.source is None or not dataset.source.is_file():
        raise DataError(
            f"{dataset.place}: the file of data set {dataset.name!r} does not exist.",
            "Put it there, or correct its source in the catalog.",
        )
    return dataset.source


def _positions(place: str, header: Sequence[str], columns: Sequence[str]) -> list[int]:
    for column in columns:
        if column not in header:
            raise DataError(f"{place} has no column {column!r}.", near(column, list(header)))
        if header.count(column) > 1:
            raise DataError(f"{place} has column {column!r} twice.", "Rename one of them.")
    return [header.index(column) for column in columns]


def _picked(rows: Sequence[Sequence[Any]], positions: Sequence[int]) -> list[list[Any]]:
    return [list(map(itemgetter(position), rows)) for position in positions]


def _csv(dataset: DatasetDeclaration, columns: Sequence[str]) -> Iterator[Batch]:
    place = dataset.place
    try:
        with _file(dataset).open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            header = [cell.strip() for cell in next(reader, [])]
            positions = _positions(place, header, columns)
            for first, lines, rows in _gathered(_checked(reader, place, len(header))):
                yield Batch(Place(first, lines), len(rows), _picked(rows, positions))
    except UnicodeDecodeError:
        raise DataError(f"{place} is not UTF-8.", "Convert it to UTF-8.") from None
    except csv.Error as problem:
        raise DataError(f"{place} is not valid CSV: {problem}.", "Correct the quotation marks.") from None
    except OSError as problem:
        raise DataError(f"{place} cannot be read: {why_unreadable(problem)}.", "Check its rights.") from None


def _checked(reader: Any, place: str, width: int) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV reader with their lines; blank ones may stand at the end only."""
    blank_line = 0
    number = 0
    for cells in reader:
        if len(cells) != width or width == 1:
            if not cells or (len(cells) == 1 and not cells[0].strip()):
                blank_line = blank_line or reader.line_num
                continue
            if len(cells) != width and not blank_line:
                raise DataError(
                    f"{place}, row {number + 1} (line {reader.line_num}): {len(cells)} cells, the header has "
                    f"{width}.",
                    "Correct separators and quotation marks.",
                )
        if blank_line:
            raise DataError(f"{place}, line {blank_line} is blank.", "Remove it; only the end may be blank.")
        number += 1
        yield reader.line_num, cells


def _gathered(
    rows: Iterator[tuple[int, list[str]]],
) -> Iterator[tuple[int, Sequence[int], list[list[str]]]]:
    """Batches: number of the first row, lines, cells. A problem is raised after the rows before it."""
    first = 1
    more = True
    problem: Exception | None = None
    while more:
        gathered: list[tuple[int, list[str]]] = []
        try:
            gathered.extend(islice(rows, _BATCH))
        except (DataError, csv.Error, UnicodeDecodeError) as raised:
            problem = raised
        more = len(gathered) == _BATCH
        if gathered:
            lines: Sequence[int] = [line for line, _ in gathered]
            if lines[-1] - lines[0] == len(lines) - 1:
                lines = range(lines[0], lines[-1] + 1)
            yield first, lines, [cells for _, cells in gathered]
            first += len(gathered)
        if problem is not None:
            raise problem


def _parquet(dataset: DatasetDeclaration, columns: Sequence[str]) -> Iterator[Batch]:
    path = _file(dataset)
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise ConfigError(
            f"{dataset.place} needs pyarrow, which is not installed.", "Run pip install 'duetto[parquet]'."
        ) from None
    try:
        with parquet.ParquetFile(path) as file:
            _positions(dataset.place, file.schema_arrow.names, columns)
            first = 1
            for batch in file.iter_batches(_BATCH, columns=list(columns)):
                lists = [batch.column(column).to_pylist() for column in columns]
                yield Batch(Place(first), batch.num_rows, lists)
                first += batch.num_rows
    except (pa.ArrowException, OSError) as problem:
        raise DataError(
            f"{dataset.place} cannot be read as Parquet: {type(problem).__name__}.", "Write the file again."
        ) from None


def _sql(dataset: DatasetDeclaration, columns: Sequence[str]) -> Iterator[Batch]:
    connect, failures = _driver(dataset)
    try:
        with closing(connect()) as connection, closing(connection.cursor()) as cursor:
            cursor.execute(dataset.query)
            if cursor.description is None:
                raise DataError(f"The query of {dataset.place} returns no rows.", "Write a SELECT statement.")
            positions = _positions(dataset.place, [entry[0] for entry in cursor.description], columns)
            first = 1
            while rows := cursor.fetchmany(_BATCH):
                yield Batch(Place(first), len(rows), _picked(rows, positions))
                first += len(rows)
    except failures as problem:
        raise DataError(
            f"The database of {dataset.place} refused the query: {type(problem).__name__}.",
            "Check address, rights and query; `duetto data check` repeats this.",
        ) from None


def _driver(dataset: DatasetDeclaration) -> tuple[Any, type[Exception]]:
    if dataset.driver not in DRIVERS:
        raise ConfigError(
            f"{dataset.place}: driver {dataset.driver!r} is not allowed.", f"Use one of {', '.join(DRIVERS)}."
        )
    if dataset.driver == "sqlite3":
        path = Path(dataset.url).resolve()
        if not path.is_file():
            raise DataError(
                f"{dataset.place}: the database file does not exist.", "Correct url in the catalog."
            )
        return lambda: sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True), sqlite3.Error
    try:
        module = importlib.import_module(dataset.driver)
    except ImportError:
        raise ConfigError(
            f"{dataset.place} needs {dataset.driver}, which is not installed.",
            f"Run pip install {dataset.driver}.",
        ) from None
    return lambda: module.connect(dataset.url), module.Error


def _value(dataset: DatasetDeclaration, columns: Sequence[str]) -> Iterator[Batch]:
    _positions(dataset.place, list(dataset.values), columns)
    yield Batch(Place(1), 1, [[dataset.values[column]] for column in columns])
