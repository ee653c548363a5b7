"""Rows of a data set, streamed in batches: files, queries and values written in the catalog."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from parties.catalog.declarations.declaration import DatasetDeclaration
from parties.catalog.sources import csvs, databases, excel, parquets
from parties.catalog.sources.batch import Batch, Place, positions
from parties.errors import DataError


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
        return csvs.read(
            _file(dataset),
            dataset.dialect,
            columns,
            dataset.table,
            names_lines=dataset.header,
            footer=dataset.footer,
        )
    if dataset.kind == "excel":
        return excel.read(
            _file(dataset), dataset.sheet, columns, dataset.table, dataset.header, dataset.footer
        )
    if dataset.kind == "parquet":
        return parquets.read(_file(dataset), columns)
    if dataset.kind == "sql":
        return databases.read(dataset.asked, columns)
    return _value(dataset, columns)


def header(dataset: DatasetDeclaration) -> list[str]:
    """The names of all columns of the source of a data set.

    Raises:
        DataError: as `batches`.
        ConfigError: as `batches`.
    """
    if dataset.kind == "csv":
        return csvs.header_of(_file(dataset), dataset.dialect, dataset.table, dataset.header)
    if dataset.kind == "excel":
        return excel.header_of(_file(dataset), dataset.sheet, dataset.table, dataset.header)
    if dataset.kind == "parquet":
        return parquets.header_of(_file(dataset))
    if dataset.kind == "sql":
        with databases.cursor(dataset.asked) as opened:
            return [str(entry[0]) for entry in opened.description]
    return list(dataset.values)


def _file(dataset: DatasetDeclaration) -> Path:
    if dataset.source is None or not dataset.source.is_file():
        raise DataError(
            f"{dataset.place}: the file of data set {dataset.name!r} does not exist, or is not a file.",
            "Put it there, or correct its source in the catalog.",
        )
    return dataset.source


def _value(dataset: DatasetDeclaration, columns: Sequence[str]) -> Iterator[Batch]:
    positions(dataset.place, list(dataset.values), columns)
    yield Batch(Place(1), 1, [[dataset.values[column]] for column in columns])
