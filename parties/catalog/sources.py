"""Rows of a data set, streamed: CSV, Parquet, SQL and values written in the catalog."""

from __future__ import annotations

import csv
import importlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from parties.catalog.declaration import DatasetDeclaration
from parties.errors import ConfigError, DataError
from parties.toml import near

DRIVERS = ("sqlite3", "psycopg", "psycopg2", "pyodbc", "oracledb")
"""DB-API modules that may be imported; each connects by one connection string."""

Row = tuple[str, Sequence[Any]]
"""Where a row stands (`row 3 (line 4)`), and its cells in the order of the asked columns."""

_BATCH = 1 << 14


def rows(dataset: DatasetDeclaration, columns: Sequence[str]) -> Iterator[Row]:
    """The rows of a data set, in order, one at a time.

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
        if header.count(column) != 1:
            how = "has no column" if column not in header else "has twice the column"
            raise DataError(f"{place} {how} {column!r}.", near(column, list(header)))
    return [header.index(column) for column in columns]


def _csv(dataset: DatasetDeclaration, columns: Sequence[str]) -> Iterator[Row]:
    place = dataset.place
    try:
        with _file(dataset).open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            header = [cell.strip() for cell in next(reader, [])]
            picked = _positions(place, header, columns)
            blank_line = 0
            number = 0
            for cells in reader:
                if not cells or (len(cells) == 1 and not cells[0].strip()):
                    blank_line = blank_line or reader.line_num
                    continue
                if blank_line:
                    raise DataError(
                        f"{place}, line {blank_line} is blank.", "Remove it; only the end may be blank."
                    )
                number += 1
                where = f"row {number} (line {reader.line_num})"
                if len(cells) != len(header):
                    raise DataError(
                        f"{place}, {where}: {len(cells)} cells, the header has {len(header)}.",
                        "Correct separators and quotation marks.",
                    )
                yield where, [cells[position] for position in picked]
    except UnicodeDecodeError:
        raise DataError(f"{place} is not UTF-8.", "Convert it to UTF-8.") from None
    except csv.Error as problem:
        raise DataError(f"{place} is no proper CSV: {problem}.", "Correct the quotation marks.") from None
    except OSError as problem:
        raise DataError(f"{place} cannot be read: {type(problem).__name__}.", "Check its rights.") from None


def _parquet(dataset: DatasetDeclaration, columns: Sequence[str]) -> Iterator[Row]:
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
            number = 0
            for batch in file.iter_batches(_BATCH, columns=list(columns)):
                lists = [batch.column(column).to_pylist() for column in columns]
                for cells in zip(*lists, strict=True):
                    number += 1
                    yield f"row {number}", cells
    except (pa.ArrowException, OSError) as problem:
        raise DataError(
            f"{dataset.place} cannot be read as Parquet: {type(problem).__name__}.", "Write the file again."
        ) from None


def _sql(dataset: DatasetDeclaration, columns: Sequence[str]) -> Iterator[Row]:
    connect, failures = _driver(dataset)
    try:
        with closing(connect()) as connection, closing(connection.cursor()) as cursor:
            cursor.execute(dataset.query)
            if cursor.description is None:
                raise DataError(f"The query of {dataset.place} returns no rows.", "Make it a select.")
            picked = _positions(dataset.place, [entry[0] for entry in cursor.description], columns)
            number = 0
            while batch := cursor.fetchmany(_BATCH):
                for cells in batch:
                    number += 1
                    yield f"row {number}", [cells[position] for position in picked]
    except failures as problem:
        raise DataError(
            f"The database of {dataset.place} refused: {type(problem).__name__}.",
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


def _value(dataset: DatasetDeclaration, columns: Sequence[str]) -> Iterator[Row]:
    _positions(dataset.place, list(dataset.values), columns)
    yield "row 1", [dataset.values[column] for column in columns]
